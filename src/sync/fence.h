// An asymmetric store->load fence. Two threads that each write and then look at what the other wrote need a full fence
// on both sides; here the frequent side pays nothing and the rare side pays for both:
//
//   frequent: write A; light_fence(); read B        rare: write B; heavy_fence(); read A
//
// At least one of them sees the other's write. heavy_fence() is membarrier(2), which makes every running thread of the
// process execute a full fence. Where the kernel has none (or with -Dbarrier=fence), both are ordinary seq_cst fences.
#pragma once
#include "sync/atomic.h"
#ifndef HC_SYNC_MODEL
namespace hc {

extern bool membarrier_usable;  // set before the first group's threads start, constant afterwards

inline bool fences_are_asymmetric() { return membarrier_usable; }
void fence_setup();  // for each creation of a group; idempotent
void heavy_fence();

inline void light_fence() {
    if (__builtin_expect(membarrier_usable, 1))
        std::atomic_signal_fence(memory_order_seq_cst);  // pairs with heavy_fence: only the compiler needs holding
    else
        atomic_thread_fence(memory_order_seq_cst);  // pairs with heavy_fence
}

}  // namespace hc
#endif
