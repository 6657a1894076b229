#include "queue/lane.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

hc::Entry numbered(uintptr_t n) { return {nullptr, reinterpret_cast<void *>(n)}; }
uintptr_t number(const hc::Entry &e) { return reinterpret_cast<uintptr_t>(e.arg); }

struct LaneTest : testing::Test {
    hc::RingPool pool;
    hc::Lane lane{pool};
    void SetUp() override { ASSERT_TRUE(lane.start()); }
};

}  // namespace

TEST_F(LaneTest, KeepsOrderThroughGrowthAndThroughRetiredRings) {
    uintptr_t in = 0, out = 0;
    std::vector<hc::Entry> some(300);
    ASSERT_TRUE(lane.try_claim());
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 100 + round; i++) ASSERT_TRUE(lane.push(numbered(in++)));
        const size_t n = lane.pop(some.data(), 90 + static_cast<size_t>(round));
        for (size_t i = 0; i < n; i++) ASSERT_EQ(number(some[i]), out++);
        ASSERT_EQ(lane.queued(), in - out);
    }
    while (const size_t n = lane.pop(some.data(), some.size()))
        for (size_t i = 0; i < n; i++) ASSERT_EQ(number(some[i]), out++);
    EXPECT_EQ(in, out);
    EXPECT_TRUE(lane.empty());
}

TEST_F(LaneTest, TakesABatchLargerThanAnyRing) {
    const size_t n = (1u << 20) + 1;
    std::vector<hc::Entry> all;
    for (uintptr_t i = 0; i < n; i++) all.push_back(numbered(i));
    EXPECT_EQ(lane.push(all.data(), n), n);
    EXPECT_EQ(lane.queued(), n);
    ASSERT_TRUE(lane.try_claim());
    std::vector<hc::Entry> some(1000);
    uintptr_t out = 0;
    while (const size_t got = lane.pop(some.data(), some.size()))
        for (size_t i = 0; i < got; i++) ASSERT_EQ(number(some[i]), out++);
    EXPECT_EQ(out, n);
}

TEST_F(LaneTest, HasOneConsumerAtATime) {
    EXPECT_TRUE(lane.try_claim());
    EXPECT_FALSE(lane.try_claim());
    lane.release();
    EXPECT_TRUE(lane.try_claim());
}

TEST_F(LaneTest, ALatePushIsTakenBackWhole) {
    ASSERT_TRUE(lane.push(numbered(1)));
    ASSERT_TRUE(lane.try_claim());
    lane.close();
    std::vector<hc::Entry> late(40, numbered(7)), out(41);
    ASSERT_EQ(lane.push(late.data(), late.size()), late.size());
    EXPECT_EQ(lane.pop(out.data(), out.size()), 1u);
    EXPECT_EQ(lane.pop(out.data(), out.size()), 0u);
    EXPECT_EQ(lane.uncount_late(), late.size());
    EXPECT_EQ(lane.pushed_total(), 1u);
    EXPECT_TRUE(lane.empty());
}

TEST_F(LaneTest, WhatWasPushedBeforeTheCloseStays) {
    ASSERT_TRUE(lane.push(numbered(1)));
    ASSERT_TRUE(lane.try_claim());
    lane.close();
    lane.close();
    EXPECT_EQ(lane.uncount_late(), 0u);
    hc::Entry e;
    EXPECT_EQ(lane.pop(&e, 1), 1u);
}
