// libuv: uv_queue_work(), which only the thread of the loop may call, and whose threads are one set for the whole
// process: the first Uv decides how many, so a process makes one. settle() takes the completions.
#pragma once

#include <uv.h>

#include <cstdlib>
#include <string>

#include "pool.h"

namespace perf {

class Uv {
  public:
    static constexpr const char *name = "uv";
    static constexpr bool any_thread = false;
    explicit Uv(unsigned workers, TaskFn = nullptr) {
        setenv("UV_THREADPOOL_SIZE", std::to_string(workers).c_str(), 1);
        uv_loop_init(&loop_);
    }
    ~Uv() {
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }
    void submit(TaskFn fn, void *arg) {
        auto *call = new Call{{}, fn, arg};
        call->request.data = call;
        uv_queue_work(&loop_, &call->request, run, completed);
    }
    void settle() { uv_run(&loop_, UV_RUN_NOWAIT); }

  private:
    struct Call {
        uv_work_t request;
        TaskFn fn;
        void *arg;
    };
    static void run(uv_work_t *request) {
        auto *call = static_cast<Call *>(request->data);
        call->fn(call->arg);
    }
    static void completed(uv_work_t *request, int) { delete static_cast<Call *>(request->data); }

    uv_loop_t loop_;
};

}  // namespace perf
