// Runs scenarios under relacy, with our scheduler.
#include "model.h"
//
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>

#include "scheduler.h"
namespace hc::model {
namespace {

const Plan *now;
alignas(64) char place[1 << 16];

template <int Threads, int Started>
struct Suite : rl::test_suite<Suite<Threads, Started>, Threads> {
    static constexpr rl::thread_id_t dynamic_thread_count = Started;
    Scenario *const scenario = now->make(place);
    ~Suite() { scenario->~Scenario(); }
    void thread(unsigned i) { scenario->thread(i); }
    void after() { scenario->after(); }
};

template <int Threads, int Started>
rl::test_result_e judge(const Plan &plan, unsigned long iterations, std::ostream &out) {
    using S = Suite<Threads, Started>;
    using By = Scheduler<Threads + Started>;
    now = &plan;
    rl::test_params p;
    p.search_type = rl::random_scheduler_type;  // makes loads return up to two older values
    p.iteration_count = iterations;
    p.execution_depth_limit = 20'000;
    std::ofstream nowhere;
    p.progress_stream = &nowhere;
    p.output_stream = &out;
    rl::ostringstream state;
    const auto result = rl::run_test<S, By>(p, state, false);
    if (result != rl::test_result_success) {  // once more, to write down what happened
        p.initial_state = state.str();
        p.collect_history = true;
        rl::ostringstream again;
        rl::run_test<S, By>(p, again, true);
    }
    return result;
}

rl::test_result_e judge(const Plan &p, unsigned long iterations, std::ostream &out) {
    if (p.size > sizeof place) return rl::test_result_inconsistent_test_suite;
    switch (p.threads * 10 + p.started) {
        case 12: return judge<1, 2>(p, iterations, out);
        case 21: return judge<2, 1>(p, iterations, out);
        case 24: return judge<2, 4>(p, iterations, out);
        case 20: return judge<2, 0>(p, iterations, out);
        case 34: return judge<3, 4>(p, iterations, out);
        case 30: return judge<3, 0>(p, iterations, out);
        case 44: return judge<4, 4>(p, iterations, out);
        case 40: return judge<4, 0>(p, iterations, out);
        case 50: return judge<5, 0>(p, iterations, out);
    }
    return rl::test_result_inconsistent_test_suite;
}

}  // namespace

bool holds(const Plan &plan) {
    const char *factor = getenv("HC_MODEL_FACTOR"), *only = getenv("HC_MODEL_ONLY");
    if (only != nullptr && std::string_view(only) != plan.name) return true;
    const auto iterations = static_cast<unsigned long>(double(plan.iterations) * (factor == nullptr ? 1 : atof(factor)));
    rl::ostringstream history;  // relacy has replaced operator new: what outlives a run must not use it
    const clock_t begin = clock();
    const bool ok = judge(plan, iterations, history) == rl::test_result_success;
    if (!ok) {
        const auto said = history.str();  // with zeros in it: relacy prints a uint8_t as a character
        fwrite(said.data(), 1, said.size(), stdout);
    }
    printf("%-6s %-24s %8lu iterations %5.1f s\n", ok ? "ok" : "FAILED", plan.name, iterations,
           double(clock() - begin) / CLOCKS_PER_SEC);
    fflush(stdout);
    if (!ok && getenv("HC_MODEL_STOP") != nullptr) std::_Exit(1);
    return ok;
}

bool fails(const Plan &plan, rl::test_result_e how) {
    rl::ostringstream history;
    const bool ok = judge(plan, plan.iterations, history) == how;
    printf("%-6s %-24s %s\n", ok ? "ok" : "FAILED", plan.name, ok ? "fails, as it must" : "was expected to fail");
    fflush(stdout);
    return ok;
}

}  // namespace hc::model
