#include "queue/batch.h"

#include <gtest/gtest.h>

namespace {

hc::Entry numbered(uintptr_t n) { return {nullptr, reinterpret_cast<void *>(n)}; }
uintptr_t number(const hc::Entry &e) { return reinterpret_cast<uintptr_t>(e.arg); }

struct BatchTest : testing::Test {
    hc::BasicBatch<8> batch;
    hc::Entry e{}, loot[8];
    uint32_t fill(uint32_t n) {
        return batch.refill([&](hc::Entry *out) {
            for (uint32_t i = 0; i < n; i++) out[i] = numbered(100 + i);
            return n;
        });
    }
};

}  // namespace

TEST_F(BatchTest, OwnerTakesInOrderAndThenNothing) {
    EXPECT_FALSE(batch.take(&e));
    for (int round = 0; round < 3; round++) {
        EXPECT_EQ(fill(5), 5u);
        EXPECT_EQ(batch.rest(), 5u);
        for (uintptr_t i = 0; i < 5; i++) {
            ASSERT_TRUE(batch.take(&e));
            EXPECT_EQ(number(e), 100 + i);
        }
        EXPECT_FALSE(batch.take(&e));
        EXPECT_FALSE(batch.take(&e));
    }
    EXPECT_EQ(batch.cursor(), 15u);
}

TEST_F(BatchTest, AThiefTakesTheUpperHalfAndTheLastOneToo) {
    fill(8);
    ASSERT_TRUE(batch.take(&e));
    EXPECT_EQ(batch.steal(loot), 4u);  // of 7
    EXPECT_EQ(number(loot[0]), 104u);
    EXPECT_EQ(batch.steal(loot), 2u);
    EXPECT_EQ(batch.steal(loot), 1u);
    EXPECT_EQ(number(loot[0]), 101u);
    EXPECT_EQ(batch.steal(loot), 0u);
    EXPECT_FALSE(batch.take(&e));
    EXPECT_EQ(batch.cursor(), 1u);
    fill(2);
    ASSERT_TRUE(batch.take(&e));
    EXPECT_EQ(number(e), 100u);
}

TEST_F(BatchTest, StealAllLeavesTheOwnerNothing) {
    fill(8);
    batch.take(&e);
    EXPECT_EQ(batch.steal_all(loot), 7u);
    EXPECT_FALSE(batch.has_rest());
    EXPECT_FALSE(batch.take(&e));
    EXPECT_EQ(batch.steal_all(loot), 0u);
}

TEST_F(BatchTest, AnAbandonedBatchIsOver) {
    fill(8);
    batch.take(&e);
    batch.abandon();
    EXPECT_FALSE(batch.take(&e));
}
