// What W6 and W1c share: how long an idle group takes to start a task. The owner of the pool submits, the task reads
// the clock; both clocks are one. Before each sample the owner sleeps for `gap`, long enough for every pool here to
// have its workers asleep; it sleeps again right after the submit, so that the task finds a free core on any machine.
#pragma once

#include <string>

#include "../harness/clock.h"
#include "../harness/fail.h"
#include "../harness/futex.h"
#include "../harness/rounds.h"
#include "../peers/pool.h"

namespace perf {

// Appends `n` times from before the submit to the first instruction of the task, in ns.
template <class P>
void wake_samples(P &pool, unsigned n, uint64_t gap, Sample &out) {
    std::atomic<uint64_t> started{0};
    TaskFn task = [](void *arg) { static_cast<std::atomic<uint64_t> *>(arg)->store(now_ns()); };
    sleep_ns(gap);
    for (unsigned i = 0; i < n; ++i) {
        settle(pool);
        started.store(0);
        uint64_t submit = now_ns(), start = 0;
        pool.submit(task, &started);
        do {
            sleep_ns(gap);
            if (now_ns() - submit > patience) fail("wake: a task did not start");
        } while ((start = started.load()) == 0);
        out.push_back(static_cast<double>(start - submit));
    }
}

// Appends `n` times of a round trip: the owner submits, the task wakes the owner, which submits at once.
template <class P>
void ping_pong_samples(P &pool, unsigned n, Sample &out) {
    std::atomic<uint32_t> back{0};
    TaskFn task = [](void *arg) {
        auto &word = *static_cast<std::atomic<uint32_t> *>(arg);
        word.store(1, std::memory_order_release);
        futex_wake(word, 1);
    };
    for (unsigned i = 0; i < n; ++i) {
        back.store(0);
        uint64_t submit = now_ns();
        pool.submit(task, &back);
        while (!back.load(std::memory_order_acquire)) {
            futex_wait(back, 0, submit + patience);
            if (now_ns() - submit > patience) fail("ping-pong: a task did not run");
        }
        out.push_back(static_cast<double>(now_ns() - submit));
        settle(pool);
    }
}

// Appends `n` times from before the first of `k` submits until all k tasks have started. A task that started waits,
// asleep, until all have: so each needs a worker of its own. A burst that did not get k workers within a second is left
// out.
template <class P>
void burst_samples(P &pool, unsigned k, unsigned n, uint64_t gap, Sample &out) {
    struct Burst {
        Countdown to_start, to_end;
        uint64_t started = 0;
    };
    TaskFn task = [](void *arg) {
        auto &b = *static_cast<Burst *>(arg);
        uint64_t now = now_ns();
        if (b.to_start.arrive()) b.started = now;
        b.to_start.wait_for(1'000'000'000);
        b.to_end.arrive();
    };
    for (unsigned i = 0; i < n; ++i) {
        sleep_ns(gap);
        settle(pool);
        Burst burst{Countdown(k), Countdown(k)};
        uint64_t submit = now_ns();
        for (unsigned t = 0; t < k; ++t) pool.submit(task, &burst);
        if (!burst.to_end.wait_for(patience)) fail("burst: tasks did not run");
        if (burst.started) out.push_back(static_cast<double>(burst.started - submit));
    }
}

// All samples of all rounds.
inline std::vector<double> pooled(const Entrant &e) {
    std::vector<double> all;
    for (const Sample &s : e.samples) all.insert(all.end(), s.begin(), s.end());
    return all;
}

}  // namespace perf
