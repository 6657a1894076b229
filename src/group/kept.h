// The lines of sticky keys that a worker keeps for itself between two of their turns, instead of queueing them where anyone may take
// them. A queue like a lane: what is put in counts as queued, until it is taken out and begun.
//
//   put     by its worker, after a turn of the line; under the lock of the line's shard, and not after a shutdown
//   take    by its worker, which takes turns between these and everything else; by another that has seen it stand in one and the same
//           batch for kStuckAfter (find.cpp); by who hands back
//   unput   by its worker, which goes to rest: the line queues in a lane again
//
// Rule: who has such lines, and goes into a task, is watched: by one of those that have nothing to do, asleep for at most kLook at a
// time (sleep.cpp), or, where all are busy, by their looks at others in between. The sentinel counts kept lines as queued.
#pragma once
#include <cstdint>

#include "group/line.h"
#include "sync/lock.h"
#include "sync/mutex.h"
namespace hc {

#ifdef HC_SYNC_MODEL
constexpr uint64_t kStuckAfter = 2, kLook = 1;
#else
constexpr uint64_t kStuckAfter = 2'000'000, kLook = 1'000'000;  // ns
#endif

class Kept {
  public:
    bool empty() const { return put_.load(memory_order_relaxed) == taken_.load(memory_order_relaxed); }
    uint64_t put_total() const { return put_.load(memory_order_relaxed); }

    void put(Line *l) {
        Locked lock(lock_);
        l->arg = nullptr;
        if (first_ == nullptr)
            first_ = l;
        else
            last_->arg = l;
        last_ = l;
        put_.store(put_.load(memory_order_relaxed) + 1, memory_order_relaxed);
    }
    Line *take() {
        Locked lock(lock_);
        Line *l = pop();
        if (l != nullptr) taken_.store(taken_.load(memory_order_relaxed) + 1, memory_order_relaxed);
        return l;
    }
    // After the line has been queued elsewhere: queue(line) -> whether it could be.
    template <class Queue>
    bool unput(Queue &&queue) {
        Line *l;
        {
            Locked lock(lock_);
            l = pop();
        }
        if (l == nullptr) return false;
        const bool queued = queue(l);
        Locked lock(lock_);
        if (queued) {
            put_.store(put_.load(memory_order_relaxed) - 1, memory_order_relaxed);
            return true;
        }
        l->arg = first_;
        if (first_ == nullptr) last_ = l;
        first_ = l;
        return false;
    }

  private:
    Line *pop() {
        Line *l = first_;
        if (l != nullptr) first_ = static_cast<Line *>(l->arg);
        return l;
    }

    Lock lock_;
    Plain<Line *> first_{nullptr}, last_{nullptr};
    Atomic<uint64_t> put_{0}, taken_{0};
};

}  // namespace hc
