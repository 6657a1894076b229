// W2, memory: one thread arms 1 000 000 timers (and 10 000 000, not in --quick) that are due in one to two hours. Each
// time in a fresh process; medians of 3 (--quick, and 10 000 000: one).
//
//     no handle     hc_schedule(); then the group is destroyed with all of them pending. Peers: beside 100 000, for GLib
//                   takes the square of their number to destroy them; not in --quick
//     with handles  hc_timer_create(); then all are cancelled, in random order, and their handles given back; 1 000 000
//                   also once more; then the group is destroyed
//
//     arm, cancel   ns for each timer
//     timer         growth of the resident set once all are armed and the process is at rest, for each timer: all that
//                   a pending timer costs, but not where the caller keeps its handle
//     left          growth of the resident set that is left when the first round has been cancelled
//     grown         how much the second round adds to that: nothing, if memory is flat
//     destroy       ms, of the group
//     rss           the most that the process ever had resident
#include <algorithm>
#include <random>

#include "../harness/counters.h"
#include "../harness/rounds.h"
#include "../harness/serve.h"
#include "../peers/all_timers.h"
#include "schedule.h"

namespace perf {
namespace {

double resident() { return static_cast<double>(rss_bytes()); }

// Once other threads have stopped working on what they were handed.
double resident_at_rest() {
    const uint64_t slice = 20'000'000, begin = now_ns();
    for (uint64_t cpu = process_cpu_ns(), before = 0; cpu - before > slice / 20; cpu = process_cpu_ns()) {
        if (now_ns() - begin > patience) fail("a process does not come to rest");
        before = cpu;
        sleep_ns(slice);
    }
    return resident();
}

// ns for each of n calls of f(i).
template <class F>
double each_ns(size_t n, F f) {
    const uint64_t begin = now_ns();
    for (size_t i = 0; i < n; ++i) f(i);
    return static_cast<double>(now_ns() - begin) / static_cast<double>(n);
}

Delays far(uint64_t seed) { return Delays(seed, an_hour, 2 * an_hour); }

// "pending SYSTEM TIMERS": the metrics arm, timer, destroy, rss.
template <Timers T>
Sample pending(size_t n) {
    auto timers = std::make_unique<T>(2u);
    Delays delays = far(1);
    sleep_ns(20'000'000);
    const double before = resident();
    const double arm = each_ns(n, [&](size_t) { timers->schedule([](void *) {}, nullptr, delays.next()); });
    const double bytes = (resident_at_rest() - before) / static_cast<double>(n);
    const uint64_t begin = now_ns();
    timers.reset();
    return {arm, bytes, ms(begin, now_ns()), static_cast<double>(peak_rss_bytes())};
}

const Service pending_service("pending", [](const Words &words) {
    Sample sample;
    each_timers([&](auto type) {
        using T = typename decltype(type)::type;
        if (words.at(0) == T::name) sample = pending<T>(std::stoull(words.at(1)));
    });
    return sample;
});

// "handles TIMERS ROUNDS": the metrics arm, timer, cancel, left, destroy, rss; with a second round, also grown. Times are
// those of the first.
Sample serve_handles(const Words &words) {
    const size_t n = std::stoull(words.at(0));
    const bool again = words.at(1) == "2";
    auto group = std::make_unique<Hc>(2u);
    std::vector<hc_timer *> timers(n);
    std::vector<uint32_t> order(n);
    for (size_t i = 0; i < n; ++i) order[i] = static_cast<uint32_t>(i);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    sleep_ns(20'000'000);

    const double before = resident();
    Delays delays = far(1);
    auto arm_all = [&] {
        return each_ns(n, [&](size_t i) { timers[i] = create_hc_timer(group->group(), delays.next()); });
    };
    auto cancel_all = [&] {
        return each_ns(n, [&](size_t i) {
            hc_timer *timer = timers[order[i]];
            if (hc_timer_cancel(timer) != HC_REMOVED) fail("hc_timer_cancel: a timer was not pending");
            hc_timer_unref(timer);
        });
    };
    const double arm = arm_all();
    const double bytes = (resident_at_rest() - before) / static_cast<double>(n);
    const double cancel = cancel_all();
    const double left = resident_at_rest() - before;
    double grown = 0;
    if (again) {
        arm_all();
        resident_at_rest();
        cancel_all();
        grown = resident_at_rest() - before - left;
    }
    const uint64_t begin = now_ns();
    group.reset();
    Sample sample{arm, bytes, cancel, left, ms(begin, now_ns()), static_cast<double>(peak_rss_bytes())};
    if (again) sample.push_back(grown);
    return sample;
}
const Service handles_service("handles", serve_handles);

using Metrics = std::vector<std::pair<const char *, const char *>>;
const Metrics pending_metrics{{"arm", "ns"}, {"timer", "B"}, {"destroy", "ms"}, {"rss", "B"}};
const Metrics handles_metrics{{"arm", "ns"},     {"timer", "B"}, {"cancel", "ns"}, {"left", "B"},
                              {"destroy", "ms"}, {"rss", "B"},   {"grown", "B"}};

}  // namespace

void schedule_memory(const Options &o, Sheet &sheet) {
    auto measure = [&](const std::string &kase, const char *system, const std::string &request, const Metrics &metrics,
                       unsigned rounds) {
        std::vector<Entrant> fresh{{system, [&] { return Child(this_program_serving()).ask(request); }}};
        interleave(fresh, Pace{rounds});
        for (size_t m = 0; m < fresh[0].samples.front().size(); ++m)
            sheet.add(kase, system, metrics[m].first, metrics[m].second, median(fresh[0].column(m)));
    };
    if (!o.quick)
        each_timers([&](auto type) {
            const std::string system = decltype(type)::type::name, n = "100000";
            measure(n + " pending, no handle", system.c_str(), "pending " + system + " " + n, pending_metrics, 3);
        });
    for (const std::string n : {"1000000", "10000000"}) {
        const bool many = n.size() > 7;
        if (many && o.quick) continue;
        if (many && available_memory_bytes() < 4'000'000'000u) {
            sheet.note("10000000 pending timers need 4 GB of memory: left out");
            continue;
        }
        const std::string without = n + " pending, no handle", with = n + " pending, with handles";
        const unsigned rounds = many || o.quick ? 1 : 3;
        measure(without, "hc", "pending hc " + n, pending_metrics, rounds);
        measure(with, "hc", "handles " + n + (many ? " 1" : " 2"), handles_metrics, rounds);
        for (const std::string &kase : {without, with})
            sheet.at_most("bytes of a timer, hc, " + kase, sheet.value(kase, "hc", "timer"), 96);
        if (many) continue;
        sheet.at_most("MB that a second round of them adds", sheet.value(with, "hc", "grown") * 1e-6, 1);
    }
}

}  // namespace perf
