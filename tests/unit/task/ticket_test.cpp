#include "task/ticket.h"

#include <gtest/gtest.h>

#include "group/group.h"

namespace {

int runs = 0;
void count(void *) { runs++; }

hc::Ticket *ticket(hc::Recycler<hc::Ticket> &home) {
    hc::Ticket *t = home.take();
    t->fn = count;
    t->home = &home;
    t->state.store(hc::Ticket::kQueued, std::memory_order_relaxed);
    return t;
}

}  // namespace

TEST(Ticket, RunsOnceAndGivesItsRecordBack) {
    hc::Recycler<hc::Ticket> home;
    hc::Ticket *t = ticket(home);
    runs = 0;
    hc::Ticket::run(t);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(home.take(), t);
    home.give(t);
}

// An entry may be dead when it is popped: claimed by somebody else while it was queued.
TEST(Ticket, ADeadEntryRunsNothingButGivesItsRecordBack) {
    hc::Recycler<hc::Ticket> home;
    hc::Ticket *t = ticket(home);
    EXPECT_TRUE(t->claim());
    EXPECT_FALSE(t->claim());
    runs = 0;
    hc::Ticket::run(t);
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(home.take(), t);
    home.give(t);
}
