// The task of W3 and of the program `workqueue`: one product of two 10x10 matrices of doubles, in three plain loops
// that are not vectorised: 0.3 to 1 microsecond. There are 1 024 pairs of matrices; a task gets one as its argument,
// multiplies and compares the result with what the product was when the pair was made. Each pair counts its tasks, so
// that counting does not make workers meet.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../harness/clock.h"
#include "../harness/fail.h"
#include "../harness/futex.h"

namespace perf {

struct Matmul {
    static constexpr unsigned n = 10, pairs = 1024;

    struct Pair {
        double a[n * n], b[n * n], product[n * n];
        std::atomic<uint32_t> done{0};
        uint32_t target = 0;
        Countdown *all = nullptr;
    };

    std::unique_ptr<Pair[]> pair = std::make_unique<Pair[]>(pairs);

    Matmul() {
        std::mt19937 random(1);
        std::uniform_real_distribution<double> number(-1, 1);
        for (unsigned p = 0; p < pairs; ++p) {
            for (unsigned i = 0; i < n * n; ++i) {
                pair[p].a[i] = number(random);
                pair[p].b[i] = number(random);
            }
            multiply(pair[p].a, pair[p].b, pair[p].product);
        }
    }

    [[gnu::noinline, gnu::optimize("no-tree-vectorize")]] static void multiply(const double *a, const double *b,
                                                                               double *c) {
        for (unsigned i = 0; i < n; ++i)
            for (unsigned j = 0; j < n; ++j) {
                double sum = 0;
                for (unsigned k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
                c[i * n + j] = sum;
            }
    }

    static void task(void *arg) {
        Pair &p = *static_cast<Pair *>(arg);
        double c[n * n];
        multiply(p.a, p.b, c);
        for (unsigned i = 0; i < n * n; ++i)
            if (c[i] != p.product[i]) fail("matmul: a wrong product");
        if (p.done.fetch_add(1, std::memory_order_acq_rel) + 1 == p.target) p.all->arrive();
    }

    // Milliseconds from the first submit until the last of `tasks` tasks has ended. The caller is the one assigner.
    template <class Submit>
    double run(unsigned tasks, Submit submit) {
        return timed(tasks, [&] {
            for (unsigned i = 0; i < tasks; ++i) submit(task, &pair[i % pairs]);
        });
    }

    // The same without any pool: `threads` bare threads call their share of the tasks.
    double run_direct(unsigned tasks, unsigned threads) {
        return timed(tasks, [&] {
            std::vector<std::jthread> bare;
            for (unsigned t = 0; t < threads; ++t)
                bare.emplace_back([=, this] {
                    for (unsigned i = t; i < tasks; i += threads) task(&pair[i % pairs]);
                });
        });
    }

  private:
    template <class Begin>
    double timed(unsigned tasks, Begin begin_all) {
        Countdown all(std::min(tasks, pairs));
        for (unsigned p = 0; p < pairs; ++p) {
            pair[p].done.store(0);
            pair[p].target = tasks / pairs + (p < tasks % pairs);
            pair[p].all = &all;
        }
        uint64_t begin = now_ns();
        begin_all();
        if (!all.wait_for(patience)) fail("matmul: tasks have not run");
        return ms(begin, now_ns());
    }
};

}  // namespace perf
