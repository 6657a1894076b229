#include "observe/dump.h"

#include "capi/border.h"

using namespace hc;
using namespace hc::capi;

extern "C" {

int hc_group_dump(hc_group *g, uint32_t format, hc_write_fn write, void *user) {
    if (g == nullptr || write == nullptr || format > HC_DUMP_JSON) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    switch (dump(*of(g), static_cast<DumpFormat>(format), write, user)) {
        case Dumped::kOk: return HC_OK;
        case Dumped::kNoMemory: return HC_ENOMEM;
        case Dumped::kStopped: return HC_ECANCELED;
    }
    return HC_EINVAL;
}

}  // extern "C"
