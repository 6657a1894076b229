// The storm, homeCooking's first test: several external submitters submit as fast as they can, each task adds 1 to the
// atomic counter of its submitter. W1, W1b and W1c are storms.
//
//     wall      from the opening of the gate behind which the submitters wait, to the end of the last task
//     enqueue   as the seed means it: of each submitter, from its first submit to after its last; the mean of all
//     complete  as the seed means it: of each submitter, from its first submit to the end of its last task; the mean
//     enqueued  from the opening of the gate until the last submitter has finished submitting
//
// Who notices the end: as in the seed the task that brings its counter to the number of tasks reads the clock, that is
// one task of each submitter; the coordinator sleeps meanwhile. It is the same code for all systems, the direct calls
// included. Every round has new submitter threads; pools live through all rounds, as in the seed. A counter stands on a
// cache line of its own; `arg` cycles over 1 024 cells, each with a pointer to the counter.
#pragma once

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "../harness/clock.h"
#include "../harness/fail.h"
#include "../harness/futex.h"
#include "../harness/rounds.h"
#include "../peers/pool.h"

namespace perf {

struct StormSize {
    unsigned submitters;
    uint64_t tasks;  // of each submitter
    unsigned workers;
};

struct StormCounter {
    std::atomic<uint64_t> count{0};
    uint64_t target = 0;
    uint64_t ended = 0;
    Countdown *all = nullptr;

    void reached() {
        ended = now_ns();
        all->arrive();
    }
};

struct StormCell {
    StormCounter *counter;
};

inline void storm_task(void *arg) {
    StormCounter &c = *static_cast<StormCell *>(arg)->counter;
    if (c.count.fetch_add(1, std::memory_order_relaxed) + 1 == c.target) [[unlikely]]
        c.reached();
}

inline constexpr size_t storm_cells = 1024;

struct alignas(128) StormSubmitter {
    alignas(128) StormCounter counter;
    alignas(128) StormCell cells[storm_cells];
    uint64_t began = 0, submitted = 0;
};

// The metrics of one round, in this order.
enum StormMetric { storm_wall, storm_enqueue, storm_complete, storm_enqueued, storm_cpu };

// One round. make_sink() is called by each submitter and gives what it submits through: sink(fn, arg), then
// sink.flush().
template <class MakeSink>
Sample storm_round(const StormSize &size, MakeSink make_sink) {
    auto submitters = std::make_unique<StormSubmitter[]>(size.submitters);
    Countdown ready(size.submitters), all(size.submitters);
    Gate start;
    TaskFn volatile opaque = storm_task;  // so that no compiler sees through the direct calls
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < size.submitters; ++t) {
        StormSubmitter &self = submitters[t];
        self.counter.target = size.tasks;
        self.counter.all = &all;
        for (StormCell &cell : self.cells) cell.counter = &self.counter;
        threads.emplace_back([&] {
            TaskFn fn = opaque;
            auto sink = make_sink();
            ready.arrive();
            start.wait();
            self.began = now_ns();
            for (uint64_t i = 0; i < size.tasks; ++i) sink(fn, &self.cells[i % storm_cells]);
            sink.flush();
            self.submitted = now_ns();
        });
    }
    ready.wait();
    uint64_t cpu = process_cpu_ns(), opened = now_ns();
    start.open();
    bool complete = all.wait_for(patience);
    cpu = process_cpu_ns() - cpu;
    if (!complete) fail("storm: tasks of " + std::to_string(all.left()) + " submitters have not run");
    threads.clear();  // joins

    uint64_t last_end = 0, last_submit = 0;
    double enqueue = 0, completion = 0;
    for (unsigned t = 0; t < size.submitters; ++t) {
        const StormSubmitter &s = submitters[t];
        if (s.counter.count.load() != size.tasks) fail("storm: a task ran twice");
        last_end = std::max(last_end, s.counter.ended);
        last_submit = std::max(last_submit, s.submitted);
        enqueue += ms(s.began, s.submitted);
        completion += ms(s.began, s.counter.ended);
    }
    return {ms(opened, last_end), enqueue / size.submitters, completion / size.submitters, ms(opened, last_submit),
            static_cast<double>(cpu) * 1e-9};
}

// A sink that submits one by one.
template <class P>
struct OneByOne {
    P &pool;
    void operator()(TaskFn fn, void *arg) { pool.submit(fn, arg); }
    void flush() {}
};

template <class P>
Entrant storm_entrant(std::string system, const StormSize &size, std::shared_ptr<P> pool) {
    return {std::move(system), [size, pool] { return storm_round(size, [&] { return OneByOne<P>{*pool}; }); }};
}

}  // namespace perf
