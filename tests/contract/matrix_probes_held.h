/* matrix_probes_held.h - the probes for held tasks, scopes and ranges. What they are asked about, `the_task` or `the_scope`
 * (NULL in the last column), is made by prepare(): before the group is shut down, and before the fork. */
#ifndef MATRIX_PROBES_HELD_H
#define MATRIX_PROBES_HELD_H

#include "matrix_probes.h"

static hc_task *the_task, *made_task; /* `the` is what the probe gets, `made` what release() gives back */
static hc_scope *the_scope, *made_scope;

static hc_serial *the_serial, *made_serial;

static gate in_the_task;
static pthread_t its_runner;

static char the_payload;
static void fails(void *arg) { CHECK_OK(hc_task_fail(7, arg, NULL)); }

static void *runs_it(void *arg) {
    (void)arg;
    CHECK_OK(hc_task_wait(made_task, HC_NEVER, 0, NULL));
    return NULL;
}

static hc_task *task_of(hc_group *g, hc_fn fn, void *arg) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    hc_task *t = NULL;
    options.fn = fn;
    options.arg = arg;
    options.result = &ran;
    CHECK_OK(hc_task_submit(g, &options, &t));
    return t;
}

static void prepare(hc_group *g, enum group_kind kind) {
    int32_t outcome = 1;
    switch (kind) {
        case promise: CHECK_OK(hc_task_promise(g, &made_task)); break;
        case queued: made_task = task_of(g, count_task, &ran); break;
        case ended:
            made_task = task_of(g, count_task, &ran);
            CHECK_OK(hc_task_wait(made_task, HC_NEVER, 0, &outcome));
            CHECK_OK(outcome);
            break;
        case failed:
            made_task = task_of(g, fails, &the_payload);
            CHECK_OK(hc_task_wait(made_task, HC_NEVER, 0, &outcome));
            CHECK_RC(outcome, HC_EFAILED);
            break;
        case running: /* on the worker, or in a thread that waits for it if the worker is here */
            in_the_task = (gate)GATE;
            made_task = task_of(g, gate_task, &in_the_task);
            if (place == in_task) its_runner = thread_start(runs_it, NULL);
            latch_wait(&in_the_task.inside);
            break;
        case scope:
        case scope_held:
        case scope_full_wait:
        case scope_empty:
        case scope_full: CHECK_OK(hc_scope_create(g, &made_scope)); break;
        case scope_busy:
            CHECK_OK(hc_scope_create(g, &made_scope));
            CHECK_OK(hc_scope_submit(made_scope, count_task, &ran, NULL));
            break;
        case serial:
        case serial_held:
        case serial_full:
        case serial_full_wait:
        case serial_empty: CHECK_OK(hc_serial_create(g, &made_serial)); break;
        default: break;
    }
    the_serial = place == with_null ? NULL : made_serial;
    the_task = place == with_null ? NULL : made_task;
    the_scope = place == with_null ? NULL : made_scope;
}

static void release(enum group_kind kind) {
    if (kind == running) gate_open(&in_the_task);
    if (kind == running && place == in_task) thread_join(its_runner);
    hc_task_unref(made_task);
    hc_serial_unref(made_serial);
    the_serial = made_serial = NULL;
    if (made_scope != NULL) {
        CHECK_OK(hc_scope_cancel(made_scope));
        CHECK_OK(hc_scope_wait(made_scope, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(made_scope));
    }
    the_task = made_task = NULL;
    the_scope = made_scope = NULL;
}

/* Calls way(g) in a held task, which the caller runs itself if it is in a task of g. */
typedef struct inner_call {
    hc_group *g;
    int (*way)(hc_group *);
    int rc;
} inner_call;

static void call_inner(void *arg) {
    inner_call *call = arg;
    call->rc = call->way(call->g);
}
static int in_held_task(hc_group *g, int (*way)(hc_group *)) {
    inner_call call = {g, way, 1};
    hc_task *t = task_of(g, call_inner, &call);
    CHECK_OK(hc_task_wait(t, HC_NEVER, 0, NULL));
    hc_task_unref(t);
    return call.rc;
}

/* Something sends signals to the caller, which handles them, until its wait is over. */
static atomic_int wait_is_over;

static void handle_signal(int number) { (void)number; }
static void *send_signals(void *arg) {
    while (!wait_is_over) {
        CHECK_EQ(pthread_kill(*(pthread_t *)arg, SIGUSR1), 0);
        poll(NULL, 0, 1);
    }
    return NULL;
}
static int interrupted(int (*wait)(void)) {
    struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART};
    sigset_t one, before;
    pthread_t self = pthread_self();
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &one, &before), 0);
    wait_is_over = 0;
    pthread_t sender = thread_start(send_signals, &self);
    int rc = wait();
    wait_is_over = 1;
    thread_join(sender);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    return rc;
}

/* ---- Held tasks ------------------------------------------------------------------------------------------------ */

enum { a_moment = 1000000 }; /* ns */

static int task_ref_unref(hc_group *g) {
    (void)g;
    hc_task_ref(the_task);
    hc_task_unref(the_task);
    return HC_OK;
}
static int wait_task(hc_group *g) {
    (void)g;
    int32_t outcome = 1;
    int rc = hc_task_wait(the_task, HC_NEVER, 0, &outcome);
    CHECK_EQ(outcome, rc == HC_OK ? HC_OK : 1);
    return rc;
}
static int wait_task_bad(hc_group *g) {
    static const uint32_t flags[] = {8, UINT32_MAX, HC_WAIT_HELP_ANY | HC_WAIT_NO_HELP};
    (void)g;
    if (the_task == NULL) return hc_task_wait(NULL, 0, 0, NULL);
    CHECK_RC(hc_task_wait(the_task, 0, flags[0], NULL), HC_EINVAL);
    CHECK_RC(hc_task_wait(the_task, 0, flags[1], NULL), HC_EINVAL);
    return hc_task_wait(the_task, 0, flags[2], NULL);
}
static int wait_task_poll(hc_group *g) {
    (void)g;
    for (uint32_t flags = 0; flags < 3; ++flags) CHECK_RC(hc_task_wait(the_task, a_moment, flags, NULL), HC_ETIMEDOUT);
    return hc_task_wait(the_task, 0, 0, NULL);
}
static int wait_self(hc_group *g) {
    (void)g;
    return hc_task_wait(hc_task_current(), HC_NEVER, 0, NULL);
}
static int wait_task_itself(hc_group *g) { return in_held_task(g, wait_self); }
static int wait_task_signalled(void) { return hc_task_wait(the_task, HC_NEVER, HC_WAIT_INTERRUPTIBLE, NULL); }
static int wait_task_interrupted(hc_group *g) {
    (void)g;
    return interrupted(wait_task_signalled);
}
static int told_to_stop(hc_group *g) {
    (void)g;
    CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    return wait_task_signalled();
}
static int wait_task_stopped(hc_group *g) { return in_held_task(g, told_to_stop); }
static int task_result(hc_group *g) {
    (void)g;
    void *result = &memory;
    int rc = hc_task_result(the_task, &result);
    CHECK(result == (rc == HC_OK ? (void *)&ran : (void *)&memory));
    return rc;
}
static int task_result_bad(hc_group *g) {
    (void)g;
    void *result;
    return hc_task_result(the_task, the_task == NULL ? &result : NULL);
}
static int task_error(hc_group *g) {
    (void)g;
    int32_t code = 1;
    void *payload = &memory;
    int rc = hc_task_error(the_task, &code, &payload);
    if (rc != HC_OK) return rc;
    CHECK_EQ(code, 7);
    CHECK(payload == &the_payload);
    return hc_task_error(the_task, NULL, NULL);
}
static int cancel_task(hc_group *g) {
    (void)g;
    return hc_task_cancel(the_task);
}
static int cancel_task_wait(hc_group *g) {
    (void)g;
    return hc_task_cancel_wait(the_task, HC_NEVER);
}
static int cancel_task_poll(hc_group *g) {
    (void)g;
    CHECK_RC(hc_task_cancel_wait(the_task, a_moment), HC_ETIMEDOUT);
    return hc_task_cancel_wait(the_task, 0);
}
static int cancel_self_wait(hc_group *g) {
    (void)g;
    return hc_task_cancel_wait(hc_task_current(), HC_NEVER);
}
static int cancel_task_itself(hc_group *g) { return in_held_task(g, cancel_self_wait); }

static int has_current(hc_group *g) {
    (void)g;
    CHECK(hc_task_current() != NULL);
    return HC_OK;
}
static int task_current(hc_group *g) {
    CHECK(hc_task_current() == NULL); /* the task of the second column is a detached one */
    if (place == in_task) CHECK_OK(in_held_task(g, has_current));
    CHECK(hc_task_current() == NULL);
    return HC_OK;
}
static int is_cancelled(hc_group *g) {
    (void)g;
    CHECK_EQ(hc_task_cancelled(), 0);
    CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    CHECK_EQ(hc_task_cancelled(), 1);
    return HC_OK;
}
static int task_cancelled(hc_group *g) {
    CHECK_EQ(hc_task_cancelled(), 0);
    if (place == in_task) CHECK_OK(in_held_task(g, is_cancelled));
    CHECK_EQ(hc_task_cancelled(), 0);
    return HC_OK;
}
static int fail_here(hc_group *g) {
    (void)g;
    int dropped = 0;
    int rc = place == with_null ? hc_task_fail(7, NULL, NULL) : hc_task_fail(7, &dropped, add_one);
    CHECK_EQ(dropped, 0);
    return rc;
}
static int fail_self(hc_group *g) {
    (void)g;
    return hc_task_fail(7, NULL, NULL);
}
static int fail_in_task(hc_group *g) { return in_held_task(g, fail_self); }

static int then_with(hc_fn fn) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    hc_task *out = (hc_task *)&memory;
    options.fn = fn;
    options.arg = &ran;
    int rc = hc_task_then(the_task, &options, &out);
    CHECK((out != NULL) == (rc == HC_OK));
    hc_task_unref(out);
    return rc == HC_OK ? hc_task_then(the_task, &options, NULL) : rc;
}
static int then(hc_group *g) {
    (void)g;
    return then_with(count_task);
}
static int then_nothing(hc_group *g) {
    (void)g;
    return then_with(the_task == NULL ? count_task : NULL);
}
static int then_dry(hc_group *g) { return until_dry(g, then); }
typedef int several(hc_task *const *, size_t, hc_task **);
static int several_of(several *call, size_t n) {
    hc_task *const ts[] = {the_task, the_task};
    hc_task *out = (hc_task *)&memory;
    int rc = call(ts, n, &out);
    CHECK((out != NULL) == (rc == HC_OK));
    hc_task_unref(out);
    return rc;
}
static int several_bad(several *call) {
    if (the_task == NULL) return several_of(call, 2);
    CHECK_RC(call(&the_task, 1, NULL), HC_EINVAL);
    return several_of(call, 0);
}
static int all(hc_group *g) {
    (void)g;
    return several_of(hc_task_all, 2);
}
static int all_bad(hc_group *g) {
    (void)g;
    return several_bad(hc_task_all);
}
static int all_dry(hc_group *g) { return until_dry(g, all); }
static int any(hc_group *g) {
    (void)g;
    return several_of(hc_task_any, 2);
}
static int any_bad(hc_group *g) {
    (void)g;
    return several_bad(hc_task_any);
}
static int any_dry(hc_group *g) { return until_dry(g, any); }

static int make_promise(hc_group *g) {
    hc_task *out = (hc_task *)&memory;
    int rc = hc_task_promise(g, &out);
    CHECK((out != NULL) == (rc == HC_OK));
    hc_task_unref(out);
    return rc;
}
static int make_promise_bad(hc_group *g) { return g == NULL ? make_promise(g) : hc_task_promise(g, NULL); }
static int make_promise_dry(hc_group *g) { return without_memory(g, make_promise); }
static int complete(hc_group *g) {
    (void)g;
    int dropped = 0;
    int rc = hc_task_complete(the_task, HC_OK, &dropped, add_one);
    if (rc == HC_OK) { /* of a promise that the rest of the test does not know: its result must be gone with it */
        CHECK_EQ(dropped, 0);
        release(promise);
        CHECK_EQ(dropped, 1);
    } else {
        CHECK_EQ(dropped, 0);
    }
    return rc;
}
static int complete_bad(hc_group *g) {
    (void)g;
    return hc_task_complete(the_task, the_task == NULL ? HC_OK : 1, &memory, NULL);
}
static int complete_twice(hc_group *g) {
    if (hc_task_complete(the_task, HC_ECANCELED, NULL, NULL) != HC_OK) return HC_OK;
    return complete(g);
}

/* ---- Scopes ---------------------------------------------------------------------------------------------------- */

static int make_scope(hc_group *g) {
    hc_scope *out = (hc_scope *)&memory;
    int rc = hc_scope_create(g, &out);
    CHECK((out != NULL) == (rc == HC_OK));
    if (out != NULL) CHECK_OK(hc_scope_destroy(out));
    return rc;
}
static int make_scope_bad(hc_group *g) { return g == NULL ? make_scope(g) : hc_scope_create(g, NULL); }
static int make_scope_dry(hc_group *g) { return without_memory(g, make_scope); }

static int scope_submit(hc_group *g) {
    (void)g;
    return hc_scope_submit(the_scope, count_task, &ran, NULL);
}
static int scope_submit_nothing(hc_group *g) {
    (void)g;
    return hc_scope_submit(the_scope, the_scope == NULL ? count_task : NULL, &ran, NULL);
}
static int scope_submit_dry(hc_group *g) { return until_dry(g, scope_submit); }
static int scope_submit_more(hc_group *g) { return until_refused(g, scope_submit); }
static int scope_submit_alone(hc_group *g) { return without_threads(g, scope_submit); }
static int scope_submit_cancelled(hc_group *g) {
    CHECK_OK(hc_scope_cancel(the_scope));
    return scope_submit(g);
}
static int task_scope_cancelled(hc_group *g) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    CHECK_OK(hc_scope_cancel(the_scope));
    options.fn = count_task;
    options.scope = the_scope;
    return hc_task_submit(g, &options, NULL);
}
static int then_bound(hc_group *g) {
    (void)g;
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = count_task;
    options.key_mode = HC_KEY_BOUND;
    return hc_task_then(the_task, &options, NULL);
}

static int serial_submit(hc_group *g) {
    (void)g;
    return hc_serial_submit(the_serial, count_task, &ran, NULL);
}
static int serial_submit_nothing(hc_group *g) {
    (void)g;
    return hc_serial_submit(the_serial, the_serial == NULL ? count_task : NULL, &ran, NULL);
}
static int serial_submit_dry(hc_group *g) { return until_dry(g, serial_submit); }
static int serial_submit_more(hc_group *g) { return until_refused(g, serial_submit); }
static int serial_submit_alone(hc_group *g) { return without_threads(g, serial_submit); }
static int serial_submit_late(hc_group *g) { return late(g, serial_submit); }
static int serial_ref_unref(hc_group *g) {
    (void)g;
    hc_serial_ref(the_serial);
    hc_serial_unref(the_serial);
    return HC_OK;
}

static int scope_wait(hc_group *g) {
    (void)g;
    int32_t failure = 1;
    int rc = hc_scope_wait(the_scope, HC_NEVER, 0, &failure);
    CHECK_EQ(failure, rc == HC_OK ? HC_OK : 1);
    return rc;
}
static int scope_wait_bad(hc_group *g) {
    (void)g;
    if (the_scope == NULL) return hc_scope_wait(NULL, 0, 0, NULL);
    CHECK_RC(hc_scope_wait(the_scope, 0, 8, NULL), HC_EINVAL);
    return hc_scope_wait(the_scope, 0, HC_WAIT_HELP_ANY | HC_WAIT_NO_HELP, NULL);
}
static int scope_wait_poll(hc_group *g) {
    (void)g;
    CHECK_RC(hc_scope_wait(the_scope, a_moment, HC_WAIT_NO_HELP, NULL), HC_ETIMEDOUT);
    return hc_scope_wait(the_scope, 0, 0, NULL);
}
static void waits_for_its_scope(void *rc) { *(int *)rc = hc_scope_wait(the_scope, HC_NEVER, 0, NULL); }
static int scope_wait_itself(hc_group *g) {
    int rc = HC_OK;
    CHECK_OK(hc_scope_submit(the_scope, waits_for_its_scope, &rc, NULL));
    CHECK_OK(scope_wait(g));
    return rc;
}
static int scope_wait_signalled(void) {
    return hc_scope_wait(the_scope, HC_NEVER, HC_WAIT_NO_HELP | HC_WAIT_INTERRUPTIBLE, NULL);
}
static int scope_wait_interrupted(hc_group *g) {
    (void)g;
    return interrupted(scope_wait_signalled);
}
static int told_to_stop_in_scope(hc_group *g) {
    (void)g;
    CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    return scope_wait_signalled();
}
static int scope_wait_stopped(hc_group *g) { return in_held_task(g, told_to_stop_in_scope); }
static int scope_error(hc_group *g) {
    (void)g;
    int32_t code = 1;
    void *payload = &memory;
    int rc = hc_scope_error(the_scope, &code, &payload);
    CHECK_EQ(code, rc == HC_OK ? 0 : 1);
    CHECK(payload == (rc == HC_OK ? NULL : &memory));
    return rc == HC_OK ? hc_scope_error(the_scope, NULL, NULL) : rc;
}
static int scope_cancel(hc_group *g) {
    (void)g;
    return hc_scope_cancel(the_scope);
}
static int scope_destroy(hc_group *g) {
    (void)g;
    int rc = hc_scope_destroy(the_scope);
    if (rc == HC_OK && the_scope != NULL) the_scope = made_scope = NULL;
    return rc;
}

/* ---- Ranges ---------------------------------------------------------------------------------------------------- */

static void count_piece(void *arg, uint64_t begin, uint64_t end) {
    atomic_fetch_add((_Atomic uint64_t *)arg, end - begin);
}
static void add_piece(void *arg, void *value, uint64_t begin, uint64_t end) {
    (void)arg;
    *(uint64_t *)value += end - begin;
}
static void add_values(void *arg, void *left, const void *right) {
    (void)arg;
    *(uint64_t *)left += *(const uint64_t *)right;
}
static int range(hc_group *g) {
    _Atomic uint64_t n = 0;
    int rc = hc_group_for(g, 10, 1010, 3, count_piece, &n);
    CHECK_EQ(n, rc == HC_OK ? 1000 : 0);
    return rc;
}
static int range_bad(hc_group *g) {
    _Atomic uint64_t n = 0;
    if (g == NULL) return range(g);
    CHECK_RC(hc_group_for(g, 0, 10, 0, NULL, &n), place == shut ? hc_group_for(g, 0, 10, 0, NULL, &n) : HC_EINVAL);
    int rc = hc_group_for(g, 11, 10, 0, count_piece, &n);
    CHECK_EQ(n, 0);
    return rc;
}
static int range_dry(hc_group *g) { return without_memory(g, range); }
static int sum(hc_group *g) {
    uint64_t n = 0;
    int rc = hc_group_reduce(g, 10, 1010, 3, &n, sizeof n, add_piece, add_values, NULL);
    if (rc == HC_OK) CHECK_EQ(n, 1000);
    return rc;
}
static int sum_bad(hc_group *g) {
    static uint64_t values[HC_REDUCE_MAX / 8 + 1];
    if (g == NULL) return sum(g);
    int rc[] = {hc_group_reduce(g, 0, 9, 0, values, HC_REDUCE_MAX + 1, add_piece, add_values, NULL),
                hc_group_reduce(g, 0, 9, 0, NULL, 8, add_piece, add_values, NULL),
                hc_group_reduce(g, 0, 9, 0, values, 8, NULL, add_values, NULL),
                hc_group_reduce(g, 0, 9, 0, values, 8, add_piece, NULL, NULL),
                hc_group_reduce(g, 9, 0, 0, values, 8, add_piece, add_values, NULL)};
    for (size_t i = 1; i < sizeof rc / sizeof rc[0]; ++i) CHECK_EQ(rc[i], rc[0]);
    return rc[0];
}
static int sum_dry(hc_group *g) { return without_memory(g, sum); }

/* In a held task that has been cancelled, which must be told. */
static int range_stopped(hc_group *g) {
    CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    return range(g);
}
static int sum_stopped(hc_group *g) {
    CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    return sum(g);
}
static int range_cancelled(hc_group *g) { return in_held_task(g, range_stopped); }
static int sum_cancelled(hc_group *g) { return in_held_task(g, sum_stopped); }

#endif
