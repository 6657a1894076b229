// Guards against: memory, or time for each search, that grows with the number of threads that ever submitted.
#include "stress.hpp"

using namespace stress;

void before_all() { memory::install(); }

namespace {

std::atomic<uint64_t> ran;
void count(void *) { ran.fetch_add(1, std::memory_order_relaxed); }

class Submitters : public Shaped {};

// One after the other: each finds what the one before has left.
TEST_P(Submitters, a_thread_leaves_nothing_behind) {
    const int threads = scaled(2000);
    group g(GetParam().fixed());
    ran = 0;
    int64_t bytes_after_first = 0;
    uint64_t lanes_after_first = 0;
    for (int i = 0; i < threads; ++i) {
        std::thread([&] {
            for (int k = 0; k < 10; ++k) submit(g, count, nullptr);
            hc_task_options options = HC_TASK_OPTIONS_INIT;
            options.fn = count;
            options.label = "last words";
            must(hc_task_submit(g, &options, nullptr), "hc_task_submit");
        }).join();
        drain(g);
        if (i == 20) {
            bytes_after_first = memory::bytes;
            lanes_after_first = stats(g).lanes;
        }
    }
    EXPECT_EQ(ran.load(), static_cast<uint64_t>(threads) * 11);
    EXPECT_LE(stats(g).lanes, lanes_after_first + 1);
    EXPECT_LE(memory::bytes.load(), bytes_after_first + 16 * 1024);
}

// A crowd that stays together: nobody leaves before everybody has submitted.
struct meeting {
    hc_group *g;
    int tasks;
    std::atomic<int> submitted{0};
    std::latch leave{1};

    static void *body(void *self) {
        auto *m = static_cast<meeting *>(self);
        for (int i = 0; i < m->tasks; ++i) submit(m->g, count, nullptr);
        m->submitted.fetch_add(1);
        m->leave.wait();
        return nullptr;
    }
};

// In crowds, whose tasks are still queued when the threads are gone.
TEST_P(Submitters, a_crowd_finds_what_the_crowd_before_has_left) {
    const int crowd = scaled(400), tasks = 300;
    group g(GetParam());
    ran = 0;
    int64_t bytes_after_first = 0;
    uint64_t lanes_after_first = 0;
    for (int round = 0; round < 5; ++round) {
        hold h;
        h.all(g, GetParam().workers);
        meeting m{g, tasks};
        small_threads threads;
        for (int i = 0; i < crowd; ++i) ASSERT_TRUE(threads.start(meeting::body, &m));
        until([&] { return m.submitted.load() == crowd; });
        m.leave.count_down();
        threads.join();
        h.release();
        drain(g);
        EXPECT_EQ(ran.load(), static_cast<uint64_t>((round + 1) * crowd * tasks));
        if (round == 1) {  // the first one had to build it up from small pieces
            bytes_after_first = memory::bytes;
            lanes_after_first = stats(g).lanes;
        }
    }
    EXPECT_LE(stats(g).lanes, lanes_after_first);
    EXPECT_LE(stats(g).lanes, static_cast<uint64_t>(crowd) + 1 + GetParam().workers);
    EXPECT_LE(memory::bytes.load(), bytes_after_first + 16 * 1024);
}

// All alive at once. What one of them costs while it does nothing must stay small.
TEST_P(Submitters, ten_thousand_live_ones_cost_little_each) {
    if (GetParam().workers != 1 && GetParam().workers != 8) return;  // enough of it
    if (under_tsan) GTEST_SKIP() << "that tool has no room for so many threads";
    const int wanted = under_asan ? 1000 : 10000;
    group g(GetParam());
    ran = 0;
    submit(g, count, nullptr);
    drain(g);
    const int64_t before = memory::bytes;
    meeting m{g, 1};
    small_threads threads;
    int alive = 0;
    while (alive < wanted && threads.start(meeting::body, &m)) ++alive;
    until([&] { return m.submitted.load() == alive; });
    const int64_t each = (memory::bytes - before) / std::max(alive, 1);
    drain(g);
    EXPECT_EQ(ran.load(), static_cast<uint64_t>(alive) + 1);
    // They are idle: a search has nothing to do with them, and one more task gets through.
    for (int i = 0; i < 1000; ++i) submit(g, count, nullptr);
    drain(g);
    m.leave.count_down();
    threads.join();
    EXPECT_LE(each, 8 * 1024);
    if (alive < wanted) GTEST_SKIP() << "the system had no more than " << alive << " threads";
}

// More than there can be lanes, but few at a time, while nothing is taken out: who comes late goes on with a lane in
// which another's task is still queued.
TEST(SubmittersOfAStuckGroup, are_never_refused) {
    const int threads = under_asan || under_tsan ? 3000 : 66000, crowd = 8;
    group g(shape{1, 0});
    ran = 0;
    hold h;
    h.all(g, 1);
    for (int started = 0; started < threads;) {
        small_threads some;
        for (int i = 0; i < crowd && started < threads; ++i, ++started)
            ASSERT_TRUE(some.start(
                [](void *to) -> void * {
                    submit(static_cast<hc_group *>(to), count, nullptr);  // ends the program if it is refused
                    return nullptr;
                },
                static_cast<hc_group *>(g)));
    }
    EXPECT_EQ(stats(g).queued, static_cast<uint64_t>(threads));
    EXPECT_EQ(ran.load(), 0u);
    h.release();
    drain(g);
    EXPECT_EQ(ran.load(), static_cast<uint64_t>(threads));
}

INSTANTIATE_TEST_SUITE_P(, Submitters, shapes(), name_of);

}  // namespace
