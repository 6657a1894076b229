// Which lanes there are, and which of them may hold something. A search costs the listed lanes, not all of them.
//
// 64 lanes are a shelf, 64 shelves a hall. A lane's bit in Shelf::listed says "look here"; a shelf's bit in
// Hall::listed says that some bit in the shelf may be set. Lanes (the group's), shelves and halls live as long as the
// group.
//
//   lane:  unlisted ──the producer finds, after a push, its bit clear: list()──> listed
//          listed   ──a worker finds it empty: unlist_empty(), heavy_fence(), a second look: relist()──> either
//
// Hazard: the producer pushes and still reads the bit as set, while the worker that clears it does not see the push.
// Both write, then read; the worker's heavy_fence between its clear and its second look pairs with the producer's
// light_fence.
// Invariant: a lane that holds an entry is listed, or its producer is inside a submit, or a worker owes it a second look.
//
// Hazard: list() sets a bit in the shelf while unlist_empty(), which found the shelf empty, is clearing the hall's. So
// unlist_empty() looks at the shelf again afterwards. For that moment the lane cannot be seen: whoever unlists looks
// everywhere once more, and sees to it that somebody is awake if anything is left, before it does anything else.
#pragma once
#include <bit>
#include <cstdint>

#include "memory/hooks.h"
#include "queue/lane.h"
namespace hc {

class Directory {
  public:
    // What one worker has unlisted and owes a second look.
    struct Unlisted {
        static constexpr uint32_t kShelves = 16;
        uint32_t n = 0;
        struct {
            uint32_t hall, shelf;
            uint64_t lanes;
        } at[kShelves];
    };

    Directory() = default;
    Directory(const Directory &) = delete;
    ~Directory() {
        for (auto &h : halls_)
            if (Hall *hall = h.load(memory_order_relaxed)) {
                for (auto &s : hall->shelves) memory::destroy(s.load(memory_order_relaxed));
                memory::destroy(hall);
            }
    }

    // Under the owner's lock. False: no memory, or 65 536 lanes already.
    bool add(Lane *lane, Listing *out) {
        const uint32_t n = count_, h = n / kHallLanes, s = n / kShelfLanes % kHallShelves, l = n % kShelfLanes;
        if (h == kHalls) return false;
        Hall *hall = grown(halls_[h]);
        Shelf *shelf = hall == nullptr ? nullptr : grown(hall->shelves[s]);
        if (shelf == nullptr) return false;
        shelf->lanes[l].store(lane, memory_order_release);  // pairs with the acquire in lane_at()
        count_ = n + 1;
        *out = Listing{hall, shelf, s, l};
        return true;
    }

    // f(lane) for the listed lanes, beginning after `*at` and ending with it, until f returns true; *at is then that
    // lane.
    template <class F>
    bool each_listed(uint32_t *at, F &&f) {
        const uint32_t start = *at + 1;
        return range(start, kEnd, at, f) || range(0, start, at, f);
    }

    template <class F>
    void each_lane(F &&f) {
        for (uint32_t h = 0; h < kHalls; h++)
            if (Hall *hall = halls_[h].load(memory_order_acquire))  // pairs with the release in grown()
                for (auto &s : hall->shelves)
                    if (Shelf *shelf = s.load(memory_order_acquire))  // pairs with the release in grown()
                        for (auto &l : shelf->lanes)
                            if (Lane *lane = l.load(memory_order_acquire)) f(lane);  // pairs with the release in add()
    }

    // Clears the bits of empty lanes, as many as `out` has room for. The caller owes a heavy_fence and then relist().
    void unlist_empty(Unlisted *out) {
        each_shelf([&](uint32_t h, uint32_t s, Hall *hall, Shelf *shelf, uint64_t listed) {
            uint64_t empty = 0;
            for (uint64_t bits = listed; bits != 0; bits &= bits - 1) {
                const uint32_t l = static_cast<uint32_t>(std::countr_zero(bits));
                if (lane_at(shelf, l)->empty()) empty |= uint64_t{1} << l;
            }
            if (empty == 0) return true;
            const uint64_t cleared = shelf->listed.fetch_and(~empty, memory_order_relaxed);
            if ((cleared & ~empty) == 0) {
                const uint64_t bit = uint64_t{1} << s;
                hall->listed.fetch_and(~bit, memory_order_acquire);  // pairs with list(): the look at the shelf comes after
                if (shelf->listed.load(memory_order_relaxed) != 0) hall->listed.fetch_or(bit, memory_order_relaxed);
            }
            out->at[out->n++] = {h, s, cleared & empty};
            return out->n < Unlisted::kShelves;
        });
    }

    // The second look. True: something was pushed meanwhile, and its lane is listed again.
    bool relist(const Unlisted &u) {
        bool found = false;
        for (uint32_t i = 0; i < u.n; i++) {
            Hall *hall = halls_[u.at[i].hall].load(memory_order_relaxed);
            Shelf *shelf = hall->shelves[u.at[i].shelf].load(memory_order_relaxed);
            for (uint64_t bits = u.at[i].lanes; bits != 0; bits &= bits - 1) {
                const uint32_t l = static_cast<uint32_t>(std::countr_zero(bits));
                if (lane_at(shelf, l)->empty()) continue;
                Listing{hall, shelf, u.at[i].shelf, l}.list();
                found = true;
            }
        }
        return found;
    }

  private:
    static constexpr uint32_t kEnd = kHalls * kHallLanes;

    static Lane *lane_at(Shelf *shelf, uint32_t l) {
        return shelf->lanes[l].load(memory_order_relaxed);  // published with its bit
    }

    template <class T>
    static T *grown(Atomic<T *> &place) {
        T *p = place.load(memory_order_relaxed);
        if (p == nullptr && (p = memory::make<T>()) != nullptr)
            place.store(p, memory_order_release);  // pairs with the acquires in each_lane, each_shelf
        return p;
    }

    // f(hall index, shelf index, hall, shelf, its listed bits) for shelves with listed lanes, until f returns false.
    template <class F>
    void each_shelf(F &&f) {
        for (uint32_t h = 0; h < kHalls; h++) {
            Hall *hall = halls_[h].load(memory_order_acquire);  // pairs with the release in grown()
            if (hall == nullptr) return;
            uint64_t bits = hall->listed.load(memory_order_acquire);  // pairs with list()
            for (; bits != 0; bits &= bits - 1) {
                const uint32_t s = static_cast<uint32_t>(std::countr_zero(bits));
                Shelf *shelf = hall->shelves[s].load(memory_order_relaxed);  // published with its bit
                if (!f(h, s, hall, shelf, shelf->listed.load(memory_order_acquire))) return;  // pairs with list()
            }
        }
    }

    // The listed lanes with numbers in [from, to).
    template <class F>
    bool range(uint32_t from, uint32_t to, uint32_t *at, F &f) {
        for (uint32_t h = from / kHallLanes; h < kHalls && h * kHallLanes < to; h++) {
            Hall *hall = halls_[h].load(memory_order_acquire);  // pairs with the release in grown()
            if (hall == nullptr) return false;
            uint64_t shelves = hall->listed.load(memory_order_acquire);  // pairs with list()
            if (h == from / kHallLanes) shelves &= ~uint64_t{0} << (from / kShelfLanes % kHallShelves);
            for (; shelves != 0; shelves &= shelves - 1) {
                const uint32_t s = static_cast<uint32_t>(std::countr_zero(shelves));
                const uint32_t first = (h * kHallShelves + s) * kShelfLanes;
                if (first >= to) return false;
                Shelf *shelf = hall->shelves[s].load(memory_order_relaxed);  // published with its bit
                uint64_t lanes = shelf->listed.load(memory_order_acquire);   // pairs with list()
                if (first < from) lanes &= ~uint64_t{0} << (from - first);
                for (; lanes != 0; lanes &= lanes - 1) {
                    const uint32_t l = static_cast<uint32_t>(std::countr_zero(lanes));
                    if (first + l >= to) return false;
                    if (f(lane_at(shelf, l))) {
                        *at = first + l;
                        return true;
                    }
                }
            }
        }
        return false;
    }

    Atomic<Hall *> halls_[kHalls] = {};
    uint32_t count_ = 0;
};

}  // namespace hc
