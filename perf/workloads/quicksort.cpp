// quicksort of random ints: the lower part of each partition is forked, down to parts that an insertion sort takes. Forks
// are few, uneven, and of real work; the first partition is serial.
#include <algorithm>
#include <random>

#include "recursion.h"

namespace perf {
namespace {

struct Quicksort final : Recursion {
    const size_t n;

    explicit Quicksort(bool quick) : n(quick ? 1'000'000 : 10'000'000), unsorted_(n) {
        name = "quicksort " + std::to_string(n);
        std::mt19937 random(1);
        for (int &v : unsorted_) v = static_cast<int>(random());
        ints_ = unsorted_;
        forks = count(begin(), end());
        sorted_ = ints_;
    }
    void prepare() override { ints_ = unsorted_; }
    bool right(long) const override { return ints_ == sorted_ && std::is_sorted(sorted_.begin(), sorted_.end()); }

    long direct() override { return plain(begin(), end()), 0; }
    long hc(hc_worker *w) override { return inlined(w, begin(), end()), 0; }
    long hc_calls(hc_worker *w) override { return called(w, begin(), end()), 0; }
    long tbb() override { return with_tbb(begin(), end()), 0; }
    long omp() override { return with_openmp(begin(), end()), 0; }
#ifdef PERF_HAVE_LACE
    lace_answer lace() override { return lace_quicksort(repeats, begin(), end()); }
#endif

  private:
    struct Call {
        int *from, *to;
    };
    std::vector<int> unsorted_, ints_, sorted_;
    int *begin() { return ints_.data(); }
    int *end() { return ints_.data() + n; }

    static uint64_t count(int *from, int *to) {
        if (is_short(from, to)) return insertion_sort(from, to), 0;
        int *middle = partition(from, to);
        return 1 + count(from, middle) + count(middle, to);
    }

    static void plain(int *from, int *to) {
        if (is_short(from, to)) return insertion_sort(from, to);
        int *middle = partition(from, to);
        plain(from, middle);
        plain(middle, to);
    }

    static void inlined_fork(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        inlined(w, call->from, call->to);
    }
    static void inlined(hc_worker *w, int *from, int *to) {
        if (is_short(from, to)) return insertion_sort(from, to);
        int *middle = partition(from, to);
        Call call{from, middle};
        hc_fork fork;
        hc_worker *inner = hc_fork_push_fast(w, &fork, inlined_fork, &call);
        inlined(inner, middle, to);
        if (hc_fork_take_fast(inner, &fork)) inlined(w, from, middle);
    }

    static void called_fork(hc_worker *w, void *arg) {
        auto *call = static_cast<Call *>(arg);
        called(w, call->from, call->to);
    }
    static void called(hc_worker *w, int *from, int *to) {
        if (is_short(from, to)) return insertion_sort(from, to);
        int *middle = partition(from, to);
        Call call{from, middle};
        hc_fork fork;
        hc_worker *inner = hc_fork_push(w, &fork, called_fork, &call);
        called(inner, middle, to);
        hc_fork_join(inner, &fork);
    }

    static void with_tbb(int *from, int *to) {
        if (is_short(from, to)) return insertion_sort(from, to);
#ifdef PERF_HAVE_TBB
        int *middle = partition(from, to);
        oneapi::tbb::task_group group;
        group.run([from, middle] { with_tbb(from, middle); });
        with_tbb(middle, to);
        group.wait();
#endif
    }

    static void with_openmp(int *from, int *to) {
        if (is_short(from, to)) return insertion_sort(from, to);
        int *middle = partition(from, to);
#pragma omp task firstprivate(from, middle)
        with_openmp(from, middle);
        with_openmp(middle, to);
#pragma omp taskwait
    }
};

}  // namespace

std::unique_ptr<Recursion> make_quicksort(bool quick) { return std::make_unique<Quicksort>(quick); }

}  // namespace perf
