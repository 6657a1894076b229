/* Guards against: a series that ends without its drop, or with two, or with the wrong reason; a handle that outlives its
 * group badly; an arm that loses or doubles a firing, or lies about what was. */
#include "timed.h"

/* ---- Each way to end ------------------------------------------------------------------------------------------------- */

static atomic_int unrun;
static int32_t unrun_why;
static void on_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    CHECK(user == &unrun && fn == shot_run && arg != NULL);
    CHECK_RC(why, unrun_why);
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

enum { with_drop = 0, without_drop = 1 };
enum way { cancelled, unreferenced, shut_down, shut_down_now, ways };

static void end_it(hc_group *g, hc_timer *t, enum way way) {
    if (way == cancelled) CHECK(hc_timer_cancel(t) >= HC_OK);
    if (way == unreferenced) hc_timer_unref(t);
    if (way >= shut_down) {
        CHECK_OK(hc_group_shutdown(g, way == shut_down ? HC_SHUTDOWN_DRAIN : HC_SHUTDOWN_NOW));
        CHECK_OK(hc_group_await(g, HC_NEVER));
    }
    if (way != unreferenced) hc_timer_unref(t);
}

/* Pending: the firing is lost, and a drop is told; on_unrun only if it was not the user's own doing. Resting, or fired: nothing is. */
static void each_way_out(uint32_t kind, uint32_t workers) {
    for (enum way way = cancelled; way < ways; ++way)
        for (int silent = with_drop; silent <= without_drop; ++silent)
            for (int state = 0; state < 3; ++state) { /* pending, resting, fired */
                hc_group *g = telling_group(kind, workers);
                shot s = {0};
                hc_drop_fn drop = silent ? NULL : shot_drop;
                unrun_why = way >= shut_down ? HC_ESHUTDOWN : HC_ECANCELED;
                hc_timer *t = timer_of(g, shot_run, drop, &s, state == 0 ? HOUR : state == 1 ? HC_NEVER : 0);
                if (state == 2) UNTIL(s.ran == 1);
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                CHECK_EQ(s.dropped, 0);
                end_it(g, t, way);
                shot_check(&s, state == 2, !silent, state == 0 ? unrun_why : HC_OK);
                CHECK_EQ(unrun, silent && state == 0 && way >= shut_down);
                CHECK_OK(hc_group_destroy(g));
                CHECK_EQ(s.dropped, !silent);
                CHECK_EQ(unrun, silent && state == 0 && way >= shut_down);
            }
}

static void each_series_ends_with_one_drop(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) each_way_out(kind, worker_counts[w]);
}

/* While its body runs: the drop comes after it, and says what is lost. */
static void ends_while_running(hc_group *g, uint32_t workers) {
    (void)workers;
    for (int how = 0; how < 3; ++how) {
        held_shot h = {GATE, 0, 0, 0};
        hc_timer *t = timer_of(g, held_shot_run, held_shot_drop, &h, 0);
        latch_wait(&h.at.inside);
        if (how == 0) CHECK_EQ(hc_timer_cancel(t), HC_RUNNING);
        if (how == 1) CHECK_EQ(hc_timer_arm(t, HOUR, 0), HC_RUNNING); /* not lost by itself */
        hc_timer_ref(t);
        hc_timer_unref(t);
        CHECK_EQ(h.dropped, 0);
        hc_timer_unref(t); /* the last: cancelled while it runs */
        CHECK_EQ(h.dropped, 0);
        gate_open(&h.at);
        UNTIL(h.dropped == 1);
        CHECK_EQ(h.ran, 1);
        CHECK(h.why == HC_OK || (how == 1 && h.why == HC_ECANCELED));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(h.dropped, 1);
    }
}

static void a_series_that_ends_while_it_runs_drops_afterwards(void) { in_all_groups(ends_while_running); }

/* ---- The last handle goes inside ---------------------------------------------------------------------------------------- */

typedef struct last {
    hc_timer *t;
    latch known;
    bool in_body, in_drop;
    atomic_int ran, dropped, why;
} last;

static void drops_its_handle(void *arg) {
    last *l = arg;
    latch_wait(&l->known);
    if (l->in_body) hc_timer_unref(l->t);
    if (l->in_body) CHECK_EQ(hc_task_cancelled(), 1);
    CHECK_EQ(l->dropped, 0);
    l->ran += 1;
}

static void drop_drops_its_handle(void *arg, int32_t why) {
    last *l = arg;
    if (l->in_drop) {
        CHECK_EQ(hc_timer_cancel(l->t), HC_DONE);
        CHECK_RC(hc_timer_arm(l->t, 0, 0), hc_timer_arm(l->t, 0, 0)); /* refused, however: it has ended */
        CHECK(hc_timer_arm(l->t, 0, 0) < 0);
        hc_timer_unref(l->t);
    }
    l->why = why;
    l->dropped += 1;
}

static void last_inside(hc_group *g, uint32_t workers) {
    (void)workers;
    for (uint32_t mode = HC_TIMER_ONCE; mode <= HC_TIMER_DELAY; ++mode)
        for (int round = 0; round < 20; ++round) {
            const uint64_t period = mode == HC_TIMER_ONCE ? 0 : 10 * us;
            last body = {.known = LATCH(1), .in_body = true};
            body.t = repeating(g, drops_its_handle, drop_drops_its_handle, &body, mode, 0, period);
            latch_down(&body.known);
            UNTIL(body.dropped == 1);
            CHECK_EQ(body.ran, 1);
            CHECK_RC(body.why, HC_OK);
            last drop = {.known = LATCH(0), .in_drop = true};
            drop.t = repeating(g, drops_its_handle, drop_drops_its_handle, &drop, mode, HOUR, period);
            hc_timer *t = drop.t;
            hc_timer_ref(t);
            CHECK_EQ(hc_timer_cancel(t), HC_REMOVED);
            CHECK_EQ(drop.dropped, 1);
            CHECK_EQ(drop.ran, 0);
            hc_timer_unref(t);
        }
    CHECK_OK(hc_group_drain(g, HC_NEVER));
}

static void the_last_handle_may_go_in_the_body_or_the_drop(void) { in_all_groups(last_inside); }

/* ---- Handles that outlive their group -------------------------------------------------------------------------------------- */

static void handles_outlive_the_group(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int round = 0; round < 5; ++round) {
            enum { n = 40 };
            hc_group *g = group_of_kind(kind, 3);
            static shot s[n];
            hc_timer *t[n];
            memset(s, 0, sizeof s);
            for (int i = 0; i < n; ++i) t[i] = timer_shot(g, &s[i], i % 4 == 0 ? HOUR : i % 4 == 1 ? HC_NEVER : 1);
            for (int i = 0; i < n; ++i) UNTIL(s[i].ran == (i % 4 >= 2));
            CHECK_OK(hc_group_destroy(g));
            for (int i = 0; i < n; ++i) {
                uint64_t ns = 0;
                hc_timer_ref(t[i]);
                CHECK_OK(hc_timer_remaining(t[i], &ns));
                CHECK(ns == HC_NEVER);
                CHECK_EQ(missed_of(t[i]), 0);
                const int rc = hc_timer_arm(t[i], 0, 0);
                CHECK(rc == HC_ESHUTDOWN || (rc == HC_ECANCELED && s[i].dropped == 1));
                CHECK_EQ(hc_timer_cancel(t[i]), HC_DONE);
                CHECK_EQ(hc_timer_cancel_wait(t[i], HC_NEVER), HC_DONE);
                hc_timer_unref(t[i]);
                hc_timer_unref(t[i]);
                shot_check(&s[i], i % 4 >= 2, 1, i % 4 == 0 ? HC_ESHUTDOWN : HC_OK);
            }
        }
}

/* ---- Arming ------------------------------------------------------------------------------------------------------------- */

static void arm_in_every_state(hc_group *g, uint32_t workers) {
    (void)workers;
    shot s = {0};
    hc_timer *t = timer_shot(g, &s, HOUR);
    CHECK_RC(hc_timer_arm(t, 1, 1), HC_EINVAL); /* it fires once: it has no period, and nothing has changed */
    CHECK(remaining_of(t) > HOUR / 2);
    CHECK_EQ(arm_shot(t, &s, 2 * HOUR), HC_REMOVED);
    CHECK(remaining_of(t) > HOUR);
    CHECK_EQ(arm_shot(t, &s, HOUR), HC_REMOVED);
    CHECK(remaining_of(t) <= HOUR + 1024);
    CHECK_EQ(hc_timer_arm(t, HC_NEVER, 0), HC_REMOVED);
    CHECK(remaining_of(t) == HC_NEVER);
    CHECK_EQ(hc_timer_arm(t, HC_NEVER, 0), HC_DONE);
    CHECK_EQ(hc_timer_arm(t, UINT64_MAX - 1, 0), HC_DONE); /* beyond the end of time: the same */
    CHECK_EQ(hc_timer_arm_at(t, HC_NEVER, 0), HC_DONE);
    CHECK_EQ(stats_of(g).timers_pending, 0);
    CHECK_EQ(s.ran, 0);
    for (int i = 1; i <= 10; ++i) {
        CHECK_EQ(arm_shot(t, &s, (uint64_t)(i % 3) * 40 * us), HC_DONE); /* it has fired, and fires again */
        UNTIL(s.ran == i);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(s.ran, i);
    }
    s.due = hc_now();
    CHECK_EQ(hc_timer_arm_at(t, 0, 0), HC_DONE); /* past: at once */
    UNTIL(s.ran == 11);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(s.dropped, 0);
    CHECK_EQ(hc_timer_cancel(t), HC_DONE);
    shot_check(&s, 11, 1, HC_OK);
    hc_timer_unref(t);
}

static void arm_answers_what_was(void) { in_all_groups(arm_in_every_state); }

/* Several threads arm the same timers, to all kinds of times. Each arm that was not answered "pending" is one firing more. */
enum { n_stormed = 16, n_storming = 4 };
typedef struct stormed {
    hc_timer *t;
    atomic_int ran, set, removed, in_body, dropped, inside;
} stormed;
typedef struct storm {
    stormed all[n_stormed];
    atomic_uint seed;
    unsigned arms;
} storm;

static void stormed_run(void *arg) {
    stormed *s = arg;
    CHECK_EQ(atomic_fetch_add(&s->inside, 1), 0); /* once at a time, however it is armed */
    CHECK_EQ(s->dropped, 0);
    s->ran += 1;
    atomic_fetch_sub(&s->inside, 1);
}
static void stormed_drop(void *arg, int32_t why) {
    CHECK(why == HC_OK || why == HC_ECANCELED);
    ((stormed *)arg)->dropped += 1;
}

static void *storms(void *arg) {
    storm *st = arg;
    unsigned seed = atomic_fetch_add(&st->seed, 7919) + 1;
    for (unsigned i = 0; i < st->arms; ++i) {
        seed = seed * 1103515245u + 12345u;
        stormed *s = &st->all[seed >> 16 & (n_stormed - 1)];
        const unsigned kind = seed >> 24 & 7;
        const uint64_t delay = kind == 0 ? HOUR : kind == 1 ? HC_NEVER : kind == 2 ? 0 : (seed >> 8 & 63) * us;
        const int was = hc_timer_arm(s->t, delay, 0);
        CHECK(was >= HC_REMOVED && was <= HC_DONE);
        if (was == HC_RUNNING) /* replaces what another said meanwhile: it may be one firing, or none */
            s->in_body += 1;
        else if (delay != HC_NEVER)
            s->set += 1;
        if (was == HC_REMOVED) s->removed += 1;
    }
    return NULL;
}

static void arm_storm(hc_group *g, uint32_t workers) {
    static storm st;
    pthread_t threads[n_storming];
    (void)workers;
    memset(&st, 0, sizeof st);
    st.arms = 4000 / CHECK_SLOWER;
    for (int i = 0; i < n_stormed; ++i) st.all[i].t = timer_of(g, stormed_run, stormed_drop, &st.all[i], HC_NEVER);
    for (int i = 0; i < n_storming; ++i) threads[i] = thread_start(storms, &st);
    for (int i = 0; i < n_storming; ++i) thread_join(threads[i]);
    for (int i = 0; i < n_stormed; ++i) {
        stormed *s = &st.all[i];
        UNTIL(remaining_of(s->t) > HOUR / 2); /* what is near has fired */
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        const int was = hc_timer_cancel(s->t);
        CHECK(was == HC_REMOVED || was == HC_DONE);
        const int sure = s->set - s->removed - (was == HC_REMOVED);
        CHECK(s->ran >= sure && s->ran <= sure + s->in_body); /* lost, or doubled */
        CHECK_EQ(s->dropped, 1);
        hc_timer_unref(s->t);
    }
}

static void storms_of_arms_lose_and_double_nothing(void) { in_all_groups(arm_storm); }

int main(void) {
    check_deadline(90);
    RUN(each_series_ends_with_one_drop);
    RUN(a_series_that_ends_while_it_runs_drops_afterwards);
    RUN(the_last_handle_may_go_in_the_body_or_the_drop);
    RUN(handles_outlive_the_group);
    RUN(arm_answers_what_was);
    RUN(storms_of_arms_lose_and_double_nothing);
    return 0;
}
