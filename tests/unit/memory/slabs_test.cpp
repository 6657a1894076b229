#include "memory/slabs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace {

struct Record {
    void *arg = nullptr;
    uint64_t used_by = 0;
    uint8_t place = 0;
};
using Slabs = hc::Slabs<Record>;

struct Used {
    Slabs slabs;
    std::vector<Record *> records;
    size_t made = 0;
    bool eases = false;

    void take() {
        Record *r = slabs.take();
        if (r == nullptr) {
            slabs.add(Slabs::make());
            made++;
            r = slabs.take();
        }
        ASSERT_NE(r, nullptr);
        ASSERT_EQ(r->used_by, 0u) << "it is somebody's";
        r->used_by = 1;
        records.push_back(r);
    }
    void give(size_t i) {
        std::swap(records[i], records.back());
        records.back()->used_by = 0;
        slabs.give(records.back());
        records.pop_back();
    }
    void give_all_in_any_order(unsigned seed) {
        std::shuffle(records.begin(), records.end(), std::mt19937(seed));
        while (!records.empty()) {
            give(records.size() - 1);
            if (eases) slabs.ease();
        }
    }
    // How many can be had without another slab. They stay taken.
    size_t there() {
        size_t n = 0;
        for (const size_t before = made; (take(), made == before); n++) {
        }
        give(records.size() - 1);
        return n;
    }
};

}  // namespace

TEST(Slabs, NoRecordIsTwoPeoples) {
    for (unsigned seed = 0; seed < 20; seed++) {
        std::mt19937 random(seed);
        Used u;
        for (int i = 0; i < 20'000; i++) {
            if (u.records.empty() || random() % 100 < (i / 5000 % 2 == 0 ? 70u : 30u))
                u.take();
            else
                u.give(random() % u.records.size());
            if (i % 1000 == 0) u.slabs.trim();
        }
    }
}

TEST(Slabs, WhatWasGivenBackIsTakenAgain) {
    Used u;
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned i = 0; i < 30 * Slabs::kRoom; i++) u.take();
        u.give_all_in_any_order(round);
    }
    EXPECT_EQ(u.made, 30u);
}

TEST(Slabs, AnEasedBurstsMemoryGoesWithoutATrim) {
    Used u;
    u.eases = true;
    for (unsigned i = 0; i < 1000 * Slabs::kRoom; i++) u.take();
    EXPECT_EQ(u.made, 1000u);
    u.give_all_in_any_order(1);
    EXPECT_LE(u.there(), 2 * Slabs::kRoom);
}

TEST(Slabs, ATrimLeavesNoneThatIsUnused) {
    Used u;
    for (unsigned i = 0; i < 10 * Slabs::kRoom; i++) u.take();
    Record *last = u.records.back();
    u.records.pop_back();
    u.give_all_in_any_order(2);
    u.slabs.trim();
    u.records.push_back(last);
    EXPECT_LT(u.there(), Slabs::kRoom);
    u.give_all_in_any_order(3);
    u.slabs.trim();
    EXPECT_EQ(u.slabs.take(), nullptr);
}
