// Guards against: allocations that go on for ever, and memory of a burst that never comes back.
#include "stress.hpp"

using namespace stress;

void before_all() { memory::install(); }

namespace {

std::atomic<uint64_t> ran;
void count(void *) { ran.fetch_add(1, std::memory_order_relaxed); }

// Threads that live through all rounds, and take part in each when they are called.
class crew {
  public:
    crew(hc_group *g, int size, int tasks) : g_(g), tasks_(tasks) {
        pthread_barrier_init(&begin_, nullptr, static_cast<unsigned>(size + 1));
        pthread_barrier_init(&end_, nullptr, static_cast<unsigned>(size + 1));
        for (int i = 0; i < size; ++i) threads_.emplace_back([this, i] { work(i); });
    }
    ~crew() {
        over_ = true;
        pthread_barrier_wait(&begin_);
        for (auto &t : threads_) t.join();
        pthread_barrier_destroy(&begin_);
        pthread_barrier_destroy(&end_);
    }
    // Returns when all have submitted everything.
    void round() {
        pthread_barrier_wait(&begin_);
        pthread_barrier_wait(&end_);
    }

  private:
    void work(int who) {
        std::vector<hc_call> calls(static_cast<size_t>(tasks_), {count, nullptr});
        for (;;) {
            pthread_barrier_wait(&begin_);
            if (over_) return;
            if (who % 3 == 0) {
                for (int i = 0; i < tasks_; ++i) submit(g_, count, nullptr);
            } else if (who % 3 == 1) {
                size_t accepted = 0;
                must(hc_submit_batch(g_, calls.data(), calls.size(), &accepted), "hc_submit_batch");
            } else {
                hc_task_options options = HC_TASK_OPTIONS_INIT;
                options.fn = count;
                options.label = "burst";
                for (int i = 0; i < tasks_; ++i) must(hc_task_submit(g_, &options, nullptr), "hc_task_submit");
            }
            pthread_barrier_wait(&end_);
        }
    }

    hc_group *g_;
    int tasks_;
    std::atomic<bool> over_{false};
    pthread_barrier_t begin_, end_;
    std::vector<std::thread> threads_;
};

class SteadyState : public Shaped {
  protected:
    // The workers are held while the burst is queued, so that each is as large as the last.
    static void burst(hc_group *g, crew &c, uint32_t workers) {
        hold h;
        h.all(g, workers);
        c.round();
        h.release();
        drain(g);
    }
};

TEST_P(SteadyState, the_second_burst_allocates_nothing) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        if (under_tsan && kind != GetParam().workers % 3) continue;
        hc_group_options options = GetParam().options();
        options.kind = kind;
        group g(options);
        crew c(g, 6, 30000);  // not scaled: below some rings' worth, what the lanes kept may not add up again
        burst(g, c, GetParam().workers);
        for (int round = 0; round < 3; ++round) {
            const int64_t requests = memory::requests, bytes = memory::bytes;
            burst(g, c, GetParam().workers);
            EXPECT_EQ(memory::requests - requests, 0) << "kind " << kind << ", round " << round;
            EXPECT_LE(memory::bytes, bytes);
        }
    }
}

// A task that submits others: the workers' own lanes come to rest too.
TEST_P(SteadyState, tasks_that_submit_allocate_nothing_later) {
    group g(GetParam());
    struct parent {
        static void task(void *g) {
            for (int i = 0; i < 100; ++i) submit(static_cast<hc_group *>(g), count, nullptr);
        }
    };
    // One line of parents, one at a time: each worker that runs one has had one before.
    hold h;
    h.all(g, GetParam().workers - 1);
    for (int i = 0; i < 2000; ++i) {
        submit(g, parent::task, static_cast<hc_group *>(g));
        if (i % 50 == 49) until([&] { return stats(g).queued == 0; });
    }
    const int64_t requests = memory::requests;
    for (int i = 0; i < 1000; ++i) {
        submit(g, parent::task, static_cast<hc_group *>(g));
        until([&] { return stats(g).queued == 0; });
    }
    EXPECT_EQ(memory::requests - requests, 0);
    h.release();
    drain(g);
}

TEST_P(SteadyState, trim_gives_the_memory_of_a_burst_back) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        if (under_tsan && kind != GetParam().workers % 3) continue;
        hc_group_options options = GetParam().options();
        options.kind = kind;
        group g(options);
        crew c(g, 3, scaled(200000));
        const int64_t before = memory::bytes;
        burst(g, c, GetParam().workers);
        const int64_t after_burst = memory::bytes;
        must(hc_group_trim(g), "hc_group_trim");
        const int64_t after_trim = memory::bytes;
        EXPECT_GT(after_burst, before);
        // Each queue keeps its newest ring, and a pinned group has one for each worker.
        const int64_t kept = kind == HC_KIND_PINNED ? 2 : 4;
        EXPECT_LT(after_trim - before, (after_burst - before) / kept)
            << "kind " << kind << ": of " << after_burst - before;
        ran = 0;
        burst(g, c, GetParam().workers);  // and it is none the worse for it
        EXPECT_EQ(ran.load(), static_cast<uint64_t>(3 * scaled(200000)));
    }
}

// "Safe at any time": also while everybody submits and runs.
TEST_P(SteadyState, trim_amid_the_work_loses_nothing) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = GetParam().options();
        options.kind = kind;
        group g(options);
        ran = 0;
        const int tasks = scaled(20000), rounds = 5;
        std::atomic<bool> stop{false};
        std::thread trimmer([&] {
            while (!stop) {
                must(hc_group_trim(g), "hc_group_trim");
                sched_yield();
            }
        });
        {
            crew c(g, 3, tasks);
            for (int i = 0; i < rounds; ++i) {
                c.round();
                if (i % 2 == 0) drain(g);
            }
        }
        drain(g);
        stop = true;
        trimmer.join();
        EXPECT_EQ(ran.load(), static_cast<uint64_t>(3 * tasks * rounds));
    }
}

INSTANTIATE_TEST_SUITE_P(, SteadyState, shapes(), name_of);

}  // namespace
