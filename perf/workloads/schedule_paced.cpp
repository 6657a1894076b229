// W2, paced: on an idle group 1 000 timers a second fire, each somewhere in its millisecond. All are armed before the
// first is due, so that nothing but their own firing disturbs the idleness. 2 workers; ours also with 8, and 64 (not in
// --quick).
//
//     p50 p99 max   lateness, of all timers of all rounds
//     floor         a bare thread with a timer slack of 1 ns, which sleeps in clock_nanosleep() from one to the next
//     cpu           of the process, for each timer
#include <sys/prctl.h>

#include <thread>

#include "../harness/futex.h"
#include "../harness/rounds.h"
#include "../peers/all_timers.h"
#include "schedule.h"

namespace perf {
namespace {

constexpr uint64_t pitch = 1'000'000, lead = 20'000'000;

struct Shot {
    uint64_t due, fired;
    Countdown *all;
};

std::vector<Shot> shots(unsigned n, Countdown &all) {
    std::vector<Shot> list;
    Delays within(n, 0, pitch);
    const uint64_t first = now_ns() + lead;
    for (unsigned i = 0; i < n; ++i) list.push_back({first + i * pitch + within.next(), 0, &all});
    return list;
}

// The CPU time of each timer, then how late each was.
Sample sample_of(const char *system, const std::vector<Shot> &list, uint64_t cpu) {
    Sample sample{static_cast<double>(cpu) / static_cast<double>(list.size())};
    for (const Shot &s : list) sample.push_back(lateness(system, s.due, s.fired));
    return sample;
}

template <Timers T>
Sample round(T &timers, unsigned n) {
    Countdown all(n);
    std::vector<Shot> list = shots(n, all);
    TaskFn fire = [](void *arg) {
        auto &shot = *static_cast<Shot *>(arg);
        shot.fired = now_ns();
        shot.all->arrive();
    };
    uint64_t cpu = process_cpu_ns();
    for (Shot &s : list) timers.schedule(fire, &s, s.due - now_ns());
    if (!all.wait_for(patience)) fail(std::string(T::name) + ": timers have not fired");
    return sample_of(T::name, list, process_cpu_ns() - cpu);
}

Sample floor_round(unsigned n) {
    Countdown all(n);
    std::vector<Shot> list = shots(n, all);
    uint64_t cpu = process_cpu_ns();
    std::jthread([&] {
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        for (Shot &s : list) {
            const timespec until = to_timespec(s.due);
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
            }
            s.fired = now_ns();
        }
    }).join();
    return sample_of("floor", list, process_cpu_ns() - cpu);
}

void add_rows(Sheet &sheet, const std::string &kase, const Entrant &e) {
    std::vector<double> late;
    for (const Sample &s : e.samples) late.insert(late.end(), s.begin() + 1, s.end());
    sheet.add(kase, e.system, "cpu", "ns", median(e.column(0)));
    sheet.add(kase, e.system, "p50", "ns", percentile(late, 0.5));
    sheet.add(kase, e.system, "p99", "ns", percentile(late, 0.99));
    sheet.add(kase, e.system, "max", "ns", percentile(late, 1));
}

}  // namespace

void schedule_paced(const Options &o, Sheet &sheet, const ForeignTimers &foreign) {
    const unsigned n = o.quick ? 150 : 2'000, rounds = o.quick ? 2 : 4;
    const std::vector<unsigned> counts = o.quick ? std::vector{2u, 8u} : std::vector{2u, 8u, 64u};
    std::vector<std::string> cases;
    std::vector<Entrant> entrants;
    auto enter = [&](const std::string &kase, const char *system, std::function<Sample()> round) {
        cases.push_back(kase);
        entrants.push_back({system, std::move(round)});
    };
    auto enter_timers = [&](const std::string &kase, auto timers) {
        enter(kase, timers->name, [timers, n] { return round(*timers, n); });
    };
    auto name = [](unsigned workers) { return "paced, " + std::to_string(workers) + " workers"; };
    enter(name(2), "floor", [n] { return floor_round(n); });
    for (const unsigned workers : counts) enter_timers(name(workers), std::make_shared<HcTimers>(workers));
    each_timers_peer([&](auto type) { enter_timers(name(2), std::make_shared<typename decltype(type)::type>(2u)); });
    foreign.each([&](const char *system, auto child) {
        enter(name(2), system, [=] { return child->ask("paced " + std::to_string(n)); });
    });
    interleave(entrants, Pace{rounds});

    for (const unsigned workers : counts) {
        const std::string kase = name(workers);
        add_rows(sheet, kase, entrants[0]);
        for (size_t i = 1; i < entrants.size(); ++i)
            if (cases[i] == kase) add_rows(sheet, kase, entrants[i]);
        double over = sheet.value(kase, "hc", "p99") - sheet.value(kase, "floor", "p99");
        sheet.at_most("hc p99 beyond floor's, in µs, " + kase, over * 1e-3, 15);
    }
}

}  // namespace perf
