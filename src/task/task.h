// A held task: somebody has a handle, waits, cancels, or goes on after it.
//
//   kWaiting ──its inputs have ended: ready()──> kQueued ──claim()──> kRunning ──end()──> kEnded
//   kWaiting ──claim()──> kRunning     (a task without a body, a promise, or one that is cancelled)
//
// Who claims it ends it, and nobody else: a worker that popped its entry, a thread that waits for it, whoever cancels it or
// hands it back. The entry in a lane may thus be dead when it is popped.
//
//   field                        written by                                  read by
//   state                        anyone, by compare-exchange                 anyone
//   handles, refs                anyone                                      anyone; the handles together hold one ref
//   outcome, result, failure     the claimer, before end()                   anyone, once ended()
//   listeners                    holder of home->lock; not after end()       holder
//   inputs                       the creator; holder of home->lock           holder
//   the rest                     the creator                                 claimer
//
// Hazard: a listener comes while the task ends. It sets kWatched in `state` only if that is not kEnded, under the lock; end() sets
// kEnded and looks at what was there before: who saw kWatched takes the list, under the lock; who did not was first.
// Rule: a waiter's listener lies on its stack. It is touched under the lock only, where the waiter takes it out before it leaves.
#pragma once
#include <cstdint>

#include "queue/order.h"
#include "sync/atomic.h"
#include "sync/mutex.h"
#include "sync/parker.h"
namespace hc {

enum class Priority : uint8_t { kNormal, kHigh, kLow };

class Deque;
class Home;
class Scope;
struct Task;

struct Listener {
    Listener *next = nullptr;
    Parker *bed = nullptr;  // a thread that waits, or
    Task *task = nullptr;   // a task of which this one is an input
};

struct Failure {
    Plain<int32_t> code{0};
    Plain<void *> payload{nullptr};
    Plain<void (*)(void *)> drop{nullptr};
    Plain<bool> set{false};
    void release() {
        void (*const call)(void *) = drop;
        if (call != nullptr) call(payload);
    }
};

struct Task {
    enum State : uint32_t { kWaiting, kQueued, kRunning, kEnded, kStates = 3 };
    enum Bits : uint32_t { kWatched = 4, kStop = 8, kGeneration = 16 };  // from there on: which task of this record it is
    enum class Body : uint8_t { kCall, kAll, kAny, kPromise };

    void (*fn)(void *) = nullptr;
    void *arg = nullptr;
    void (*drop)(void *, int32_t) = nullptr;
    const char *label = nullptr;
    Home *home = nullptr;
    Task *next = nullptr;         // in whatever list it is in: free, ready, or its scope's
    Task *made_before = nullptr;  // see queue/made.h
    bool goes = false;
    Task *previous = nullptr;  // in its scope's list of those that have an order
    Scope *scope = nullptr;
    Ordering order;
    bool holds_serial = false;  // a reference of its serial: until it has ended. The claimer's
    uint32_t flags = 0;
    Body body = Body::kCall;
    Priority priority = Priority::kNormal;
    uint64_t run_limit = UINT64_MAX;  // ns
    uint64_t queue_expiry = UINT64_MAX;
    Atomic<uint64_t> expires_at{UINT64_MAX};

    Atomic<uint32_t> state{kEnded};
    Atomic<uint32_t> handles{0};
    Atomic<uint32_t> refs{0};
    Plain<int32_t> outcome{0};
    Plain<void *> result{nullptr};
    void (*result_drop)(void *) = nullptr;
    Failure failure;
    Plain<bool> overran{false};  // its limit

    Plain<Listener *> listeners{nullptr};
    Atomic<Deque *> runner{nullptr};  // where its forks are, while it runs; a hint for who waits

    Task **inputs = nullptr;  // `one` or an array; each with a reference
    uint32_t input_count = 0;
    Atomic<uint32_t> missing{0};  // inputs that have not ended
    Listener *input_listeners = nullptr;
    Task *one = nullptr;
    Listener one_listener;

    State stage() const { return static_cast<State>(state.load(memory_order_relaxed) & kStates); }
    bool ended() const { return (state.load(memory_order_acquire) & kStates) == kEnded; }  // pairs with end()
    bool stopped() const { return (state.load(memory_order_relaxed) & kStop) != 0; }

    // By the creator: a new task of this record, and then its state before it is in a queue.
    void renew() { state.store((state.load(memory_order_relaxed) & ~(kGeneration - 1u)) + kGeneration + kWaiting, memory_order_relaxed); }
    void enqueue() {
        const uint32_t seen = state.load(memory_order_relaxed);
        state.store((seen & ~uint32_t{kStates}) | kQueued,
                    memory_order_release);  // pairs with the acquire in expired()
    }

    bool claim(State from) { return move(from, kRunning); }
    // For who meets it anywhere, in use or not: is it queued, and its time over? Then try_ref(), and claim() what was seen.
    // Hazard: meanwhile it ends, and the record becomes another task. A reference is had only while there are others, and the claim
    // is for what was seen, its generation included.
    bool expired(uint64_t now, uint32_t *seen) const {
        *seen = state.load(memory_order_acquire);  // pairs with enqueue() and ready()
        return (*seen & kStates) == kQueued && expires_at.load(memory_order_relaxed) <= now;
    }
    uint64_t queued_until() const { return stage() == kQueued ? expires_at.load(memory_order_relaxed) : UINT64_MAX; }
    bool try_ref() {
        uint32_t n = refs.load(memory_order_relaxed);
        do
            if (n == 0) return false;
        while (!refs.compare_exchange_weak(n, n + 1, memory_order_relaxed, memory_order_relaxed));
        return true;
    }
    bool claim(uint32_t seen) {
        // release: pairs with the load in move(). expired() has acquired what was seen
        return state.compare_exchange_strong(seen, seen + kRunning - kQueued, memory_order_release, memory_order_relaxed);
    }
    bool ready() { return move(kWaiting, kQueued); }
    // Asks a running task to stop. Returns what it met.
    State stop() {
        uint32_t seen = state.load(memory_order_relaxed);
        while ((seen & kStates) == kRunning &&
               !state.compare_exchange_weak(seen, seen | kStop, memory_order_relaxed, memory_order_relaxed)) {
        }
        return ended() ? kEnded : static_cast<State>(seen & kStates);
    }

    // By the claimer, while it runs: its forks are in d. True: somebody listens, who may have looked in vain, and may help.
    bool forks_in(Deque *d) {
        runner.store(d, memory_order_release);                             // pairs with the acquires in wait.cpp
        return (state.fetch_or(0, memory_order_release) & kWatched) != 0;  // pairs with listen()
    }
    // By the claimer. True: somebody listens.
    bool end() {
        // release: what the task did, its outcome; pairs with ended()
        return (state.fetch_add(kEnded - kRunning, memory_order_release) & kWatched) != 0;
    }
    // Under home->lock. False: it has ended.
    bool listen(Listener *l) {
        uint32_t seen = state.load(memory_order_relaxed);
        do
            if ((seen & kStates) == kEnded) return !ended();                              // false, and what it did is visible
        while (!state.compare_exchange_weak(seen, seen | kWatched, memory_order_acquire,  // pairs with forks_in()
                                            memory_order_relaxed));
        l->next = listeners;
        listeners = l;
        return true;
    }

    bool unlisten(Listener *l) {  // under home->lock; false: it was told
        for (Listener *at = listeners, *before = nullptr; at != nullptr; before = at, at = at->next)
            if (at == l) {
                if (before == nullptr)
                    listeners = l->next;
                else
                    before->next = l->next;
                return true;
            }
        return false;
    }

    void ref() { refs.fetch_add(1, memory_order_relaxed); }

  private:
    bool move(State from, State to) {
        uint32_t seen = state.load(memory_order_relaxed);
        do
            if ((seen & kStates) != from) {
                // Who pops a dead entry knows that a waiter had begun: see Group::quiescent(). Pairs with the release below.
                state.load(memory_order_acquire);
                return false;
            }
        while (!state.compare_exchange_weak(seen, (seen & ~kStates) | to,
                                            memory_order_acq_rel,  // pairs with itself: who made it ready
                                            memory_order_relaxed));
        return true;
    }
};

}  // namespace hc
