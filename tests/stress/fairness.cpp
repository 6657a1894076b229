// Guards against: a submitter that is starved by one who floods, or by a task that resubmits itself for ever. Counted
// in tasks, never timed: how many of the others' tasks did the worker that ran the one start before it?
//
// The header's bound is one batch for each submitter that has something queued. To count exactly, all workers but one
// are held: otherwise a worker may take the one and be sent off its processor, and what the others do meanwhile is
// nobody's fault. With all workers at it there is a second, wider bound.
#include "stress.hpp"

using namespace stress;

namespace {

struct alignas(64) tally {
    std::atomic<uint64_t> started{0};
};
tally others[64];  // each worker's own

uint64_t others_started() {
    uint64_t sum = 0;
    for (auto &t : others) sum += t.started.load(std::memory_order_relaxed);
    return sum;
}

void reset() {
    for (auto &t : others) t.started = 0;
}

void other(void *) { others[hc_worker_index()].started.fetch_add(1, std::memory_order_relaxed); }

// The one that must not wait. It lives until the group is drained, for its task may still be about to leave.
struct one {
    std::latch done{1};
    int32_t worker = -1;
    uint64_t started = 0;  // by that worker, before it
    uint64_t at_submit[64] = {};

    static void task(void *self) {
        auto *o = static_cast<one *>(self);
        o->worker = hc_worker_index();
        o->started = others[o->worker].started.load(std::memory_order_relaxed);
        o->done.count_down();
    }
    void submit_to(hc_group *g) {
        submit(g, task, this);
        for (int i = 0; i < 64; ++i) at_submit[i] = others[i].started.load(std::memory_order_relaxed);
    }
    // How many of the others were preferred to it, by the worker that then ran it.
    uint64_t overtaken_by() {
        done.wait();
        return started > at_submit[worker] ? started - at_submit[worker] : 0;
    }
};

void flood(hc_group *g, int n, bool as_batch) {
    if (!as_batch) {
        for (int i = 0; i < n; ++i) submit(g, other, nullptr);
        return;
    }
    std::vector<hc_call> calls(static_cast<size_t>(n), {other, nullptr});
    size_t accepted = 0;
    must(hc_submit_batch(g, calls.data(), calls.size(), &accepted), "hc_submit_batch");
}

// For one free worker.
constexpr uint64_t bound(uint64_t submitters) { return batch * submitters; }

// For all of them: each may have a batch under way, be a submitter itself, and have to notice that another one stands
// still.
constexpr uint64_t wide_bound(uint64_t submitters, uint64_t workers) { return batch * (submitters + 64 * workers); }

class Fairness : public Shaped {
  protected:
    // All workers are held, the flood is queued, the one comes last: then one worker is let go. Nothing depends on
    // luck. The flooders' threads stay until it is over, or have ended before the one is submitted.
    void flood_then_one(uint64_t flooders, bool flooders_stay) {
        const uint64_t most = bound(flooders);
        const int each = static_cast<int>(2 * most / flooders + 10 * batch);  // it is seen if they all come first
        group g(GetParam());
        hold others_held, last;
        others_held.all(g, GetParam().workers - 1);
        last.all(g, 1);
        reset();
        std::latch queued(static_cast<std::ptrdiff_t>(flooders)), leave(1);
        std::vector<std::thread> threads;
        for (uint64_t i = 0; i < flooders; ++i)
            threads.emplace_back([&, i] {
                flood(g, each, i % 2 == 1);
                queued.count_down();
                leave.wait();
            });
        queued.wait();
        const auto end_flooders = [&] {
            leave.count_down();
            for (auto &t : threads) t.join();
        };
        if (!flooders_stay) end_flooders();
        one o;
        std::thread([&] { o.submit_to(g); }).join();
        last.release();
        EXPECT_LE(o.overtaken_by(), most) << flooders << " flooders";
        if (flooders_stay) end_flooders();
        others_held.release();
        drain(g);
    }
};

TEST_P(Fairness, a_late_task_overtakes_the_queues_of_flooders) {
    for (uint64_t flooders : {1u, 2u, 5u, 20u}) flood_then_one(flooders, true);
}

// What a thread leaves behind when it ends must not become the queue of the next one.
TEST_P(Fairness, a_late_task_overtakes_what_flooders_left_when_they_ended) {
    for (uint64_t flooders : {1u, 2u, 5u, 20u}) flood_then_one(flooders, false);
}

class FairnessAmid : public Fairness {
  protected:
    // Single tasks come by, and none of them is overtaken by more than `most`.
    static void singles(hc_group *g, int rounds, uint64_t most) {
        std::vector<std::unique_ptr<one>> ones;
        for (int i = 0; i < rounds; ++i) {
            ones.push_back(std::make_unique<one>());
            ones.back()->submit_to(g);
            EXPECT_LE(ones.back()->overtaken_by(), most);
        }
        kept_.swap(ones);
    }
    static inline std::vector<std::unique_ptr<one>> kept_;  // until the group is drained
};

// The flooders go on while single tasks come by.
TEST_P(FairnessAmid, single_tasks_get_through_a_flood_that_goes_on) {
    constexpr uint64_t flooders = 2;
    for (bool all_workers : {false, true}) {
        const uint64_t most = all_workers ? wide_bound(flooders, GetParam().workers) : bound(flooders);
        group g(GetParam());
        hold held;
        if (!all_workers) held.all(g, GetParam().workers - 1);
        std::atomic<bool> stop{false};
        reset();
        std::vector<std::thread> threads;
        for (uint64_t i = 0; i < flooders; ++i)
            threads.emplace_back([&, i] {
                while (!stop) {
                    if (stats(g).queued > 20 * most)
                        sched_yield();
                    else
                        flood(g, 5000, i == 1);
                }
            });
        until([&] { return others_started() > 10000; });
        singles(g, scaled(100), most);
        stop = true;
        for (auto &t : threads) t.join();
        held.release();
        drain(g);
    }
}

struct forever {
    hc_group *g;
    std::atomic<bool> stop{false};
    static void task(void *self) {
        auto *f = static_cast<forever *>(self);
        other(nullptr);
        if (!f->stop.load(std::memory_order_relaxed)) submit(f->g, task, f);
    }
};

// Tasks that never end their line: one, as many as workers, and more than a batch of them.
TEST_P(FairnessAmid, single_tasks_get_through_tasks_that_resubmit_themselves) {
    const uint64_t workers = GetParam().workers;
    for (uint64_t loops : {uint64_t{1}, workers, 2 * workers + 500})
        for (bool all_workers : {false, true}) {
            group g(GetParam());
            hold held;
            if (!all_workers) held.all(g, GetParam().workers - 1);
            forever f{g};
            reset();
            std::thread([&] {  // not from here: what this thread has queued before comes first, by right
                for (uint64_t i = 0; i < loops; ++i) submit(g, forever::task, &f);
            })
                .join();
            until([&] { return others_started() > 1000; });
            singles(g, scaled(workers == 64 ? 10 : 40), all_workers ? wide_bound(workers + 1, workers) : bound(2));
            f.stop = true;
            held.release();
            drain(g);
        }
}

// The other way round: a task that a worker submits is not starved by floods from outside.
TEST_P(FairnessAmid, the_child_of_a_task_overtakes_the_queues_of_flooders) {
    constexpr uint64_t flooders = 3;
    group g(GetParam());
    hold held;
    held.all(g, GetParam().workers - 1);
    struct parent {
        hc_group *g;
        one *child;
        std::latch inside{1}, go{1};
        static void task(void *self) {
            auto *p = static_cast<parent *>(self);
            p->inside.count_down();
            p->go.wait();
            p->child->submit_to(p->g);
        }
    };
    one o;
    parent p{g, &o};
    submit(g, parent::task, &p);
    p.inside.wait();
    reset();
    std::latch queued(flooders), leave(1);
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < flooders; ++i)
        threads.emplace_back([&, i] {
            flood(g, static_cast<int>(20 * bound(flooders)), i == 1);
            queued.count_down();
            leave.wait();
        });
    queued.wait();
    p.go.count_down();
    EXPECT_LE(o.overtaken_by(), bound(flooders));
    leave.count_down();
    for (auto &t : threads) t.join();
    held.release();
    drain(g);
}

INSTANTIATE_TEST_SUITE_P(, Fairness, shapes(), name_of);
INSTANTIATE_TEST_SUITE_P(, FairnessAmid, shapes(), name_of);

}  // namespace
