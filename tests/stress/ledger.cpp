// Guards against: a task that runs twice, or never. Each task has a cell of its own; at the end each cell is exactly 1,
// whoever submitted it, in whatever way, from outside or from inside.
#include "stress.hpp"

using namespace stress;

namespace {

class ledger {
  public:
    explicit ledger(size_t size) : cells_(size) {}

    std::atomic<uint8_t> *cell(size_t i) { return &cells_[i]; }
    size_t size() const { return cells_.size(); }

    static void mark(void *cell) { static_cast<std::atomic<uint8_t> *>(cell)->fetch_add(1, std::memory_order_relaxed); }

    // How many cells are not what they should be, and the first of them.
    void expect_each(uint8_t wanted) const {
        size_t wrong = 0, first = 0;
        for (size_t i = 0; i < cells_.size(); ++i)
            if (cells_[i].load() != wanted && wrong++ == 0) first = i;
        EXPECT_EQ(wrong, 0u) << "first: task " << first << " ran " << int(cells_[first].load()) << " times";
    }

  private:
    std::vector<std::atomic<uint8_t>> cells_;
};

// Submits the tasks [from, to), in turns of all three ways and odd batch sizes.
void submit_mixed(hc_group *g, ledger &book, size_t from, size_t to, uint32_t seed) {
    std::vector<hc_call> calls;
    uint32_t random = seed * 2654435761u + 1;
    while (from < to) {
        random = random * 1664525u + 1013904223u;
        if (random >> 30 == 0) {
            size_t n = std::min<size_t>(to - from, (random >> 8) % 700);
            calls.clear();
            for (size_t i = 0; i < n; ++i) calls.push_back({ledger::mark, book.cell(from + i)});
            size_t accepted = 0;
            must(hc_submit_batch(g, calls.data(), n, &accepted), "hc_submit_batch");
            if (accepted != n) std::abort();
            from += n;
        } else if (random >> 30 == 1) {
            hc_task_options options = HC_TASK_OPTIONS_INIT;
            options.fn = ledger::mark;
            options.arg = book.cell(from++);
            options.label = "ledger";
            must(hc_task_submit(g, &options, nullptr), "hc_task_submit");
        } else {
            submit(g, ledger::mark, book.cell(from++));
        }
    }
}

using Ledger = Shaped;

TEST_P(Ledger, each_task_of_several_submitters_runs_once) {
    constexpr int submitters = 4;
    const size_t each = static_cast<size_t>(scaled(100000));
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        ledger book(submitters * each);
        hc_group_options options = GetParam().options();
        options.kind = kind;
        group g(options);
        std::vector<std::thread> threads;
        for (uint32_t i = 0; i < submitters; ++i)
            threads.emplace_back([&, i] { submit_mixed(g, book, i * each, (i + 1) * each, i + kind); });
        for (auto &t : threads) t.join();
        drain(g);
        book.expect_each(1);
        EXPECT_EQ(stats(g).finished, book.size());
    }
}

// A tree of tasks, each of which submits the next ones in one of the ways: work that only workers submit.
struct tree {
    ledger *book;
    hc_group *g;
    std::unique_ptr<std::pair<tree *, size_t>[]> args;
    size_t fan;

    static void task(void *arg) {
        auto [self, node] = *static_cast<std::pair<tree *, size_t> *>(arg);
        ledger::mark(self->book->cell(node));
        size_t first = node * self->fan + 1, last = std::min(first + self->fan, self->book->size());
        if (first >= last) return;
        if (node % 3 == 0) {
            hc_call calls[16];
            size_t n = 0, accepted = 0;
            for (size_t i = first; i < last; ++i) calls[n++] = {task, &self->args[i]};
            must(hc_submit_batch(self->g, calls, n, &accepted), "hc_submit_batch");
            return;
        }
        for (size_t i = first; i < last; ++i) submit(self->g, task, &self->args[i]);
    }
};

TEST_P(Ledger, each_task_of_a_growing_tree_runs_once) {
    for (size_t fan : {1u, 2u, 16u}) {
        const size_t size = static_cast<size_t>(scaled(fan == 1 ? 20000 : 100000));
        ledger book(size);
        group g(GetParam());
        tree t{&book, g, std::make_unique<std::pair<tree *, size_t>[]>(size), fan};
        for (size_t i = 0; i < size; ++i) t.args[i] = {&t, i};
        submit(g, tree::task, &t.args[0]);
        drain(g);
        book.expect_each(1);
    }
}

// Bursts with pauses in between: each begins with parked or parking workers, where a wake-up is lost if one can be.
TEST_P(Ledger, each_task_of_many_small_bursts_runs_once) {
    const int rounds = scaled(3000);
    group g(GetParam());
    for (int round = 0; round < rounds; ++round) {
        const size_t n = 1 + static_cast<size_t>(round) % 5;
        ledger book(n);
        for (size_t i = 0; i < n; ++i) submit(g, ledger::mark, book.cell(i));
        drain(g);  // hangs if a wake-up is lost
        book.expect_each(1);
    }
}

// The same without drain's help, which may wake someone itself: the task alone must get through.
TEST_P(Ledger, a_single_task_needs_no_one_to_wait_for_it) {
    const int rounds = scaled(3000);
    group g(GetParam());
    std::atomic<int> ran{0};
    for (int round = 1; round <= rounds; ++round) {
        submit(
            g, [](void *p) { static_cast<std::atomic<int> *>(p)->fetch_add(1); }, &ran);
        until([&] { return ran.load() == round; });
        if (round % 8 == 0) until([&] { return stats(g).workers_parked == stats(g).workers; });
    }
}

INSTANTIATE_TEST_SUITE_P(, Ledger, shapes(), name_of);

}  // namespace
