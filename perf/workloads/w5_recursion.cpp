// W5, recursions that fork at every step: fib(36), nqueens(11), skynet of 10^6 leaves, quicksort of 10^7 ints (--quick:
// fib(30), nqueens(9), 10^5, 10^6); see recursion.h. With 1 and with 2 threads, all of them: the computation runs in a
// task of a group of that size, and the thread that measures sleeps; peers are limited to as many. fib also with 8 and 64
// workers. Medians of 9 rounds (--quick: 5; quicksort: 3), all systems in turn; a slow peer takes part in the first only.
// Each result is checked.
//
//     wall   ms, from the begin of the computation to its end, taken by the thread that runs it
//     fork   ns, wall divided by how often the computation forks: what a fork costs, its work included
//     cpu    CPU s of the process in that time
//
// What the library allocates is counted in a process of its own, in which it has got the allocator that counts.
#include <atomic>
#include <cstdlib>
#include <memory>

#include "../harness/child.h"
#include "../harness/serve.h"
#include "../harness/workload.h"
#include "../peers/hc_forks.h"
#include "recursion.h"

#ifdef PERF_HAVE_TBB
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace perf {
namespace {

// ns of all repeats of one computation, where it is called.
template <class F>
uint64_t timed(const Recursion &k, long &result, F compute) {
    const uint64_t begin = now_ns();
    for (unsigned i = 0; i < k.repeats; ++i) {
        result = compute();
        asm volatile("" : : "r"(result) : "memory");  // each repeat computes
    }
    return now_ns() - begin;
}

// One measurement. run(result) computes all repeats and says how many ns that took.
template <class Run>
Sample measured(Recursion &k, const char *system, Run run) {
    k.prepare();
    long result = -1;
    uint64_t cpu = process_cpu_ns();
    const auto ns = static_cast<double>(run(result)) / k.repeats;
    const auto cpu_s = static_cast<double>(process_cpu_ns() - cpu) * 1e-9 / k.repeats;
    if (!k.right(result)) fail("recursion: " + std::string(system) + " gives a wrong " + k.name);
    return {ns * 1e-6, ns / static_cast<double>(k.forks), cpu_s};
}

void enter_ours(std::vector<Entrant> &entrants, Recursion &k, unsigned workers) {
    auto enter = [&, pool = std::make_shared<Hc>(workers)](const char *system,
                                                           long (Recursion::*compute)(hc_worker *)) {
        auto run = [=, &k](long &result) {
            uint64_t ns = 0;
            run_inside(*pool, [&](hc_worker *w) { ns = timed(k, result, [&] { return (k.*compute)(w); }); });
            return ns;
        };
        entrants.push_back({system, [=, &k] { return measured(k, system, run); }});
    };
    enter("hc", &Recursion::hc);
    enter("hc-calls", &Recursion::hc_calls);
}

void enter_peers([[maybe_unused]] std::vector<Entrant> &entrants, [[maybe_unused]] Recursion &k,
                 [[maybe_unused]] unsigned threads) {
#ifdef PERF_HAVE_TBB
    struct Arena {
        oneapi::tbb::global_control limit;
        oneapi::tbb::task_arena arena;
        explicit Arena(unsigned n)
            : limit(oneapi::tbb::global_control::max_allowed_parallelism, n), arena(static_cast<int>(n)) {}
    };
    entrants.push_back({"tbb", [&k, tbb = std::make_shared<Arena>(threads)] {
                            return measured(k, "tbb", [&](long &result) {
                                return tbb->arena.execute([&] { return timed(k, result, [&] { return k.tbb(); }); });
                            });
                        }});
#endif
#ifdef _OPENMP
    entrants.push_back({"omp", [&k, threads] {
                            return measured(k, "omp", [&](long &result) {
                                uint64_t ns = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
                                ns = timed(k, result, [&] { return k.omp(); });
                                return ns;
                            });
                        }});
#endif
#ifdef PERF_HAVE_LACE
    struct Lace {
        explicit Lace(unsigned n) { lace_open(n); }
        ~Lace() { lace_close(); }
    };
    entrants.push_back({"lace", [&k, lace = std::make_shared<Lace>(threads)] {
                            lace_wake();
                            sleep_ns(1'000'000);  // until they spin
                            Sample sample = measured(k, "lace", [&](long &result) {
                                const lace_answer answer = k.lace();
                                result = answer.result;
                                return answer.ns;
                            });
                            lace_sleep();
                            return sample;
                        }});
#endif
}

std::string kase(const Recursion &k, unsigned workers) {
    return k.name + ", " + std::to_string(workers) + (workers == 1 ? " worker" : " workers");
}

void one_case(Sheet &sheet, Recursion &k, unsigned workers, const Pace &pace) {
    auto direct = [&k](long &result) { return timed(k, result, [&] { return k.direct(); }); };
    std::vector<Entrant> entrants{{"direct", [&k, direct] { return measured(k, "direct", direct); }}};
    enter_ours(entrants, k, workers);
    if (workers <= 2) enter_peers(entrants, k, workers);
    interleave(entrants, pace);
    for (const Entrant &e : entrants) {
        sheet.add(kase(k, workers), e.system, "fork", "ns", median(e.column(1)));
        sheet.add(kase(k, workers), e.system, "wall", "ms", median(e.column(0)));
        sheet.add(kase(k, workers), e.system, "cpu", "s", median(e.column(2)));
    }
}

// How much further ours is than the peer, if it was measured.
void ahead(Sheet &sheet, const std::string &kase, const std::string &peer, double limit) {
    const double ratio = sheet.ratio(kase, "fork", peer, "hc");
    if (ratio == ratio) sheet.at_least(peer + " wall in hc, " + kase, ratio, limit);
}

// "fork-allocations WORKERS": how often the library allocates in 20 runs of fib after 20 others, in which all workers got
// what they need; with the inline functions and with the plain ones.
std::atomic<unsigned> allocations{0};

Sample serve_allocations(const Words &words) {
    hc_allocator_set(
        [](size_t size, size_t align, void *) -> void * {
            ++allocations;
            void *p = nullptr;
            return posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, size) == 0 ? p : nullptr;
        },
        [](void *p, size_t, size_t, void *) { std::free(p); }, nullptr);
    const auto fib = make_fib(true);
    Hc pool(static_cast<unsigned>(std::stoul(words.at(0))));
    Sample counts;
    auto count = [&](auto compute) {
        for (int i = 0; i < 20; ++i) run_inside(pool, compute);
        const unsigned before = allocations;
        for (int i = 0; i < 20; ++i) run_inside(pool, compute);
        counts.push_back(allocations - before);
    };
    count([&](hc_worker *w) { fib->hc(w); });
    count([&](hc_worker *w) { fib->hc_calls(w); });
    return counts;
}
const Service allocation_service("fork-allocations", serve_allocations);

void run(const Options &o, Sheet &sheet) {
    sheet.main_metric = "fork";
    const auto fib = make_fib(o.quick), queens = make_queens(o.quick), skynet = make_skynet(o.quick),
               quicksort = make_quicksort(o.quick);
    const unsigned rounds = o.quick ? 5 : 9;
    const Pace pace{rounds, o.quick ? 120.0 : 1200.0, rounds};
    for (unsigned workers : {1u, 2u}) {
        one_case(sheet, *fib, workers, pace);
        one_case(sheet, *queens, workers, pace);
        one_case(sheet, *skynet, workers, pace);
        one_case(sheet, *quicksort, workers, Pace{3});
    }
    for (unsigned workers : {8u, 64u}) one_case(sheet, *fib, workers, pace);
    sheet.add_ratios("wall", "direct");

    for (unsigned workers : {1u, 2u}) {
        const double ratio = sheet.ratio(kase(*fib, workers), "fork", "hc", "lace");
        if (ratio == ratio) sheet.at_most("hc fork in lace, " + kase(*fib, workers), ratio, 1.05);
        ahead(sheet, kase(*fib, workers), "tbb", 20);
        for (const char *peer : {"tbb", "omp"}) {
            ahead(sheet, kase(*queens, workers), peer, 3);
            ahead(sheet, kase(*skynet, workers), peer, 3);
        }
    }
    const std::string sorted = kase(*quicksort, 2);
    sheet.at_least("direct wall in hc, " + sorted, sheet.ratio(sorted, "wall", "direct", "hc"), 1.8);
    for (const char *workers : {"1", "2"}) {
        const Sample counts = Child(this_program_serving()).ask(std::string("fork-allocations ") + workers);
        const std::string text = std::string("allocations of hc in 20 fibs after 20, workers: ") + workers;
        sheet.at_most(text, counts.at(0) + counts.at(1), 0);
    }
    char text[96];
    std::snprintf(text, sizeof text, "a fork by plain function calls (hc-calls) with 1 worker: %.1f ns of fib",
                  sheet.value(kase(*fib, 1), "hc-calls", "fork"));
    sheet.note(text);
}

const Workload w5("W5", "recursion: fib, nqueens, skynet, quicksort that fork at every step", run);

}  // namespace
}  // namespace perf
