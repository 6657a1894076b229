// fib(n): two calls and an addition for each fork, the smallest work there is. The second call is not forked.
#include "recursion.h"

namespace perf {
namespace {

struct Fib final : Recursion {
    const long n;
    long expected = 0;

    explicit Fib(bool quick) : n(quick ? 30 : 36) {
        name = "fib(" + std::to_string(n) + ")";
        long a = 0, b = 1;  // fib(i), fib(i + 1)
        for (long i = 0; i < n; ++i) b = std::exchange(a, b) + b;
        expected = a;
        forks = static_cast<uint64_t>(b) - 1;
    }
    bool right(long result) const override { return result == expected; }

    long direct() override { return plain(n); }
    long hc(hc_worker *w) override { return inlined(w, n); }
    long hc_calls(hc_worker *w) override { return called(w, n); }
    long tbb() override { return with_tbb(n); }
    long omp() override { return with_openmp(n); }
#ifdef PERF_HAVE_LACE
    lace_answer lace() override { return lace_fib(repeats, n); }
#endif

  private:
    struct Call {
        long n, result;
    };

    static long plain(long n) { return n < 2 ? n : plain(n - 1) + plain(n - 2); }

    static void inlined_fork(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        call->result = inlined(w, call->n);
    }
    static long inlined(hc_worker *w, long n) {
        if (n < 2) return n;
        Call call;
        call.n = n - 1;
        hc_fork fork;
        hc_worker *inner = hc_fork_push_fast(w, &fork, inlined_fork, &call);
        long other = inlined(inner, n - 2);
        return other + (hc_fork_take_fast(inner, &fork) ? inlined(w, n - 1) : call.result);
    }

    // As from another language: no function of ours is inline, arguments and result in a struct.
    static void called_fork(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        call->result = called(w, call->n);
    }
    static long called(hc_worker *w, long n) {
        if (n < 2) return n;
        Call call;
        call.n = n - 1;
        hc_fork fork;
        hc_worker *inner = hc_fork_push(w, &fork, called_fork, &call);
        long other = called(inner, n - 2);
        hc_fork_join(inner, &fork);
        return call.result + other;
    }

    static long with_tbb(long n) {
#ifdef PERF_HAVE_TBB
        if (n < 2) return n;
        long a = 0, b = 0;
        oneapi::tbb::task_group group;
        group.run([&a, n] { a = with_tbb(n - 1); });
        b = with_tbb(n - 2);
        group.wait();
        return a + b;
#else
        return n;
#endif
    }

    static long with_openmp(long n) {
        if (n < 2) return n;
        long a, b;
#pragma omp task shared(a)
        a = with_openmp(n - 1);
        b = with_openmp(n - 2);
#pragma omp taskwait
        return a + b;
    }
};

}  // namespace

std::unique_ptr<Recursion> make_fib(bool quick) { return std::make_unique<Fib>(quick); }

}  // namespace perf
