// Guards against: a task that is submitted while the group shuts down and then neither runs, nor comes back, nor is
// refused; or more than one of these.
#include "stress.hpp"

using namespace stress;

namespace {

enum fate : uint8_t { refused = 1, ran = 2, handed_back = 4 };

struct cell {
    std::atomic<uint8_t> fates{0};
    bool accepted = false;

    void add(fate f) {
        if (fates.fetch_or(f) & f) std::abort();  // the same twice
    }
    static void run(void *self) { static_cast<cell *>(self)->add(ran); }
    static void drop(void *self, int32_t why) {
        if (why != HC_ESHUTDOWN) std::abort();
        static_cast<cell *>(self)->add(handed_back);
    }
    static void unrun(void *, hc_fn fn, void *self, int32_t why) {
        if (fn != run) std::abort();
        drop(self, why);
    }
};

// Submits until it is refused; returns how many were accepted, always the first ones.
size_t submit_until_refused(hc_group *g, std::vector<cell> &cells, uint32_t seed) {
    size_t next = 0;
    while (next < cells.size()) {
        int rc;
        size_t accepted = 0, tried = 1;
        if ((next + seed) % 3 == 0) {
            hc_call calls[50];
            tried = std::min<size_t>(50, cells.size() - next);
            for (size_t i = 0; i < tried; ++i) calls[i] = {cell::run, &cells[next + i]};
            rc = hc_submit_batch(g, calls, tried, &accepted);
            if ((rc == HC_OK) != (accepted == tried)) std::abort();
        } else if ((next + seed) % 3 == 1) {
            hc_task_options options = HC_TASK_OPTIONS_INIT;
            options.fn = cell::run;
            options.arg = &cells[next];
            options.drop = cell::drop;
            rc = hc_task_submit(g, &options, nullptr);
            accepted = rc == HC_OK;
        } else {
            rc = hc_submit(g, cell::run, &cells[next]);
            accepted = rc == HC_OK;
        }
        next += accepted;
        if (rc == HC_OK) continue;
        if (rc != HC_ESHUTDOWN) must(rc, "a submit amid the shutdown");
        return next;
    }
    return next;
}

class ShutdownRace : public Shaped {
  protected:
    void race(uint32_t kind, uint32_t how, bool from_inside, int pace);
};

struct inside {
    hc_group *g;
    std::vector<cell> *cells;
    uint32_t seed;
    size_t accepted = 0;
    static void task(void *self) {
        auto *i = static_cast<inside *>(self);
        i->accepted = submit_until_refused(i->g, *i->cells, i->seed);
    }
};

void ShutdownRace::race(uint32_t kind, uint32_t how, bool from_inside, int pace) {
    constexpr uint32_t submitters = 3;
    hc_group_options options = GetParam().options();
    options.kind = kind;
    options.on_unrun = cell::unrun;
    group g(options);
    std::vector<std::vector<cell>> cells;
    for (uint32_t i = 0; i < submitters; ++i) cells.emplace_back(20000);
    std::vector<inside> jobs;
    for (uint32_t i = 0; i < submitters; ++i) jobs.push_back({g, &cells[i], i});

    std::vector<std::thread> threads;
    if (from_inside)
        for (auto &job : jobs) submit(g, inside::task, &job);
    else
        for (auto &job : jobs) threads.emplace_back([&job] { inside::task(&job); });
    until([&] { return stats(g).submitted >= static_cast<uint64_t>(pace); });
    must(hc_group_shutdown(g, how), "hc_group_shutdown");
    for (auto &t : threads) t.join();
    must(hc_group_await(g, HC_NEVER), "hc_group_await");

    size_t all_accepted = from_inside ? submitters : 0, all_back = 0;
    for (auto &job : jobs) {
        all_accepted += job.accepted;
        for (size_t i = 0; i < job.cells->size(); ++i) {
            uint8_t fates = (*job.cells)[i].fates.load();
            if (i < job.accepted)
                ASSERT_TRUE(fates == ran || fates == handed_back) << "task " << i << ": " << int(fates);
            else
                ASSERT_EQ(fates, 0) << "task " << i << " was refused";
            all_back += fates == handed_back;
        }
    }
    if (how == HC_SHUTDOWN_DRAIN) {
        EXPECT_EQ(all_back, 0u);
    }
    hc_group_stats_data s = stats(g);
    EXPECT_EQ(s.submitted, all_accepted);
    EXPECT_EQ(s.unrun, all_back);
    EXPECT_EQ(s.finished, s.submitted - all_back);
    EXPECT_EQ(s.queued, 0u);
}

TEST_P(ShutdownRace, accepted_means_run_or_handed_back) {
    const int rounds = scaled(30);
    for (int round = 0; round < rounds; ++round) {
        race(static_cast<uint32_t>(round) % 3, HC_SHUTDOWN_NOW, false, round * 37 % 500);
        race(static_cast<uint32_t>(round) % 3, HC_SHUTDOWN_DRAIN, false, round * 53 % 500);
        if (HasFatalFailure()) return;
    }
}

// Tasks that submit while their group is shut; with NOW, one that has not started may come back as a whole.
TEST_P(ShutdownRace, submits_of_tasks_are_no_exception) {
    const int rounds = scaled(15);
    for (int round = 0; round < rounds; ++round) {
        race(static_cast<uint32_t>(round) % 3, HC_SHUTDOWN_DRAIN, true, round * 37 % 500);
        if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(, ShutdownRace, shapes(), name_of);

}  // namespace
