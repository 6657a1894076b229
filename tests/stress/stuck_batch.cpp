// Guards against: the rest of a batch that is a prisoner of the worker which took it, while every other worker has
// plenty to do. (The unsolved fault of many pools: what one worker took, no other one sees.)
#include "stress.hpp"

using namespace stress;

namespace {

struct rest {
    std::latch done;
    static void task(void *self) { static_cast<rest *>(self)->done.count_down(); }
};

struct flood {
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> ran{0};
    hc_group *g;

    // Resubmits itself for as long as the flood lasts: each worker's own lane is never empty.
    static void again(void *self) {
        auto *f = static_cast<flood *>(self);
        f->ran.fetch_add(1, std::memory_order_relaxed);
        if (!f->stop.load(std::memory_order_relaxed)) submit(f->g, again, f);
    }
};

class StuckBatch : public Shaped {};

TEST_P(StuckBatch, is_finished_by_the_busy_others) {
    const uint32_t workers = GetParam().workers;
    const int rounds = scaled(workers == 64 ? 6 : 40);
    for (int round = 0; round < rounds; ++round) {
        group g(GetParam());
        hold all;
        all.all(g, workers);  // everyone is held, so that the batch below is taken in one piece

        hold stuck;
        rest r{std::latch(batch - 1)};
        std::vector<hc_call> calls{{hold::task, &stuck}};
        for (uint32_t i = 1; i < batch; ++i) calls.push_back({rest::task, &r});
        size_t accepted = 0;
        must(hc_submit_batch(g, calls.data(), calls.size(), &accepted), "hc_submit_batch");

        flood f;
        f.g = g;
        std::thread flooder([&] {
            for (uint32_t i = 0; i < workers * 4; ++i) submit(g, flood::again, &f);
        });
        flooder.join();
        all.release();
        r.done.wait();  // while the first of the batch is inside and the flood goes on
        until([&] { return stuck.inside.load() == 1; });
        f.stop = true;
        stuck.release();
        drain(g);
    }
}

// Again with an outside flooder, whose lane is full of work all the time.
TEST_P(StuckBatch, is_finished_beside_an_outside_flooder) {
    const int rounds = scaled(GetParam().workers == 64 ? 6 : 30);
    for (int round = 0; round < rounds; ++round) {
        group g(GetParam());
        std::atomic<bool> stop{false};
        static std::atomic<uint64_t> ran;
        std::thread flooder([&] {
            while (!stop) {
                if (stats(g).queued > 20000)
                    sched_yield();
                else
                    for (int i = 0; i < 1000; ++i)
                        submit(
                            g, [](void *) { ran.fetch_add(1, std::memory_order_relaxed); }, nullptr);
            }
        });
        hold stuck;
        rest r{std::latch(batch - 1)};
        std::vector<hc_call> calls{{hold::task, &stuck}};
        for (uint32_t i = 1; i < batch; ++i) calls.push_back({rest::task, &r});
        size_t accepted = 0;
        must(hc_submit_batch(g, calls.data(), calls.size(), &accepted), "hc_submit_batch");
        r.done.wait();
        stop = true;
        flooder.join();
        stuck.release();
        drain(g);
    }
}

// What a task submits before it gets stuck is in its worker's own lane: the others find it there.
TEST_P(StuckBatch, children_of_a_stuck_task_run_elsewhere) {
    const int rounds = scaled(300);
    group g(GetParam());
    struct parent {
        hc_group *g;
        std::latch children{50}, go{1};
        static void child(void *self) { static_cast<parent *>(self)->children.count_down(); }
        static void task(void *self) {
            auto *p = static_cast<parent *>(self);
            for (int i = 0; i < 50; ++i) submit(p->g, child, p);
            p->go.wait();
        }
    };
    for (int round = 0; round < rounds; ++round) {
        parent p{g};
        submit(g, parent::task, &p);
        p.children.wait();
        p.go.count_down();
        drain(g);
    }
}

INSTANTIATE_TEST_SUITE_P(, StuckBatch, shapes_of_several_workers(), name_of);

}  // namespace
