// The numbers of a group, summed up from its lanes and workers. Nothing is counted for the sake of statistics on the
// way of a task: the lanes' and the batches' own positions are the counts.
#pragma once
#include <cstdint>

#include "sync/cpus.h"
namespace hc {

class Group;

struct Stats {
    uint32_t workers, parked, searching;
    uint64_t submitted, started, finished, unrun, queued, lanes;
    uint64_t claims, claims_lost, steals, steals_lost, parks, wakes, barriers;
    uint64_t timers_pending, timers_fired;
    uint64_t expired, overran;
    uint32_t blocked, most;
    Cpus cpus;
};

Stats stats(Group &g);

}  // namespace hc
