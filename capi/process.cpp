#include "capi/border.h"
#include "memory/hooks.h"
#include "observe/stack.h"
#include "sync/clock.h"
#include "sync/fence.h"

namespace {

int code(hc::Lend l) {
    switch (l) {
        case hc::Lend::kOk: return HC_OK;
        case hc::Lend::kInvalid: return HC_EINVAL;
        case hc::Lend::kBusy: return HC_EBUSY;
        case hc::Lend::kUnsupported: return HC_ENOTSUP;
    }
    return HC_EINVAL;
}

}  // namespace

extern "C" {

uint32_t hc_version(void) { return HC_VERSION_HEX; }
const char *hc_version_string(void) { return HC_VERSION_STRING; }

uint64_t hc_features(void) {
    hc::fence_setup();
    uint64_t features = 0;
    if (hc::membarrier_usable) features |= HC_FEATURE_MEMBARRIER;
    if (hc::stack_handler() != nullptr) features |= HC_FEATURE_STACKS;
    return features;
}

uint64_t hc_now(void) { return hc::now(); }

int hc_allocator_set(hc_alloc_fn alloc, hc_free_fn free, void *user) {
    if ((alloc == nullptr) != (free == nullptr)) return HC_EINVAL;
    return hc::memory::set_hooks(alloc, free, user) ? HC_OK : HC_EBUSY;
}

int hc_signal_set(int limit_signo, int dump_signo) {
    if (limit_signo < 0 || dump_signo < 0 || (limit_signo != 0 && limit_signo == dump_signo)) return HC_EINVAL;
    if (limit_signo != 0)
        if (const int bad = code(hc::lend_limit_signal(limit_signo, hc::answer_limit_signal))) return bad;
    return dump_signo == 0 ? HC_OK : code(hc::lend_dump_signal(dump_signo, hc::stack_handler()));
}

}  // extern "C"
