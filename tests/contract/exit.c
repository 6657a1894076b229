/* Guards against: an exit() that hangs, waits for tasks, or crashes because something static went under a running
 * worker. Each way of leaving is a process of its own that must end by itself, with its own status. */
#include <errno.h>

#include "check.h"

static hc_group *g;
static atomic_bool at_exit_ran;

static void spin_for_ever(void *arg) {
    (void)arg;
    for (;;) sched_yield();
}

static void resubmit_for_ever(void *arg) {
    int rc = hc_submit(hc_group_current(), resubmit_for_ever, arg);
    CHECK(rc == HC_OK || rc == HC_ESHUTDOWN);
}

static void busy(uint32_t workers, uint32_t spin) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = workers;
    options.spin = spin;
    g = fixed_with(&options);
    for (uint32_t i = 0; i < workers; ++i) CHECK_OK(hc_submit(g, i % 2 ? spin_for_ever : resubmit_for_ever, NULL));
    static atomic_int ran;
    for (int i = 0; i < 20000; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
}

static void leaves_with_a_busy_group(void) {
    busy(3, 0);
    exit(7);
}

static void leaves_with_an_idle_group(void) {
    g = group_of(3);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    exit(7);
}

static void leaves_with_a_parked_group(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 3;
    options.spin = HC_NONE32;
    g = fixed_with(&options);
    UNTIL(stats_of(g).workers_parked == 3);
    exit(7);
}

__attribute__((unused)) static void leaves_with_a_shut_group(void) {
    busy(2, HC_NONE32);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    exit(7);
}

static void leaves_with_many_groups(void) {
    for (int i = 0; i < 10; ++i) busy(2, 0);
    exit(7);
}

static void exits(void *arg) {
    (void)arg;
    exit(7);
}

static void a_task_leaves(void) {
    g = group_of(2);
    CHECK_OK(hc_submit(g, exits, NULL));
    for (;;) pause();
}

/* Destructors of the program still may use the group: it is not torn down behind their backs. */
static void submits_at_exit(void) {
    atomic_int *ran = malloc(sizeof *ran); /* outlives everything */
    *ran = 0;
    CHECK_OK(hc_submit(g, count_task, ran));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(*ran, 1);
    free(ran);
    at_exit_ran = true;
}

static void destroys_at_exit(void) {
    CHECK_OK(hc_group_destroy(g));
    CHECK(at_exit_ran); /* the handlers run in reverse order */
    _exit(7);
}

static void handlers_use_the_group(void) {
    g = group_of(2);
    CHECK_EQ(atexit(destroys_at_exit), 0);
    CHECK_EQ(atexit(submits_at_exit), 0);
    exit(9);
}

/* The main thread ends, the process goes on until a task ends it. */
static void main_thread_leaves_first(void) {
    g = group_of(2);
    CHECK_OK(hc_submit(g, exits, NULL));
    pthread_exit(NULL);
}

static void must_exit_with_7(void (*way)(void)) {
    for (int i = 0; i < 3; ++i) {
        int status = check_fork(way, 20);
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 7);
    }
}

#define WAY(name) \
    __attribute__((unused)) static void name##_(void) { must_exit_with_7(name); }
WAY(leaves_with_a_busy_group)
WAY(leaves_with_an_idle_group)
WAY(leaves_with_a_parked_group)
WAY(leaves_with_a_shut_group)
WAY(leaves_with_many_groups)
WAY(a_task_leaves)
WAY(handlers_use_the_group)
WAY(main_thread_leaves_first)

int main(void) {
    check_deadline(90);
    RUN(leaves_with_a_busy_group_);
    RUN(leaves_with_an_idle_group_);
    RUN(leaves_with_a_parked_group_);
#if !CHECK_TSAN /* for that tool a thread that has ended, and that nobody awaited, is a leak: it is right, and exit is \
                   fine */
    RUN(leaves_with_a_shut_group_);
#endif
    RUN(leaves_with_many_groups_);
    RUN(a_task_leaves_);
    RUN(handlers_use_the_group_);
    RUN(main_thread_leaves_first_);
    return 0;
}
