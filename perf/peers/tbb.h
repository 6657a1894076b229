// oneTBB: enqueue() into an arena without a place for the submitters, which are no workers. The process-wide limit is
// raised, for by default it is the number of cores. The lowest limit of several counts: one Tbb at a time.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "pool.h"

namespace perf {

class Tbb {
  public:
    static constexpr const char *name = "tbb";
    static constexpr bool any_thread = true;
    explicit Tbb(unsigned workers, TaskFn = nullptr)
        : limit_(oneapi::tbb::global_control::max_allowed_parallelism, workers + 1),
          arena_(static_cast<int>(workers), 0) {}
    void submit(TaskFn fn, void *arg) {
        arena_.enqueue([fn, arg] { fn(arg); });
    }

  private:
    oneapi::tbb::global_control limit_;
    oneapi::tbb::task_arena arena_;
};

}  // namespace perf
