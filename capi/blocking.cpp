#include "group/blocking.h"

#include "capi/border.h"
#include "group/sleepers.h"
#include "sync/clock.h"
#include "sync/pollable.h"

using namespace hc;
using namespace hc::capi;

namespace {

uint64_t deadline(uint64_t timeout) { return timeout == HC_NEVER ? kNever : after(timeout); }

}  // namespace

extern "C" {

int hc_blocking_begin(void) { return blocking_begin() ? HC_HELPED : HC_NOT_HELPED; }
void hc_blocking_end(void) { blocking_end(); }

int hc_sleep(uint64_t ns) { return hc::sleep_until(deadline(ns)) == Slept::kCanceled ? HC_ECANCELED : HC_OK; }

int hc_poll(void *fds, uint32_t n, uint64_t timeout) {
    if (fds == nullptr && n != 0) return HC_EINVAL;
    int result = 0;
    if (poll_until(fds, n, deadline(timeout), &result) == Slept::kCanceled) return HC_ECANCELED;
    switch (result) {
        case kPollNoMemory: return HC_ENOMEM;
        case kPollInterrupted: return HC_EINTR;
        case kPollInvalid: return HC_EINVAL;
    }
    return result;
}

}  // extern "C"
