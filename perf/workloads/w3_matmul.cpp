// W3, the benchmark of the work-queue article: one thread assigns tasks, each a 10x10 matrix product (see matmul.h), to
// a pool of type 1 (`shared`), 2 (`pinned`) or 3 (`hc`, stealing), with 1 to 10 threads and 100 000 to 500 000 tasks;
// --quick: 1, 2, 4 and 10 threads, 100 000 tasks. The median of 5 rounds, all systems in turn.
//
//     floor   the assigner calls all tasks itself, divided by min(threads, cores); measured in every round
//     direct  min(threads, cores) bare threads call their share of the tasks: what this machine gives at that moment
//     java-…  the same three types in Java, in one process, after 5 rounds of warm-up
#include "../harness/child.h"
#include "../harness/counters.h"
#include "../harness/workload.h"
#include "../peers/bare.h"
#include "../peers/hc.h"
#include "contention.h"
#include "matmul.h"

namespace perf {
namespace {

template <class P>
Entrant entrant(Matmul &work, std::shared_ptr<P> pool, unsigned tasks, double divisor = 1) {
    return {P::name, [&work, pool, tasks, divisor] {
                return Sample{work.run(tasks, [&](TaskFn fn, void *arg) { pool->submit(fn, arg); }) / divisor};
            }};
}

std::string kase(unsigned threads, unsigned tasks) {
    return std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + std::to_string(tasks) + " tasks";
}

void one_case(const Options &o, Sheet &sheet, Matmul &work, Child *java, unsigned threads, unsigned tasks) {
    auto ours = std::make_shared<Hc>(threads);
    unsigned cores = std::min(threads, usable_cpus());
    std::vector<Entrant> entrants{entrant(work, std::make_shared<Direct>(0), tasks, cores),
                                  entrant(work, std::make_shared<HcShared>(threads), tasks),
                                  entrant(work, std::make_shared<HcPinned>(threads), tasks),
                                  entrant(work, ours, tasks)};
    entrants[0].system = "floor";
    entrants.push_back({"direct", [&work, tasks, cores] { return Sample{work.run_direct(tasks, cores)}; }});
    for (const char *type : {"shared", "pinned", "stealing"})
        if (java) {
            std::string request = std::string(type) + " " + std::to_string(threads) + " " + std::to_string(tasks);
            entrants.push_back({std::string("java-") + type, [java, request] { return java->ask(request); }});
        }
    interleave(entrants, Pace{o.quick ? 3u : 5u});
    for (const Entrant &e : entrants) sheet.add(kase(threads, tasks), e.system, "wall", "ms", median(e.column(0)));
    if (tasks <= 100'000) add_contention(sheet, kase(threads, tasks), "hc", ours->stats());
}

void run(const Options &o, Sheet &sheet) {
    sheet.layout = Sheet::Layout::cases_down;
    std::vector<unsigned> sizes{100'000}, threads{1, 2, 4, 10};
    if (!o.quick) {
        sizes = {100'000, 200'000, 300'000, 400'000, 500'000};
        threads = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    }
    Matmul work;
    std::unique_ptr<Child> java;
    if (!o.java.empty()) {
        java = std::make_unique<Child>(Words{"java", "-cp", o.java, "Matmul"});
        for (int warm_up = 0; warm_up < 5; ++warm_up)
            for (const char *type : {"shared", "pinned", "stealing"}) java->ask(std::string(type) + " 2 100000");
    }
    double over_floor = 0, over_direct = 0, over_best = 0;
    for (unsigned n : sizes)
        for (unsigned t : threads) {
            one_case(o, sheet, work, java.get(), t, n);
            double hc = sheet.value(kase(t, n), "hc", "wall");
            double best =
                std::min(sheet.value(kase(t, n), "shared", "wall"), sheet.value(kase(t, n), "pinned", "wall"));
            over_floor = std::max(over_floor, hc / sheet.value(kase(t, n), "floor", "wall"));
            over_direct = std::max(over_direct, hc / sheet.value(kase(t, n), "direct", "wall"));
            over_best = std::max(over_best, hc / best);
        }
    char text[64];
    std::snprintf(text, sizeof text, "a task takes %.2f µs",
                  sheet.value(kase(1, sizes[0]), "floor", "wall") / sizes[0] * 1000);
    sheet.note(text);
    sheet.add_ratios("wall", "floor");
    sheet.at_most("hc (type 3) wall in the floor, worst point", over_floor, 1.1);
    sheet.at_most("hc (type 3) wall in direct, worst point", over_direct, 1.1);
    sheet.at_most("hc (type 3) wall in the better other type, worst point", over_best, 1.03);
}

const Workload w3("W3", "matmul: one assigner, 10x10 matrix products, three ways to queue", run);

}  // namespace
}  // namespace perf
