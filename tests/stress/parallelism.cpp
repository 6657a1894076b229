// Guards against: work that waits behind a busy worker while another one sleeps.
#include "stress.hpp"

using namespace stress;

namespace {

class Parallelism : public Shaped {};

// As many tasks as workers, each of which waits until all are inside: if one of them queues behind another, it hangs.
TEST_P(Parallelism, as_many_tasks_as_workers_are_inside_at_once) {
    const uint32_t workers = GetParam().workers;
    const int rounds = scaled(static_cast<int>(20000 / workers));
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = GetParam().options();
        options.kind = kind;
        group g(options);
        for (int round = 0; round < rounds / 3; ++round) {
            struct meeting {
                std::latch all;
                static void task(void *self) { static_cast<meeting *>(self)->all.arrive_and_wait(); }
            } m{std::latch(workers)};
            if (round % 2 == 0) {
                for (uint32_t i = 0; i < workers; ++i) submit(g, meeting::task, &m);
            } else {
                std::vector<hc_call> calls(workers, {meeting::task, &m});
                size_t accepted = 0;
                must(hc_submit_batch(g, calls.data(), workers, &accepted), "hc_submit_batch");
            }
            drain(g);
        }
    }
}

// The same, submitted from a task: the submitter is one of them, and the rest of them is in its own lane.
TEST_P(Parallelism, tasks_that_a_task_submits_are_spread) {
    const uint32_t workers = GetParam().workers;
    const int rounds = scaled(static_cast<int>(10000 / workers));
    group g(GetParam());
    struct meeting {
        hc_group *g;
        uint32_t others;
        std::latch all;
        static void other(void *self) { static_cast<meeting *>(self)->all.arrive_and_wait(); }
        static void first(void *self) {
            auto *m = static_cast<meeting *>(self);
            for (uint32_t i = 0; i < m->others; ++i) submit(m->g, other, m);
            m->all.arrive_and_wait();
        }
    };
    for (int round = 0; round < rounds; ++round) {
        meeting m{g, workers - 1, std::latch(workers)};
        submit(g, meeting::first, &m);
        drain(g);
    }
}

INSTANTIATE_TEST_SUITE_P(, Parallelism, shapes(), name_of);

class Hog : public Shaped {};

// All workers but one are stuck for good; every later task gets through on the last.
TEST_P(Hog, a_task_beside_hogs_runs_at_once) {
    const uint32_t workers = GetParam().workers;
    const int rounds = scaled(300);
    for (int round = 0; round < rounds; ++round) {
        group g(GetParam());
        hold hogs;
        hogs.all(g, workers - 1);
        std::latch ran(10);
        for (int i = 0; i < 10; ++i)
            submit(
                g, [](void *l) { static_cast<std::latch *>(l)->count_down(); }, &ran);
        ran.wait();  // while the hogs are inside
        hogs.release();
        drain(g);
        if (workers == 64 && round >= rounds / 10) break;
    }
}

// The hog and the task come in one go, before anybody can have seen the hog inside.
TEST_P(Hog, a_task_right_behind_a_hog_is_not_its_prisoner) {
    const int rounds = scaled(2000);
    group g(GetParam());
    for (int round = 0; round < rounds; ++round) {
        hold hog;
        std::latch ran(1);
        const hc_call calls[] = {{hold::task, &hog},
                                 {[](void *l) { static_cast<std::latch *>(l)->count_down(); }, &ran}};
        size_t accepted = 0;
        if (round % 2 == 0) {
            must(hc_submit_batch(g, calls, 2, &accepted), "hc_submit_batch");
        } else {
            submit(g, calls[0].fn, calls[0].arg);
            submit(g, calls[1].fn, calls[1].arg);
        }
        ran.wait();
        hog.release();
        drain(g);
    }
}

INSTANTIATE_TEST_SUITE_P(, Hog, shapes_of_several_workers(), name_of);

}  // namespace
