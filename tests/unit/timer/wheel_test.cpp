#include "timer/wheel.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "beside.h"

namespace {

using namespace beside;

struct WheelTest : testing::Test {
    static void SetUpTestSuite() { ASSERT_TRUE(memory::set_hooks(store_alloc, store_free, nullptr)); }
    void SetUp() override { store = {}; }
    void TearDown() override { EXPECT_EQ(store.live, 0) << "a leak"; }
};

// Beginnings beside which the digits wrap.
std::vector<uint64_t> starts(std::mt19937_64 &random) {
    std::vector<uint64_t> all = {0, kLast - 5, kLast, (uint64_t{1} << 53) - 1000};
    for (unsigned digit = 1; digit < Wheel::kDigits; digit++)
        all.push_back((uint64_t{1} << digit * Wheel::kDigitBits) - random() % 250);
    for (unsigned bits : {32u, 63u - kTickBits}) all.push_back((uint64_t{1} << bits) - 500 + random() % 1000);
    all.push_back(random() >> kTickBits);
    return all;
}

}  // namespace

TEST(Ticks, ADeadlineIsRoundedUpAndTheClockDown) {
    EXPECT_EQ(tick_of(0), 0u);
    EXPECT_EQ(tick_of(1), 1u);
    EXPECT_EQ(tick_of(1023), 1u);
    EXPECT_EQ(tick_of(1024), 1u);
    EXPECT_EQ(tick_of(1025), 2u);
    EXPECT_EQ(tick_at(1023), 0u);
    EXPECT_EQ(tick_at(1024), 1u);
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; i++) {
        const uint64_t when = random() >> random() % 64, tick = tick_of(when);
        EXPECT_GE(time_of(tick), when) << "early";
        EXPECT_TRUE(when > UINT64_MAX - 1024 || time_of(tick) - when < 1024);
        EXPECT_LE(time_of(tick_at(when)), when);
        EXPECT_EQ(tick_at(time_of(std::min(tick, kLast))), std::min(tick, kLast));
    }
}

TEST(Ticks, TheEndOfTimeIsNever) {
    EXPECT_GT(tick_of(UINT64_MAX), kLast);
    EXPECT_EQ(time_of(tick_of(UINT64_MAX)), UINT64_MAX);
    EXPECT_EQ(time_of(kNoTick), UINT64_MAX);
    EXPECT_GE(tick_at(UINT64_MAX), kLast) << "it is reached";
    EXPECT_LT(time_of(kLast), UINT64_MAX);
}

// Who comes with an old clock finds what has been put in since, and does not look for ever.
TEST_F(WheelTest, AnOldClockComesToAnEnd) {
    Wheel wheel(50);
    Timer t;
    t.tick = 95;
    ASSERT_TRUE(wheel.insert(&t, 100));
    ASSERT_TRUE(wheel.move(&t, 99));
    uint32_t n = 0;
    for (int calls = 0; wheel.first() <= 97; calls++) {
        ASSERT_LT(calls, 10);
        n += wheel.expire(97, 8, [](const Pending &) {});
    }
    if (n == 0) wheel.erase(&t);
}

// However late somebody comes: by tick, and within a tick as they came in.
TEST_F(WheelTest, KeepsTheOrder) {
    std::mt19937_64 random(9);
    for (uint64_t start : starts(random)) {
        Wheel wheel(start);
        uint64_t now = start;
        std::multimap<uint64_t, uint64_t> waiting;  // in the order of insertion where equal
        for (uint64_t name = 1; name <= 3000; name++) {
            const uint64_t tick = later(now, random() >> (44 + random() % 20));
            ASSERT_TRUE(wheel.insert({tick, some_fn, name_of(name)}, now));
            waiting.emplace(tick, name);
            if (random() % 16 != 0) continue;
            now = later(now, random() >> (44 + random() % 20));
            while (wheel.first() <= now)
                wheel.expire(now, static_cast<uint32_t>(1 + random() % 20), [&](const Pending &p) {
                    ASSERT_FALSE(waiting.empty());
                    EXPECT_EQ(waiting.begin()->first, p.tick);
                    EXPECT_EQ(name_of(waiting.begin()->second), p.arg);
                    waiting.erase(waiting.begin());
                });
        }
    }
}

TEST_F(WheelTest, IsASortedMultimapWhateverHappens) {
    std::mt19937_64 random(7);
    for (uint64_t seed = 0; seed < 12 && !HasFatalFailure(); seed++)
        for (uint64_t start : starts(random)) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << ", start " << start);
            Pair p(start, seed);
            p.steps(1000);
            if (seed % 2 == 0) p.take_all();
            if (seed % 3 == 0) p.wheel.trim();
            if (seed % 4 == 0) p.steps(100);
        }
}

TEST_F(WheelTest, IsOneWithoutMemoryToo) {
    std::mt19937_64 random(8);
    for (uint64_t seed = 0; seed < 12 && !HasFatalFailure(); seed++)
        for (uint64_t start : starts(random)) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << ", start " << start);
            store.one_in = static_cast<uint32_t>(1 + seed % 4);
            Pair p(start, seed);
            if (seed % 4 == 0) {  // some memory, and then none at all
                store.one_in = 0;
                p.steps(200);
                p.wheel.trim();
                store.one_in = 1;
            }
            p.steps(600);
            p.take_all();
            store.one_in = 0;
        }
    EXPECT_GT(store.failed, 0);
}

// Each of the first requests of a schedule is, in its turn, the one from which on there is nothing.
TEST_F(WheelTest, SurvivesTheEndOfMemoryAtEachRequest) {
    int64_t n = 0;
    for (bool reached = true; reached && n < 60 && !HasFatalFailure(); n++) {
        SCOPED_TRACE(testing::Message() << "request " << n);
        store.failed = 0;
        store.fail_at = n;
        Pair p(12'345, 3);
        p.steps(300);
        reached = store.failed != 0;
        store.fail_at = -1;
        p.steps(100);
        p.take_all();
    }
    EXPECT_GT(n, 10);
}

TEST_F(WheelTest, AnInsertThatFailsChangesNothing) {
    Wheel w(1000);
    store.fail_at = 0;
    EXPECT_FALSE(w.insert({2000, some_fn, nullptr}, 1000));
    EXPECT_EQ(w.size(), 0u);
    EXPECT_EQ(w.first(), kNoTick);
    store.fail_at = -1;
    ASSERT_TRUE(w.insert({5000, some_fn, nullptr}, 1000));
    Timer t;
    t.tick = 6000;
    ASSERT_TRUE(w.insert(&t, 1000));
    w.trim();
    store.fail_at = 0;
    EXPECT_FALSE(w.move(&t, 1500)) << "there is no room in that slot";
    EXPECT_EQ(t.tick, 6000u);
    EXPECT_EQ(w.first(), 5000u);
    EXPECT_TRUE(w.move(&t, 9000)) << "to put it off needs no memory";
    store.fail_at = -1;
    EXPECT_EQ(w.expire(8999, 10, [](const Pending &) {}), 1u);
    while (w.size() != 0) w.expire(9000, 10, [&](const Pending &p) { EXPECT_EQ(p.timer(), &t); });
}

// Its entry cannot go where it belongs, and time goes on nevertheless.
TEST_F(WheelTest, WithoutMemoryWhatWasPutOffHoldsNobodyUp) {
    Wheel w(0);
    Timer t;
    t.tick = 300;
    ASSERT_TRUE(w.insert(&t, 0));
    ASSERT_TRUE(w.insert({600, some_fn, nullptr}, 0));
    ASSERT_TRUE(w.move(&t, 100'000));
    w.trim();
    store.fail_at = 0;
    uint32_t out = 0;
    for (int calls = 0; calls < 1000 && w.first() <= 700; calls++) out += w.expire(700, 10, [](const Pending &) {});
    EXPECT_EQ(out, 1u) << "the other one is due";
    EXPECT_GT(w.first(), 700u) << "nothing is, any more";
    for (int calls = 0; calls < 1000 && w.size() != 0; calls++) w.expire(100'000, 10, [](const Pending &) {});
    EXPECT_EQ(w.size(), 0u);
}

TEST_F(WheelTest, ManyOnOneTickComeOutInPortions) {
    for (uint64_t distance : {0u, 1u, 300u, 70'000u, 20'000'000u}) {
        Wheel w(5);
        constexpr uint64_t kMany = 5000;
        for (uint64_t i = 0; i < kMany; i++) ASSERT_TRUE(w.insert({5 + distance, some_fn, name_of(i)}, 5));
        if (distance != 0) {
            EXPECT_EQ(w.expire(4 + distance, 10, [](const Pending &) {}), 0u) << "early";
        }
        std::vector<bool> seen(kMany);
        uint64_t out = 0;
        for (int calls = 0; w.size() != 0; calls++) {
            ASSERT_LT(calls, 10'000);
            out += w.expire(5 + distance, 7, [&](const Pending &p) {
                const auto i = reinterpret_cast<uintptr_t>(p.arg);
                EXPECT_FALSE(seen[i]) << "twice";
                seen[i] = true;
            });
        }
        EXPECT_EQ(out, kMany);
    }
}

// Whoever puts a timer off pays nothing, and nobody is told too early.
TEST_F(WheelTest, WhatIsPutOffAgainAndAgainTakesNoMemory) {
    Wheel w(0);
    Timer t;
    t.tick = 1000;
    ASSERT_TRUE(w.insert(&t, 0));
    const int64_t requests = store.requests;
    for (uint64_t now = 0; now < 100'000; now += 10) {
        ASSERT_TRUE(w.move(&t, now + 1000));
        ASSERT_EQ(w.expire(now, 10, [](const Pending &) {}), 0u);
    }
    EXPECT_LE(store.requests, requests + 2 * Wheel::kDigits);
    EXPECT_EQ(w.size(), 1u);
    w.erase(&t);
    EXPECT_EQ(w.first(), kNoTick);
}

TEST_F(WheelTest, AnEmptyOneJumps) {
    Wheel w(0);
    for (uint64_t now = 1; now < kLast / 3; now = now * 3 + 1) {
        ASSERT_TRUE(w.insert({now + 1, some_fn, nullptr}, now));
        EXPECT_EQ(w.first(), now + 1);
        EXPECT_EQ(w.expire(now, 1, [](const Pending &) {}), 0u);
        EXPECT_EQ(w.expire(now + 1, 1, [](const Pending &) {}), 1u);
        EXPECT_EQ(w.size(), 0u);
    }
}

TEST_F(WheelTest, ABurstOfTheSameSizeFindsItsMemoryAgain) {
    Wheel w(0);
    uint64_t now = 0;
    int64_t requests = 0;
    for (int round = 0; round < 6; round++, now += 1'000'000) {
        if (round == 2) requests = store.requests;
        for (uint64_t i = 0; i < 3000; i++) ASSERT_TRUE(w.insert({now + 70'000, some_fn, nullptr}, now));
        while (w.size() != 0) w.expire(now + 70'000, 256, [](const Pending &) {});
    }
    EXPECT_LE(store.requests, requests + 4) << "it does not grow with the rounds";
    w.trim();
    EXPECT_EQ(store.live, 0);
}
