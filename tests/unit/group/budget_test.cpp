#include "group/budget.h"

#include <gtest/gtest.h>

#include <vector>

TEST(Budget, NeverGivesMoreThanThereIs) {
    for (uint64_t capacity : {1u, 7u, 64u, 1000u, 100000u}) {
        hc::Budget b(capacity);
        uint64_t out = 0;
        while (const uint64_t got = b.take(1, 8)) out += got;
        EXPECT_EQ(out, capacity);
        b.give(3);
        EXPECT_LE(b.take(10, 1), 3u);
    }
}

TEST(Budget, PortionsShrinkWithTheHoldersSoThatLittleIsHeldUnused) {
    for (uint64_t capacity : {100u, 10'000u, 1'000'000u}) {
        hc::Budget b(capacity);
        uint64_t held = 0;  // each holder spends one unit of its portion
        for (uint64_t holders = 1; holders <= 10'000 && held < capacity; holders++) {
            const uint64_t got = b.take(1, holders);
            if (got == 0) break;
            held += got - 1;
        }
        EXPECT_LE(held, capacity / 6) << capacity;
    }
}

TEST(Budget, UnboundedTakesNoNotice) {
    hc::Budget b(0);
    EXPECT_FALSE(b.bounded());
    b.give(5);
    b.force();
    EXPECT_EQ(b.most_in_batch(8, 256), 256u);
}

TEST(Budget, BatchesAreSmallWhereCapacityIs) {
    EXPECT_EQ(hc::Budget(100).most_in_batch(8, 256), 1u);
    EXPECT_EQ(hc::Budget(65'536).most_in_batch(8, 256), 128u);
    EXPECT_EQ(hc::Budget(1u << 30).most_in_batch(8, 256), 256u);
}

TEST(Budget, WhatIsForcedIsOwed) {
    hc::Budget b(10);
    uint64_t out = 0;
    while (const uint64_t got = b.take(1, 1)) out += got;
    ASSERT_EQ(out, 10u);
    b.force();
    b.force();
    EXPECT_FALSE(b.half_empty());
    b.give(2);
    EXPECT_EQ(b.take(1, 1), 0u);
    b.give(1);
    EXPECT_EQ(b.take(1, 1), 1u);
}
