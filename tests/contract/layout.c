/* Guards against: a public struct that grows in the middle, a constant that gets another value (an ABI broken unseen).
 */
#include <stddef.h>

#include "check.h"

#define AT(type, field, offset)                                                                                   \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved: programs linked before will " \
                                                                       "break")
#define IS(name, value) _Static_assert((name) == (value), #name " has another value: programs linked before will break")

#if UINTPTR_MAX == UINT64_MAX /* the first release's offsets, for 64-bit platforms */
_Static_assert(sizeof(hc_group_options) >= 128, "the first release's part of hc_group_options");
AT(hc_group_options, size, 0);
AT(hc_group_options, flags, 4);
AT(hc_group_options, name, 8);
AT(hc_group_options, min_workers, 16);
AT(hc_group_options, max_workers, 20);
AT(hc_group_options, spare_workers, 24);
AT(hc_group_options, kind, 28);
AT(hc_group_options, keep_alive, 32);
AT(hc_group_options, stuck_after, 40);
AT(hc_group_options, capacity, 48);
AT(hc_group_options, full_policy, 56);
AT(hc_group_options, spin, 60);
AT(hc_group_options, full_timeout, 64);
AT(hc_group_options, stack_size, 72);
AT(hc_group_options, cpus, 80);
AT(hc_group_options, cpu_count, 88);
AT(hc_group_options, reserved, 92);
AT(hc_group_options, user, 96);
AT(hc_group_options, on_thread_start, 104);
AT(hc_group_options, on_thread_stop, 112);
AT(hc_group_options, on_unrun, 120);
AT(hc_group_options, run_limit, 128); /* since the sixth */
AT(hc_group_options, queue_expiry, 136);
AT(hc_group_options, on_limit, 144);

_Static_assert(sizeof(hc_task_options) >= 40, "the first release's part of hc_task_options");
AT(hc_task_options, size, 0);
AT(hc_task_options, flags, 4);
AT(hc_task_options, fn, 8);
AT(hc_task_options, arg, 16);
AT(hc_task_options, drop, 24);
AT(hc_task_options, label, 32);
AT(hc_task_options, result, 40); /* since the second release */
AT(hc_task_options, result_drop, 48);
AT(hc_task_options, run_limit, 56); /* since the sixth */
AT(hc_task_options, queue_expiry, 64);
AT(hc_task_options, scope, 72);
AT(hc_task_options, serial, 80);
AT(hc_task_options, key, 88);
AT(hc_task_options, key_mode, 96);
AT(hc_task_options, priority, 100);

_Static_assert(sizeof(hc_timer_options) >= 56, "the first part of hc_timer_options");
AT(hc_timer_options, size, 0);
AT(hc_timer_options, flags, 4);
AT(hc_timer_options, task, 8);
AT(hc_timer_options, mode, 16);
AT(hc_timer_options, missed, 20);
AT(hc_timer_options, delay, 24);
AT(hc_timer_options, when, 32);
AT(hc_timer_options, period, 40);
AT(hc_timer_options, leeway, 48);

_Static_assert(sizeof(hc_call) == 16, "hc_call is an array element: frozen");
AT(hc_call, fn, 0);
AT(hc_call, arg, 8);
#endif

/* Inline functions of programs know these: frozen, on every platform. */
_Static_assert(sizeof(hc_fork) == 8 * sizeof(void *), "hc_fork lies in the frames of programs: frozen");
AT(hc_fork, fn, 0);
AT(hc_fork, arg, sizeof(void *));
AT(hc_fork, opaque, 2 * sizeof(void *));
_Static_assert(sizeof(struct hc_worker) == 2 * sizeof(void *), "places are counted in programs: frozen");
AT(struct hc_worker, fork, 0);
AT(struct hc_worker, forks, sizeof(void *));
AT(struct hc_forks, top, 0);
AT(struct hc_forks, limit, sizeof(void *));
AT(struct hc_forks, split, 2 * sizeof(void *));

_Static_assert(sizeof(hc_group_stats_data) >= 120, "the first release's part of hc_group_stats_data");
AT(hc_group_stats_data, size, 0);
AT(hc_group_stats_data, workers, 4);
AT(hc_group_stats_data, workers_parked, 8);
AT(hc_group_stats_data, workers_searching, 12);
AT(hc_group_stats_data, submitted, 16);
AT(hc_group_stats_data, started, 24);
AT(hc_group_stats_data, finished, 32);
AT(hc_group_stats_data, unrun, 40);
AT(hc_group_stats_data, queued, 48);
AT(hc_group_stats_data, lanes, 56);
AT(hc_group_stats_data, claims, 64);
AT(hc_group_stats_data, claims_lost, 72);
AT(hc_group_stats_data, steals, 80);
AT(hc_group_stats_data, steals_lost, 88);
AT(hc_group_stats_data, parks, 96);
AT(hc_group_stats_data, wakes, 104);
AT(hc_group_stats_data, barriers, 112);
AT(hc_group_stats_data, timers_pending, 120); /* since timers are there */
AT(hc_group_stats_data, timers_fired, 128);
AT(hc_group_stats_data, workers_blocked, 136); /* since groups breathe */
AT(hc_group_stats_data, workers_max, 140);
AT(hc_group_stats_data, cpus, 144);
AT(hc_group_stats_data, cpus_from, 148);

IS(HC_KIND_STEALING, 0);
IS(HC_KIND_SHARED, 1);
IS(HC_KIND_PINNED, 2);
IS(HC_FULL_FAIL, 0);
IS(HC_FULL_RUN, 2);
IS(HC_SHUTDOWN_DRAIN, 0);
IS(HC_SHUTDOWN_NOW, 1);
IS(HC_SHUTDOWN_RUN_TIMERS, 2);
IS(HC_TIMER_ONCE, 0);
IS(HC_TIMER_RATE, 1);
IS(HC_TIMER_DELAY, 2);
IS(HC_MISSED_COALESCE, 0);
IS(HC_MISSED_BURST, 1);
IS(HC_MISSED_SKIP, 2);
IS(HC_FEATURE_MEMBARRIER, 1);
IS(HC_TASK_WORKER_ONLY, 1);
IS(HC_WAIT_HELP_ANY, 1);
IS(HC_WAIT_NO_HELP, 2);
IS(HC_WAIT_INTERRUPTIBLE, 4);
IS(HC_REMOVED, 0);
IS(HC_RUNNING, 1);
IS(HC_DONE, 2);
IS(HC_REDUCE_MAX, 1024u);
IS(HC_MAX_WORKERS, 4096u);
IS(HC_NEVER, UINT64_MAX);
IS(HC_NONE32, UINT32_MAX);
IS(HC_NONE64, UINT64_MAX);

/* A foreign language cannot expand the macro: the function must do the same, and no more than it was asked to. */
static void the_init_functions_are_the_init_macros(void) {
    const hc_group_options group = HC_GROUP_OPTIONS_INIT;
    const hc_task_options task = HC_TASK_OPTIONS_INIT;
    const hc_timer_options timer = HC_TIMER_OPTIONS_INIT;
    unsigned char bytes[256];

    memset(bytes, 0xAA, sizeof bytes);
    hc_group_options_init(bytes, (uint32_t)sizeof group);
    CHECK(memcmp(bytes, &group, sizeof group) == 0);
    CHECK_EQ(bytes[sizeof group], 0xAA);

    memset(bytes, 0xAA, sizeof bytes);
    hc_task_options_init(bytes, (uint32_t)sizeof task);
    CHECK(memcmp(bytes, &task, sizeof task) == 0);
    CHECK_EQ(bytes[sizeof task], 0xAA);

    memset(bytes, 0xAA, sizeof bytes);
    hc_timer_options_init(bytes, (uint32_t)sizeof timer);
    CHECK(memcmp(bytes, &timer, sizeof timer) == 0);
    CHECK_EQ(bytes[sizeof timer], 0xAA);
}

/* A program of a newer header, with a larger struct: all of it is filled, so that the unknown part is zero. */
static void the_init_functions_fill_the_size_they_are_given(void) {
    void (*const init[])(void *, uint32_t) = {hc_group_options_init, hc_task_options_init, hc_timer_options_init};
    for (size_t f = 0; f < 3; ++f) {
        _Alignas(8) unsigned char bytes[256];
        memset(bytes, 0xAA, sizeof bytes);
        init[f](bytes, 160);
        uint32_t size;
        memcpy(&size, bytes, sizeof size);
        CHECK_EQ(size, 160);
        for (size_t i = sizeof size; i < 160; ++i) CHECK_EQ(bytes[i], 0);
        CHECK_EQ(bytes[160], 0xAA);
        init[f](NULL, 160); /* no effect */
    }
}

int main(void) {
    check_deadline(20);
    RUN(the_init_functions_are_the_init_macros);
    RUN(the_init_functions_fill_the_size_they_are_given);
    return 0;
}
