/* matrix_probes_timers.h - the probes for timers. What they are asked about, `the_timer` (NULL in the last column), is made
 * by prepare_all(): before the group is shut down, and before the fork. */
#ifndef MATRIX_PROBES_TIMERS_H
#define MATRIX_PROBES_TIMERS_H

#include "matrix_probes_held.h"

static hc_timer *the_timer, *made_timer;
static gate in_the_body;

#define AN_HOUR ((uint64_t)3600000000000)

static int make_timer(hc_group *g, hc_fn fn, void *arg, uint64_t delay, hc_timer **out) {
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    hc_timer_options options = HC_TIMER_OPTIONS_INIT;
    task.fn = fn;
    task.arg = arg;
    options.task = &task;
    options.delay = delay;
    return hc_timer_create(g, &options, out);
}

static void prepare_all(hc_group *g, enum group_kind kind) {
    prepare(g, kind);
    switch (kind) {
        case timer_pending: CHECK_OK(make_timer(g, count_task, &ran, AN_HOUR, &made_timer)); break;
        case timer_resting: CHECK_OK(make_timer(g, count_task, &ran, HC_NEVER, &made_timer)); break;
        case timer_cancelled:
            CHECK_OK(make_timer(g, count_task, &ran, AN_HOUR, &made_timer));
            CHECK_EQ(hc_timer_cancel(made_timer), HC_REMOVED);
            break;
        case timer_running:
            in_the_body = (gate)GATE;
            CHECK_OK(make_timer(g, gate_task, &in_the_body, 0, &made_timer));
            latch_wait(&in_the_body.inside);
            break;
        default: break;
    }
    the_timer = place == with_null ? NULL : made_timer;
}

static void release_all(enum group_kind kind) {
    if (kind == timer_running) gate_open(&in_the_body);
    hc_timer_unref(made_timer);
    the_timer = made_timer = NULL;
    release(kind);
}

static int schedule_with(hc_group *g, hc_fn fn) {
    int later = hc_schedule(g, fn, &ran, AN_HOUR);
    int rc = hc_schedule(g, fn, &ran, 0);
    if (later != HC_OK) return later;
    CHECK(rc == HC_OK || rc == HC_ENOMEM);
    return rc;
}
static int schedule_at_with(hc_group *g, hc_fn fn) {
    int later = hc_schedule_at(g, fn, &ran, hc_now() + AN_HOUR);
    int rc = hc_schedule_at(g, fn, &ran, 1);
    if (later != HC_OK) return later;
    CHECK(rc == HC_OK || rc == HC_ENOMEM);
    return rc;
}
static int schedule(hc_group *g) { return schedule_with(g, count_task); }
static int schedule_at(hc_group *g) { return schedule_at_with(g, count_task); }
static int schedule_nothing(hc_group *g) { return schedule_with(g, g == NULL ? count_task : NULL); }
static int schedule_at_nothing(hc_group *g) { return schedule_at_with(g, g == NULL ? count_task : NULL); }
static int schedule_dry(hc_group *g) { return until_dry(g, schedule); }
static int schedule_at_dry(hc_group *g) { return until_dry(g, schedule_at); }
static int schedule_alone(hc_group *g) { return without_threads(g, schedule); }
static int schedule_at_alone(hc_group *g) { return without_threads(g, schedule_at); }
static int schedule_late(hc_group *g) { return late(g, schedule); }
static int schedule_at_late(hc_group *g) { return late(g, schedule_at); }

static int timer_init(hc_group *g) {
    (void)g;
    return init(hc_timer_options_init);
}

/* Without a handle, and with one. */
static int create_timer_with(hc_group *g, hc_fn fn) {
    int alone = make_timer(g, fn, &ran, AN_HOUR, NULL);
    hc_timer *out = (hc_timer *)&memory;
    int rc = make_timer(g, fn, &ran, AN_HOUR, &out);
    CHECK((out != NULL) == (rc == HC_OK));
    hc_timer_unref(out);
    CHECK_EQ(rc, alone);
    return rc;
}
static int create_timer(hc_group *g) { return create_timer_with(g, count_task); }
static int create_timer_bad(hc_group *g) {
    if (g != NULL && place != shut) CHECK_RC(hc_timer_create(g, NULL, NULL), HC_EINVAL);
    return create_timer_with(g, g == NULL ? count_task : NULL);
}
static int create_timer_dry(hc_group *g) { return without_memory(g, create_timer); }
static int create_timer_late(hc_group *g) { return late(g, create_timer); }

static int timer_ref_unref(hc_group *g) {
    (void)g;
    hc_timer_ref(the_timer);
    hc_timer_unref(the_timer);
    return HC_OK;
}

static int arm_for(uint64_t period) { return hc_timer_arm(the_timer, AN_HOUR / 2, period); }
static int arm_at_for(uint64_t period) { return hc_timer_arm_at(the_timer, hc_now() + AN_HOUR / 2, period); }
static int arm(hc_group *g) {
    (void)g;
    return arm_for(0);
}
static int arm_at(hc_group *g) {
    (void)g;
    return arm_at_for(0);
}
static int arm_bad(hc_group *g) {
    (void)g;
    return arm_for(the_timer == NULL ? 0 : 1);
}
static int arm_at_bad(hc_group *g) {
    (void)g;
    return arm_at_for(the_timer == NULL ? 0 : 1);
}
/* Nearer and nearer: sooner or later a time is not beside the last one, and needs memory. */
static int arm_until_dry(hc_group *g, bool at) {
    int rc = HC_OK;
    CHECK_OK(hc_group_trim(g));
    counting_fail_after(&memory, 0);
    for (uint64_t delay = AN_HOUR / 2; rc == HC_OK && delay > a_moment; delay /= 4)
        rc = at ? hc_timer_arm_at(the_timer, hc_now() + delay, 0) : hc_timer_arm(the_timer, delay, 0);
    counting_fail_after(&memory, -1);
    return rc;
}
static int arm_dry(hc_group *g) { return arm_until_dry(g, false); }
static int arm_at_dry(hc_group *g) { return arm_until_dry(g, true); }
static int arm_late(hc_group *g) { return late(g, arm); }
static int arm_at_late(hc_group *g) { return late(g, arm_at); }

static int cancel_timer(hc_group *g) {
    (void)g;
    return hc_timer_cancel(the_timer);
}
static int cancel_timer_wait(hc_group *g) {
    (void)g;
    return hc_timer_cancel_wait(the_timer, HC_NEVER);
}
static int cancel_timer_poll(hc_group *g) {
    (void)g;
    CHECK_RC(hc_timer_cancel_wait(the_timer, a_moment), HC_ETIMEDOUT);
    return hc_timer_cancel_wait(the_timer, 0);
}

/* Its body runs on the other worker. */
typedef struct self_cancel {
    hc_timer *t;
    latch known, done;
    int rc;
} self_cancel;

static void cancels_itself(void *arg) {
    self_cancel *s = arg;
    latch_wait(&s->known);
    s->rc = hc_timer_cancel_wait(s->t, HC_NEVER);
    latch_down(&s->done);
}
static int cancel_timer_itself(hc_group *g) {
    self_cancel s = {NULL, LATCH(1), LATCH(1), 1};
    CHECK_OK(make_timer(g, cancels_itself, &s, 0, &s.t));
    latch_down(&s.known);
    latch_wait(&s.done);
    (void)hc_timer_cancel_wait(s.t, HC_NEVER);
    hc_timer_unref(s.t);
    return s.rc;
}

static int timer_remaining(hc_group *g) {
    (void)g;
    uint64_t ns = 1;
    int rc = hc_timer_remaining(the_timer, &ns);
    CHECK((ns > AN_HOUR / 2) == (rc == HC_OK));
    return rc;
}
static int timer_remaining_bad(hc_group *g) {
    (void)g;
    return the_timer == NULL ? timer_remaining(g) : hc_timer_remaining(the_timer, NULL);
}
static int timer_missed(hc_group *g) {
    (void)g;
    uint64_t n = 1;
    int rc = hc_timer_missed(the_timer, &n);
    CHECK_EQ(n, rc == HC_OK ? 0 : 1);
    return rc;
}
static int timer_missed_bad(hc_group *g) {
    (void)g;
    return the_timer == NULL ? timer_missed(g) : hc_timer_missed(the_timer, NULL);
}

/* ---- Sleep and poll ---------------------------------------------------------------------------------------------- */

static int sleep_a_moment(hc_group *g) {
    (void)g;
    return hc_sleep(a_moment);
}
static int poll_a_moment(hc_group *g) {
    (void)g;
    struct pollfd none = {-1, POLLIN, 1};
    int rc = place == with_null ? hc_poll(NULL, 0, a_moment) : hc_poll(&none, 1, a_moment);
    CHECK_EQ(none.revents, place == with_null);
    return rc;
}
static int poll_bad(hc_group *g) {
    (void)g;
    return hc_poll(NULL, 1, 0);
}
static int sleeps_for_ever(hc_group *g) {
    (void)g;
    CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    return hc_sleep(HC_NEVER);
}
static int polls_for_ever(hc_group *g) {
    (void)g;
    struct pollfd none = {-1, POLLIN, 0};
    CHECK_EQ(hc_task_cancel(hc_task_current()), HC_RUNNING);
    return hc_poll(&none, 1, HC_NEVER);
}
static int sleep_cancelled(hc_group *g) { return in_held_task(g, sleeps_for_ever); }
static int poll_cancelled(hc_group *g) { return in_held_task(g, polls_for_ever); }
static int polls_until_signalled(void) { return hc_poll(NULL, 0, HC_NEVER); }
static int poll_interrupted(hc_group *g) {
    (void)g;
    return interrupted(polls_until_signalled);
}
/* In a task that can be cancelled many descriptors need memory. */
static int polls_many(hc_group *g) {
    (void)g;
    struct pollfd many[40];
    for (int i = 0; i < 40; ++i) many[i] = (struct pollfd){-1, POLLIN, 0};
    counting_fail_after(&memory, 0);
    int rc = hc_poll(many, 40, a_moment);
    counting_fail_after(&memory, -1);
    return rc;
}
static int poll_dry(hc_group *g) { return in_held_task(g, polls_many); }

#endif
