// The life of a timer that has a handle or fires more than once. What is not Atomic here is guarded by the lock of its shard.
//
//   kIdle ──arm──> kPending ──due──> kDue ──its entry is run──> kRunning ──> kIdle, or kPending for the next time
//                  kPending, kDue ──arm──> kPending, or kIdle for never
//                  kPending, kDue ──cancel──> kIdle
//
//   state      in the wheel   an entry in a batch (kEntry)              what runs
//   kIdle      no             a dead one, perhaps                       nothing
//   kPending   yes            a dead one, perhaps: it was put off       nothing
//   kDue       no             yes                                       nothing
//   kRunning   no             yes, the one that runs it                 fn, once at a time
//
// Its series ends once (kEnded), and never before a body that runs has returned: cancelled, by the last handle, or by the end of its
// group. The drop is called then, without the lock (kDropping). The record goes back to its shard when the series has ended and
// nothing names it any more: no handle, no entry, no drop that runs.
#pragma once
#include "memory/slabs.h"
#include "queue/order.h"
#include "sync/event.h"
#include "sync/lock.h"
#include "sync/mutex.h"
#include "timer/wheel.h"
namespace hc {

class Group;

enum class Repeat : uint8_t { kOnce, kRate, kDelay };
enum class Missed : uint8_t { kCoalesce, kBurst, kSkip };

// What a timer needs only if it repeats, or has a label, a leeway, a limit or a key.
struct Series : Timer {
    const char *label = nullptr;
    uint64_t nominal = 0;  // when it should fire, or should have fired last
    uint64_t period = 0;
    uint64_t leeway = 0;
    uint64_t missed = 0;
    uint64_t run_limit = UINT64_MAX;
    bool interrupt = false;
    Ordering order;  // of a key
    Repeat repeat = Repeat::kOnce;
    Missed policy = Missed::kCoalesce;
};
inline Series *series_of(Timer *t) { return t->has(Timer::kSeries) ? static_cast<Series *>(t) : nullptr; }
inline bool repeats(Timer *t) { return series_of(t) != nullptr && series_of(t)->repeat != Repeat::kOnce; }
// After HC_SHUTDOWN_RUN_TIMERS: it fires once, and not never.
inline bool waits_for(const Pending &p) {
    if (Timer *t = p.timer()) return !repeats(t);
    return p.tick != Wheel::kLastTick;
}

// Some of a group's timers, under one lock. Threads are spread over the shards; a timer stays where it was made.
struct alignas(64) Shard {
    Shard(Group *g, uint32_t fork_generation, uint64_t now) : generation(fork_generation), wheel(tick_at(now)), group(g) {}
    Shard(const Shard &) = delete;

    const uint32_t generation;  // of processes, see registry.h
    // The group's, and one for each record in use. Whoever frees the lock has one until afterwards; whoever drops one touches nothing
    // any more.
    Atomic<uint64_t> refs{1};
    void unref() {
        if (refs.fetch_sub(1, memory_order_acq_rel) == 1) memory::destroy(this);  // pairs with itself: all use before the end
    }
    Lock lock;
    // Under the lock:
    Wheel wheel;
    Plain<Group *> group;  // nullptr: it has ended
    Plain<bool> closed{false};
    Plain<uint64_t> idle{0};  // of those in the wheel, the ones that a closed group does not wait for: see waits_for()
    Slabs<Timer> timers;
    Slabs<Series> series;
    // Written under the lock, read by anyone:
    Atomic<uint64_t> pending{0};
    Atomic<uint64_t> kept{0};     // of those, the ones that run after HC_SHUTDOWN_RUN_TIMERS
    Atomic<uint64_t> fired{0};    // entries that went into batches, and timers that were handed back
    Atomic<uint64_t> dropped{0};  // of those, the latter
    Event ended;                  // a body has returned, or a drop
    // Read at each look for work, and so on a line that is written only when it changes:
    alignas(64) Atomic<uint64_t> next{UINT64_MAX};  // a time before which nothing here is due

    // After a change to the wheel. True: its first entry is now an earlier one.
    bool changed() {
        const uint64_t first = wheel.first(), time = first == kNoTick ? UINT64_MAX : time_of(first);
        const uint64_t before = next.load(memory_order_relaxed);
        if (time != before) next.store(time, memory_order_relaxed);
        kept.store(wheel.size() - idle, memory_order_relaxed);
        pending.store(wheel.size(), memory_order_release);  // pairs with the acquire in Timers::all_gone(): `fired`
        return time < before;
    }

    void give_record(Timer *t) {
        if (Series *more = series_of(t))
            series.give(more);
        else
            timers.give(t);
    }
    void trim() {
        wheel.trim();
        timers.trim();
        series.trim();
    }
};

}  // namespace hc
