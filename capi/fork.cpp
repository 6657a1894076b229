#include "capi/border.h"
#include "group/forks.h"

using namespace hc;
using namespace hc::capi;

// What the inline functions were compiled with.
static_assert(sizeof(hc_fork) == 8 * sizeof(void *) && sizeof(Frame) <= sizeof(hc_fork));
static_assert(offsetof(Frame, fn) == offsetof(hc_fork, fn) && offsetof(Frame, arg) == offsetof(hc_fork, arg));
static_assert(sizeof(hc_worker) == sizeof(Slot) && offsetof(hc_worker, forks) == offsetof(Slot, deque));
static_assert(offsetof(Prefix, top) == offsetof(hc_forks, top));
static_assert(offsetof(Prefix, limit) == offsetof(hc_forks, limit));
static_assert(offsetof(Prefix, split) == offsetof(hc_forks, split));

namespace {

Slot *of(hc_worker *w) { return reinterpret_cast<Slot *>(w); }
Frame *of(hc_fork *f) { return reinterpret_cast<Frame *>(f); }
hc_worker *handle(Slot *s) { return reinterpret_cast<hc_worker *>(s); }

}  // namespace

extern "C" {

hc_worker *hc_worker_self(void) { return handle(fork_place()); }

int hc_worker_enter(hc_group *g, hc_worker **w) {
    if (w == nullptr) return HC_EINVAL;
    *w = nullptr;
    if (g == nullptr) return HC_EINVAL;
    Slot *at = nullptr;
    switch (fork_enter(capi::of(g), &at)) {
        case Enter::kOk: break;
        case Enter::kNoMemory: return HC_ENOMEM;
        case Enter::kClosed: return HC_ESHUTDOWN;
        case Enter::kForeign: return HC_EFORKED;
    }
    *w = handle(at);
    return HC_OK;
}

void hc_worker_leave(hc_worker *w) {
    if (w != nullptr) fork_leave(of(w));
}

hc_worker *hc_fork_push(hc_worker *w, hc_fork *f, hc_fork_fn fn, void *arg) {
    return handle(fork_push(of(w), of(f), reinterpret_cast<Frame::Fn>(fn), arg));
}

hc_worker *hc_fork_notice(hc_worker *w) { return handle(fork_notice(of(w))); }

hc_worker *hc_fork_join(hc_worker *w, hc_fork *f) { return handle(fork_join(of(w), of(f))); }

int hc_fork_take(hc_worker *w, hc_fork *f) {
    Slot *at = of(w);
    return fork_take(&at, of(f)) ? 1 : 0;
}

}  // extern "C"
