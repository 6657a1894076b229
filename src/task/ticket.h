// A task that needs more than {fn, arg} puts a ticket into its lane: the entry is {Ticket::run, ticket}.
//
//   kQueued ──the worker that popped it, whoever hands it back, or expire(): claim()──> kClaimed
//
// The ticket is claimed by state, not by its place in a queue: whoever claims it first has it, and the entry may be
// dead when it is popped. The popper always gives the record back; the claimer alone calls fn or drop.
//
// Hazard: expire() meets the record anywhere, also while its user changes it. It reads what it needs, and then claims the state that
// it had seen before, the generation included (all of its bits but the lowest): if nobody has claimed it meanwhile, nobody has
// changed it either.
#pragma once
#include <cstdint>

#include "queue/recycler.h"
namespace hc {

struct Ticket {
    using Fn = void (*)(void *);
    using Drop = void (*)(void *, int32_t);
    struct Call {
        Fn fn = nullptr;
        void *arg = nullptr;
        Drop drop = nullptr;
    };
    Atomic<uint64_t> expires_at{UINT64_MAX};
    const char *label = nullptr;
    uint64_t run_limit = UINT64_MAX;  // ns
    Recycler<Ticket> *home = nullptr;
    Ticket *next_free = nullptr;
    Ticket *made_before = nullptr;  // see queue/made.h
    bool goes = false;
    Atomic<uint32_t> state{kClaimed};

    static constexpr uint32_t kQueued = 0, kClaimed = 1;

    // By its user, last of all.
    void enqueue() {
        state.store((state.load(memory_order_relaxed) | kClaimed) + 1, memory_order_release);  // pairs with the acquire in expire()
    }

    // By its user, before enqueue().
    void carry(const Call &c) {
        fn_.store(reinterpret_cast<uintptr_t>(c.fn), memory_order_relaxed);
        arg_.store(c.arg, memory_order_relaxed);
        drop_.store(reinterpret_cast<uintptr_t>(c.drop), memory_order_relaxed);
    }
    // By who popped it: its call, if nobody has claimed it; the record goes back.
    bool take(Call *call) {
        *call = read();
        const bool ours = claim();
        home->give(this);
        return ours;
    }
    // relaxed: what fn needs was published with the entry
    bool claim() {
        if (expires_at.load(memory_order_relaxed) != UINT64_MAX) {
            if ((state.fetch_or(kClaimed, memory_order_relaxed) & kClaimed) == kQueued) return true;
            // Who pops a dead entry knows that the reaper had begun: see Group::quiescent(). Pairs with the release in expire().
            state.load(memory_order_acquire);
            return false;
        }
        state.store(state.load(memory_order_relaxed) | kClaimed, memory_order_relaxed);  // there is nobody else
        return true;
    }

    // True: it is queued, its time is over, and it is claimed.
    bool expire(uint64_t now, Call *call) {
        uint32_t seen = state.load(memory_order_acquire);  // pairs with enqueue()
        if ((seen & kClaimed) != kQueued || expires_at.load(memory_order_relaxed) > now) return false;
        *call = read();
        // release: what was read above, it was read before; and pairs with the acquire in claim()
        return state.compare_exchange_strong(seen, seen | kClaimed, memory_order_release, memory_order_relaxed);
    }

    uint64_t queued_until() const {
        return (state.load(memory_order_relaxed) & kClaimed) == kQueued ? expires_at.load(memory_order_relaxed) : UINT64_MAX;
    }

    static void run(void *ticket);  // the entry's fn

  private:
    Call read() const {
        return {reinterpret_cast<Fn>(fn_.load(memory_order_relaxed)), arg_.load(memory_order_relaxed),
                reinterpret_cast<Drop>(drop_.load(memory_order_relaxed))};
    }
    Atomic<uintptr_t> fn_{0}, drop_{0};
    Atomic<void *> arg_{nullptr};
};

}  // namespace hc
