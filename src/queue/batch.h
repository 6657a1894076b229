// What a worker has taken out of a lane and is running, one by one, while others may take the rest.
//
// Tasks are numbered through the worker's life. The batch holds the numbers [base_, limit_);
// entries_[k - base_] is task k.
//
//   field            written by                                    read by
//   cursor_          owner                                         anyone
//   limit_           holder of lock_ (owner: refill, insert; thief)   owner, and peekers
//   entries_, base_  owner in refill and insert, under lock_       owner; thief and onlooker, under lock_
//
// The owner takes task k by a store and a load:   cursor_ = k+1;  light_fence();  k < limit_ ?
// A thief, under lock_, takes the upper half:     limit_ = base_; heavy_fence();  c = cursor_; take from [c, old limit)
//
// Invariant: task k is run by the owner if and only if the last limit_ it reads after raising cursor_ is above k.
// Hazard: both take task k. The fences forbid that the owner misses limit_ == base_ AND the thief misses cursor_ ==
// k+1. If the thief sees k+1, it leaves k to the owner, and says so in limit_ before it unlocks. If the owner sees the
// lowered limit, it asks under the lock (settle), where limit_ is final. Both seeing the other is decided by the lock
// alone. A refill waits for the thief in the same lock, so a thief never reads entries of two batches.
#pragma once
#include <cstddef>
#include <cstdint>

#include "queue/entry.h"
#include "sync/fence.h"
#include "sync/mutex.h"
namespace hc {

template <uint32_t N>
class BasicBatch {
  public:
    static constexpr uint32_t kSize = N;

    // ---- the owner ----
    // fill(entries) -> how many, at most N. Only when take() has returned false.
    template <class Fill>
    uint32_t refill(Fill &&fill) {
        Locked l(lock_);
        const uint64_t from = cursor_.load(memory_order_relaxed);
        base_ = from;
        const uint32_t n = static_cast<uint32_t>(fill(entries_));
        limit_.store(from + n, memory_order_relaxed);
        return n;
    }

    // The same for one task more, which comes before those that are left: it takes the place of the one before, which has begun.
    // They are numbered anew. Not between a refill and the first take().
    template <class Fill>
    bool insert(Fill &&fill) {
        Locked l(lock_);
        Entry e;
        if (fill(&e) == 0) return false;
        const uint64_t next = cursor_.load(memory_order_relaxed);
        if (next != base_) base_ = base_ + 1;  // otherwise a refill has found nothing: it is empty
        entries_[next - base_] = e;
        limit_.store(limit_.load(memory_order_relaxed) + 1, memory_order_relaxed);
        return true;
    }

    // The same with one task, which the owner has at once: no thief comes between.
    void begin(Entry e) {
        Locked l(lock_);
        const uint64_t from = cursor_.load(memory_order_relaxed);
        base_ = from;
        entries_[0] = e;
        cursor_.store(from + 1, memory_order_relaxed);
        limit_.store(from + 1, memory_order_relaxed);
    }

    bool take(Entry *out) {
        const uint64_t k = cursor_.load(memory_order_relaxed);
        cursor_.store(k + 1, memory_order_relaxed);
        light_fence();  // pairs with heavy_fence in take_from_owner(): cursor_ | limit_
        if (__builtin_expect(k >= limit_.load(memory_order_relaxed), 0) && !settle(k)) return false;
        *out = entries_[k - base_];
        return true;
    }

    // ---- a thief ----
    // Moves the upper half of what is left, rounded up, to out (room for N). 0 also when another thief is at it.
    uint32_t steal(Entry *out) {
        if (!has_rest() || !lock_.try_lock()) return 0;
        const uint32_t n = take_from_owner(out, 2);
        lock_.unlock();
        return n;
    }
    // All that is left.
    uint32_t steal_all(Entry *out) {
        Locked l(lock_);
        return take_from_owner(out, 1);
    }

    // ---- anyone ----
    bool has_rest() const { return cursor_.load(memory_order_relaxed) < limit_.load(memory_order_relaxed); }
    uint64_t rest() const {
        const uint64_t at = cursor_.load(memory_order_relaxed), limit = limit_.load(memory_order_relaxed);
        return at < limit ? limit - at : 0;
    }
    // Tasks begun so far; one too few while a thief or the owner is between two steps.
    uint64_t begun() const {
        const uint64_t at = cursor_.load(memory_order_relaxed), limit = limit_.load(memory_order_relaxed);
        return at > limit ? at - 1 : at;
    }
    // The task that the owner is in, or has just left. False: there is none, or somebody changes the batch now.
    bool current(Entry *out) {
        if (!lock_.try_lock()) return false;
        const uint64_t next = cursor_.load(memory_order_relaxed);
        const bool there = next > base_ && next - base_ <= N;
        if (there) *out = entries_[next - 1 - base_];
        lock_.unlock();
        return there;
    }
    uint64_t cursor() const { return cursor_.load(memory_order_relaxed); }

    // In a forked child, by its only thread: whatever was left belongs to the parent. Takes no lock.
    void abandon() {
        abandoned_ = true;
        limit_.store(0, memory_order_relaxed);
    }

  private:
    uint32_t take_from_owner(Entry *out, uint32_t share) {  // one in `share`, rounded up; under lock_
        const uint64_t limit = limit_.load(memory_order_relaxed);
        limit_.store(base_, memory_order_relaxed);
        heavy_fence();  // pairs with light_fence in take(): limit_ | cursor_
        const uint64_t next = cursor_.load(memory_order_relaxed);
        uint64_t keep = limit;
        if (next < limit) keep = limit - (limit - next + share - 1) / share;
        const uint32_t n = static_cast<uint32_t>(limit - keep);
        for (uint32_t i = 0; i < n; i++) out[i] = entries_[keep - base_ + i];
        limit_.store(keep, memory_order_relaxed);
        return n;
    }

    __attribute__((noinline)) bool settle(uint64_t k) {
        if (abandoned_) return false;
        Locked l(lock_);
        if (k < limit_.load(memory_order_relaxed)) return true;
        cursor_.store(k, memory_order_relaxed);
        return false;
    }

    Atomic<uint64_t> cursor_{0};
    Atomic<uint64_t> limit_{0};
    Plain<uint64_t> base_{0};
    bool abandoned_ = false;
    Mutex lock_;
    Entry entries_[N];
};

#ifdef HC_SYNC_MODEL
using Batch = BasicBatch<4>;
#else
using Batch = BasicBatch<256>;
#endif

}  // namespace hc
