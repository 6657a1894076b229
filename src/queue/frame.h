// The layouts that an inline fork and join compile into programs: homecooking.h has them too, and a test compares.
//
//   Frame   hc_fork: on the stack of whoever forks, until the join
//   Slot    hc_worker: where a frame hangs in its owner's deque. What callers pass along is the first free slot.
//   Prefix  the part of a deque that the inline code reads and writes
#pragma once
#include <cstddef>
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Deque;
struct Slot;
struct Task;

// While a frame is its owner's, only fn and arg mean anything. A thief that takes it fills the rest:
//
//   kTaken ──owner is about to sleep: wait_for()──> kAwaited          kTaken, kAwaited ──thief: finish()──> kDone
//
// Rule (set, then touch): after kDone the frame is its owner's again, who may have returned: a thief must not look at it.
struct Frame {
    using Fn = void (*)(Slot *at, void *arg);
    enum State : uint32_t { kTaken, kAwaited, kDone };

    Plain<Fn> fn;
    Plain<void *> arg;
    Atomic<uint32_t> state;
    Plain<Deque *> owner;
    Plain<Deque *> thief;
    Plain<Task *> task;  // in which it was forked, if that is held

    // The owner's, after it was taken.
    bool done() const { return state.load(memory_order_acquire) == kDone; }  // pairs with the release in finish()
    bool wait_for() {  // false: it is done
        uint32_t seen = kTaken;
        return state.compare_exchange_strong(seen, kAwaited, memory_order_relaxed, memory_order_relaxed) ||
               seen == kAwaited;
    }
};

struct Slot {
    Plain<Frame *> frame{nullptr};
    Deque *deque = nullptr;  // constant
};

struct Prefix {
    Atomic<Slot *> top{nullptr};    // the first free slot; the owner's
    Atomic<Slot *> limit{nullptr};  // a push that ends here or above has something to do: notice()
    Atomic<Slot *> split{nullptr};  // what is taken back below this may be gone: settle()
};

#ifndef HC_SYNC_MODEL
static_assert(sizeof(Frame) <= 64 && sizeof(Slot) == 2 * sizeof(void *) && sizeof(Prefix) == 3 * sizeof(void *));
#endif

}  // namespace hc
