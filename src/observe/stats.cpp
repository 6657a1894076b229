#include "observe/stats.h"

#include <algorithm>

#include "group/group.h"
#include "group/keys.h"

namespace hc {

Stats stats(Group &g) {
    Stats s{};
    const uint64_t word = g.gate.read();
    s.workers = g.roster.threads();
    s.blocked = g.roster.blocked();
    s.most = g.roster.most();
    s.expired = g.expiry.expired.load(memory_order_relaxed);
    s.overran = g.overran.load(memory_order_relaxed);
    s.cpus = g.options().found;
    s.parked = Gate::parked(word);
    s.searching = Gate::searching(word);
    // Ends before begins before submits, so that no task is seen to end before it began. A worker says what it has
    // finished at the end of a batch; within one, all but the task that it is in have ended.
    uint64_t ended = 0, begun = 0, unrun_in_order = 0;
    for (uint32_t i = 0; i < g.roster.made(); i++) {
        Worker &w = g.roster.at(i);
        const uint64_t finished = w.finished(), at = w.batch().begun();
        s.unrun += w.counters.unrun.read();  // last: what is handed back meanwhile must not count as finished
        ended += at > finished ? at - 1 : finished;
        begun += at > finished ? at : finished;
        s.claims += w.counters.claims.read();
        s.claims_lost += w.counters.claims_lost.read();
        s.steals += w.counters.steals.read();
        s.steals_lost += w.counters.steals_lost.read();
        s.parks += w.counters.parks.read();
        s.wakes += w.counters.wakes.read();
        s.barriers += w.counters.barriers.read();
    }
    ended += g.taken_ended.load(memory_order_relaxed);
    begun += g.taken_begun.load(memory_order_relaxed);
    // Tasks that have an order count instead of the entries of their lines. Of those entries that run, each is in one task.
    Keys *keys = g.keys.load(memory_order_acquire);  // pairs with the release in keys_of()
    if (keys != nullptr) keys->each([&](LineShard &l) {
        const uint64_t back = l.handed_back.load(memory_order_relaxed);
        const uint64_t run = l.ended.load(memory_order_relaxed) - back - l.entries_ended.load(memory_order_relaxed);
        ended += run;
        begun += run;
        unrun_in_order += back - l.entries_back.load(memory_order_relaxed);
        s.submitted += l.accepted.load(memory_order_relaxed) - l.pushed.load(memory_order_relaxed);
    });
    s.finished = ended > s.unrun ? ended - s.unrun : 0;
    s.started = begun > s.unrun ? begun - s.unrun : 0;
    s.unrun += g.reaped.load(memory_order_relaxed) + unrun_in_order;
    s.wakes += g.submit_wakes.load(memory_order_relaxed);
    g.each_box([&](Outbox &o) {
        s.submitted += o.pushed_total();
        s.lanes++;
    });
    for (uint32_t i = 0; i < g.roster.made(); i++) s.submitted += g.roster.at(i).kept.put_total();
    g.timers.each([&](Shard &shard) {
        const uint64_t dropped = shard.dropped.load(memory_order_relaxed);  // first: it is the smaller one
        const uint64_t out_of_wheel = std::max(dropped, shard.fired.load(memory_order_relaxed));
        s.submitted += out_of_wheel;
        s.timers_fired += out_of_wheel - dropped;
        s.timers_pending += shard.pending.load(memory_order_relaxed);
    });
    const uint64_t out = s.started + s.unrun;
    s.queued = s.submitted > out ? s.submitted - out : 0;
    return s;
}

}  // namespace hc
