// W4, the benchmark of the fork/join article, in its form: N = 200, 400, 800 and 1 600 (--quick: 200 and 1 600); how many
// operations (see sines.h) in a millisecond, as the mean of 20 iterations (--quick: 10), and its error, the half-width of
// the 99.9 % interval over the iterations. All systems take turns, iteration by iteration. One iteration is 10 ms of
// warm-up and 40 ms that count (--quick: 3 and 15). Ratios and goals compare the medians, since a single iteration that
// something else disturbed moves a mean.
//
//     direct     computeDirectly: one thread calls everything
//     hc         default options. The thread outside that forks and joins has entered the group before the time starts
//     hc-alone   a group of one worker; the iteration runs in a task of it, so that nobody helps
//     tbb, omp   as many threads as CPUs, the one that forks included
//     jdk-fjp    ForkJoinPool, tasks submitted from outside as in the article; after a warm-up of its own
//     jdk-direct computeDirectly there
#include <memory>

#include "../harness/child.h"
#include "../harness/workload.h"
#include "../peers/hc_forks.h"
#include "sines.h"

namespace perf {
namespace {

struct Span {
    uint64_t warm_up, counted;  // ns
};

// Operations in a ms, and CPU µs of the process for each.
template <class Operation>
Sample iteration(const std::string &system, Span span, double expected, Operation operation) {
    auto run_for = [&](uint64_t ns) {
        const uint64_t begin = now_ns();
        uint64_t now, operations = 0;
        do {
            if (operation() != expected) fail("fork/join: " + system + " gives another sum than direct");
            ++operations;
            now = now_ns();
        } while (now - begin < ns);
        return static_cast<double>(operations) / ms(begin, now);
    };
    run_for(span.warm_up);
    uint64_t cpu = process_cpu_ns(), begin = now_ns();
    const double ops = run_for(span.counted);
    const double wall = ms(begin, now_ns());
    cpu = process_cpu_ns() - cpu;
    return {ops, static_cast<double>(cpu) * 1e-3 / (ops * wall)};
}

std::string kase(unsigned n) { return "N = " + std::to_string(n); }

void one_size(const Options &o, Sheet &sheet, Child *java, unsigned n) {
    const Span span = o.quick ? Span{3'000'000, 15'000'000} : Span{10'000'000, 40'000'000};
    Sines sines(n);
    const double expected = sines.direct();
    Hc ours(0), alone(1);
    Entered entered(ours);
    std::vector<Entrant> entrants;
    auto enter = [&](const char *system, auto run) { entrants.push_back({system, run}); };

    enter("direct", [&] { return iteration("direct", span, expected, [&] { return sines.direct(); }); });
    enter("hc", [&] { return iteration("hc", span, expected, [&] { return sines.hc(entered.place()); }); });
    enter("hc-alone", [&] {
        Sample sample;
        run_inside(alone, [&](hc_worker *place) {
            sample = iteration("hc-alone", span, expected, [&] { return sines.hc(place); });
        });
        return sample;
    });
#ifdef PERF_HAVE_TBB
    enter("tbb", [&] { return iteration("tbb", span, expected, [&] { return sines.tbb(); }); });
#endif
#ifdef _OPENMP
    enter("omp", [&] {
        Sample sample;
#pragma omp parallel
#pragma omp single
        sample = iteration("omp", span, expected, [&] { return sines.omp(); });
        return sample;
    });
#endif
    for (const char *system : {"jdk-fjp", "jdk-direct"})
        if (java)
            enter(system, [=] {
                return java->ask(std::string(system) + " " + std::to_string(n) + " " + std::to_string(span.warm_up) +
                                 " " + std::to_string(span.counted));
            });

    interleave(entrants, Pace{o.quick ? 10u : 20u});
    for (const Entrant &e : entrants) {
        sheet.add(kase(n), e.system, "ops", "1/ms", mean_of(e.column(0)));
        sheet.add(kase(n), e.system, "error", "1/ms", error_of_mean(e.column(0)));
        sheet.add(kase(n), e.system, "median", "1/ms", median(e.column(0)));
        sheet.add(kase(n), e.system, "cpu", "µs", median(e.column(1)));
    }
}

void run(const Options &o, Sheet &sheet) {
    sheet.main_metric = "ops";
    std::vector<unsigned> sizes{200, 400, 800, 1600};
    if (o.quick) sizes = {200, 1600};
    std::unique_ptr<Child> java;
    if (!o.java.empty()) {
        java = std::make_unique<Child>(Words{"java", "-cp", o.java, "ForkJoin"});
        for (const char *system : {"jdk-fjp", "jdk-direct"})  // until it is compiled
            java->ask(std::string(system) + " 400 " + (o.quick ? "500000000" : "2000000000") + " 100000000");
    }
    for (unsigned n : sizes) one_size(o, sheet, java.get(), n);
    sheet.add_ratios("median", "direct");
    auto goal = [&](const std::string &system, unsigned n, double limit) {
        sheet.at_least(system + " ops in direct, " + kase(n), sheet.ratio(kase(n), "median", system, "direct"), limit);
    };
    for (unsigned n : sizes) goal("hc", n, n >= 400 ? 1.0 : 0.9);
    for (unsigned n : sizes) goal("hc-alone", n, 0.65);
}

const Workload w4("W4", "fork/join: N sines, cosines and tangents, each a task", run);

}  // namespace
}  // namespace perf
