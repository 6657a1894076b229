// A task that needs more than {fn, arg} puts a ticket into its lane: the entry is {Ticket::run, ticket}.
//
//   kQueued ──the worker that popped it, or whoever hands it back: claim()──> kClaimed
//
// The ticket is claimed by state, not by its place in a queue: whoever claims it first has it, and the entry may be
// dead when it is popped. The popper always gives the record back; the claimer alone calls fn or drop.
#pragma once
#include <cstdint>

#include "queue/recycler.h"
namespace hc {

struct Ticket {
    void (*fn)(void *) = nullptr;
    void *arg = nullptr;
    void (*drop)(void *, int32_t) = nullptr;
    const char *label = nullptr;
    Recycler<Ticket> *home = nullptr;
    Ticket *next_free = nullptr;
    Atomic<uint32_t> state{kQueued};

    static constexpr uint32_t kQueued = 0, kClaimed = 1;

    // relaxed: what fn needs was published with the entry
    bool claim() { return state.exchange(kClaimed, memory_order_relaxed) == kQueued; }

    static void run(void *ticket);  // the entry's fn
};

}  // namespace hc
