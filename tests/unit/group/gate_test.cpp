#include "group/gate.h"

#include <gtest/gtest.h>

namespace {

struct GateTest : testing::Test {
    hc::Atomic<uint64_t> beds[2]{};
    hc::Parker parkers[100];
    hc::Gate gate;
    hc::Watch watch;
    void SetUp() override { gate.start(beds, parkers, 100, &watch); }
    uint32_t parked() const { return hc::Gate::parked(gate.read()); }
    template <class Left>
    uint32_t found(Left left) {
        return gate.found_work(left, [this](uint32_t wanted) { return gate.wake_one(wanted) == hc::Gate::Wake::kWoken; });
    }
    uint32_t searching() const { return hc::Gate::searching(gate.read()); }
};

}  // namespace

TEST_F(GateTest, ASubmitterPassesUnlessSomebodySleepsOrItIsClosed) {
    EXPECT_TRUE(hc::Gate::open(gate.read()));
    ASSERT_TRUE(gate.begin_search(1));
    EXPECT_TRUE(hc::Gate::open(gate.read())) << "a searcher is nobody to wake";
    gate.announce(3, true);
    EXPECT_FALSE(hc::Gate::open(gate.read()));
    EXPECT_TRUE(gate.cancel(3));
    gate.stop_searching();
    EXPECT_TRUE(hc::Gate::open(gate.read()));
    gate.raise(hc::Gate::kClosed);
    EXPECT_FALSE(hc::Gate::open(gate.read()));
    EXPECT_TRUE(gate.closed());
}

TEST_F(GateTest, AtMostSoManySearch) {
    EXPECT_TRUE(gate.begin_search(2));
    EXPECT_TRUE(gate.begin_search(2));
    EXPECT_FALSE(gate.begin_search(2));
}

TEST_F(GateTest, OneWakeIsInFlightAtATimeAndGoesToTheLowest) {
    gate.announce(70, false);
    gate.announce(5, false);
    EXPECT_EQ(parked(), 2u);
    EXPECT_EQ(gate.after_publish(), hc::Gate::Wake::kWoken);
    EXPECT_EQ(parked(), 1u);
    EXPECT_EQ(searching(), 1u);
    EXPECT_EQ(gate.after_publish(), hc::Gate::Wake::kNobody) << "the woken one searches already";
    gate.sleep(5);  // returns: its token is there
    EXPECT_EQ(found([](uint32_t) { return 1u; }), 1u);
    gate.sleep(70);
    EXPECT_EQ(parked(), 0u);
}

TEST_F(GateTest, TheLastSearcherWakesNobodyWhenNothingIsLeft) {
    gate.announce(1, false);
    ASSERT_TRUE(gate.begin_search(1));
    EXPECT_EQ(found([](uint32_t) { return 0u; }), 0u);
    EXPECT_EQ(parked(), 1u);
    EXPECT_EQ(searching(), 0u);
}

TEST_F(GateTest, ASearcherWakesAsManyAsThereIsWorkForUpToFour) {
    for (uint32_t i = 0; i < 10; i++) gate.announce(i, false);
    ASSERT_TRUE(gate.begin_search(1));
    EXPECT_EQ(found([](uint32_t most) { return most < 3 ? most : 3u; }), 3u);
    EXPECT_EQ(searching(), 3u);
    EXPECT_EQ(found([](uint32_t most) { return most; }), 2u) << "two of the four search already";
    EXPECT_EQ(searching(), 4u);
    for (uint32_t i = 0; i < 5; i++) gate.sleep(i);
}

TEST_F(GateTest, ACancelAfterAWakeLeavesTheTokenToBeTaken) {
    gate.announce(9, false);
    ASSERT_EQ(gate.wake_one(), hc::Gate::Wake::kWoken);
    EXPECT_FALSE(gate.cancel(9));
    gate.sleep(9);
    EXPECT_EQ(searching(), 1u);
}

// A permission is never given back: a canceller whose bit was taken wakes another, so that nobody sees `parked` too low.
TEST_F(GateTest, ACancelWhoseBedIsTakenPassesItsWakeOn) {
    gate.announce(9, false);
    gate.announce(10, false);
    ASSERT_EQ(gate.wake_one(), hc::Gate::Wake::kWoken);  // takes bed 9
    EXPECT_FALSE(gate.cancel(9));
    EXPECT_EQ(parked(), 0u);
    gate.sleep(9);
    gate.sleep(10);
}

TEST_F(GateTest, WakesACertainWorkerOrNone) {
    gate.announce(64, false);
    EXPECT_FALSE(gate.wake(63));
    EXPECT_TRUE(gate.wake(64));
    gate.sleep(64);
    EXPECT_FALSE(gate.wake(64));
}

TEST_F(GateTest, WakesAll) {
    for (uint32_t i = 0; i < 100; i++) gate.announce(i, false);
    gate.wake_all();
    EXPECT_EQ(parked(), 0u);
    for (uint32_t i = 0; i < 100; i++) gate.sleep(i);
}
