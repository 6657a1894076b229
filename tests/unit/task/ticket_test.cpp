#include "task/ticket.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "group/group.h"

namespace {

int runs = 0;
void count(void *) { runs++; }

hc::Ticket *ticket(hc::Recycler<hc::Ticket> &home, uint64_t expires_at) {
    hc::Ticket *t = home.take();
    if (t == nullptr) std::abort();
    t->carry({count, nullptr, nullptr});
    t->home = &home;
    t->expires_at = expires_at;
    t->enqueue();
    return t;
}

constexpr uint64_t kFar = UINT64_MAX - 1;

}  // namespace

TEST(Ticket, RunsOnceAndGivesItsRecordBack) {
    for (uint64_t expires_at : {kFar, uint64_t{UINT64_MAX}}) {
        hc::Recycler<hc::Ticket> home;
        hc::Ticket *t = ticket(home, expires_at);
        runs = 0;
        hc::Ticket::run(t);
        EXPECT_EQ(runs, 1);
        EXPECT_EQ(home.take(), t);
        home.give(t);
    }
}

// An entry may be dead when it is popped: claimed by somebody else while it was queued.
TEST(Ticket, ADeadEntryRunsNothingButGivesItsRecordBack) {
    hc::Recycler<hc::Ticket> home;
    hc::Ticket *t = ticket(home, kFar);
    hc::Ticket::Call call;
    EXPECT_FALSE(t->expire(kFar - 1, &call));
    EXPECT_TRUE(t->expire(kFar, &call));
    EXPECT_EQ(call.fn, count);
    EXPECT_FALSE(t->expire(kFar, &call));
    EXPECT_FALSE(t->claim());
    runs = 0;
    hc::Ticket::run(t);
    EXPECT_EQ(runs, 0);
    EXPECT_EQ(home.take(), t);
    home.give(t);
}

TEST(Ticket, AFreeRecordDoesNotExpire) {
    hc::Recycler<hc::Ticket> home;
    hc::Ticket::Call call;
    hc::Ticket *t = ticket(home, UINT64_MAX);
    EXPECT_TRUE(t->claim());
    t->expires_at = 1;
    EXPECT_FALSE(t->expire(2, &call));
    home.give(t);
}
