#include "queue/recycler.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace {
struct Node {
    Node *next_free = nullptr, *made_before = nullptr;
    bool goes = false;
};
}  // namespace

TEST(Recycler, TakesBackWhatWasGivenAndMakesNoMore) {
    hc::Recycler<Node> r;
    std::set<Node *> made;
    std::vector<Node *> last;
    for (int i = 0; i < 10; i++) made.insert(r.take());
    EXPECT_EQ(made.size(), 10u);
    for (Node *n : made) r.give(n);
    for (int i = 0; i < 10; i++) {
        Node *n = r.take();
        EXPECT_EQ(made.erase(n), 1u);
        last.push_back(n);
    }
    for (Node *n : last) r.give(n);
}

TEST(Recycler, TrimFreesWhatWasGivenBack) {
    hc::Recycler<Node> r;
    r.give(r.take());
    r.trim();
    r.give(r.take());
}

TEST(Recycler, ManyGiversOneTaker) {
    hc::Recycler<Node> r;
    std::atomic<Node *> slot[4] = {};
    std::atomic<bool> stop{false};
    std::vector<std::thread> givers;
    for (auto &s : slot)
        givers.emplace_back([&] {
            while (!stop.load())
                if (Node *n = s.exchange(nullptr)) r.give(n);
        });
    for (int i = 0; i < 40'000; i++) {
        Node *n = r.take();
        Node *none = nullptr;
        if (!slot[i % 4].compare_exchange_strong(none, n)) r.give(n);
    }
    stop.store(true);
    for (auto &g : givers) g.join();
    for (auto &s : slot)
        if (Node *n = s.load()) r.give(n);
}
