/* Guards against: a pending timer that a shutdown loses, fires or hands back twice; an await that ends before the timers
 * that were to run, or waits for those that were not. */
#include "timed.h"

/* ---- What has not come due comes back ------------------------------------------------------------------------------------- */

static atomic_int unrun;
static void on_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    CHECK(user == &unrun && fn == shot_run);
    shot_drop(arg, why); /* a detached one has no other */
    unrun += 1;
}

static hc_group *telling_group(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.user = &unrun;
    options.on_unrun = on_unrun;
    unrun = 0;
    return fixed_with(&options);
}

typedef void (*told_body)(hc_group *g, uint32_t how);

static void in_telling_groups(uint32_t first, uint32_t last, told_body body) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_many_counts; ++i)
            for (uint32_t how = first; how <= last; ++how) {
                hc_group *g = telling_group(kind, many_counts[i]);
                body(g, how);
                CHECK_OK(hc_group_destroy(g));
            }
}

static void nothing_is_set_any_more(hc_group *g) {
    shot s = {0};
    CHECK_RC(hc_schedule(g, shot_run, &s, ms), HC_ESHUTDOWN);
    CHECK_RC(hc_schedule(g, shot_run, &s, 0), HC_ESHUTDOWN);
    CHECK_RC(hc_schedule(g, shot_run, &s, HC_NEVER), HC_ESHUTDOWN);
    CHECK_RC(hc_schedule_at(g, shot_run, &s, 0), HC_ESHUTDOWN);
    CHECK_RC(hc_schedule_at(g, shot_run, &s, hc_now() + ms), HC_ESHUTDOWN);
    hc_task_options task = options_of(shot_run, &s);
    task.drop = shot_drop;
    const hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, ms, 0);
    hc_timer *t = (hc_timer *)&s;
    CHECK_RC(hc_timer_create(g, &options, &t), HC_ESHUTDOWN);
    CHECK(t == NULL);
    CHECK_RC(hc_timer_create(g, &options, NULL), HC_ESHUTDOWN);
    shot_check(&s, 0, 0, 0);
}

static void pending_come_back(hc_group *g, uint32_t how) {
    enum { n = 50 };
    static shot detached[n], held_ones[n], alone[n];
    hc_timer *t[n];
    memset(detached, 0, sizeof detached);
    memset(held_ones, 0, sizeof held_ones);
    memset(alone, 0, sizeof alone);
    for (int i = 0; i < n; ++i) {
        shoot(g, &detached[i], (uint64_t)(1 + i) * HOUR);
        t[i] = timer_shot(g, &held_ones[i], (uint64_t)(1 + i) * HOUR);
        hc_task_options task = options_of(shot_run, &alone[i]);
        task.drop = shot_drop;
        const uint32_t mode = i % 3 == 0 ? HC_TIMER_ONCE : HC_TIMER_RATE;
        const hc_timer_options options = timer_options_of(&task, mode, HOUR, mode == HC_TIMER_ONCE ? 0 : ms);
        CHECK_OK(hc_timer_create(g, &options, NULL));
    }
    CHECK_EQ(stats_of(g).timers_pending, 3 * n);
    CHECK_OK(hc_group_shutdown(g, how));
    nothing_is_set_any_more(g);
    const int rc = hc_timer_arm(t[0], 0, 0);
    CHECK(rc == HC_ESHUTDOWN || rc == HC_ECANCELED);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    for (int i = 0; i < n; ++i) {
        shot_check(&detached[i], 0, 1, HC_ESHUTDOWN);
        shot_check(&held_ones[i], 0, 1, HC_ESHUTDOWN);
        shot_check(&alone[i], 0, 1, HC_ESHUTDOWN);
        hc_timer_unref(t[i]);
        CHECK_EQ(held_ones[i].dropped, 1);
    }
    CHECK_EQ(unrun, n);
    const hc_group_stats_data s = stats_of(g);
    CHECK_EQ(s.timers_pending, 0);
    CHECK_EQ(s.timers_fired, 0);
    CHECK_EQ(s.started, 0);
    CHECK_EQ(s.queued, 0);
    CHECK_EQ(s.submitted, s.unrun);
}

static void pending_timers_come_back_once(void) {
    in_telling_groups(HC_SHUTDOWN_DRAIN, HC_SHUTDOWN_NOW, pending_come_back);
}

/* Due, behind a task that is stuck: DRAIN runs it, or hands it back; NOW hands it back. Once. */
static void due_ones_have_one_end(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_RUN_TIMERS; ++how) {
            hc_group *g = telling_group(kind, 1);
            gate at = GATE;
            gate_hold(g, &at);
            static shot s[60];
            memset(s, 0, sizeof s);
            hc_timer *t[60] = {NULL};
            for (int i = 0; i < 60; ++i)
                if (i % 3 == 0)
                    shoot(g, &s[i], 1);
                else if (i % 3 == 1)
                    shoot(g, &s[i], 0);
                else
                    t[i] = timer_shot(g, &s[i], 1);
            UNTIL(remaining_of(t[59]) == 0);
            CHECK_OK(hc_group_shutdown(g, how));
            gate_open(&at);
            CHECK_OK(hc_group_await(g, HC_NEVER));
            for (int i = 0; i < 60; ++i) {
                hc_timer_unref(t[i]);
                if (how == HC_SHUTDOWN_NOW) shot_check(&s[i], 0, 1, HC_ESHUTDOWN);
                if (how == HC_SHUTDOWN_RUN_TIMERS) shot_check(&s[i], 1, i % 3 == 2, HC_OK);
                if (i % 3 == 1) CHECK_EQ(s[i].ran, how != HC_SHUTDOWN_NOW); /* it was queued */
                if (i % 3 == 2)
                    CHECK_EQ(s[i].dropped, 1);
                else
                    CHECK_EQ(s[i].ran + s[i].dropped, 1);
            }
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- HC_SHUTDOWN_RUN_TIMERS ------------------------------------------------------------------------------------------------ */

static void kept_ones_fire(hc_group *g, uint32_t how) {
    enum { n = 20 };
    static shot detached[n], held_ones[n], endless[2];
    hc_timer *t[n];
    memset(detached, 0, sizeof detached);
    memset(held_ones, 0, sizeof held_ones);
    memset(endless, 0, sizeof endless);
    shot rests = {0};
    for (int i = 0; i < n; ++i) {
        shoot(g, &detached[i], (uint64_t)i * 500 * us);
        t[i] = timer_shot(g, &held_ones[i], (uint64_t)i * 500 * us);
    }
    hc_timer *rate = repeating(g, shot_run, shot_drop, &endless[0], HC_TIMER_RATE, 100 * us, 100 * us);
    hc_timer *later = repeating(g, shot_run, shot_drop, &endless[1], HC_TIMER_DELAY, HOUR, 1);
    hc_timer *resting = timer_shot(g, &rests, HC_NEVER);
    CHECK_OK(hc_group_shutdown(g, how));
    nothing_is_set_any_more(g);
    CHECK_RC(hc_timer_arm(t[n - 1], 0, 0), HC_ESHUTDOWN);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_EQ(unrun, 0);
    for (int i = 0; i < n; ++i) {
        shot_check(&detached[i], 1, 0, 0);
        hc_timer_unref(t[i]);
        shot_check(&held_ones[i], 1, 1, HC_OK);
    }
    for (int i = 0; i < 2; ++i) CHECK_EQ(endless[i].dropped, 1);
    CHECK_RC(endless[0].why, HC_ESHUTDOWN);
    CHECK_RC(endless[1].why, HC_ESHUTDOWN);
    CHECK_EQ(endless[1].ran, 0);
    hc_timer_unref(rate);
    hc_timer_unref(later);
    hc_timer_unref(resting);
    shot_check(&rests, 0, 1, HC_OK);
}

static void run_timers_waits_for_those_that_fire_once(void) {
    in_telling_groups(HC_SHUTDOWN_RUN_TIMERS, HC_SHUTDOWN_RUN_TIMERS, kept_ones_fire);
}

typedef struct awaiting {
    hc_group *g;
    atomic_bool back;
} awaiting;
static void *awaits(void *arg) {
    awaiting *a = arg;
    CHECK_OK(hc_group_await(a->g, HC_NEVER));
    a->back = true;
    return NULL;
}

/* How a wait for a far timer ends: it is cancelled, its handle goes, or the shutdown is made a stronger one. */
static void let_go(uint32_t kind, uint32_t workers, int way) {
    hc_group *g = telling_group(kind, workers);
    shot far_ones[2] = {0}, detached = {0};
    hc_timer *t[2] = {timer_shot(g, &far_ones[0], HOUR), timer_shot(g, &far_ones[1], 2 * HOUR)};
    if (way >= 2) shoot(g, &detached, HOUR);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
    CHECK_RC(hc_group_await(g, ms), HC_ETIMEDOUT);
    awaiting a = {g, false};
    pthread_t thread = thread_start(awaits, &a);
    CHECK_EQ(stats_of(g).timers_pending, way >= 2 ? 3 : 2);
    CHECK(remaining_of(t[0]) > HOUR / 2);
    if (way < 2) {
        CHECK_EQ(hc_timer_cancel(t[0]), HC_REMOVED);
        CHECK(!a.back);
        if (way == 0) CHECK_EQ(hc_timer_cancel(t[1]), HC_REMOVED);
    } else {
        CHECK_OK(hc_group_shutdown(g, way == 2 ? HC_SHUTDOWN_DRAIN : HC_SHUTDOWN_NOW));
    }
    if (way == 1) hc_timer_unref(t[1]);
    thread_join(thread);
    hc_timer_unref(t[0]);
    if (way != 1) hc_timer_unref(t[1]);
    const int why = way < 2 ? HC_ECANCELED : HC_ESHUTDOWN;
    for (int i = 0; i < 2; ++i) shot_check(&far_ones[i], 0, 1, why);
    shot_check(&detached, 0, way >= 2, HC_ESHUTDOWN);
    CHECK_EQ(unrun, way >= 2);
    CHECK_OK(hc_group_destroy(g));
}

static void the_last_kept_one_can_be_let_go(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_many_counts; ++i)
            for (int way = 0; way < 4; ++way) let_go(kind, many_counts[i], way);
}

/* DRAIN, or NOW, is not taken back. */
static void stays_strong(hc_group *g, uint32_t how) {
    shot s = {0};
    shoot(g, &s, HOUR);
    CHECK_OK(hc_group_shutdown(g, how));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
    CHECK_OK(hc_group_await(g, HC_NEVER));
    shot_check(&s, 0, 1, HC_ESHUTDOWN);
}

static void a_second_call_only_strengthens(void) {
    in_telling_groups(HC_SHUTDOWN_DRAIN, HC_SHUTDOWN_NOW, stays_strong);
}

static void destroys(void *arg) {
    (void)arg;
    CHECK_OK(hc_group_destroy(hc_group_current()));
    nothing_is_set_any_more(hc_group_current());
}

/* From a task, from a timer's body, and by the last reference: nobody waits, and nothing is lost. */
static void the_last_reference_hands_back(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_many_counts; ++i)
            for (int way = 0; way < 3; ++way) {
                static shot s[100];
                memset(s, 0, sizeof s);
                hc_group *g = telling_group(kind, many_counts[i]);
                for (int k = 0; k < 100; ++k) shoot(g, &s[k], HOUR);
                hc_group_ref(g); /* for the length of the calls */
                if (way == 0) CHECK_OK(hc_submit(g, destroys, NULL));
                if (way == 1) CHECK_OK(hc_schedule(g, destroys, NULL, 50 * us));
                hc_group_unref(g);
                if (way == 2) hc_group_unref(g);
                for (int k = 0; k < 100; ++k) UNTIL(s[k].dropped == 1);
                for (int k = 0; k < 100; ++k) shot_check(&s[k], 0, 1, HC_ESHUTDOWN);
            }
}

static void a_hundred_thousand_come_back(void) {
    enum { many = 100000 };
    shot *s = calloc(many, sizeof *s);
    CHECK(s != NULL);
    for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how) {
        hc_group *g = telling_group(HC_KIND_STEALING, 2);
        memset(s, 0, many * sizeof *s);
        for (int i = 0; i < many; ++i) shoot(g, &s[i], HOUR + (uint64_t)i * (uint64_t)i);
        CHECK_OK(hc_group_shutdown(g, how));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        CHECK_EQ(unrun, many);
        for (int i = 0; i < many; ++i) shot_check(&s[i], 0, 1, HC_ESHUTDOWN);
        CHECK_OK(hc_group_destroy(g));
    }
    free(s);
}

int main(void) {
    check_deadline(90);
    RUN(pending_timers_come_back_once);
    RUN(due_ones_have_one_end);
    RUN(run_timers_waits_for_those_that_fire_once);
    RUN(the_last_kept_one_can_be_let_go);
    RUN(a_second_call_only_strengthens);
    RUN(the_last_reference_hands_back);
    RUN(a_hundred_thousand_come_back);
    return 0;
}
