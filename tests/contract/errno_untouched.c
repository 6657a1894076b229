/* Guards against: a library that tramples on errno between a caller's system call and his look at it. */
#include <errno.h>

#include "check.h"

enum { marker = 12345 };

#define KEEPS(call)              \
    do {                         \
        errno = marker;          \
        (void)(call);            \
        CHECK_EQ(errno, marker); \
    } while (0)

#define KEEPS_VOID(call)         \
    do {                         \
        errno = marker;          \
        call;                    \
        CHECK_EQ(errno, marker); \
    } while (0)

static void sees_marker(void *arg) { count_task(arg); }

static void timers_keep_it(hc_group *g, atomic_int *ran) {
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    hc_timer_options options = HC_TIMER_OPTIONS_INIT;
    hc_timer *t = NULL;
    uint64_t n;
    task.fn = sees_marker;
    task.arg = ran;
    options.task = &task;
    options.delay = 1000000;
    for (int i = 0; i < 500; ++i) KEEPS(hc_schedule(g, sees_marker, ran, 100000));
    KEEPS(hc_schedule_at(g, sees_marker, ran, 1));
    KEEPS(hc_timer_create(g, &options, NULL));
    KEEPS(hc_timer_create(g, &options, &t));
    CHECK(t != NULL);
    KEEPS(hc_timer_arm(t, 1, 0));
    KEEPS(hc_timer_arm_at(t, HC_NEVER, 0));
    KEEPS(hc_timer_remaining(t, &n));
    KEEPS(hc_timer_missed(t, &n));
    KEEPS(hc_timer_cancel(t));
    KEEPS(hc_timer_cancel_wait(t, 1000));
    KEEPS_VOID(hc_timer_ref(t));
    KEEPS_VOID(hc_timer_unref(t));
    KEEPS_VOID(hc_timer_unref(t));
    KEEPS_VOID(hc_timer_options_init(&options, (uint32_t)sizeof options));
}

static void no_function_sets_it(void) {
    hc_group *g = NULL;
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 2;
    atomic_int ran = 0;
    hc_call calls[300];
    for (int i = 0; i < 300; ++i) calls[i] = (hc_call){sees_marker, &ran};
    size_t accepted;
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = sees_marker;
    task.arg = &ran;
    hc_group_stats_data data;

    KEEPS(hc_errname(-1));
    KEEPS(hc_strerror(-1));
    KEEPS(hc_version());
    KEEPS(hc_version_string());
    KEEPS(hc_features());
    KEEPS(hc_signal_set(0, SIGKILL));
    KEEPS(hc_signal_set(0, SIGRTMAX + 1));
    KEEPS(hc_signal_set(0, SIGURG));
    KEEPS(hc_signal_set(0, SIGUSR1));
    KEEPS(hc_now());
    KEEPS(hc_allocator_set(NULL, NULL, NULL));
    KEEPS(hc_group_create(NULL, NULL));
    KEEPS(hc_group_create(&g, &options));
    CHECK(g != NULL);
    for (int i = 0; i < 2000; ++i) KEEPS(hc_submit(g, sees_marker, &ran)); /* wakes, grows, and so on */
    KEEPS(hc_submit(g, NULL, NULL));
    KEEPS(hc_submit_batch(g, calls, 300, &accepted));
    KEEPS(hc_task_submit(g, &task, NULL));
    KEEPS(hc_submit_to(g, 0, sees_marker, &ran));
    KEEPS(hc_group_drain(g, HC_NEVER));
    for (int i = 0; i < 50; ++i) {
        KEEPS(hc_submit(g, sees_marker, &ran));
        KEEPS(hc_group_drain(g, 1));
        KEEPS(hc_group_drain(g, HC_NEVER));
    }
    gate at = GATE;
    gate_hold(g, &at);
    KEEPS(hc_group_drain(g, 0));
    KEEPS(hc_group_drain(g, 1000000)); /* a futex that times out says so in errno */
    KEEPS(hc_group_stats(g, &data, (uint32_t)sizeof data));
    timers_keep_it(g, &ran);
    KEEPS(hc_group_trim(g));
    KEEPS(hc_group_current());
    KEEPS(hc_worker_index());
    KEEPS(hc_group_slots(g));
    KEEPS(hc_thread_sigmask_restore());
    KEEPS(hc_task_label());
    KEEPS_VOID(hc_group_ref(g));
    KEEPS_VOID(hc_group_unref(g));
    KEEPS(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    KEEPS(hc_submit(g, sees_marker, &ran));
    KEEPS(hc_group_await(g, 1000000));
    gate_open(&at);
    KEEPS(hc_group_await(g, HC_NEVER));
    KEEPS(hc_group_destroy(g));
}

/* Threads that cannot be had: EAGAIN stays inside. A stack that no address space has room for is such a case. */
static void a_failing_create_does_not_set_it(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 2;
    options.stack_size = (uint64_t)1 << 60;
    hc_group *g = NULL;
    errno = marker;
    int rc = hc_group_create(&g, &options);
    CHECK_EQ(errno, marker);
    CHECK(rc == HC_ETHREAD || rc == HC_EINVAL || rc == HC_ENOMEM);
    CHECK(g == NULL);
}

/* Nor is it read: a value that is left over from before means nothing to the library. */
static void it_is_not_read_either(void) {
    const int values[] = {0, EAGAIN, EINTR, ENOMEM, ETIMEDOUT, ENOSYS, EPERM};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) {
        errno = values[i];
        hc_group *g = group_of(2);
        atomic_int ran = 0;
        for (int k = 0; k < 100; ++k) {
            errno = values[i];
            CHECK_OK(hc_submit(g, count_task, &ran));
        }
        errno = values[i];
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        errno = values[i];
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, 100);
    }
}

int main(void) {
    check_deadline(30);
    RUN(no_function_sets_it);
    RUN(a_failing_create_does_not_set_it);
    RUN(it_is_not_read_either);
    return 0;
}
