// The timers of a group of libhomecooking: hc_schedule(), and with a handle hc_timer_create(). max_workers is the only
// option that is set.
#pragma once

#include "hc.h"
#include "timers.h"

namespace perf {

struct HcTimers : Hc {
    static constexpr bool one_loop = false;
    explicit HcTimers(unsigned workers) : Hc(workers) {}
    void schedule(TaskFn fn, void *arg, uint64_t delay) {
        if (int error = hc_schedule(group(), fn, arg, delay); error < 0) [[unlikely]]
            fail(std::string("hc_schedule: ") + hc_strerror(error));
    }
};

// A timer with a handle, which does nothing when it fires.
inline hc_timer *create_hc_timer(hc_group *group, uint64_t delay) {
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    hc_timer_options options = HC_TIMER_OPTIONS_INIT;
    task.fn = [](void *) {};
    options.task = &task;
    options.delay = delay;
    hc_timer *timer = nullptr;
    if (int error = hc_timer_create(group, &options, &timer); error < 0) [[unlikely]]
        fail(std::string("hc_timer_create: ") + hc_strerror(error));
    return timer;
}

}  // namespace perf
