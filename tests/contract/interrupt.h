/* interrupt.h - what the tests of interruptible tasks share. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <errno.h>
#include <poll.h>

#include "timed.h"

enum { signo = SIGUSR1 };

static inline hc_task_options interruptible(hc_fn fn, void *arg, uint64_t limit) {
    hc_task_options options = options_of(fn, arg);
    options.flags = HC_TASK_INTERRUPT;
    options.run_limit = limit;
    return options;
}

/* The race detector loses a signal that comes in the middle of a thread's first call that may block: not of a task. */
static inline void first_call(void *user, uint32_t index) {
    (void)user, (void)index;
    CHECK_EQ(poll(NULL, 0, 0), 0);
}

static inline hc_group *workers_of(hc_group_options options) {
    options.on_thread_start = first_call;
    return fixed_with(&options);
}

static inline hc_group *group_of_workers(uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = workers;
    return workers_of(options);
}

#endif
