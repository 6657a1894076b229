// Guards against: what a thread remembers of a group that is gone; a new group that is taken for an old one at the same
// address; a group whose end and a thread's end meet.
#include "stress.hpp"

using namespace stress;

void before_all() { memory::install(); }

namespace {

void count(void *arg) { static_cast<std::atomic<uint64_t> *>(arg)->fetch_add(1, std::memory_order_relaxed); }

class ManyGroups : public Shaped {
  protected:
    // The library's note of this thread stays with it. It is made here, so that the counts below begin after it.
    void SetUp() override {
        std::atomic<uint64_t> ran{0};
        group g(GetParam());
        submit(g, count, &ran);
        drain(g);
    }
};

// Threads that live on, and submit to each of the groups as it comes.
class lasting_threads {
  public:
    explicit lasting_threads(int n) {
        pthread_barrier_init(&begin_, nullptr, static_cast<unsigned>(n + 1));
        pthread_barrier_init(&end_, nullptr, static_cast<unsigned>(n + 1));
        for (int i = 0; i < n; ++i)
            threads_.emplace_back([this] {
                for (;;) {
                    pthread_barrier_wait(&begin_);
                    if (g_ == nullptr) return;
                    for (int k = 0; k < 20; ++k) submit(g_, count, ran_);
                    pthread_barrier_wait(&end_);
                }
            });
    }
    ~lasting_threads() {
        use(nullptr, nullptr);
        for (auto &t : threads_) t.join();
        pthread_barrier_destroy(&begin_);
        pthread_barrier_destroy(&end_);
    }
    void use(hc_group *g, std::atomic<uint64_t> *ran) {
        g_ = g;
        ran_ = ran;
        pthread_barrier_wait(&begin_);
        if (g != nullptr) pthread_barrier_wait(&end_);
    }
    uint64_t size() const { return threads_.size(); }

  private:
    hc_group *g_ = nullptr;
    std::atomic<uint64_t> *ran_ = nullptr;
    pthread_barrier_t begin_, end_;
    std::vector<std::thread> threads_;
};

TEST_P(ManyGroups, come_and_go_while_threads_live_on) {
    const int groups = GetParam().workers == 64 ? 20 : scaled(200);
    const int64_t before = memory::blocks;
    int64_t after_first = 0;
    auto all_threads = std::make_unique<lasting_threads>(4);
    lasting_threads &threads = *all_threads;
    for (int i = 0; i < groups; ++i) {
        std::atomic<uint64_t> ran{0};
        hc_group_options options = GetParam().options();
        options.kind = static_cast<uint32_t>(i) % 3;
        {
            group g(options);
            threads.use(g, &ran);
            for (int k = 0; k < 20; ++k) submit(g, count, &ran);
        }
        ASSERT_EQ(ran.load(), 20 * (threads.size() + 1));
        if (i == 2) after_first = memory::blocks;  // each kind has been there once
    }
    EXPECT_EQ(memory::blocks.load(), after_first);
    all_threads.reset();  // and with the threads goes what was noted of them
    EXPECT_EQ(memory::blocks.load(), before);
}

// Many at a time, all known to each of the threads; they go in another order than they came.
TEST_P(ManyGroups, live_side_by_side) {
    const size_t groups =
        GetParam().workers == 64 ? 4 : static_cast<size_t>(scaled(static_cast<int>(200 / GetParam().workers)));
    const int64_t before = memory::blocks;
    {
        lasting_threads threads(3);
        std::vector<std::unique_ptr<group>> all;
        std::vector<std::atomic<uint64_t>> ran(groups);
        for (size_t i = 0; i < groups; ++i) all.push_back(std::make_unique<group>(GetParam()));
        for (int round = 0; round < 3; ++round)
            for (size_t i = 0; i < groups; ++i) threads.use(*all[i], &ran[i]);
        for (size_t i = 0; i < groups; i += 2) all[i].reset();
        for (size_t i = 1; i < groups; i += 2) {
            threads.use(*all[i], &ran[i]);
            all[i].reset();
        }
        for (size_t i = 0; i < groups; ++i) EXPECT_EQ(ran[i].load(), 20 * threads.size() * (i % 2 ? 4 : 3));
    }
    EXPECT_EQ(memory::blocks.load(), before);
}

// The allocator likes to give the same address again: the new group must not be taken for the old one.
TEST_P(ManyGroups, at_one_address_are_told_apart) {
    const int groups = GetParam().workers == 64 ? 20 : scaled(1000);
    for (int i = 0; i < groups; ++i) {
        std::atomic<uint64_t> ran{0};
        group g(GetParam());
        submit(g, count, &ran);
        drain(g);
        ASSERT_EQ(ran.load(), 1u);
        ASSERT_EQ(stats(g).finished, 1u);
    }
}

// Threads end in the very moment in which their group does.
TEST_P(ManyGroups, end_together_with_their_submitters) {
    const int rounds = GetParam().workers == 64 ? 10 : scaled(200);
    const int64_t before = memory::blocks;
    for (int i = 0; i < rounds; ++i) {
        std::atomic<uint64_t> ran{0};
        std::atomic<int> submitted{0};
        std::vector<std::thread> threads;
        {
            group g(GetParam());
            for (int t = 0; t < 4; ++t)
                threads.emplace_back([&, raw = static_cast<hc_group *>(g)] {
                    for (int k = 0; k < 10; ++k) submit(raw, count, &ran);
                    submitted.fetch_add(1);  // and off it goes, while the group is destroyed
                });
            until([&] { return submitted.load() == 4; });
        }
        EXPECT_EQ(ran.load(), 40u);
        for (auto &t : threads) t.join();
        ASSERT_EQ(memory::blocks.load(), before);
    }
}

// The last reference is dropped by a task, or by a thread, while others still hold theirs.
TEST_P(ManyGroups, are_freed_by_whoever_lets_go_last) {
    const int rounds = GetParam().workers == 64 ? 10 : scaled(200);
    const int64_t before = memory::blocks;
    for (int i = 0; i < rounds; ++i) {
        hc_group *g = group(GetParam()).release();
        std::vector<std::thread> threads;
        static std::atomic<uint64_t> ran;
        for (int t = 0; t < 3; ++t) {
            hc_group_ref(g);
            threads.emplace_back([g] {
                for (int k = 0; k < 10; ++k) submit(g, count, &ran);
                hc_group_unref(g);
            });
        }
        hc_group_ref(g);
        threads.emplace_back([g] {  // not this thread: a note of a group that lives on for a moment would stay with it
            submit(
                g, [](void *arg) { hc_group_unref(static_cast<hc_group *>(arg)); }, g);
            hc_group_unref(g);
        });
        for (auto &t : threads) t.join();
    }
    until([&] { return memory::blocks.load() == before; });  // the workers free it, in their own time
}

INSTANTIATE_TEST_SUITE_P(, ManyGroups, shapes(), name_of);

}  // namespace
