// W2, re-arm: one thread has 1 024 timers that are due in an hour, and goes round them:
//
//     put off           each is to fire an hour from now, which is a little later than it was
//     brought forward   each is to fire a second earlier than it was
//     replaced          each is cancelled and freed, and a new one armed
//
// wall and cpu (of the whole process: workers clear up behind the caller) are ns for each; medians of the rounds, all
// systems in turn.
#include "../harness/rounds.h"
#include "../peers/rearm.h"
#include "schedule.h"

namespace perf {
namespace {

constexpr size_t count = 1024;
constexpr uint64_t second = 1'000'000'000;
constexpr const char *cases[] = {"re-arm: put off", "re-arm: brought forward", "re-arm: replaced"};

// Appends wall and CPU time of each call of change(i, pass).
template <class R, class Change>
void measure(R &timers, unsigned passes, Sample &out, Change change) {
    uint64_t cpu = process_cpu_ns(), begin = now_ns();
    for (unsigned pass = 0; pass < passes; ++pass) {
        for (size_t i = 0; i < count; ++i) change(i, pass);
        if constexpr (requires { timers.pass(); }) timers.pass();
    }
    const double changes = static_cast<double>(passes) * count;
    out.push_back(static_cast<double>(now_ns() - begin) / changes);
    out.push_back(static_cast<double>(process_cpu_ns() - cpu) / changes);
}

template <class R>
Sample round(R &timers, unsigned passes) {
    Sample out;
    measure(timers, passes, out, [&](size_t i, unsigned) { timers.arm(i, an_hour); });
    measure(timers, passes, out, [&](size_t i, unsigned pass) { timers.arm(i, an_hour - (pass + 1) * second); });
    measure(timers, passes, out, [&](size_t i, unsigned) { timers.replace(i, an_hour); });
    return out;
}

}  // namespace

void schedule_rearm(const Options &o, Sheet &sheet, const ForeignTimers &foreign) {
    const unsigned passes = o.quick ? 100 : 1'000, rounds = o.quick ? 3 : 5;
    std::vector<Entrant> entrants;
    each_rearm([&](auto type) {
        using R = typename decltype(type)::type;
        auto timers = std::make_shared<R>(count, an_hour);
        entrants.push_back({R::name, [=] { return round(*timers, passes); }});
    });
    if (foreign.go)
        entrants.push_back(
            {"go", [&] { return foreign.go->ask("rearm " + std::to_string(count) + " " + std::to_string(passes)); }});
    interleave(entrants, Pace{rounds});
    for (size_t c = 0; c < std::size(cases); ++c)
        for (const Entrant &e : entrants) {
            sheet.add(cases[c], e.system, "wall", "ns", median(e.column(2 * c)));
            sheet.add(cases[c], e.system, "cpu", "ns", median(e.column(2 * c + 1)));
        }
    sheet.at_most("ns of hc_timer_arm, put off", sheet.value(cases[0], "hc", "wall"), 50);
}

}  // namespace perf
