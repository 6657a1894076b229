#include "queue/backlog.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <set>

namespace {

// A backlog beside a std::deque of numbers; a task's `arg` is its number. Its blocks are counted.
struct Beside {
    hc::Backlog backlog;
    std::deque<uintptr_t> model;
    std::set<hc::Block *> out;
    uintptr_t made = 0;

    ~Beside() { EXPECT_TRUE(out.empty()) << "a block was not given back"; }
    void add() {
        hc::Block *b = backlog.needs_block() ? new hc::Block : nullptr;
        if (b != nullptr) out.insert(b);
        model.push_back(++made);
        backlog.add({nullptr, reinterpret_cast<void *>(made)}, b);
        check();
    }
    void pop() {
        model.pop_front();
        if (hc::Block *b = backlog.pop()) {
            EXPECT_EQ(out.erase(b), 1u);
            delete b;
        }
        check();
    }
    // Everything that is ahead, in order, without taking it out.
    void check() {
        ASSERT_EQ(backlog.count(), model.size());
        ASSERT_LE(out.size(), model.size() / hc::kBlock + 1);
        if (model.empty()) return;
        hc::Backlog::Ahead ahead;
        ahead.look(backlog);
        ASSERT_EQ(number(backlog.head), model.front());
        for (size_t i = 1; i < model.size(); i++) ASSERT_EQ(number(ahead.next()), model[i]);
    }
    static uintptr_t number(const hc::Entry &e) { return reinterpret_cast<uintptr_t>(e.arg); }
};

}  // namespace

TEST(Backlog, FirstInFirstOutForAnyMixture) {
    for (unsigned seed = 0; seed < 200; seed++) {
        std::mt19937 random(seed);
        Beside both;
        for (int i = 0; i < 300; i++) {
            const unsigned longer = i < 200 ? 1 + seed % 3 : 0;  // of 4; at last it gets empty
            if (random() % 4 < 1 + longer && i < 200)
                both.add();
            else if (!both.model.empty())
                both.pop();
        }
        while (!both.model.empty()) both.pop();
    }
}

TEST(Backlog, WhatIsKnownStaysThereWhileMoreIsAdded) {
    for (int before = 1; before < 12; before++)
        for (int out = 0; out < before; out++) {
            Beside both;
            for (int i = 0; i < before; i++) both.add();
            for (int i = 0; i < out; i++) both.pop();
            hc::Backlog::Ahead ahead;
            ahead.look(both.backlog);
            const auto known = both.model;
            for (int i = 0; i < 10; i++) both.add();
            for (size_t i = 1; i < known.size(); i++) EXPECT_EQ(Beside::number(ahead.next()), known[i]);
            while (!both.model.empty()) both.pop();
        }
}

TEST(Backlog, AShortOneNeedsNoBlock) {
    Beside both;
    for (int i = 0; i < 100; i++) {
        both.add();
        both.add();
        both.add();
        EXPECT_TRUE(both.out.empty());
        both.pop();
        both.pop();
        both.pop();
    }
}
