// A lane's place in the directory (directory.h), and what its producer does there.
#pragma once
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Lane;

struct Shelf {
    Atomic<uint64_t> listed{0};
    Atomic<Lane *> lanes[64] = {};
};

struct Hall {
    Atomic<uint64_t> listed{0};
    Atomic<Shelf *> shelves[64] = {};
};

struct Listing {
    Hall *hall = nullptr;
    Shelf *shelf = nullptr;
    uint32_t shelf_index = 0, lane_index = 0;

    bool listed() const { return (shelf->listed.load(memory_order_relaxed) >> lane_index & 1) != 0; }

    void list() const {
        // acq_rel: pairs with the fetch_ands of Directory::unlist_empty() on both words, so that one of the two sees
        // the other
        if (shelf->listed.fetch_or(uint64_t{1} << lane_index, memory_order_acq_rel) == 0)
            hall->listed.fetch_or(uint64_t{1} << shelf_index, memory_order_acq_rel);
    }
};

}  // namespace hc
