// nqueens(n): in how many ways n queens stand on a board without attacking each other. A fork for each queen that can be
// placed; some 10 ns of work, and up to n forks open in one function.
#include "recursion.h"

namespace perf {
namespace {

struct Queens final : Recursion {
    const int n;
    long expected;

    explicit Queens(bool quick) : n(quick ? 9 : 11), expected(quick ? 352 : 2680) {
        name = "nqueens(" + std::to_string(n) + ")";
        repeats = quick ? 40 : 10;
        forks = count(empty_board(n));
    }
    bool right(long result) const override { return result == expected; }

    long direct() override { return plain(empty_board(n)); }
    long hc(hc_worker *w) override { return inlined(w, empty_board(n)); }
    long hc_calls(hc_worker *w) override { return called(w, empty_board(n)); }
    long tbb() override { return with_tbb(empty_board(n)); }
    long omp() override { return with_openmp(empty_board(n)); }
#ifdef PERF_HAVE_LACE
    lace_answer lace() override { return lace_queens(repeats, empty_board(n)); }
#endif

  private:
    struct Call {
        board b;
        long result;
        hc_fork fork;
    };

    static uint64_t count(board b) {
        uint64_t sum = 0;
        for (unsigned left = free_columns(b); left != 0; left &= left - 1) sum += 1 + count(with_queen(b, left));
        return sum;
    }

    static long plain(board b) {
        if (is_full(b)) return 1;
        long sum = 0;
        for (unsigned left = free_columns(b); left != 0; left &= left - 1) sum += plain(with_queen(b, left));
        return sum;
    }

    static void inlined_fork(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        call->result = inlined(w, call->b);
    }
    static long inlined(hc_worker *w, board b) {
        if (is_full(b)) return 1;
        Call calls[most_queens];
        unsigned n = 0;
        for (unsigned left = free_columns(b); left != 0; left &= left - 1, ++n) {
            calls[n].b = with_queen(b, left);
            w = hc_fork_push_fast(w, &calls[n].fork, inlined_fork, &calls[n]);
        }
        long sum = 0;
        while (n-- > 0) {
            w = hc_fork_join_fast(w, &calls[n].fork);
            sum += calls[n].result;
        }
        return sum;
    }

    static void called_fork(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        call->result = called(w, call->b);
    }
    static long called(hc_worker *w, board b) {
        if (is_full(b)) return 1;
        Call calls[most_queens];
        unsigned n = 0;
        for (unsigned left = free_columns(b); left != 0; left &= left - 1, ++n) {
            calls[n].b = with_queen(b, left);
            w = hc_fork_push(w, &calls[n].fork, called_fork, &calls[n]);
        }
        long sum = 0;
        while (n-- > 0) {
            w = hc_fork_join(w, &calls[n].fork);
            sum += calls[n].result;
        }
        return sum;
    }

    static long with_tbb(board b) {
        long sum = is_full(b);
#ifdef PERF_HAVE_TBB
        if (sum) return 1;
        long results[most_queens];
        unsigned n = 0;
        oneapi::tbb::task_group group;
        for (unsigned left = free_columns(b); left != 0; left &= left - 1, ++n)
            group.run([child = with_queen(b, left), result = &results[n]] { *result = with_tbb(child); });
        group.wait();
        while (n-- > 0) sum += results[n];
#endif
        return sum;
    }

    static long with_openmp(board b) {
        if (is_full(b)) return 1;
        long results[most_queens], sum = 0;
        unsigned n = 0;
        for (unsigned left = free_columns(b); left != 0; left &= left - 1, ++n) {
            const board child = with_queen(b, left);
            long *result = &results[n];
#pragma omp task firstprivate(child, result)
            *result = with_openmp(child);
        }
#pragma omp taskwait
        while (n-- > 0) sum += results[n];
        return sum;
    }
};

}  // namespace

std::unique_ptr<Recursion> make_queens(bool quick) { return std::make_unique<Queens>(quick); }

}  // namespace perf
