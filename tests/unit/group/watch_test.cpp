#include "group/watch.h"

#include <gtest/gtest.h>

namespace {

using hc::Watch;
constexpr uint64_t kSecond = 1'000'000'000, kNoEnd = UINT64_MAX;

}  // namespace

TEST(Watch, TwoSitAndTheOthersSleepWithoutAnEnd) {
    Watch w;
    EXPECT_TRUE(w.has_room());
    EXPECT_FALSE(w.covers(kNoEnd - 1));
    const Watch::Turn first = w.sit_down(7, kSecond, 0);
    EXPECT_EQ(first.seat, 0u);
    EXPECT_EQ(first.until, kSecond);
    EXPECT_EQ(w.sitting(0), 7u);
    EXPECT_TRUE(w.has_room());
    const Watch::Turn second = w.sit_down(3, kSecond, 0);
    EXPECT_EQ(second.seat, 1u);
    EXPECT_EQ(second.until, kSecond + Watch::kPatience) << "it comes when the first one does not";
    EXPECT_FALSE(w.has_room());
    const Watch::Turn third = w.sit_down(5, kSecond, 0);
    EXPECT_EQ(third.seat, 2u);
    EXPECT_EQ(third.until, kNoEnd);
    w.get_up(third, false);
    EXPECT_EQ(w.sitting(0), 7u);
    EXPECT_EQ(w.sitting(1), 3u);
    w.get_up(first, true);
    EXPECT_EQ(w.sitting(0), Watch::kNobody);
    EXPECT_TRUE(w.covers(kSecond)) << "the second one still sits";
    w.get_up(second, false);
    EXPECT_FALSE(w.covers(kSecond));
}

TEST(Watch, CoversWhatIsNotEarlierThanWhatItWaitsFor) {
    Watch w;
    const Watch::Turn turn = w.sit_down(0, kSecond, 0);
    EXPECT_FALSE(w.covers(kSecond - 1));
    EXPECT_TRUE(w.covers(kSecond));
    EXPECT_TRUE(w.covers(kNoEnd));
    w.get_up(turn, false);
    EXPECT_FALSE(w.covers(kSecond));
}

TEST(Watch, AFarTimerIsWaitedForWithoutOverflow) {
    Watch w;
    const Watch::Turn first = w.sit_down(0, kNoEnd - 1, kSecond), second = w.sit_down(1, kNoEnd - 1, kSecond);
    EXPECT_EQ(first.until, kNoEnd - 1);
    EXPECT_EQ(second.until, kNoEnd);
    EXPECT_FALSE(first.nap);
    w.get_up(first, false);
    w.get_up(second, false);
}

// A burst of wake-ups is granted; after that they come at their rest's pace, and a nap covers all that may be armed meanwhile.
TEST(Watch, RestsAfterABurst) {
    Watch w;
    uint64_t now = 10 * kSecond;
    bool rested = false;
    for (uint64_t i = 0; i < 10 * Watch::kBurst / Watch::kRest && !rested; i++) {
        const Watch::Turn turn = w.sit_down(0, now + 1000, now);
        if (turn.until == now + 1000) {
            EXPECT_EQ(turn.covers, now + 1000);
            now = turn.until;
        } else {
            rested = true;
            const Watch::Turn second = w.sit_down(1, now + kSecond, now);
            EXPECT_EQ(second.covers, now + kSecond);
            w.get_up(second, false);
            EXPECT_EQ(turn.until, now + Watch::kRest);
            EXPECT_TRUE(w.covers(0)) << "who arms meanwhile wakes nobody";
            EXPECT_TRUE(turn.nap);
        }
        w.get_up(turn, true);
    }
    EXPECT_TRUE(rested);
    const Watch::Turn far = w.sit_down(0, now + kSecond, now);
    EXPECT_EQ(far.until, now + kSecond);
    EXPECT_FALSE(w.covers(now + 1000)) << "a rest is short: one that is armed meanwhile must not wait for a second";
    w.get_up(far, false);
    now += kSecond;
    const Watch::Turn turn = w.sit_down(0, now + 1000, now);
    EXPECT_EQ(turn.until, now + 1000) << "it has rested enough";
    w.get_up(turn, true);
}

TEST(Watch, OnlyTheFirstSeatPaysAndOnlyForATimeout) {
    Watch w;
    uint64_t now = 10 * kSecond;
    for (uint64_t i = 0; i < 10 * Watch::kBurst / Watch::kRest; i++, now += 1000) {
        const Watch::Turn first = w.sit_down(0, now + 1000, now), second = w.sit_down(1, now + 1000, now);
        ASSERT_EQ(first.until, now + 1000);
        w.get_up(first, false);
        w.get_up(second, true);
    }
}
