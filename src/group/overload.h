// What a submitter does when a bounded group is full.
#pragma once
#include "group/submit.h"
namespace hc {

struct WhenFull {
    Full policy;
    uint64_t timeout;       // of Full::kWait
    uint64_t deadline = 0;  // the same, once it has begun to run
};

// Room for up to n tasks of this submitter: how many. 0: the queue is full, or, for one who can wait, others wait already.
size_t room(Group *g, Outbox *o, size_t n, const WhenFull &full);
inline void spend(Group *g, Outbox *o, size_t n) {
    if (g->budget.bounded()) o->credit -= n;
}

// The queue is full: e is dealt with, *result says how (kOk: accepted). False: there is room now, which *credit gets; try again.
bool when_full(Group *g, Outbox *o, Entry e, WhenFull *full, uint64_t *credit, Submit *result);

// Under HC_FULL_RUN, who has met a full queue runs its own tasks until the queue is half empty: at the brim, submitters and
// workers would fight for every single unit. Half a queue is work enough for all workers meanwhile.
inline bool stays_full(Group *g, Outbox *o) { return o->runs_here && !g->budget.half_empty(); }
bool run_here(Group *g, Outbox *o, Entry e);  // false: the task has forked, and this is the child

}  // namespace hc
