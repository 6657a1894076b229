#include "task/frame.h"

#include <gtest/gtest.h>

#include "group/worker.h"

// What an inline fork and join will compile into programs; CONTRIBUTING names these offsets.
TEST(Frame, LayoutsThatInlineForksWillFreeze) {
    EXPECT_EQ(sizeof(hc::ForkFrame), 64u);
    EXPECT_EQ(offsetof(hc::ForkFrame, fn), 0u);
    EXPECT_EQ(offsetof(hc::ForkFrame, arg), 8u);
    EXPECT_EQ(offsetof(hc::ForkFrame, state), 16u);
    EXPECT_EQ(offsetof(hc::WorkerPrefix, top), 0u);
    EXPECT_EQ(offsetof(hc::WorkerPrefix, limit), 8u);
    EXPECT_EQ(offsetof(hc::WorkerPrefix, split), 16u);
    EXPECT_EQ(sizeof(hc::WorkerPrefix), 32u);
    alignas(hc::Worker) unsigned char room[sizeof(hc::Worker)];
    auto *w = reinterpret_cast<hc::Worker *>(room);
    EXPECT_EQ(static_cast<void *>(&w->prefix), static_cast<void *>(w)) << "the prefix is the worker's first member";
}
