#include "group/overload.h"

#include <algorithm>

#include "group/blocking.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/tasks.h"
#include "sync/clock.h"

namespace hc {
namespace {

// What a submitter does itself with a task that it does not queue: run(). It counts as begun and ended here. An inbox, which nobody
// holds, has several producers: its counts need a read-modify-write. False: run() has forked, and this is the child.
template <class Run>
bool here(Group *g, Outbox *o, Run &&run) {
    const auto count = [&](Atomic<uint64_t> &n) {
        if (o->holder != nullptr)
            n.store(n.load(memory_order_relaxed) + 1, memory_order_release);  // pairs with the acquire in quiescent()
        else
            n.fetch_add(1, memory_order_release);  // pairs with the acquire in quiescent()
    };
    count(o->here_begun);
    {
        const Undisturbed by_signals;
        registry::Borrowed frame(g);
        run();
    }
    if (g->foreign()) return false;
    count(o->here_ended);
    g->went_idle();
    return true;
}

// Takes one of the oldest out of a queue: of LOW, then of this submitter's own, then of others'. None pushes out what is above it: false,
// as when workers have taken up all that is queued.
bool drop_oldest(Group *g, Outbox *o) {
    Entry e;
    const auto pop = [&](Lane &lane) {
        if (lane.empty() || !lane.try_claim()) return false;
        const bool got = lane.pop(&e, 1) != 0;
        lane.release();
        return got;
    };
    const auto is = [&](Priority p) {
        Inbox *in = g->levels.find(p);
        return in != nullptr && o == &in->box;
    };
    const auto pop_others = [&] {
        if (g->inbox_count == 0) {
            uint32_t at = 0;
            return g->directory.each_listed(&at, [&](Lane *lane) { return pop(*lane); });
        }
        for (uint32_t i = 0; is(Priority::kHigh) && i < g->inbox_count; i++)
            if (pop(g->inboxes[i].box)) return true;
        return false;
    };
    Inbox *low = g->levels.find(Priority::kLow);
    bool got = low != nullptr && pop(low->box);
    if (!got && !is(Priority::kLow)) {
        const bool high = is(Priority::kHigh);
        got = (!high && pop(*o)) || pop_others() || (high && pop(*o));
    }
    if (!got) return false;
    g->reap(&e, 1, kWhyDropped);
    return true;
}

// What is being submitted. A note of a scope is for any of its tasks.
void hand_back_new(Group *g, Entry e) {
    if (e.fn == Scope::run_next) return static_cast<Scope *>(e.arg)->hand_back_new(kWhyDropped);
    g->hand_back(e, kWhyDropped);
}

Submit wait_for_room(Group *g, WhenFull *full, uint64_t *credit) {
    if (registry::inside(g)) return Submit::kWouldWait;
    const Blocking declared;
    if (full->deadline == 0) full->deadline = full->timeout == kNever ? kNever : after(full->timeout);
    uint64_t room = 0;
    const auto closed = [g] { return g->closed(); };
    switch (g->waitlist.wait(g->budget, g->sharers_of_room(), full->deadline, &room, closed)) {
        case Waitlist::Got::kClosed: return Submit::kClosed;
        case Waitlist::Got::kTimedOut: return Submit::kTimedOut;
        case Waitlist::Got::kRoom: break;
    }
    *credit += room;
    return Submit::kOk;
}

}  // namespace

size_t room(Group *g, Outbox *o, size_t n, const WhenFull &full) {
    if (!g->budget.bounded()) return n;
    if (stays_full(g, o)) return 0;
    if (o->credit == 0 && full.policy == Full::kWait && g->waitlist.awaited()) return 0;
    if (o->credit < n) o->credit += g->budget.take(n - o->credit, g->sharers_of_room());
    o->runs_here = o->credit == 0 && full.policy == Full::kRun;
    return std::min<size_t>(o->credit, n);
}

bool run_here(Group *g, Outbox *o, Entry e) {
    return here(g, o, [&] { run_entry(g, e); });
}

bool when_full(Group *g, Outbox *o, Entry e, WhenFull *full, uint64_t *credit, Submit *result) {
    const auto done = [&](bool still_here) {
        *result = still_here ? Submit::kOk : Submit::kForeign;
        return true;
    };
    switch (full->policy) {
        case Full::kFail: break;
        case Full::kWait: *result = wait_for_room(g, full, credit); return *result != Submit::kOk;
        case Full::kRun: return done(run_here(g, o, e));
        case Full::kDropOldest:
            if (drop_oldest(g, o)) {
                *result = Submit::kForeign;
                return g->foreign();
            }
            [[fallthrough]];
        case Full::kDropNewest: return done(here(g, o, [&] { hand_back_new(g, e); }));
    }
    *result = Submit::kFull;
    return true;
}

}  // namespace hc
