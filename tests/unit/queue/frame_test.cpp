#include "queue/frame.h"

#include <gtest/gtest.h>
#include <homecooking/homecooking.h>

#include "queue/deque.h"

// What the inline functions of homecooking.h have compiled into programs.
TEST(Frame, LayoutsThatInlineForksFreeze) {
    EXPECT_EQ(sizeof(hc_fork), 64u);
    EXPECT_EQ(offsetof(hc_fork, fn), 0u);
    EXPECT_EQ(offsetof(hc_fork, arg), 8u);
    EXPECT_EQ(sizeof(hc_worker), 16u);
    EXPECT_EQ(offsetof(hc_worker, fork), 0u);
    EXPECT_EQ(offsetof(hc_worker, forks), 8u);
    EXPECT_EQ(offsetof(hc_forks, top), 0u);
    EXPECT_EQ(offsetof(hc_forks, limit), 8u);
    EXPECT_EQ(offsetof(hc_forks, split), 16u);
    hc::Deque deque(nullptr);
    EXPECT_EQ(static_cast<void *>(&deque.prefix), static_cast<void *>(&deque)) << "the prefix is the first member";
    ASSERT_TRUE(deque.start());
    EXPECT_EQ(deque.top()->deque, &deque);
    EXPECT_EQ(deque.top()[-1].deque, &deque) << "what a join at the beginning of a chunk asks";
}
