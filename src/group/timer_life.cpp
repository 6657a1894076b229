// One timer, whoever calls: see the states in timer/timer.h. Its user's side is timer_calls.cpp, its workers' timer_run.cpp.
#include "group/timer_life.h"

#include <bit>

#include "group/callback.h"
#include "group/tasks.h"
#include "group/timers.h"

namespace hc {

using enum Timer::State;
using enum Timer::Flag;
namespace {

// Within its leeway a timer fires at the roundest time there is, so that those of others are likely to be the same.
uint64_t tick_in(uint64_t when, uint64_t leeway) {
    if (leeway != 0 && when != 0) {
        const uint64_t latest = leeway > UINT64_MAX - when ? UINT64_MAX : when + leeway;
        const auto differs = static_cast<unsigned>(std::bit_width((when - 1) ^ latest)) - 1;
        when = latest >> differs << differs;
    }
    return std::min(tick_of(when), Wheel::kLastTick);
}

}  // namespace

void set_time(Timer *t, uint64_t when) {
    Series *s = series_of(t);
    if (s != nullptr) s->nominal = when;
    t->tick = when == UINT64_MAX ? kNoTick : tick_in(when, s == nullptr ? 0 : s->leeway);
}

bool put_in(Shard &s, Timer *t, uint64_t now) {
    if (!s.wheel.insert(t, tick_at(now))) return false;
    t->state = kPending;
    s.idle = s.idle + repeats(t);
    return true;
}
void take_out(Shard &s, Timer *t) {
    s.wheel.erase(t);
    s.idle = s.idle - repeats(t);
    t->state = kIdle;
}

void set_next_time(Series *s, uint64_t now) {
    if (s->repeat == Repeat::kDelay) return set_time(s, s->period > UINT64_MAX - now ? UINT64_MAX : now + s->period);
    uint64_t next = s->period > UINT64_MAX - s->nominal ? UINT64_MAX : s->nominal + s->period;
    if (next <= now && s->policy != Missed::kBurst) {
        const uint64_t passed = (now - s->nominal) / s->period;
        const bool late_one = s->policy == Missed::kCoalesce;
        s->missed += passed - late_one;
        next = s->nominal + (passed + !late_one) * s->period;
    }
    set_time(s, next);
}

Ending end_series(Shard &s, Timer *t, int32_t why) {
    t->set(kEnded);
    Group *g = s.group;
    const bool lost = why != 0 && why != kWhyCanceled;  // not by the user's own doing
    if (t->drop == nullptr && (!lost || g == nullptr || g->options().on_unrun == nullptr)) return {};
    if (g != nullptr && !g->try_ref()) g = nullptr;
    if (t->drop == nullptr && g == nullptr) return {};
    t->set(kDropping);
    return {t, g, why, false};
}

void forget_if_unused(Shard &s, Timer *t, Ending *e) {
    if (t->has(kHeld | kEntry | kDropping) || !t->has(kEnded)) return;
    s.give_record(t);
    e->forgotten = true;
}

void finish(Shard &s, Ending e) {
    if (e.drop != nullptr) {
        Timer *t = e.drop;
        const bool here = in_callback(e.group, [&] {
            ThreadRecord *self = this_thread;
            Timer *outer = self == nullptr ? nullptr : std::exchange(self->now->timer, t);
            if (t->drop != nullptr)
                t->drop(t->arg, e.why);
            else
                e.group->options().on_unrun(e.group->options().user, t->fn, t->arg, e.why);
            if (self != nullptr && this_thread == self) self->now->timer = outer;
        });
        if (!here || s.generation != registry::generation) return;  // it has forked, and this is the child
        Locked l(s.lock);
        t->clear(kDropping);
        s.ended.signal();
        forget_if_unused(s, t, &e);
    }
    if (e.forgotten) s.unref();
    if (e.group != nullptr) registry::unref(e.group);
}

}  // namespace hc
