// The tasks of W4. Sin and Cos compute one sine, one cosine: some 10 ns. Tan forks a Sin and a Cos of the same number,
// joins them and divides. A list holds N of each, in turn, made once; an operation forks the whole list, joins it from
// its end, and adds up the results in that order, so that all systems get the same sum to the last bit.
//
//     direct   calls, through a pointer as the article calls a method; nothing else
//     hc       the inline functions; the hc_fork of a task stands beside it in the list
//     tbb      task_group: run() for each task, one wait() for all, as it has no other join
//     omp      task for each, taskwait
#pragma once

#include <homecooking/homecooking.h>

#include <cmath>
#include <random>
#include <vector>

#ifdef PERF_HAVE_TBB
#include <oneapi/tbb/task_group.h>
#endif

namespace perf {

// Not inline, for a compiler that sees both makes one call of them.
[[gnu::noinline]] inline double sin_of(double x) { return std::sin(x); }
[[gnu::noinline]] inline double cos_of(double x) { return std::cos(x); }

struct Sines {
    struct Call {
        double input, result = 0;
    };
    struct Kind {
        double (*direct)(double);
        hc_fork_fn hc;
        double (*tbb)(double), (*omp)(double);
    };
    struct Task : Call {
        const Kind *kind;
        hc_fork fork;
        Task(const Kind *k, double x) : Call{x}, kind(k) {}
    };

    std::vector<Task> tasks;

    explicit Sines(unsigned n) {
        static constexpr Kind sine{sin_of, hc_leaf<sin_of>, sin_of, sin_of};
        static constexpr Kind cosine{cos_of, hc_leaf<cos_of>, cos_of, cos_of};
        static constexpr Kind tangent{tan_direct, hc_tan, tan_tbb, tan_omp};
        std::mt19937_64 random(0x32106234567);
        std::uniform_real_distribution<double> number(0, 1);
        tasks.reserve(3 * n);
        for (unsigned i = 0; i < n; ++i)
            for (const Kind *kind : {&sine, &cosine, &tangent}) tasks.emplace_back(kind, number(random));
    }

    // ---- one operation ----
    double direct() {
        double sum = 0;
        for (auto t = tasks.rbegin(); t != tasks.rend(); ++t) sum += t->kind->direct(t->input);
        return sum;
    }

    double hc(hc_worker *w) {
        for (Task &t : tasks) w = hc_fork_push_fast(w, &t.fork, t.kind->hc, static_cast<Call *>(&t));
        double sum = 0;
        for (auto t = tasks.rbegin(); t != tasks.rend(); ++t) {
            w = hc_fork_join_fast(w, &t->fork);
            sum += t->result;
        }
        return sum;
    }

    double tbb() {
#ifdef PERF_HAVE_TBB
        oneapi::tbb::task_group group;
        for (Task &t : tasks) group.run([&t] { t.result = t.kind->tbb(t.input); });
        group.wait();
#endif
        return sum_of_results();
    }

    double omp() {  // by one thread of a parallel region
        for (Task &t : tasks) {
            Task *task = &t;
#pragma omp task firstprivate(task)
            task->result = task->kind->omp(task->input);
        }
#pragma omp taskwait
        return sum_of_results();
    }

  private:
    double sum_of_results() const {
        double sum = 0;
        for (auto t = tasks.rbegin(); t != tasks.rend(); ++t) sum += t->result;
        return sum;
    }

    static double tan_direct(double x) { return sin_of(x) / cos_of(x); }

    template <double (*fn)(double)>
    static void hc_leaf(hc_worker *, void *arg) {
        auto *call = static_cast<Call *>(arg);
        call->result = fn(call->input);
    }
    static void hc_tan(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        Call s{call->input}, c{call->input};
        hc_fork sine, cosine;
        hc_worker *after_sine = hc_fork_push_fast(w, &sine, hc_leaf<sin_of>, &s);
        hc_worker *after_both = hc_fork_push_fast(after_sine, &cosine, hc_leaf<cos_of>, &c);
        hc_fork_join_fast(after_both, &cosine);
        hc_fork_join_fast(after_sine, &sine);
        call->result = s.result / c.result;
    }

    static double tan_tbb(double x) {
        double s = 0, c = 1;
#ifdef PERF_HAVE_TBB
        oneapi::tbb::task_group group;
        group.run([&] { s = sin_of(x); });
        group.run([&] { c = cos_of(x); });
        group.wait();
#endif
        return s / c;
    }

    static double tan_omp(double x) {
        double s, c;
#pragma omp task shared(s)
        s = sin_of(x);
#pragma omp task shared(c)
        c = cos_of(x);
#pragma omp taskwait
        return s / c;
    }
};

}  // namespace perf
