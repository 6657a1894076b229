#include "capi/border.h"
#include "group/range.h"
#include "group/registry.h"
#include "group/scope.h"

using namespace hc;
using namespace hc::capi;

namespace {

Scope *of(hc_scope *s) { return reinterpret_cast<Scope *>(s); }
hc_scope *handle(Scope *s) { return reinterpret_cast<hc_scope *>(s); }
bool foreign(Scope *s) { return s->group()->foreign(); }

int range(Group *g, uint64_t begin, uint64_t end, uint64_t grain, Range &r, void *value) {
    Slot *at = nullptr;
    switch (fork_enter(g, &at)) {
        case Enter::kOk: break;
        case Enter::kNoMemory: return HC_ENOMEM;
        case Enter::kClosed: return HC_ESHUTDOWN;
        case Enter::kForeign: return HC_EFORKED;
    }
    r.grain = grain != 0 ? grain : grain_for(*g, end - begin);
    r.inside = this_thread->now->task;
    r.deadline = this_thread->now->deadline;
    if (begin < end) run_range(r, at, begin, end, value);
    if (g->foreign()) return HC_EFORKED;
    fork_leave(at);
    return r.left_out.load(memory_order_relaxed) ? HC_ECANCELED : HC_OK;
}

}  // namespace

extern "C" {

int hc_scope_create(hc_group *g, hc_scope **out) {
    if (out == nullptr) return HC_EINVAL;
    *out = nullptr;
    if (g == nullptr) return HC_EINVAL;
    if (capi::of(g)->foreign()) return HC_EFORKED;
    if (capi::of(g)->closed() && !registry::inside(capi::of(g))) return HC_ESHUTDOWN;
    auto *s = memory::make<Scope>(capi::of(g));
    if (s == nullptr) return HC_ENOMEM;
    capi::of(g)->ref();
    *out = handle(s);
    return HC_OK;
}

int hc_scope_submit(hc_scope *s, hc_fn fn, void *arg, hc_drop_fn drop) {
    if (s == nullptr || fn == nullptr) return HC_EINVAL;
    if (foreign(of(s))) return HC_EFORKED;
    TaskOptions o;
    o.call = {fn, arg};
    o.drop = drop;
    bool cancelled = false;
    const int answer = code(of(s)->submit(o, &cancelled));
    return cancelled ? HC_ECANCELED : answer;
}

int hc_scope_wait(hc_scope *s, uint64_t timeout, uint32_t flags, int32_t *failure) {
    if (s == nullptr || flags > 7 || (flags & 3) == 3) return HC_EINVAL;
    if (foreign(of(s))) return HC_EFORKED;
    switch (wait_for_scope(of(s), timeout == HC_NEVER ? kNever : timeout, flags)) {
        case Waited::kDone: break;
        case Waited::kTimedOut: return foreign(of(s)) ? HC_EFORKED : HC_ETIMEDOUT;
        case Waited::kDeadlock: return HC_EDEADLK;
        case Waited::kInterrupted: return HC_EINTR;
        case Waited::kStopped: return HC_ECANCELED;
    }
    if (failure != nullptr) *failure = of(s)->outcome();
    return HC_OK;
}

int hc_scope_error(hc_scope *s, int32_t *code, void **payload) {
    if (s == nullptr) return HC_EINVAL;
    of(s)->error(code, payload);
    return HC_OK;
}

int hc_scope_cancel(hc_scope *s) {
    if (s == nullptr) return HC_EINVAL;
    if (foreign(of(s))) return HC_EFORKED;
    of(s)->cancel();
    return foreign(of(s)) ? HC_EFORKED : HC_OK;
}

int hc_scope_destroy(hc_scope *s) {
    if (s == nullptr) return HC_OK;
    if (foreign(of(s))) return HC_EFORKED;
    if (!of(s)->idle()) return HC_EBUSY;
    of(s)->unref();
    return HC_OK;
}

int hc_group_for(hc_group *g, uint64_t begin, uint64_t end, uint64_t grain, hc_range_fn fn, void *arg) {
    if (g == nullptr || fn == nullptr || begin > end) return HC_EINVAL;
    Range r{};
    r.fn = fn;
    r.arg = arg;
    return range(capi::of(g), begin, end, grain, r, nullptr);
}

int hc_group_reduce(hc_group *g, uint64_t begin, uint64_t end, uint64_t grain, void *value, size_t size,
                    hc_reduce_fn body, hc_combine_fn combine, void *arg) {
    if (g == nullptr || body == nullptr || combine == nullptr || value == nullptr || begin > end) return HC_EINVAL;
    if (size == 0 || size > HC_REDUCE_MAX) return HC_EINVAL;
    unsigned char neutral[HC_REDUCE_MAX];
    memcpy(neutral, value, size);
    Range r{};
    r.body = body;
    r.combine = combine;
    r.arg = arg;
    r.neutral = neutral;
    r.size = size;
    return range(capi::of(g), begin, end, grain, r, value);
}

}  // extern "C"
