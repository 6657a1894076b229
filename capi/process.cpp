#include "capi/border.h"
#include "memory/hooks.h"
#include "sync/clock.h"
#include "sync/fence.h"

extern "C" {

uint32_t hc_version(void) { return HC_VERSION_HEX; }
const char *hc_version_string(void) { return HC_VERSION_STRING; }

uint64_t hc_features(void) {
    hc::fence_setup();
    return hc::membarrier_usable ? HC_FEATURE_MEMBARRIER : 0;
}

uint64_t hc_now(void) { return hc::now(); }

int hc_allocator_set(hc_alloc_fn alloc, hc_free_fn free, void *user) {
    if ((alloc == nullptr) != (free == nullptr)) return HC_EINVAL;
    return hc::memory::set_hooks(alloc, free, user) ? HC_OK : HC_EBUSY;
}

}  // extern "C"
