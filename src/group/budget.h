// The room of a bounded group: `capacity` units, each either free, or held ahead by a submitter, or spent on a queued task.
// Submitters take small portions, so that the common word is written once for several tasks. Portions shrink as submitters
// multiply: what all of them together may hold without using it stays below a sixth of the capacity.
#pragma once
#include <algorithm>
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Budget {
  public:
    explicit Budget(uint64_t capacity) : capacity_(capacity), free_(capacity) {}
    bool bounded() const { return capacity_ != 0; }

    // At least `least` if there is that much room, otherwise what there is. `holders`: how many submitters hold portions.
    uint64_t take(uint64_t least, uint64_t holders) {
        const uint64_t portion = std::clamp<uint64_t>(capacity_ / 64 / std::max<uint64_t>(holders, 1), 1, 32);
        uint64_t room = free_.load(memory_order_relaxed), got;
        do {
            got = std::min(room, std::max(least, portion));
            if (got == 0) return 0;
        } while (!free_.compare_exchange_weak(room, room - got, memory_order_relaxed, memory_order_relaxed));
        return got;
    }
    void give(uint64_t n) { free_.fetch_add(n, memory_order_relaxed); }

  private:
    const uint64_t capacity_;
    alignas(64) Atomic<uint64_t> free_;
};

}  // namespace hc
