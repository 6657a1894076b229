// A lane's place in the directory (directory.h), and what its producer does there.
#pragma once
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Lane;

#ifdef HC_SYNC_MODEL
constexpr uint32_t kShelfLanes = 2, kHallShelves = 2, kHalls = 1;
#else
constexpr uint32_t kShelfLanes = 64, kHallShelves = 64, kHalls = 16;
#endif
constexpr uint32_t kHallLanes = kHallShelves * kShelfLanes;

struct Shelf {
    Atomic<uint64_t> listed{0};
    Atomic<Lane *> lanes[kShelfLanes] = {};
};

struct Hall {
    Atomic<uint64_t> listed{0};
    Atomic<Shelf *> shelves[kHallShelves] = {};
};

struct Listing {
    Hall *hall = nullptr;
    Shelf *shelf = nullptr;
    uint32_t shelf_index = 0, lane_index = 0;

    bool listed() const { return (shelf->listed.load(memory_order_relaxed) >> lane_index & 1) != 0; }

    void list() const {
        // release: who sees the bit finds the shelf and the lane; pairs with the acquires in Directory, of both words. The
        // hall's bit is set in any case: whoever owes it may be slow.
        shelf->listed.fetch_or(uint64_t{1} << lane_index, memory_order_release);
        hall->listed.fetch_or(uint64_t{1} << shelf_index, memory_order_release);
    }
};

}  // namespace hc
