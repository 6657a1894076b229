// What the user of a timer calls.
#include "group/blocking.h"
#include "group/registry.h"
#include "group/sleepers.h"
#include "group/submit.h"
#include "group/tasks.h"
#include "group/timer_life.h"
#include "group/timers.h"

namespace hc {

using enum Timer::State;
using enum Timer::Flag;
namespace {

template <class T>
T *take(Shard *s, Slabs<T> &from) {
    {
        Locked l(s->lock);
        if (T *t = from.take()) return t;
    }
    auto *more = Slabs<T>::make();
    if (more == nullptr) return nullptr;
    Locked l(s->lock);
    from.add(more);
    return from.take();
}

}  // namespace

Submit timer_make(Group *g, const TimerOptions &o, uint64_t now, Timer **out) {
    if (g->foreign()) return Submit::kForeign;
    if (g->closed()) return Submit::kClosed;
    if (!g->first_worker()) return Submit::kNoThread;
    Submit why_not = o.order ? order_in(g) : Submit::kOk;
    if (why_not != Submit::kOk) return why_not;
    Shard *s = g->timers.shard_here(g, &why_not);
    if (s == nullptr) return why_not;
    Timer *t;
    if (o.repeat == Repeat::kOnce && o.label == nullptr && o.leeway == 0 && o.run_limit == 0 && !o.interrupt && !o.order) {
        if ((t = take(s, s->timers)) == nullptr) return Submit::kNoMemory;
        t->flags = 0;
    } else {
        Series *more = take(s, s->series);
        if (more == nullptr) return Submit::kNoMemory;
        more->label = o.label;
        more->period = o.period;
        more->leeway = o.leeway;
        more->missed = 0;
        more->run_limit = or_of_group(o.run_limit, g->options().run_limit);
        more->interrupt = o.interrupt;
        more->order = o.order;
        more->repeat = o.repeat;
        more->policy = o.policy;
        more->flags = kSeries;
        t = more;
    }
    s->refs.fetch_add(1, memory_order_relaxed);
    if (out != nullptr) t->set(kHeld);
    t->chunk = nullptr;
    t->handles.store(1, memory_order_relaxed);
    t->shard = s;
    t->fn = o.call.fn;
    t->arg = o.call.arg;
    t->drop = o.drop;
    bool first = false;
    Submit answer = Submit::kOk;
    uint64_t tick;
    {
        Locked l(s->lock);
        t->state = kIdle;
        set_time(t, o.when);
        tick = t->tick;
        if (out != nullptr) *out = t;  // its body may run before we return, and look
        if (s->closed)
            answer = Submit::kClosed;
        else if (tick != kNoTick && !put_in(*s, t, now))
            answer = Submit::kNoMemory;
        else
            first = s->changed();
        if (answer != Submit::kOk) s->give_record(t);
    }
    if (answer != Submit::kOk) {
        if (out != nullptr) *out = nullptr;
        s->unref();
        return answer;
    }
    if (first) g->timers.armed(g, time_of(tick));
    return Submit::kOk;
}

TimerWas timer_arm(Timer *t, uint64_t when, uint64_t period, uint64_t now) {
    Shard &s = *t->shard;
    TimerWas was = TimerWas::kDone;
    Group *g;
    bool first = false;
    uint64_t tick = kNoTick;
    {
        Locked l(s.lock);
        g = s.group;
        if (s.closed) return TimerWas::kClosed;
        if (t->has(kEnded)) return g->closed() ? TimerWas::kClosed : TimerWas::kEnded;
        if (period != 0 && !repeats(t)) return TimerWas::kNotPeriodic;
        const uint64_t old_tick = t->tick;
        Series *series = series_of(t);
        const uint64_t old_nominal = series == nullptr ? 0 : series->nominal;
        set_time(t, when);
        tick = t->tick;
        bool done = true;
        switch (t->state) {
            case kPending:
                was = TimerWas::kPending;
                if (tick == kNoTick) {
                    take_out(s, t);
                } else {
                    t->tick = old_tick;
                    done = s.wheel.move(t, tick);
                }
                break;
            case kDue:
                was = TimerWas::kPending;
                if (tick != kNoTick)
                    done = put_in(s, t, now);
                else
                    t->state = kIdle;
                break;
            case kRunning:
                was = TimerWas::kRunning;
                t->set(kRearmed);
                break;
            case kIdle:
                if (tick != kNoTick) done = put_in(s, t, now);
                break;
        }
        if (!done) {
            t->tick = old_tick;
            if (series != nullptr) series->nominal = old_nominal;
            return TimerWas::kNoMemory;
        }
        if (period != 0) series->period = period;
        first = s.changed() && t->state == kPending;
        // The lock keeps the group: its end takes it. Afterwards only the caller's own reference does, or a timer that it has not handed back.
        if (first && !g->try_ref()) first = false;
    }
    if (!first) return was;
    g->timers.armed(g, time_of(tick));
    registry::unref(g);
    return was;
}

static TimerWas cancel(Timer *t) {
    Shard &s = *t->shard;
    TimerWas was = TimerWas::kDone;
    Ending ending;
    Group *closed = nullptr;
    {
        Locked l(s.lock);
        if (t->state == kRunning) {
            t->set(kEnded);
            return TimerWas::kRunning;
        }
        if (t->has(kEnded)) return was;
        if (t->state != kIdle) was = TimerWas::kPending;
        if (t->state == kPending) take_out(s, t);
        t->state = kIdle;
        s.changed();
        ending = end_series(s, t, was == TimerWas::kPending ? kWhyCanceled : 0);
        if (Group *g = s.group; g != nullptr && s.closed && g->try_ref()) closed = g;
    }
    if (closed != nullptr) closed->timer_gone();
    finish(s, ending);
    if (closed != nullptr && !closed->foreign()) registry::unref(closed);
    return was;
}

TimerWas timer_cancel(Timer *t) {
    const TimerWas was = cancel(t);
    if (was == TimerWas::kRunning) {
        wake_sleepers(t);
        limits_stop();
    }
    return was;
}

bool timer_wait(Timer *t, uint64_t deadline) {
    Shard &s = *t->shard;
    for (;;) {
        if (s.generation != registry::generation) return false;  // a drop has forked, and this is the child
        const uint32_t ticket = s.ended.prepare();
        bool over;
        {
            Locked l(s.lock);
            over = t->state != kRunning && !t->has(kDropping);
        }
        bool in_time = over;
        if (!over) {
            const Blocking declared;
            in_time = s.ended.wait(ticket, deadline);
        }
        s.ended.done();
        if (over) return true;
        if (!in_time) return false;
    }
}

uint64_t timer_due(Timer *t) {
    Locked l(t->shard->lock);
    switch (t->state) {
        case kDue: return 0;
        case kRunning: return !t->has(kRearmed) || t->tick == kNoTick ? UINT64_MAX : time_of(t->tick);
        case kPending: return time_of(t->tick);
        default: return UINT64_MAX;
    }
}

uint64_t timer_missed(Timer *t) {
    Locked l(t->shard->lock);
    const Series *s = series_of(t);
    return s == nullptr ? 0 : s->missed;
}

void timer_ref(Timer *t) { t->handles.fetch_add(1, memory_order_relaxed); }

void timer_unref(Timer *t) {
    if (t->handles.fetch_sub(1, memory_order_acq_rel) != 1) return;  // pairs with itself: all use before the end
    Shard &s = *t->shard;
    s.refs.fetch_add(1, memory_order_relaxed);  // ours: somebody else may forget the record as soon as we have let go
    timer_cancel(t);
    if (s.generation != registry::generation) return;  // a drop has forked, and this is the child
    Ending ending;
    {
        Locked l(s.lock);
        t->clear(kHeld);
        forget_if_unused(s, t, &ending);
    }
    finish(s, ending);
    s.unref();
}

bool timer_stops(Timer *t) {
    Locked l(t->shard->lock);
    return t->has(kEnded);
}

}  // namespace hc
