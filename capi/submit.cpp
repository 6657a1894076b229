#include "capi/border.h"

using namespace hc;
using namespace hc::capi;

// A batch is the caller's array, read as it stands.
static_assert(sizeof(hc_call) == 16 && sizeof(Entry) == 16);
static_assert(offsetof(hc_call, arg) == offsetof(Entry, arg));

namespace {

TaskOptions bare(hc_fn fn, void *arg) {
    TaskOptions o;
    o.call = {fn, arg};
    return o;
}
Submit to_worker(Group *g, Entry e, uint64_t worker) { return submit_pinned(g, static_cast<uint32_t>(worker), e); }

}  // namespace

extern "C" {

int hc_submit(hc_group *g, hc_fn fn, void *arg) {
    if (__builtin_expect(g == nullptr || fn == nullptr, 0)) return HC_EINVAL;
    if (__builtin_expect(of(g)->expires(), 0)) return code(submit_ticket(of(g), bare(fn, arg)));
    return code(submit(of(g), {fn, arg}));
}

int hc_submit_batch(hc_group *g, const hc_call *calls, size_t n, size_t *accepted) {
    if (accepted == nullptr) return HC_EINVAL;
    *accepted = 0;
    if (g == nullptr || (calls == nullptr && n != 0)) return HC_EINVAL;
    for (size_t i = 0; i < n; i++)
        if (calls[i].fn == nullptr) return HC_EINVAL;
    if (of(g)->expires()) {
        int answer = HC_OK;
        for (; *accepted < n && answer == HC_OK; *accepted += answer == HC_OK)
            answer = code(submit_ticket(of(g), bare(calls[*accepted].fn, calls[*accepted].arg)));
        return answer;
    }
    return code(submit_batch(of(g), reinterpret_cast<const Entry *>(calls), n, accepted));
}

int hc_submit_timed(hc_group *g, hc_fn fn, void *arg, uint64_t timeout) {
    if (g == nullptr || fn == nullptr) return HC_EINVAL;
    if (of(g)->expires()) return code(submit_ticket(of(g), bare(fn, arg), submit_timed, timeout));
    return code(submit_timed(of(g), {fn, arg}, timeout));
}

int hc_submit_keyed(hc_group *g, uint64_t key, uint32_t mode, hc_fn fn, void *arg) {
    if (g == nullptr || fn == nullptr || mode == 0 || mode > HC_KEY_BOUND) return HC_EINVAL;
    if (mode == HC_KEY_BOUND && of(g)->options().kind != Kind::kPinned) return of(g)->foreign() ? HC_EFORKED : HC_ENOTSUP;
    const Ordering order{nullptr, key, mode};
    if (!of(g)->expires()) return code(submit_in_order(of(g), order, {fn, arg}));
    TaskOptions o = bare(fn, arg);
    o.order = order;
    return code(submit_ticket(of(g), o));
}

int hc_submit_to(hc_group *g, uint32_t worker, hc_fn fn, void *arg) {
    if (g == nullptr || fn == nullptr) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    if (of(g)->options().kind != Kind::kPinned) return HC_ENOTSUP;
    if (worker >= of(g)->roster.slots()) return HC_EINVAL;
    if (of(g)->expires()) return code(submit_ticket(of(g), bare(fn, arg), to_worker, worker));
    return code(submit_pinned(of(g), worker, {fn, arg}));
}

}  // extern "C"
