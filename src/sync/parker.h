// One thread's bed: park() sleeps until somebody has called unpark(), before or after. One word, three states:
//
//   kEmpty ──park──> kParked ──unpark──> kToken ──park returns──> kEmpty
//   kEmpty ──unpark──> kToken           (the next park returns at once, and no system call was made)
//
// Only the owner leaves kToken and enters kParked; anybody enters kToken. Two unparks before a park count once.
#pragma once
#include "sync/futex.h"
namespace hc {

class Parker {
  public:
    void park() {
        uint32_t seen = kEmpty;
        if (word_.compare_exchange_strong(seen, kParked, memory_order_relaxed, memory_order_relaxed)) do
                futex_wait(word_, kParked, kNever);
            while (word_.load(memory_order_relaxed) == kParked);
        word_.exchange(kEmpty, memory_order_acquire);  // pairs with the release in unpark()
    }

    // The same with an end. kMaybe: unparked; kInterrupted: by a signal.
    Woken park_until(uint64_t deadline) {
        uint32_t seen = kEmpty;
        Woken woken = Woken::kMaybe;
        if (word_.compare_exchange_strong(seen, kParked, memory_order_relaxed, memory_order_relaxed)) do
                woken = futex_wait(word_, kParked, deadline);
            while (woken == Woken::kMaybe && word_.load(memory_order_relaxed) == kParked);
        // A token that came at the last moment counts. acquire: pairs with the release in unpark()
        return word_.exchange(kEmpty, memory_order_acquire) == kToken ? Woken::kMaybe : woken;
    }

    void unpark() {
        // release: what was done before the wake is seen after it; pairs with the acquires above
        if (word_.exchange(kToken, memory_order_release) == kParked) futex_wake(word_, 1);
    }

  private:
    static constexpr uint32_t kEmpty = 0, kParked = 1, kToken = 2;
    Atomic<uint32_t> word_{kEmpty};
};

}  // namespace hc
