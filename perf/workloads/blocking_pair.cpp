// W9, the cost of saying so: one task, in a group of 8 workers, calls hc_blocking_begin() and hc_blocking_end(), with
// nothing in between, for 200 ms (--quick: 30 ms). The median of 3 rounds. In the JDK's ForkJoinPool it is
// managedBlock() with a blocker that must block, and then does not.
//
//     idle, alone    its worker is the only thread of the group: the others have not been needed yet
//     idle           the other workers are there, and asleep
//     busy           the other workers are in tasks that sleep 1 ms, and no task waits
//     busy, waiting  the same, and as many tasks wait: a spare worker comes, and goes to rest again
//
//     pair      wall ns from one begin to the next
//     pair cpu  ns of the task's own thread
#include "../harness/futex.h"
#include "../peers/hc.h"
#include "blocked.h"

namespace perf {
namespace {

constexpr unsigned workers = 8;

struct Case {
    const char *name, *word;  // the word is for Java
    unsigned first;           // tasks that are there before, once, so that there are so many workers
    unsigned sleepers;        // tasks that sleep, and submit themselves again
};
constexpr Case cases[] = {{"begin + end, idle, alone", "alone", 0, 0},
                          {"begin + end, idle", "idle", workers, 0},
                          {"begin + end, busy", "busy", workers, workers - 1},
                          {"begin + end, busy, tasks waiting", "waiting", workers, 2 * workers - 1}};

struct Work {
    Work(Hc &g, const Case &c, uint64_t ns) : group(g), first(c.first), duration(ns) {}
    Hc &group;
    Countdown first, measured{1};
    std::atomic<bool> stop{false};
    uint64_t duration;
    double wall = 0, cpu = 0;

    static void meet(void *arg) {  // needs a worker of its own
        auto &self = *static_cast<Work *>(arg);
        self.first.arrive();
        self.first.wait();
    }
    static void sleep(void *arg) {
        auto &self = *static_cast<Work *>(arg);
        sleep_ns(1'000'000);
        if (!self.stop.load()) self.group.submit(sleep, arg);
    }
    static void measure(void *arg) {
        auto &self = *static_cast<Work *>(arg);
        uint64_t pairs = 0, cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns(), now = begin;
        for (; now - begin < self.duration; now = now_ns())
            for (unsigned end = 64; end > 0; --end, ++pairs) {
                if (hc_blocking_begin() != HC_HELPED) fail("hc_blocking_begin: no room for another worker");
                hc_blocking_end();
            }
        cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        self.wall = static_cast<double>(now - begin) / static_cast<double>(pairs);
        self.cpu = static_cast<double>(cpu) / static_cast<double>(pairs);
        self.measured.arrive();
    }
};

Sample round(const Case &c, uint64_t duration) {
    Hc group(workers);
    Work work(group, c, duration);
    for (unsigned i = 0; i < c.first; ++i) group.submit(Work::meet, &work);
    if (c.first != 0 && !work.first.wait_for(patience)) fail("hc: as many tasks as workers do not meet");
    for (unsigned i = 0; i < c.sleepers; ++i) group.submit(Work::sleep, &work);
    sleep_ns(5'000'000);
    group.submit(Work::measure, &work);
    if (!work.measured.wait_for(patience)) fail("hc: the task that measures did not end");
    work.stop.store(true);
    if (hc_group_drain(group.group(), patience) != HC_OK) fail("hc: tasks that sleep did not end");
    return {work.wall, work.cpu};
}

}  // namespace

void blocking_pair(const Options &o, Sheet &sheet, Child *java) {
    const uint64_t duration = o.quick ? 30'000'000 : 200'000'000;
    for (const Case &c : cases) {
        std::vector<Entrant> entrants{{Hc::name, [&] { return round(c, duration); }}};
        const std::string request = std::string("jdk-fjp pair-") + c.word + " " + std::to_string(workers) + " " +
                                    std::to_string(c.first) + " " + std::to_string(c.sleepers) + " " +
                                    std::to_string(duration);
        if (java) entrants.push_back({"jdk-fjp", [&] { return java->ask(request); }});
        interleave(entrants, Pace{o.quick ? 1u : 3u});
        for (const Entrant &e : entrants) {
            sheet.add(c.name, e.system, "pair", "ns", median(e.column(0)));
            sheet.add(c.name, e.system, "pair cpu", "ns", median(e.column(1)));
        }
    }
}

}  // namespace perf
