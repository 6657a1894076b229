// What workers do with a timer that is due, and what becomes of those that will not fire.
#include "group/registry.h"
#include "group/group.h"
#include "group/line.h"
#include "group/tasks.h"
#include "group/timer_life.h"
#include "group/timers.h"
#include "sync/clock.h"

namespace hc {

using enum Timer::State;
using enum Timer::Flag;
namespace {

// Under the lock: the entry goes without a run, and with it the series, unless it goes on without the entry.
Ending drop_entry(Shard &s, Timer *t, int32_t why = kWhyShutdown) {
    Ending ending;
    t->clear(kEntry);
    if (t->state == kDue) {
        t->state = kIdle;
        ending = end_series(s, t, why);
    }
    forget_if_unused(s, t, &ending);
    return ending;
}

struct Body {
    const char *label = nullptr;
    uint64_t run_limit;
    bool interrupt = false;
};

// Before the body: is there one to run? Otherwise the entry is dead, and perhaps the series ends.
bool begin_run(Shard &s, Timer *t, Body *body, Ending *ending) {
    Locked l(s.lock);
    if (t->state != kDue || (s.closed && repeats(t))) {
        *ending = drop_entry(s, t);
        return false;
    }
    t->state = kRunning;
    body->run_limit = static_cast<Group *>(s.group)->options().run_limit;
    if (const Series *series = series_of(t)) *body = {series->label, series->run_limit, series->interrupt};
    return true;
}

// After the body: its next time, or the end. The time of a timer that is now the first of its shard, or UINT64_MAX.
uint64_t end_run(Shard &s, Timer *t, Ending *ending) {
    Locked l(s.lock);
    const bool rearmed = t->has(kRearmed);
    t->state = kIdle;
    t->clear(kEntry | kRearmed);
    if (t->has(kEnded)) {
        *ending = end_series(s, t, rearmed ? kWhyCanceled : 0);
    } else if (rearmed || repeats(t)) {
        const uint64_t at = now();
        if (!rearmed) set_next_time(series_of(t), at);
        if (t->tick == kNoTick) {
            // until it is armed again
        } else if (s.closed) {
            *ending = end_series(s, t, kWhyShutdown);
        } else if (!put_in(s, t, at)) {
            *ending = end_series(s, t, kWhyNoMemory);
        }
    }
    if (t->state == kIdle && !t->has(kHeld | kEnded)) *ending = end_series(s, t, 0);
    const uint64_t time = t->state == kPending ? time_of(t->tick) : UINT64_MAX;
    const bool first = s.changed();
    s.ended.signal();
    forget_if_unused(s, t, ending);
    return first ? time : UINT64_MAX;
}

}  // namespace

// It is due, and has a key: its body takes its turn.
void queue_timer(void *timer) {
    auto *t = static_cast<Series *>(timer);
    const Ordering order = t->order;
    Group *g = this_thread->now->group;
    const Entry e{run_timer, t};
    Submit s = submit_ready_in_order(g, order, e);
    if (s == Submit::kClosed && !g->gate.has(Gate::kNow)) {
        Line *line;
        switch (take_turn(g, order, e, &line)) {
            case Turn::kQueued: return;
            case Turn::kYours:
                {
                    const InTurn here(line);
                    run_timer(t);
                }
                if (!g->foreign()) end_turn(line);
                return;
            case Turn::kNoMemory: s = Submit::kNoMemory;
        }
    }
    if (s != Submit::kOk) hand_back_timer(t, s == Submit::kNoMemory ? kWhyNoMemory : kWhyShutdown);
}

void run_timer(void *timer) {
    auto *t = static_cast<Timer *>(timer);
    Shard &s = *t->shard;
    Ending ending;
    Body body;
    if (!begin_run(s, t, &body, &ending)) return finish(s, ending);
    {
        Group *g = this_thread->now->group;
        Limited limited(this_thread, body.run_limit, nullptr, t, body.interrupt);
        Context here = *this_thread->now;
        here.label = body.label;
        here.timer = t;
        here.deadline = limited.deadline();
        const registry::Within within(this_thread, here);
        t->fn(t->arg);
        if (limited.end()) ran_past(g, {t->fn, t->arg}, body.label, limited.ran());
    }
    if (s.generation != registry::generation) return;  // it has forked, and this is the child
    const uint64_t first = end_run(s, t, &ending);
    finish(s, ending);
    if (first == UINT64_MAX) return;
    Group *g = s.group;
    g->timers.armed(g, first);
}

void hand_back_timer(Timer *t, int32_t why) {
    Shard &s = *t->shard;
    Ending ending;
    {
        Locked l(s.lock);
        ending = drop_entry(s, t, why);
    }
    finish(s, ending);
}

// Those that nobody is told of go together.
uint32_t hand_back_pending(Group *g, Shard &s) {
    constexpr uint32_t kMost = 256;
    if (s.pending.load(memory_order_acquire) == 0) return 0;  // pairs with the release in Shard::changed(): `fired`
    const bool silent = g->options().on_unrun == nullptr;
    uint32_t n = 0;
    Pending told{};
    Ending ending;
    {
        Locked l(s.lock);
        while (n < kMost && told.fn == nullptr && ending.drop == nullptr && !ending.forgotten) {
            const uint32_t taken = s.wheel.take_any(1, [&](const Pending &p) {
                s.idle = s.idle - !waits_for(p);
                Timer *t = p.timer();
                if (t == nullptr) {
                    if (!silent) told = p;
                    return;
                }
                t->state = kIdle;
                ending = end_series(s, t, kWhyShutdown);
                forget_if_unused(s, t, &ending);
            });
            if (taken == 0) break;
            n++;
        }
        s.fired.store(s.fired.load(memory_order_relaxed) + n, memory_order_relaxed);
        s.dropped.store(s.dropped.load(memory_order_relaxed) + n, memory_order_relaxed);
        s.changed();
    }
    if (told.fn != nullptr) g->hand_back({told.fn, told.arg});
    finish(s, ending);
    return n;
}

}  // namespace hc
