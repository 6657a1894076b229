// skynet: a tree of ten children a node, and the sum of the numbers of its leaves. Nine children are forked, the tenth is
// called.
#include "recursion.h"

namespace perf {
namespace {

struct Skynet final : Recursion {
    const long leaves;
    long expected = 0;

    explicit Skynet(bool quick) : leaves(quick ? 100'000 : 1'000'000) {
        name = "skynet " + std::to_string(leaves);
        repeats = quick ? 10 : 5;
        forks = static_cast<uint64_t>(leaves) - 1;  // 9 for each of (leaves - 1) / 9 nodes
        expected = leaves * (leaves - 1) / 2;
    }
    bool right(long result) const override { return result == expected; }

    long direct() override { return plain(0, leaves); }
    long hc(hc_worker *w) override { return inlined(w, 0, leaves); }
    long hc_calls(hc_worker *w) override { return called(w, 0, leaves); }
    long tbb() override { return with_tbb(0, leaves); }
    long omp() override { return with_openmp(0, leaves); }
#ifdef PERF_HAVE_LACE
    lace_answer lace() override { return lace_skynet(repeats, leaves); }
#endif

  private:
    static constexpr int forked = 9;
    struct Call {
        long first, leaves, result;
        hc_fork fork;
    };

    static long plain(long first, long leaves) {
        if (leaves == 1) return first;
        const long part = leaves / (forked + 1);
        long sum = 0;
        for (int i = 0; i <= forked; ++i) sum += plain(first + i * part, part);
        return sum;
    }

    // The inline functions, or the plain ones.
    template <auto push, auto join>
    static void fork(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        call->result = forking<push, join>(w, call->first, call->leaves);
    }
    template <auto push, auto join>
    static long forking(hc_worker *w, long first, long leaves) {
        if (leaves == 1) return first;
        const long part = leaves / (forked + 1);
        Call calls[forked];
        for (Call &call : calls) {
            call.first = first;
            call.leaves = part;
            w = push(w, &call.fork, fork<push, join>, &call);
            first += part;
        }
        long sum = forking<push, join>(w, first, part);
        for (int i = forked - 1; i >= 0; --i) {
            w = join(w, &calls[i].fork);
            sum += calls[i].result;
        }
        return sum;
    }
    static constexpr auto inlined = forking<hc_fork_push_fast, hc_fork_join_fast>;
    static constexpr auto called = forking<hc_fork_push, hc_fork_join>;

    static long with_tbb(long first, long leaves) {
        long sum = first;
#ifdef PERF_HAVE_TBB
        if (leaves == 1) return first;
        const long part = leaves / (forked + 1);
        long results[forked];
        oneapi::tbb::task_group group;
        for (long &result : results) {
            group.run([first, part, to = &result] { *to = with_tbb(first, part); });
            first += part;
        }
        sum = with_tbb(first, part);
        group.wait();
        for (long result : results) sum += result;
#endif
        return sum;
    }

    static long with_openmp(long first, long leaves) {
        if (leaves == 1) return first;
        const long part = leaves / (forked + 1);
        long results[forked];
        for (long &result : results) {
            long *to = &result;
#pragma omp task firstprivate(first, part, to)
            *to = with_openmp(first, part);
            first += part;
        }
        long sum = with_openmp(first, part);
#pragma omp taskwait
        for (long result : results) sum += result;
        return sum;
    }
};

}  // namespace

std::unique_ptr<Recursion> make_skynet(bool quick) { return std::make_unique<Skynet>(quick); }

}  // namespace perf
