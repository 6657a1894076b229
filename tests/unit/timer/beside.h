// A wheel beside a sorted multimap that should hold the same, and memory that ends when it is told to.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "timer/wheel.h"
namespace beside {

using namespace hc;

// Hooks that count, and that fail when they are told to.
inline struct Store {
    int64_t live = 0, requests = 0, failed = 0;
    int64_t fail_at = -1;  // the n-th request from now on, and all after it; < 0: none
    uint32_t one_in = 0;   // of all requests fails one in so many, by chance; 0: none
    std::minstd_rand chance;
} store;

inline void *store_alloc(size_t size, size_t align, void *) {
    store.requests++;
    const bool at_the_end = store.fail_at == 0;
    if (store.fail_at > 0) store.fail_at--;
    if (at_the_end || (store.one_in != 0 && store.chance() % store.one_in == 0)) {
        store.failed++;
        return nullptr;
    }
    store.live++;
    return aligned_alloc(align, (size + align - 1) / align * align);
}
inline void store_free(void *p, size_t, size_t, void *) {
    if (p != nullptr) store.live--;
    free(p);
}

inline void some_fn(void *) {}
inline void *name_of(uint64_t n) { return reinterpret_cast<void *>(static_cast<uintptr_t>(n)); }

inline constexpr uint64_t kLast = Wheel::kLastTick;
inline uint64_t later(uint64_t tick, uint64_t by) { return by > kLast - tick ? kLast : tick + by; }

// A wheel beside what it should hold.
struct Pair {
    explicit Pair(uint64_t start, uint64_t seed) : now(start), random(seed), wheel(start) {}
    ~Pair() {
        for (Timer *t : timers) delete t;
    }

    uint64_t now;
    std::mt19937_64 random;
    Wheel wheel;
    std::multimap<uint64_t, void *> model;
    std::vector<Timer *> timers;
    uint64_t names = 0;

    void forget(uint64_t tick, void *what) {
        auto [it, end] = model.equal_range(tick);
        while (it != end && it->second != what) ++it;
        ASSERT_NE(it, end) << "not known, or not at that time";
        model.erase(it);
    }

    // Near and far alike, now and then what has passed, and often the same as another.
    uint64_t some_tick() {
        if (!model.empty() && random() % 4 == 0) return model.rbegin()->first;
        const uint64_t by = random() >> (10 + random() % 54);
        if (random() % 8 == 0) return now - std::min<uint64_t>(now, by % 1000);
        return later(now, by);
    }

    void insert() {
        const uint64_t tick = some_tick();
        const Pending p{tick, some_fn, name_of(++names)};
        const int64_t failed = store.failed;
        if (wheel.insert(p, now))
            model.emplace(tick, p.arg);
        else
            EXPECT_LT(failed, store.failed) << "an insert fails for want of memory only";
    }
    void insert_timer() {
        auto t = std::make_unique<Timer>();
        t->tick = some_tick();
        if (!wheel.insert(t.get(), now)) return;
        model.emplace(t->tick, t.get());
        timers.push_back(t.release());
    }
    Timer *&some_timer() { return timers[random() % timers.size()]; }
    void move() {
        Timer *const t = some_timer();
        const uint64_t before = t->tick, tick = some_tick();
        if (!wheel.move(t, tick)) {
            EXPECT_EQ(t->tick, before);
            return;
        }
        forget(before, t);
        model.emplace(tick, t);
        EXPECT_EQ(t->tick, tick);
    }
    void erase() {
        Timer *&t = some_timer();
        wheel.erase(t);
        EXPECT_EQ(t->chunk, nullptr);
        forget(t->tick, t);
        forget_timer(t);
    }
    void forget_timer(Timer *&t) {
        delete t;
        t = timers.back();
        timers.pop_back();
    }
    void came_out(const Pending &p) {
        forget(p.due(), p.arg);
        for (Timer *&t : timers)
            if (t == p.arg) {
                EXPECT_EQ(t->chunk, nullptr);
                return forget_timer(t);
            }
    }
    void expire() {
        now = later(now, random() >> (10 + random() % 54));
        for (int calls = 0; wheel.first() <= now; calls++) {
            ASSERT_LT(calls, 100'000) << "no progress";
            const auto most = static_cast<uint32_t>(1 + random() % 50);
            std::vector<Pending> out;
            const uint32_t n = wheel.expire(now, most, [&](const Pending &p) { out.push_back(p); });
            ASSERT_EQ(n, out.size());
            ASSERT_LE(n, most);
            for (const Pending &p : out) {
                ASSERT_LE(p.due(), now) << "early";
                came_out(p);
            }
        }
        ASSERT_TRUE(model.empty() || model.begin()->first > now) << "one that is due was left behind";
    }
    void check() {
        ASSERT_EQ(wheel.size(), model.size());
        if (model.empty())
            ASSERT_EQ(wheel.first(), kNoTick);
        else
            ASSERT_LE(wheel.first(), std::max(now, model.begin()->first));
    }
    void steps(int count) {
        for (int i = 0; i < count && !testing::Test::HasFatalFailure(); i++) {
            const uint64_t what = random() % 10;
            if (what < 3)
                insert();
            else if (what < 5)
                insert_timer();
            else if (what < 6 && !timers.empty())
                erase();
            else if (what < 8 && !timers.empty())
                move();
            else
                expire();
            check();
        }
    }
    // All the rest, in random portions.
    void take_all() {
        while (wheel.size() != 0 && !testing::Test::HasFatalFailure()) {
            const auto most = static_cast<uint32_t>(1 + random() % 9);
            const uint64_t before = wheel.size();
            const uint32_t n = wheel.take_any(most, [&](const Pending &p) { came_out(p); });
            ASSERT_EQ(n, std::min<uint64_t>(most, before));
            check();
        }
    }
};

}  // namespace beside
