#include "sync/clock.h"

#include <gtest/gtest.h>

TEST(Clock, IsMonotonicAndCountsNanoseconds) {
    const uint64_t a = hc::now(), b = hc::now();
    EXPECT_LE(a, b);
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    EXPECT_GE(static_cast<uint64_t>(t.tv_sec), a / 1'000'000'000u);
}

TEST(Clock, ADelayThatIsTooLongIsNever) {
    EXPECT_EQ(hc::after(UINT64_MAX), UINT64_MAX);
    EXPECT_EQ(hc::after(UINT64_MAX - 1), UINT64_MAX);
    EXPECT_GT(hc::after(1'000), hc::now());
}
