#include "queue/ring.h"

#include <gtest/gtest.h>

TEST(Ring, HoldsWhatItsClassSays) {
    for (uint32_t c = 0; c < hc::Ring::kClasses; c++) {
        hc::Ring r(c);
        size_t n = 0;
        while (r.slots.push({nullptr, nullptr})) n++;
        EXPECT_EQ(n, hc::Ring::capacity(c));
    }
}

TEST(RingPool, GivesTheLastRingBackFirstAndTrimsAll) {
    hc::RingPool pool;
    hc::Ring *a = pool.take(0), *b = pool.take(0), *big = pool.take(3);
    EXPECT_EQ(big->size_class, 3u);
    a->next.store(b, std::memory_order_relaxed);
    pool.give(b);
    pool.give(a);
    pool.give(big);
    EXPECT_EQ(pool.take(0), a);
    EXPECT_EQ(a->next.load(std::memory_order_relaxed), nullptr);
    EXPECT_EQ(pool.take(3), big);
    pool.give(a);
    EXPECT_EQ(pool.take(4), a) << "a smaller ring rather than new memory, and the last one given first";
    pool.give(a);
    pool.give(big);
    pool.trim();
}
