// The seam. All of the core names its atomics, fences and shared plain data through this file, so that a model checker
// can put its own in their place: the model build defines HC_SYNC_MODEL and finds the same names in tests/model/seam.h.
//
//   Atomic<T>      an atomic; every operation names its order, unqualified (memory_order_acquire)
//   Plain<T>       data that a protocol protects; the model checks that it does
//   light_fence()  the cheap half of an asymmetric fence (fence.h)
//   heavy_fence()  the dear half
//   Mutex          blocking (mutex.h); the model has its own futex too (futex.h)
#pragma once
#ifdef HC_SYNC_MODEL
#include "seam.h"
#else
#include <atomic>
namespace hc {

template <class T>
using Atomic = std::atomic<T>;
template <class T>
using Plain = T;

using std::atomic_thread_fence;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

}  // namespace hc
#endif
