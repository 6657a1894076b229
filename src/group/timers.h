// The timers of a group: shards of them, any worker fires them, one or two keep watch.
#pragma once
#include <utility>

#include "group/outbox.h"
#include "group/watch.h"
#include "queue/entry.h"
#include "timer/timer.h"
namespace hc {

enum class Submit;

class Timers {
  public:
    static constexpr uint32_t kShards = 16;

    bool any() const { return any_.load(memory_order_relaxed); }
    // No timer is due before; kNever (UINT64_MAX): none is pending.
    uint64_t next() const {
        uint64_t first = UINT64_MAX;
        each([&](Shard &s) { first = std::min(first, s.next.load(memory_order_relaxed)); });
        return first;
    }
    template <class F>
    void each(F &&f) const {
        if (!any()) return;
        for (auto &shard : shards_)
            if (Shard *s = shard.load(memory_order_acquire)) f(*s);  // pairs with the release in make_shard()
    }

    // Of the calling thread.
    Shard *shard_here(Group *g, Submit *why_not) {
        if (const ThreadRecord *self = this_thread)
            // acquire: pairs with the release in make_shard()
            if (Shard *s = shards_[self->number % kShards].load(memory_order_acquire)) return s;
        return make_shard(g, why_not);
    }
    void armed(Group *g, uint64_t when);           // a timer is now the first of its shard

    // ---- workers ----
    // Moves up to `most` timers that are due at `now` out of one shard. 0: there is none.
    uint32_t take_due(Group *g, Entry *out, uint32_t most, uint64_t now);
    Watch::Turn begin_watch(uint32_t worker);
    // Between announcing and sleeping: is there a timer that nobody would wake up for?
    bool missed(const Watch::Turn &turn) const {
        const uint64_t first = next();
        return first != UINT64_MAX && (turn.seat == 2 ? watch.has_room() : first < turn.covers);
    }
    void end_watch(const Watch::Turn &turn, bool timed_out) { watch.get_up(turn, timed_out); }
    bool uncovered() const {
        const uint64_t first = next();
        return first != UINT64_MAX && !watch.covers(first);
    }

    // ---- the end of the group ----
    void close();          // under the registry's lock: nothing is armed any more
    bool keeping() const;  // of a closed group: are there timers that still run?
    bool all_gone() const;
    uint32_t hand_back_some(Group *g);  // pending ones, until a callback has run. 0: there is none
    uint64_t fired() const;
    void end();

    void trim();
    Watch watch;

  private:
    Shard *make_shard(Group *g, Submit *why_not);

    Atomic<bool> any_{false};
    Atomic<uint32_t> turn_{0};
    Atomic<Shard *> shards_[kShards] = {};
};

struct TimerOptions {
    Entry call{nullptr, nullptr};
    void (*drop)(void *, int32_t) = nullptr;
    const char *label = nullptr;
    uint64_t when = UINT64_MAX, period = 0, leeway = 0;
    uint64_t run_limit = 0;  // 0: the group's, UINT64_MAX: none
    bool interrupt = false;
    Ordering order;  // of a key
    Repeat repeat = Repeat::kOnce;
    Missed policy = Missed::kCoalesce;
};

enum class TimerWas { kPending, kRunning, kDone, kEnded, kNoMemory, kClosed, kNotPeriodic };

Submit schedule(Group *g, Entry call, uint64_t when, uint64_t now);
Submit timer_make(Group *g, const TimerOptions &o, uint64_t now, Timer **out);  // out == nullptr: without a handle
TimerWas timer_arm(Timer *t, uint64_t when, uint64_t period, uint64_t now);     // period 0: as it was
TimerWas timer_cancel(Timer *t);
bool timer_wait(Timer *t, uint64_t deadline);  // until no body runs, and no drop; false: timed out
uint64_t timer_due(Timer *t);                  // when it is to fire next; UINT64_MAX: not
uint64_t timer_missed(Timer *t);
void timer_ref(Timer *t);
void timer_unref(Timer *t);
bool timer_stops(Timer *t);  // has its series ended, though its body runs?

void run_timer(void *timer);    // the entry's fn
void queue_timer(void *timer);  // the same of one that has a key
void hand_back_timer(Timer *t, int32_t why);  // an entry that will not run
uint32_t hand_back_pending(Group *g, Shard &s);  // see Timers::hand_back_some()

}  // namespace hc
