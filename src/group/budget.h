// The room of a bounded group: `capacity` units, each either free, or held ahead by a submitter, or spent on a queued
// task. Submitters take small portions, so that the common word is written once for several tasks. Portions shrink as
// submitters multiply: what all of them together may hold without using it stays below a sixth of the capacity. A
// queued task's unit comes back when the task starts, if it is the first of its batch, otherwise at the end of the
// batch. Batches are small where capacity is: see most_in_batch().
#pragma once
#include <algorithm>
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Budget {
  public:
    explicit Budget(uint64_t capacity) : capacity_(capacity), free_(capacity) {}
    bool bounded() const { return capacity_ != 0; }

    // At least `least` if there is that much room, otherwise what there is. `holders`: how many submitters hold
    // portions.
    uint64_t take(uint64_t least, uint64_t holders) {
        const uint64_t portion = std::clamp<uint64_t>(capacity_ / 64 / std::max<uint64_t>(holders, 1), 1, 256);
        uint64_t room = free_.load(memory_order_relaxed), got;
        do {
            if (static_cast<int64_t>(room) <= 0) return 0;
            got = std::min(room, std::max(least, portion));
        } while (!free_.compare_exchange_weak(room, room - got, memory_order_relaxed, memory_order_relaxed));
        return got;
    }
    // What cannot be refused, though there may be no room: free_ is then below zero for a while.
    void force(uint64_t n = 1) {
        if (bounded()) free_.fetch_sub(n, memory_order_relaxed);
    }
    bool half_empty() const {
        const auto free = static_cast<int64_t>(free_.load(memory_order_relaxed));
        return free >= 0 && static_cast<uint64_t>(free) >= capacity_ / 2;
    }
    void give(uint64_t n) {
        if (bounded() && n != 0) free_.fetch_add(n, memory_order_relaxed);
    }

    // All batches together hold back at most a 64th of the capacity, or one task each.
    uint32_t most_in_batch(uint32_t workers, uint32_t most) const {
        return bounded() ? static_cast<uint32_t>(std::clamp<uint64_t>(capacity_ / 64 / workers, 1, most)) : most;
    }

  private:
    const uint64_t capacity_;
    alignas(64) Atomic<uint64_t> free_;
};

}  // namespace hc
