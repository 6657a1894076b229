/* matrix_probes.h - one call each, for the cells of matrix.def. A probe gets the group (NULL in the last column), makes
 * its call and returns what it answered; a function that returns no result is checked here and counts as HC_OK. */
#ifndef MATRIX_PROBES_H
#define MATRIX_PROBES_H

#include <poll.h>

#include "counting.h"
#include "scarce_threads.h"

enum place { outside, in_task, shut, with_null };
enum group_kind { /* what a probe gets, see matrix.def */
    plain, held, full, pinned, pinned_held, pinned_full, fresh,
    promise, queued, running, ended, failed, /* and a task */
    scope, scope_held, scope_full, scope_busy, /* and a scope */
    full_wait, pinned_full_wait, scope_full_wait, empty, scope_empty, spared, /* as above, and a little different */
    two, timer_pending, timer_resting, timer_cancelled, timer_running, /* and a timer */
    serial, serial_held, serial_full, serial_full_wait, serial_empty /* and a serial */
};
static enum place place; /* of the cell that is being tried; there is one at a time */

static counting memory = COUNTING;
static atomic_int ran; /* tasks that the probes submitted */

static void add_one(void *n) { ++*(int *)n; }

static const hc_group_options one_worker = {sizeof one_worker, .max_workers = 1};

/* ---- Process-wide ---------------------------------------------------------------------------------------------- */

static int errname(hc_group *g) {
    (void)g;
    CHECK_STR(hc_errname(HC_EFULL), "HC_EFULL");
    return HC_OK;
}
static int text(hc_group *g) {
    (void)g;
    CHECK_STR(hc_strerror(HC_EFULL), "queue is full");
    return HC_OK;
}
static int version(hc_group *g) {
    (void)g;
    CHECK_EQ(hc_version(), HC_VERSION_HEX);
    return HC_OK;
}
static int version_string(hc_group *g) {
    (void)g;
    CHECK(strchr(hc_version_string(), '.') != NULL);
    return HC_OK;
}
static int features(hc_group *g) {
    (void)g;
    CHECK(hc_features() == hc_features());
    return HC_OK;
}
static int now(hc_group *g) {
    (void)g;
    uint64_t before = hc_now();
    CHECK(before > 0 && hc_now() >= before);
    return HC_OK;
}
static int lend_nothing(hc_group *g) {
    (void)g;
    return hc_signal_set(0, 0);
}
static int lend_kill(hc_group *g) {
    (void)g;
    return hc_signal_set(0, SIGKILL);
}
static void of_the_host(int signal) { (void)signal; }
static int lend_handled(hc_group *g) {
    (void)g;
    signal(SIGUSR2, of_the_host);
    int got = hc_signal_set(0, SIGUSR2);
    signal(SIGUSR2, SIG_DFL);
    return got;
}
static int lend_dump(hc_group *g) { /* without libunwind there is nothing to answer it with */
    (void)g;
    return hc_signal_set(0, SIGURG);
}
static int hooks_both(hc_group *g) {
    (void)g;
    return place == with_null ? hc_allocator_set(NULL, NULL, NULL)
                              : hc_allocator_set(counting_alloc, counting_free, &memory);
}
static int hooks_one(hc_group *g) {
    (void)g;
    return place == with_null ? hc_allocator_set(NULL, counting_free, &memory)
                              : hc_allocator_set(counting_alloc, NULL, &memory);
}

/* ---- Groups ---------------------------------------------------------------------------------------------------- */

static int init(void (*function)(void *, uint32_t)) {
    unsigned char bytes[64];
    memset(bytes, 0xAA, sizeof bytes);
    function(place == with_null ? NULL : bytes, 40);
    CHECK_EQ(bytes[20], place == with_null ? 0xAA : 0);
    return HC_OK;
}
static int group_init(hc_group *g) {
    (void)g;
    return init(hc_group_options_init);
}
static int task_init(hc_group *g) {
    (void)g;
    return init(hc_task_options_init);
}

/* In the column of NULL: no options, which are the defaults. */
static int create(hc_group *g) {
    (void)g;
    hc_group *another = (hc_group *)&memory;
    int rc = hc_group_create(&another, place == with_null ? NULL : &one_worker);
    CHECK((another != NULL) == (rc == HC_OK));
    if (another != NULL) CHECK_OK(hc_group_destroy(another));
    return rc;
}
static int create_bad(hc_group *g) {
    hc_group_options options = one_worker;
    options.kind = 77;
    return place == with_null ? hc_group_create(NULL, &one_worker) : hc_group_create(&g, &options);
}
static int without_memory(hc_group *g, int (*way)(hc_group *)) {
    counting_fail_after(&memory, 0);
    int rc = way(g);
    counting_fail_after(&memory, -1);
    return rc;
}
static int create_dry(hc_group *g) { return without_memory(g, create); }
static int create_alone(hc_group *g) {
    threads_fail(0, 1000000);
    int rc = create(g);
    threads_fail(-1, 0);
    return rc;
}
static int ref_unref(hc_group *g) {
    hc_group_ref(g);
    hc_group_unref(g);
    return HC_OK;
}
static int shut_down(hc_group *g) { return hc_group_shutdown(g, HC_SHUTDOWN_DRAIN); }
static int shut_down_bad(hc_group *g) { return hc_group_shutdown(g, g == NULL ? HC_SHUTDOWN_NOW : 3); }
static int drain(hc_group *g) { return hc_group_drain(g, HC_NEVER); }
static int drain_poll(hc_group *g) { return hc_group_drain(g, 0); }
static int await(hc_group *g) { return hc_group_await(g, HC_NEVER); }
static int await_poll(hc_group *g) { return hc_group_await(g, 0); }
static int destroy(hc_group *g) {
    hc_group_ref(g); /* the one that it takes away */
    return hc_group_destroy(g);
}
static int trim(hc_group *g) { return hc_group_trim(g); }
static int current(hc_group *g) {
    CHECK(hc_group_current() == (place == in_task ? g : NULL));
    return HC_OK;
}
static int worker_index(hc_group *g) {
    (void)g;
    CHECK_EQ(hc_worker_index(), place == in_task ? 0 : -1);
    return HC_OK;
}
static int slots(hc_group *g) {
    CHECK_EQ(hc_group_slots(g), g == NULL ? 0 : 1);
    return HC_OK;
}
static int restore_mask(hc_group *g) {
    (void)g;
    return hc_thread_sigmask_restore();
}

/* ---- Tasks: one way of submitting each, and what can be wrong with it ------------------------------------------ */

/* Without a handle, and with one: once the first is refused, so is the second. */
static int task_with(hc_group *g, hc_fn fn) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = fn;
    options.arg = &ran;
    int detached = hc_task_submit(g, &options, NULL);
    hc_task *out = (hc_task *)&memory;
    int rc = hc_task_submit(g, &options, &out);
    CHECK((out != NULL) == (rc == HC_OK));
    hc_task_unref(out);
    if (rc != detached)
        CHECK(detached == HC_OK && (rc == HC_EFULL || rc == HC_ENOMEM || rc == HC_ETIMEDOUT || rc == HC_EDEADLK));
    return rc;
}
static int batch_with(hc_group *g, hc_fn fn) {
    const hc_call call = {fn, &ran};
    size_t accepted = 99;
    int rc = hc_submit_batch(g, &call, 1, &accepted);
    CHECK_EQ(accepted, rc == HC_OK);
    return rc;
}
static int submit(hc_group *g) { return hc_submit(g, count_task, &ran); }
static int batch(hc_group *g) { return batch_with(g, count_task); }
static int submit_to(hc_group *g) { return hc_submit_to(g, 0, count_task, &ran); }
static int task(hc_group *g) { return task_with(g, count_task); }

static int submit_nothing(hc_group *g) { return hc_submit(g, g == NULL ? count_task : NULL, &ran); }
static int batch_nothing(hc_group *g) { return batch_with(g, g == NULL ? count_task : NULL); }
static int submit_to_nowhere(hc_group *g) { return hc_submit_to(g, g == NULL ? 0 : 1, count_task, &ran); }
static int task_nothing(hc_group *g) { return task_with(g, g == NULL ? count_task : NULL); }

static int keyed(hc_group *g) { return hc_submit_keyed(g, 7, HC_KEY_PLAIN, count_task, &ran); }
static int keyed_nothing(hc_group *g) {
    if (g == NULL) return keyed(NULL);
    const int rc = hc_submit_keyed(g, 7, HC_KEY_PLAIN, NULL, &ran);
    CHECK_RC(hc_submit_keyed(g, 7, 0, count_task, &ran), rc);
    CHECK_RC(hc_submit_keyed(g, 7, HC_KEY_BOUND + 1, count_task, &ran), rc);
    return rc;
}
static int keyed_bound(hc_group *g) { return hc_submit_keyed(g, 7, HC_KEY_BOUND, count_task, &ran); }
static int task_bound(hc_group *g) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = count_task;
    options.key_mode = HC_KEY_BOUND;
    return hc_task_submit(g, &options, NULL);
}
static int make_serial(hc_group *g) {
    hc_serial *out = (hc_serial *)&memory;
    int rc = hc_serial_create(g, &out);
    CHECK((out != NULL) == (rc == HC_OK));
    hc_serial_unref(out);
    return rc;
}
static int make_serial_bad(hc_group *g) { return g == NULL ? make_serial(g) : hc_serial_create(g, NULL); }

/* The worker is busy, so what is submitted stays: memory, or room, must run out. */
static int until_refused(hc_group *g, int (*way)(hc_group *)) {
    int rc = HC_OK;
    for (int i = 0; i < 1000000 && rc == HC_OK; ++i) rc = way(g);
    return rc;
}
static int until_dry(hc_group *g, int (*way)(hc_group *)) {
    counting_fail_after(&memory, 0);
    int rc = until_refused(g, way);
    counting_fail_after(&memory, -1);
    return rc;
}
static int keyed_dry(hc_group *g) { return until_dry(g, keyed); }
static int submit_dry(hc_group *g) { return until_dry(g, submit); }
static int batch_dry(hc_group *g) { return until_dry(g, batch); }
static int submit_to_dry(hc_group *g) { return until_dry(g, submit_to); }
static int task_dry(hc_group *g) { return until_dry(g, task); }
static int timed(hc_group *g) { return hc_submit_timed(g, count_task, &ran, HC_NEVER); }
static int timed_briefly(hc_group *g) { return hc_submit_timed(g, count_task, &ran, 1000); }
static int timed_nothing(hc_group *g) { return hc_submit_timed(g, g == NULL ? count_task : NULL, &ran, 1000); }
static int timed_dry(hc_group *g) { return until_dry(g, timed); }
static int timed_more(hc_group *g) { return until_refused(g, timed_briefly); }

/* No worker is there, and none can be had. */
static int without_threads(hc_group *g, int (*way)(hc_group *)) {
    threads_fail(0, 1000000);
    int rc = way(g);
    threads_fail(-1, 0);
    return rc;
}
static int keyed_alone(hc_group *g) { return without_threads(g, keyed); }
static int submit_alone(hc_group *g) { return without_threads(g, submit); }
static int batch_alone(hc_group *g) { return without_threads(g, batch); }
static int task_alone(hc_group *g) { return without_threads(g, task); }
static int timed_alone(hc_group *g) { return without_threads(g, timed); }

static int keyed_more(hc_group *g) { return until_refused(g, keyed); }
static int submit_more(hc_group *g) { return until_refused(g, submit); }
static int batch_more(hc_group *g) { return until_refused(g, batch); }
static int submit_to_more(hc_group *g) { return until_refused(g, submit_to); }
static int task_more(hc_group *g) { return until_refused(g, task); }

/* In a task: one that shuts its own group down before. */
static int late(hc_group *g, int (*way)(hc_group *)) {
    if (place == in_task) CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    return way(g);
}
static int keyed_late(hc_group *g) { return late(g, keyed); }
static int make_serial_late(hc_group *g) { return late(g, make_serial); }
static int make_serial_dry(hc_group *g) { return without_memory(g, make_serial); }
static int submit_late(hc_group *g) { return late(g, submit); }
static int batch_late(hc_group *g) { return late(g, batch); }
static int submit_to_late(hc_group *g) { return late(g, submit_to); }
static int task_late(hc_group *g) { return late(g, task); }

static int timed_late(hc_group *g) { return late(g, timed); }

/* ---- Workers ----------------------------------------------------------------------------------------------------- */

static int resize(hc_group *g) { return hc_group_resize(g, 1, 1); }
static int resize_bad(hc_group *g) { return g == NULL ? hc_group_resize(NULL, 1, 1) : hc_group_resize(g, 2, 1); }
static int resize_late(hc_group *g) { return late(g, resize); }
static int pause_it(hc_group *g) {
    int rc = hc_group_pause(g);
    if (rc == HC_OK) CHECK_OK(hc_group_resume(g));
    return rc;
}
static int resume_it(hc_group *g) { return hc_group_resume(g); }
static int pause_late(hc_group *g) { return late(g, pause_it); }
static int resume_late(hc_group *g) { return late(g, resume_it); }

/* In one task there is no second: what was begun is ended before another cell is tried. */
static int begin_blocking(hc_group *g) {
    (void)g;
    CHECK_EQ(hc_blocking_begin(), place == in_task ? HC_HELPED : HC_NOT_HELPED);
    CHECK_EQ(hc_blocking_begin(), place == in_task ? HC_HELPED : HC_NOT_HELPED);
    hc_blocking_end();
    hc_blocking_end();
    return HC_OK;
}
static int end_blocking(hc_group *g) {
    hc_blocking_end(); /* without a begin: nothing */
    CHECK_EQ(stats_of(g).workers_blocked, 0);
    (void)hc_blocking_begin();
    hc_blocking_end();
    CHECK_EQ(stats_of(g).workers_blocked, 0);
    return HC_OK;
}

static int label(hc_group *g) {
    (void)g;
    CHECK(hc_task_label() == NULL); /* none of the probes' tasks has one */
    return HC_OK;
}

/* ---- Fork and join ----------------------------------------------------------------------------------------------- */

static int self(hc_group *g) {
    (void)g;
    CHECK((hc_worker_self() != NULL) == (place == in_task));
    return HC_OK;
}
static int enter(hc_group *g) {
    hc_worker *w = (hc_worker *)&memory;
    int rc = hc_worker_enter(g, &w);
    CHECK((w != NULL) == (rc == HC_OK));
    if (w != NULL) hc_worker_leave(w);
    return rc;
}
static int enter_nowhere(hc_group *g) {
    hc_worker *w = (hc_worker *)&memory;
    return place == with_null ? hc_worker_enter(NULL, &w) : hc_worker_enter(g, NULL);
}
static int enter_dry(hc_group *g) { return without_memory(g, enter); }
static void one_fork(hc_worker *w, void *arg) {
    CHECK(w != NULL);
    ++*(int *)arg;
}
static int fork_and_join(hc_group *g) {
    hc_worker *w;
    hc_fork f;
    int n = 0;
    CHECK_OK(hc_worker_enter(g, &w));
    CHECK(hc_fork_join(hc_fork_push(w, &f, one_fork, &n), &f) == w);
    CHECK_EQ(n, 1);
    CHECK(hc_fork_join_fast(hc_fork_push_fast(w, &f, one_fork, &n), &f) == w);
    CHECK_EQ(n, 2);
    hc_worker_leave(w);
    return HC_OK;
}
static int fork_and_take(hc_group *g) {
    hc_worker *w;
    hc_fork f;
    int n = 0;
    CHECK_OK(hc_worker_enter(g, &w));
    for (int i = 1; i <= 2; ++i) {
        hc_worker *inner = hc_fork_push(w, &f, one_fork, &n);
        if (i == 1 ? hc_fork_take(inner, &f) : hc_fork_take_fast(inner, &f)) one_fork(w, &n);
        CHECK_EQ(n, i);
    }
    hc_worker_leave(w);
    return HC_OK;
}

/* ---- Seeing inside --------------------------------------------------------------------------------------------- */

static int written(void *stop, const char *text, size_t n) {
    (void)text, (void)n;
    return stop != NULL;
}
static int dump(hc_group *g) { return hc_group_dump(g, HC_DUMP_JSON, written, NULL); }
static int dump_bad(hc_group *g) { return hc_group_dump(g, g == NULL ? HC_DUMP_TEXT : 2, written, NULL); }
static int dump_dry(hc_group *g) { return without_memory(g, dump); }
static int dump_stopped(hc_group *g) { return hc_group_dump(g, HC_DUMP_TEXT, written, g); }

static int stats(hc_group *g) {
    hc_group_stats_data data;
    return hc_group_stats(g, &data, (uint32_t)sizeof data);
}
static int stats_bad(hc_group *g) {
    hc_group_stats_data data;
    return hc_group_stats(g, &data, g == NULL ? (uint32_t)sizeof data : 119);
}

#endif
