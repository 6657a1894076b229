// The kernel's futex, bare, and the two things that the harness makes of it: a Gate that opens once and a Countdown.
// Everything here waits asleep: a harness that spins would take a core from what it measures.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "clock.h"

namespace perf {

// Sleeps while `word` is `expected`; may return early. `deadline` is absolute on now_ns(), 0 is for ever.
inline void futex_wait(std::atomic<uint32_t> &word, uint32_t expected, uint64_t deadline = 0) {
    timespec until = to_timespec(deadline);
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, deadline ? &until : nullptr, nullptr,
            FUTEX_BITSET_MATCH_ANY);
}

inline void futex_wake(std::atomic<uint32_t> &word, int threads) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

class Gate {
  public:
    void open() {
        open_.store(1, std::memory_order_release);
        futex_wake(open_, INT_MAX);
    }
    void wait() {
        while (!open_.load(std::memory_order_acquire)) futex_wait(open_, 0);
    }
    // False when it is still closed after `ns`.
    bool wait_for(uint64_t ns) {
        uint64_t deadline = now_ns() + ns;
        while (!open_.load(std::memory_order_acquire)) {
            if (now_ns() >= deadline) return false;
            futex_wait(open_, 0, deadline);
        }
        return true;
    }
    void close() { open_.store(0, std::memory_order_relaxed); }

  private:
    std::atomic<uint32_t> open_{0};
};

// Opens its gate at the last of `n` arrivals.
class Countdown {
  public:
    explicit Countdown(uint64_t n) : left_(n) {}
    bool arrive() {  // true for the last
        bool last = left_.fetch_sub(1, std::memory_order_acq_rel) == 1;
        if (last) gate_.open();
        return last;
    }
    void wait() { gate_.wait(); }
    bool wait_for(uint64_t ns) { return gate_.wait_for(ns); }
    uint64_t left() const { return left_.load(std::memory_order_relaxed); }

  private:
    std::atomic<uint64_t> left_;
    Gate gate_;
};

}  // namespace perf
