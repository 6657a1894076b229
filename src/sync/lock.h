// A lock that nobody else wants, mostly, at a third of the price of a pthread mutex: one read-modify-write to take it, a plain store to free it.
//
//   who frees:  word_ = kFree; light_fence(); waiters_ ? wake one
//   who waits:  waiters_ + 1;  heavy_fence(); take it, or sleep while word_ == kHeld
//
// Hazard: both miss the other: the lock is free, and somebody sleeps for it. The fences forbid that; later holders see the waiter in any
// case. One that is woken and comes too late sleeps again, and is still counted.
#pragma once
#include "sync/fence.h"
#include "sync/futex.h"
#include "sync/thread.h"
namespace hc {

class Lock {
  public:
    void lock() {
        if (__builtin_expect(!try_lock(), 0)) wait();
    }
    bool try_lock() {
        uint32_t seen = kFree;
        // acquire: pairs with the release in unlock()
        return word_.compare_exchange_strong(seen, kHeld, memory_order_acquire, memory_order_relaxed);
    }
    void unlock() {
        word_.store(kFree, memory_order_release);  // pairs with the acquire in try_lock()
        light_fence();                             // pairs with heavy_fence in wait(): word_ | waiters_
        if (__builtin_expect(waiters_.load(memory_order_relaxed) != 0, 0)) futex_wake(word_, 1);
#ifdef HC_SYNC_MODEL
        (void)static_cast<bool>(there_);  // whoever frees the lock must keep it until here
#endif
    }

  private:
    __attribute__((noinline)) void wait() {
#ifndef HC_SYNC_MODEL
        for (int looks = 0; looks < 30; looks++) {
            if (word_.load(memory_order_relaxed) == kFree && try_lock()) return;
            cpu_relax();
        }
        for (int looks = 0; looks < 4; looks++) {  // its holder may have lost its processor to the caller
            thread_yield();
            if (try_lock()) return;
        }
#endif
        waiters_.fetch_add(1, memory_order_relaxed);
        heavy_fence();  // pairs with light_fence in unlock(): waiters_ | word_
        while (!try_lock()) futex_wait(word_, kHeld, kNever);
        waiters_.fetch_sub(1, memory_order_relaxed);
    }

    static constexpr uint32_t kFree = 0, kHeld = 1;
    Atomic<uint32_t> word_{kFree};
    Atomic<uint32_t> waiters_{0};
#ifdef HC_SYNC_MODEL
    Plain<bool> there_{true};
#endif
};

}  // namespace hc
