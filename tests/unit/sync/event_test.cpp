#include "sync/event.h"

#include <gtest/gtest.h>

#include <thread>

#include "sync/clock.h"

TEST(Event, ASignalAfterPrepareEndsTheWaitThatComesLater) {
    hc::Event e;
    const uint32_t ticket = e.prepare();
    e.signal();
    EXPECT_TRUE(e.wait(ticket, hc::kNever));
    e.done();
}

TEST(Event, AWaitEndsAtItsDeadline) {
    hc::Event e;
    const uint32_t ticket = e.prepare();
    EXPECT_TRUE(e.awaited());
    while (e.wait(ticket, hc::after(1'000'000))) {
    }
    e.done();
    EXPECT_FALSE(e.awaited());
}

TEST(Event, WakesEveryWaiter) {
    hc::Event e;
    std::atomic<bool> set{false};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 8; i++)
        waiters.emplace_back([&] {
            for (;;) {
                const uint32_t ticket = e.prepare();
                const bool done = set.load();
                if (!done) e.wait(ticket, hc::kNever);
                e.done();
                if (done) return;
            }
        });
    set.store(true);
    e.signal();
    for (auto &w : waiters) w.join();
}
