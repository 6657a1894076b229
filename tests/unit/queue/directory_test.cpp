#include "queue/directory.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

struct Lanes {
    hc::RingPool pool;
    hc::Directory directory;
    std::vector<std::unique_ptr<hc::Lane>> lanes;

    explicit Lanes(size_t n) {
        for (size_t i = 0; i < n; i++) {
            lanes.push_back(std::make_unique<hc::Lane>(pool));
            EXPECT_TRUE(lanes.back()->start());
            EXPECT_TRUE(directory.add(lanes.back().get(), &lanes.back()->listing));
        }
    }
    void push(size_t i) {
        lanes[i]->push({nullptr, nullptr});
        if (!lanes[i]->listing.listed()) lanes[i]->listing.list();
    }
    size_t index(const hc::Lane *lane) const {
        for (size_t i = 0; i < lanes.size(); i++)
            if (lanes[i].get() == lane) return i;
        return SIZE_MAX;
    }
    std::vector<size_t> listed() {
        std::vector<size_t> seen;
        uint32_t at = 0;
        directory.each_listed(&at, [&](hc::Lane *lane) {
            seen.push_back(index(lane));
            return false;
        });
        return seen;
    }
};

}  // namespace

TEST(Directory, OnlyListedLanesAreSearchedWhereverTheyStand) {
    Lanes l(4200);  // more than a hall
    EXPECT_TRUE(l.listed().empty());
    for (size_t i : {0u, 63u, 64u, 4095u, 4096u, 4199u}) l.push(i);
    EXPECT_EQ(l.listed(), (std::vector<size_t>{63, 64, 4095, 4096, 4199, 0}));  // after lane 0, and round to it
    size_t all = 0;
    l.directory.each_lane([&](hc::Lane *) { all++; });
    EXPECT_EQ(all, 4200u);
}

TEST(Directory, ARoundServesEachListedLaneOnceBeforeAnyTwice) {
    Lanes l(130);
    for (size_t i = 0; i < 130; i += 3) l.push(i);
    uint32_t at = 17;
    std::vector<size_t> order;
    for (int i = 0; i < 88; i++)
        ASSERT_TRUE(l.directory.each_listed(&at, [&](hc::Lane *lane) {
            order.push_back(l.index(lane));
            return true;
        }));
    EXPECT_EQ(order[0], 18u);
    for (size_t i = 0; i < 44; i++) {
        EXPECT_EQ(order[i], order[i + 44]);
        for (size_t k = 0; k < i; k++) EXPECT_NE(order[i], order[k]);
    }
}

TEST(Directory, EmptyLanesAreUnlistedAndOnesWithALatePushComeBack) {
    Lanes l(200);
    hc::Entry e;
    for (size_t i = 0; i < 200; i++) {
        l.push(i);
        if (i % 2 == 0) {
            ASSERT_TRUE(l.lanes[i]->try_claim());
            l.lanes[i]->pop(&e, 1);
            l.lanes[i]->release();
        }
    }
    hc::Directory::Unlisted u;
    l.directory.unlist_empty(&u);
    EXPECT_EQ(l.listed().size(), 100u);
    l.lanes[4]->push({nullptr, nullptr});  // still believes that it is listed
    EXPECT_TRUE(l.directory.relist(u));
    EXPECT_EQ(l.listed().size(), 101u);
    EXPECT_TRUE(l.lanes[4]->listing.listed());
    EXPECT_FALSE(l.lanes[2]->listing.listed());
}

TEST(Directory, ItsLastLaneIsTheLast) {
    hc::RingPool pool;
    hc::Directory d;
    hc::Lane lane(pool);
    hc::Listing listing;
    for (uint32_t i = 0; i < hc::kHalls * 4096; i++) ASSERT_TRUE(d.add(&lane, &listing));
    EXPECT_FALSE(d.add(&lane, &listing));
    listing.list();
    uint32_t at = hc::kHalls * 4096 - 1;
    EXPECT_TRUE(d.each_listed(&at, [](hc::Lane *) { return true; }));
    EXPECT_EQ(at, hc::kHalls * 4096 - 1);
}
