// A question to another thread, which its signal handler answers. The asker may give up at any moment; the handler may
// run at any moment, long after, or not at all. What the handler writes (the form: whatever belongs to the slot) must
// never be read while it is written, nor be freed, nor given to another thread's handler.
//
//   kFree ──ask(t)──> kAsked ──take(t)──> kTaking ──give(t)──> kTaken ──collect()──> kFree
//                     kAsked ──withdraw()──> kFree             (the handler, if it comes yet, finds no question)
//                                kTaking ──withdraw()──> kLate ──give(t)──> kFree
//
// Who may do what: the asker, one at a time, leaves kFree, kTaken; the handler of thread t alone leaves kLate. Both
// want kAsked and kTaking, so those are left by compare-exchange. The form is the asker's in kFree and kTaken, the
// handler's in kTaking and kLate, nobody's in kAsked.
//
// Hazard: a late handler, which answers an older question. There is no number of the question: the handler does not
// take one along, it looks for slots with its thread's name in state kAsked. What it then copies is newer than the
// question that it answers, whichever signal has brought it; a second signal finds nothing.
// Hazard: the name of a thread that has ended, given to a new one. The new one answers: who asks must know that the
// thread is still there. A signal that was on its way to the old one is gone with it.
// Hazard: the asker goes to sleep just before the answer. It listens before it looks, the handler gives before it
// rings.
#pragma once
#include "sync/atomic.h"
#include "sync/futex.h"
namespace hc {

class Slot {
  public:
    // ---- The asker's.

    // The form may be changed, and freed. acquire: pairs with the release in give(), where the answer came too late.
    bool free() const { return word_.load(memory_order_acquire) == kFree; }
    void ask(int32_t thread) {
        // release: the form is prepared; pairs with the acquire in take()
        word_.store(word(thread, kAsked), memory_order_release);
    }
    bool taken() const {
        // acquire: the form is filled in; pairs with the release in give()
        return state(word_.load(memory_order_acquire)) == kTaken;
    }
    void collect() { word_.store(kFree, memory_order_relaxed); }

    // Nobody waits any more. False: the answer came just now, collect() it. After true the slot is free, or soon will
    // be.
    bool withdraw() {
        for (;;) {
            uint64_t seen = word_.load(memory_order_acquire);  // as in taken()
            if (state(seen) == kTaken) return false;
            const uint64_t next = state(seen) == kAsked ? uint64_t{kFree} : seen - kTaking + kLate;
            if (word_.compare_exchange_weak(seen, next, memory_order_relaxed, memory_order_relaxed)) return true;
        }
    }
    // In the child of a fork, whose only thread has no handler running.
    void forget() { word_.store(kFree, memory_order_relaxed); }

    // ---- The handler's, on thread `thread`.

    bool take(int32_t thread) {
        uint64_t asked = word(thread, kAsked);
        // acquire: pairs with the release in ask()
        return word_.compare_exchange_strong(asked, word(thread, kTaking), memory_order_acquire, memory_order_relaxed);
    }
    void give(int32_t thread) {
        uint64_t taking = word(thread, kTaking);
        // release: pairs with the acquire in taken()
        if (word_.compare_exchange_strong(taking, word(thread, kTaken), memory_order_release, memory_order_relaxed))
            return;
        word_.store(kFree, memory_order_release);  // it was withdrawn; pairs with the acquire in free()
    }

  private:
    enum : uint64_t { kFree, kAsked, kTaking, kTaken, kLate };
    static uint64_t word(int32_t thread, uint64_t s) { return static_cast<uint64_t>(thread) << 8 | s; }
    static uint64_t state(uint64_t w) { return w & 255; }

    Atomic<uint64_t> word_{kFree};
};

// Rings when a slot has been given. One asker listens.
class Bell {
  public:
    uint32_t listen() const { return word_.load(memory_order_acquire); }  // pairs with the release in ring(): the slot
    bool wait(uint32_t heard, uint64_t deadline) { return futex_wait(word_, heard, deadline) != Woken::kTimedOut; }
    void ring() {
        word_.fetch_add(1, memory_order_release);  // pairs with the acquire in listen()
        futex_wake(word_, 1);
    }

  private:
    Atomic<uint32_t> word_{0};
};

}  // namespace hc
