// Timers of a group as a whole. A single one's life: timer_life.cpp.
#include "group/timers.h"

#include "group/registry.h"
#include "group/submit.h"
#include "sync/clock.h"

namespace hc {

using enum Timer::State;
using enum Timer::Flag;

Shard *Timers::make_shard(Group *g, Submit *why_not) {
    *why_not = Submit::kForeign;
    if (g->foreign()) return nullptr;
    *why_not = Submit::kNoMemory;
    ThreadRecord *self = registry::record();
    if (self == nullptr) return nullptr;
    Atomic<Shard *> &place = shards_[self->number % kShards];
    Locked l(registry::lock);
    Shard *s = place.load(memory_order_relaxed);
    if (s != nullptr) return s;
    if (g->closed()) {
        *why_not = Submit::kClosed;
        return nullptr;
    }
    if ((s = memory::make<Shard>(g, registry::generation, now())) == nullptr) return nullptr;
    any_.store(true, memory_order_relaxed);  // first: whoever finds the shard finds this too
    place.store(s, memory_order_release);    // pairs with the acquires in shard_here() and each()
    return s;
}

void Timers::armed(Group *g, uint64_t when) {
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fences in park() and found_work(): Shard::next | the seats
    if (watch.covers(when)) return;
    for (unsigned seat = 0; seat < 2; seat++)
        if (const uint32_t worker = watch.sitting(seat); worker != Watch::kNobody && g->gate.wake(worker)) {
            g->submit_wakes.fetch_add(1, memory_order_relaxed);
            return;
        }
    if (g->after_publish()) g->submit_wakes.fetch_add(1, memory_order_relaxed);
}

uint32_t Timers::take_due(Group *g, Entry *out, uint32_t most, uint64_t now) {
    uint32_t n = 0;
    for (uint32_t i = 0, from = turn_.load(memory_order_relaxed); n == 0 && i < kShards; i++) {
        Shard *s = shards_[(from + i) % kShards].load(memory_order_acquire);  // pairs with the release in make_shard()
        while (s != nullptr && n == 0 && s->next.load(memory_order_relaxed) <= now) {
            Locked l(s->lock);
            s->wheel.expire(tick_at(now), most, [&](const Pending &p) {
                s->idle = s->idle - !waits_for(p);
                Timer *t = p.timer();
                if (t == nullptr) {
                    out[n++] = {p.fn, p.arg};
                    return;
                }
                t->state = kDue;
                if (t->has(kEntry)) return;  // an entry of its last time is still on its way, and will do
                t->set(kEntry);
                const Series *series = series_of(t);
                out[n++] = {series != nullptr && series->order ? queue_timer : run_timer, t};
            });
            s->fired.store(s->fired.load(memory_order_relaxed) + n, memory_order_relaxed);
            s->changed();
        }
        if (n != 0) turn_.store(from + i + 1, memory_order_relaxed);
    }
    if (n != 0) g->budget.force(n);
    return n;
}

Watch::Turn Timers::begin_watch(uint32_t worker) {
    const uint64_t first = next();
    return first == UINT64_MAX ? Watch::Turn{} : watch.sit_down(worker, first, now());
}

void Timers::close() {
    each([](Shard &s) {
        Locked l(s.lock);
        s.closed = true;
    });
}

bool Timers::keeping() const {
    uint64_t kept = 0;
    each([&](Shard &s) { kept += s.kept.load(memory_order_relaxed); });
    return kept != 0;
}

bool Timers::all_gone() const {
    uint64_t pending = 0;
    each([&](Shard &s) { pending += s.pending.load(memory_order_acquire); });  // pairs with the release in Shard::changed()
    return pending == 0;
}

uint64_t Timers::fired() const {
    uint64_t n = 0;
    each([&](Shard &s) { n += s.fired.load(memory_order_relaxed); });
    return n;
}

uint32_t Timers::hand_back_some(Group *g) {
    uint32_t n = 0;
    each([&](Shard &s) {
        if (n == 0) n = hand_back_pending(g, s);
    });
    return n;
}

void Timers::end() {
    for (auto &place : shards_) {
        Shard *s = place.load(memory_order_relaxed);
        if (s == nullptr) continue;
        {
            Locked l(s->lock);
            s->group = nullptr;
            s->closed = true;
            s->trim();
        }
        s->unref();
    }
}

void Timers::trim() {
    each([](Shard &s) {
        Locked l(s.lock);
        s.trim();
    });
}

Submit schedule(Group *g, Entry call, uint64_t when, uint64_t now) {
    Submit why_not;
    if (g->foreign()) return Submit::kForeign;
    if (g->gate.empty() && !g->closed() && !g->first_worker()) return Submit::kNoThread;
    if (when <= now) return submit_ready(g, call);
    Shard *s = g->timers.shard_here(g, &why_not);
    if (s == nullptr) return why_not;
    if (s->generation != registry::generation) return Submit::kForeign;
    const uint64_t tick = std::min(tick_of(when), Wheel::kLastTick);
    bool first;
    {
        Locked l(s->lock);
        if (s->closed) return Submit::kClosed;
        const Pending p{tick, call.fn, call.arg};
        if (!s->wheel.insert(p, tick_at(now))) return Submit::kNoMemory;
        s->idle = s->idle + !waits_for(p);
        first = s->changed();
    }
    if (first) g->timers.armed(g, time_of(tick));
    return Submit::kOk;
}

}  // namespace hc
