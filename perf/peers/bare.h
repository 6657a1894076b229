// The floors, in the shape of a pool. Direct: the submitter calls the function. BareThreads: each submit is one futex
// hand-over to the next of `workers` threads, which must have finished its last task; there is no queue.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "../harness/futex.h"
#include "pool.h"

namespace perf {

struct Direct {
    static constexpr const char *name = "direct";
    static constexpr bool any_thread = true;
    explicit Direct(unsigned, TaskFn = nullptr) {}
    void submit(TaskFn fn, void *arg) { fn(arg); }
};

class BareThreads {
  public:
    static constexpr const char *name = "floor";
    static constexpr bool any_thread = false;
    explicit BareThreads(unsigned workers, TaskFn = nullptr) {
        for (unsigned i = 0; i < workers; ++i) {
            beds_.push_back(std::make_unique<Bed>());
            threads_.emplace_back([bed = beds_.back().get()] { bed->serve(); });
        }
    }
    ~BareThreads() {
        for (auto &bed : beds_) bed->call(nullptr, nullptr);
    }
    void submit(TaskFn fn, void *arg) { beds_[next_++ % beds_.size()]->call(fn, arg); }

  private:
    struct alignas(64) Bed {
        std::atomic<uint32_t> word{0};
        TaskFn fn = nullptr;
        void *arg = nullptr;

        void call(TaskFn f, void *a) {
            fn = f;
            arg = a;
            word.store(1, std::memory_order_release);
            futex_wake(word, 1);
        }
        void serve() {
            for (;;) {
                while (!word.load(std::memory_order_acquire)) futex_wait(word, 0);
                word.store(0, std::memory_order_relaxed);
                if (!fn) return;
                fn(arg);
            }
        }
    };
    std::vector<std::unique_ptr<Bed>> beds_;
    size_t next_ = 0;
    std::vector<std::jthread> threads_;
};

}  // namespace perf
