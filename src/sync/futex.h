// The kernel's wait-on-address, for words of 32 bits within one process.
#pragma once
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

constexpr uint64_t kNever = UINT64_MAX;

// Returns when woken, when the word differs from `expected`, at `deadline` (on now(); kNever: not), or for no reason.
enum class Woken { kMaybe, kTimedOut, kInterrupted };
Woken futex_wait(const Atomic<uint32_t> &word, uint32_t expected, uint64_t deadline);
void futex_wake(const Atomic<uint32_t> &word, int threads);

}  // namespace hc
