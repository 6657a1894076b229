// libuv: a uv_timer_t for each call, on one loop that one thread runs. Only that thread may touch the loop: others
// leave their calls in a list under a lock and send a uv_async, as its documentation says; to schedule is to hand over.
// Its timers count in milliseconds of a truncated clock: a time is rounded up so that none is early.
#pragma once

#include <uv.h>

#include <mutex>
#include <thread>
#include <vector>

#include "../harness/clock.h"
#include "timers.h"

namespace perf {

class UvTimers {
  public:
    static constexpr const char *name = "uv";
    static constexpr bool one_loop = true;
    explicit UvTimers(unsigned) {
        uv_loop_init(&loop_);
        uv_async_init(&loop_, &async_, [](uv_async_t *a) { static_cast<UvTimers *>(a->data)->take(); });
        async_.data = this;
        thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
    }
    ~UvTimers() {
        hand_over({});
        thread_.join();
        uv_loop_close(&loop_);
    }
    void schedule(TaskFn fn, void *arg, uint64_t delay) { hand_over({fn, arg, now_ns() + delay}); }

  private:
    struct Call {
        TaskFn fn = nullptr;  // none: the end
        void *arg = nullptr;
        uint64_t due = 0;
    };
    struct Timer {
        uv_timer_t handle;
        Call call;
    };

    void hand_over(const Call &call) {
        {
            std::lock_guard lock(mutex_);
            handed_over_.push_back(call);
        }
        uv_async_send(&async_);
    }
    void take() {
        {
            std::lock_guard lock(mutex_);
            taken_.swap(handed_over_);
        }
        for (const Call &call : taken_)
            if (call.fn)
                start(call);
            else
                uv_walk(
                    &loop_,
                    [](uv_handle_t *handle, void *self) {
                        bool is_timer = handle != static_cast<void *>(&static_cast<UvTimers *>(self)->async_);
                        if (!uv_is_closing(handle)) uv_close(handle, is_timer ? forget : nullptr);
                    },
                    this);
        taken_.clear();
    }
    void start(const Call &call) {
        auto *timer = new Timer{{}, call};
        timer->handle.data = timer;
        uv_timer_init(&loop_, &timer->handle);
        const uint64_t at = (call.due + 999'999) / 1'000'000, now = uv_now(&loop_);
        uv_timer_start(&timer->handle, fire, at > now ? at - now : 0, 0);
    }
    static void fire(uv_timer_t *handle) {
        const Call &call = static_cast<Timer *>(handle->data)->call;
        call.fn(call.arg);
        uv_close(reinterpret_cast<uv_handle_t *>(handle), forget);
    }
    static void forget(uv_handle_t *handle) { delete static_cast<Timer *>(handle->data); }

    uv_loop_t loop_;
    uv_async_t async_;
    std::mutex mutex_;
    std::vector<Call> handed_over_, taken_;
    std::thread thread_;
};

}  // namespace perf
