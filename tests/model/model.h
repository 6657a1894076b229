// A model: some threads, small capacities, and what must hold. Scenarios are structs derived from Model; main() runs them.
//
//   struct Handover : Model<2> { Lane lane; ...  void thread(unsigned i) override; void after() override; };
//   int main() { return holds<Handover>("handover", 100'000) ? 0 : 1; }
//
// Members live for one iteration, constructed before its threads start. after() runs when all have ended. What has no Atomic
// and no Plain in its type is the model's own notebook, which the threads of the model cannot see: plain ints and bools.
#ifndef HC_MODEL_MODEL_H
#define HC_MODEL_MODEL_H
#include "seam.h"
namespace hc::model {

class Scenario {
  public:
    virtual ~Scenario() = default;
    virtual void thread(unsigned) = 0;
    virtual void after() {}
};

template <int Threads, int Started = 0>
struct Model : Scenario {
    static constexpr int kThreads = Threads, kStarted = Started;  // the latter by thread_start()
    Model() { machine.reset(); }
};

#define CHECK(x) RL_ASSERT_IMPL(x, rl::test_result_user_assert_failed, "not so: " #x, RL_INFO)

inline void yield(HC_PLACE) { rl::yield(1, at); }

// For tasks that wait for other tasks: blocks the thread, orders no memory.
struct Condition {
    bool met = false;
    void wait(HC_PLACE) {
        while (!met) block(this, false, false, at);
    }
    void meet(HC_PLACE) {
        met = true;
        model::wake(this, Machine::kThreads, at);
    }
};

// runner.cpp, where relacy's templates are instantiated once.
struct Plan {
    const char *name;
    unsigned long iterations;
    int threads, started;
    size_t size;
    Scenario *(*make)(void *place);
};
bool holds(const Plan &plan);
bool fails(const Plan &plan, rl::test_result_e how);

template <class S>
Plan plan(const char *name, unsigned long iterations) {
    return {name, iterations, S::kThreads, S::kStarted, sizeof(S), [](void *p) -> Scenario * { return new (p) S; }};
}

// Runs a scenario. In the environment, HC_MODEL_FACTOR=n: n times as many iterations; HC_MODEL_SEED=n: others;
// HC_MODEL_ONLY=name: this scenario only; HC_MODEL_STOP=1: the first that fails ends the program.
template <class S>
bool holds(const char *name, unsigned long iterations) {
    return holds(plan<S>(name, iterations));
}
// The opposite: a wrong use, shown to be wrong. A model that cannot fail proves nothing.
template <class S>
bool fails(const char *name, rl::test_result_e how, unsigned long iterations) {
    return fails(plan<S>(name, iterations), how);
}

}  // namespace hc::model
#endif
