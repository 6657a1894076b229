#include "sync/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "sync/errno.h"

namespace hc {

Woken futex_wait(const Atomic<uint32_t> &word, uint32_t expected, uint64_t deadline) {
    KeepErrno keep;
    timespec at{};
    if (deadline != kNever) {
        at.tv_sec = static_cast<time_t>(deadline / 1'000'000'000u);
        at.tv_nsec = static_cast<long>(deadline % 1'000'000'000u);
    }
    // WAIT_BITSET takes an absolute time on CLOCK_MONOTONIC: an interruption neither shortens nor prolongs the wait.
    const long r = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline == kNever ? nullptr : &at,
                           nullptr, FUTEX_BITSET_MATCH_ANY);
    if (r >= 0 || errno == EAGAIN) return Woken::kMaybe;
    return errno == ETIMEDOUT ? Woken::kTimedOut : errno == EINTR ? Woken::kInterrupted : Woken::kMaybe;
}

void futex_wake(const Atomic<uint32_t> &word, int threads) {
    KeepErrno keep;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace hc
