/* Guards against: a limit that is not seen by its task, in whatever way it came into the group; one that is seen too early, or by
 * the next task of the worker; an outcome, a hook and a count that disagree; waits and sleeps that a limit does not end. */
#include "timed.h"

/* ---- What a task sees -------------------------------------------------------------------------------------------- */

/* One overrun, as the hook of the group tells it. */
typedef struct overrun {
    hc_fn fn;
    void *arg;
    const char *label;
    uint64_t ns;
    atomic_int count;
} overrun;

static void note_overrun(void *user, hc_fn fn, void *arg, const char *label, uint64_t ns) {
    overrun *o = user;
    CHECK(hc_group_current() != NULL);
    o->fn = fn;
    o->arg = arg;
    o->label = label;
    o->ns = ns;
    o->count += 1;
}

static hc_group *group_with_limit(uint32_t workers, uint32_t kind, uint64_t limit, overrun *o) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = workers;
    options.kind = kind;
    options.run_limit = limit;
    options.user = o;
    options.on_limit = note_overrun;
    return fixed_with(&options);
}

/* Runs until it is told to stop, and knows whether that was early: it cannot have begun before it was submitted. */
typedef struct body {
    uint64_t limit, submitted;
    atomic_int ran;
    const char *label;
} body;

static void until_stopped(void *arg) {
    body *b = arg;
    if (b->label != NULL) CHECK_STR(hc_task_label(), b->label);
    UNTIL(hc_task_cancelled());
    CHECK(hc_now() - b->submitted >= b->limit);
    b->ran += 1;
}

static void not_stopped(void *arg) {
    for (int i = 0; i < 100; ++i) CHECK_EQ(hc_task_cancelled(), 0);
    ((body *)arg)->ran += 1;
}

static void expect_overrun(hc_group *g, overrun *o, body *b, uint64_t before) {
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(b->ran, 1);
    CHECK_EQ(o->count, 1);
    CHECK(o->fn == until_stopped && o->arg == b && o->label == b->label);
    CHECK(o->ns >= b->limit);
    CHECK_EQ(stats_of(g).overran, before + 1);
    b->ran = 0;
    b->submitted = hc_now();
    o->count = 0;
}

/* ---- In whatever way it came -------------------------------------------------------------------------------------- */

static void every_kind_of_task_has_a_limit(uint32_t kind, uint32_t workers) {
    overrun o = {0};
    body b = {2 * ms, hc_now(), 0, NULL};
    hc_group *g = group_with_limit(workers, kind, b.limit, &o);
    uint64_t n = 0;
    CHECK_OK(hc_submit(g, until_stopped, &b)); /* the group's: bare, */
    expect_overrun(g, &o, &b, n++);
    size_t accepted;
    const hc_call call = {until_stopped, &b};
    CHECK_OK(hc_submit_batch(g, &call, 1, &accepted)); /* in a batch, */
    expect_overrun(g, &o, &b, n++);
    hc_task *t = held(g, until_stopped, &b); /* held, */
    CHECK_RC(outcome_of(t), HC_ELIMIT);
    int32_t code;
    void *payload = &code;
    CHECK_OK(hc_task_error(t, &code, &payload));
    CHECK_RC(code, HC_ELIMIT);
    CHECK(payload == NULL);
    expect_overrun(g, &o, &b, n++);
    hc_task *after = then(t, until_stopped, &b); /* a continuation, */
    CHECK_RC(end_of(after), HC_ELIMIT);
    hc_task_unref(t);
    expect_overrun(g, &o, &b, n++);
    hc_scope *s;
    CHECK_OK(hc_scope_create(g, &s)); /* a scope's, */
    CHECK_OK(hc_scope_submit(s, until_stopped, &b, NULL));
    int32_t failure;
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
    CHECK_RC(failure, HC_ELIMIT);
    CHECK_OK(hc_scope_destroy(s));
    expect_overrun(g, &o, &b, n++);
    CHECK_OK(hc_schedule(g, until_stopped, &b, 0)); /* timers, */
    UNTIL(b.ran);
    expect_overrun(g, &o, &b, n++);
    hc_timer *timer = timer_of(g, until_stopped, NULL, &b, 0);
    UNTIL(b.ran);
    expect_overrun(g, &o, &b, n++);
    hc_timer_unref(timer);
    b.label = "labelled"; /* its own: detached, with a ticket */
    b.limit = 1 * ms;
    hc_task_options own = options_of(until_stopped, &b);
    own.label = b.label;
    own.run_limit = b.limit;
    CHECK_OK(hc_task_submit(g, &own, NULL));
    expect_overrun(g, &o, &b, n++);
    CHECK_RC(end_of(held_with(g, &own)), HC_ELIMIT);
    expect_overrun(g, &o, &b, n++);
    for (int order = 0; order < 4; ++order) { /* in order, before others, in a scope */
        hc_task_options other = own;
        hc_serial *serial = NULL;
        if (order == 0) other.key = 7, other.key_mode = HC_KEY_PLAIN;
        if (order == 1) CHECK_OK(hc_serial_create(g, &serial));
        other.serial = serial;
        if (order == 2) other.priority = HC_PRIORITY_HIGH;
        if (order == 3) CHECK_OK(hc_scope_create(g, &other.scope));
        CHECK_OK(hc_task_submit(g, &other, NULL));
        expect_overrun(g, &o, &b, n++);
        if (order < 3) CHECK_RC(end_of(held_with(g, &other)), HC_ELIMIT);
        if (order < 3) expect_overrun(g, &o, &b, n++);
        if (order == 3) CHECK_OK(hc_scope_destroy(other.scope));
        hc_serial_unref(serial);
    }
    const hc_timer_options once = timer_options_of(&own, HC_TIMER_ONCE, 0, 0);
    timer = timer_with(g, &once);
    UNTIL(b.ran);
    expect_overrun(g, &o, &b, n++);
    hc_timer_unref(timer);
    CHECK_OK(hc_group_destroy(g));
}

static void every_kind_of_group(void) {
    for (uint32_t kind = 0; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_many_counts; ++w) every_kind_of_task_has_a_limit(kind, many_counts[w]);
}

static void one_of_its_own_counts_before_the_groups(void) {
    overrun o = {0};
    body b = {0};
    hc_group *g = group_with_limit(1, 0, 1, &o);
    hc_task_options none = options_of(not_stopped, &b);
    none.run_limit = HC_NONE64;
    CHECK_RC(end_of(held_with(g, &none)), HC_OK);
    none.label = "none";
    CHECK_OK(hc_task_submit(g, &none, NULL));
    none.run_limit = HOUR; /* and one that is not over is as none */
    CHECK_RC(end_of(held_with(g, &none)), HC_OK);
    CHECK_OK(hc_task_submit(g, &none, NULL));
    none.run_limit = HC_NONE64 - 1; /* beyond the end of time */
    CHECK_RC(end_of(held_with(g, &none)), HC_OK);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(b.ran, 5);
    CHECK_EQ(o.count, 0);
}

static void fails_late(void *arg) {
    UNTIL(hc_task_cancelled());
    CHECK_OK(hc_task_fail(-7, arg, ledger_result_drop));
}

static void its_failure_is_told_all_the_same(void) {
    ledger l = {0};
    hc_group *g = group_of(1);
    hc_task_options late = options_of(fails_late, &l);
    late.run_limit = 1;
    hc_task *t = held_with(g, &late);
    CHECK_RC(outcome_of(t), HC_ELIMIT);
    int32_t code;
    void *payload;
    CHECK_OK(hc_task_error(t, &code, &payload));
    CHECK_EQ(code, -7);
    CHECK(payload == &l);
    hc_task_unref(t);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(l.result_dropped, 1);
}

/* ---- In time, or not: all agree ------------------------------------------------------------------------------------ */

typedef struct racer {
    hc_task *t;
    uint64_t spin;
    atomic_int hooks;
} racer;

static void spins(void *arg) {
    racer *r = arg;
    const uint64_t until = hc_now() + r->spin;
    while (hc_now() < until) continue;
}

static void note_racer(void *user, hc_fn fn, void *arg, const char *label, uint64_t ns) {
    (void)label;
    CHECK(fn == spins && ns >= 1);
    ((racer *)arg)->hooks += 1;
    atomic_fetch_add((atomic_int *)user, 1);
}

/* Tasks whose time is over while they end: outcome and hook agree, one by one, and the next one is not told. */
static void limits_that_expire_at_the_end(void) {
    enum { n = 1000 };
    static racer racers[n];
    atomic_int hooks = 0;
    for (int w = 0; w < n_worker_counts; ++w) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.max_workers = worker_counts[w];
        options.user = &hooks;
        options.on_limit = note_racer;
        hc_group *g = fixed_with(&options);
        int late = 0;
        hooks = 0;
        for (int round = 0; round < (int)(25 / CHECK_SLOWER); ++round) {
            for (int i = 0; i < n; ++i) {
                racers[i].hooks = 0;
                racers[i].spin = (uint64_t)(i % 40) * 2000;
                hc_task_options racing = options_of(spins, &racers[i]);
                racing.run_limit = i % 3 == 0 ? HC_NONE64 : 1 + (uint64_t)(i % 7) * 5000;
                racers[i].t = held_with(g, &racing);
            }
            for (int i = 0; i < n; ++i) {
                const int32_t outcome = end_of(racers[i].t);
                CHECK(outcome == HC_OK || (outcome == HC_ELIMIT && i % 3 != 0));
                CHECK_EQ(racers[i].hooks, outcome == HC_ELIMIT);
                late += outcome == HC_ELIMIT;
            }
        }
        CHECK_EQ(hooks, late);
        CHECK_EQ(stats_of(g).overran, late);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- However it ends, it is disarmed ------------------------------------------------------------------------------- */

static void what_does_not_run_has_no_limit(void) {
    for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how) {
        overrun o = {0};
        hc_group *g = group_with_limit(1, 0, 1, &o);
        hold at;
        hold_all(g, &at, 1);
        ledger cancelled = {0}, kept = {0};
        hc_task *a = held_ledger(g, &cancelled), *b = held_ledger(g, &kept);
        CHECK_RC(hc_task_cancel(a), HC_REMOVED);
        CHECK_OK(hc_group_shutdown(g, how));
        hold_release(&at);
        CHECK_OK(hc_group_await(g, HC_NEVER));
        CHECK_RC(end_of(a), HC_ECANCELED);
        ledger_check(&cancelled, 0, 1, HC_ECANCELED);
        const int32_t outcome = end_of(b);
        CHECK(how == HC_SHUTDOWN_NOW ? outcome == HC_ESHUTDOWN : outcome == HC_OK || outcome == HC_ELIMIT);
        CHECK_EQ(stats_of(g).overran, o.count);
        CHECK(o.count <= 2);
        hc_group_unref(g);
    }
}

static void cancelled_and_late(void *arg) {
    latch_down(arg);
    CHECK_RC(hc_sleep(HC_NEVER), HC_ECANCELED);
    CHECK_EQ(hc_task_cancelled(), 1);
}

static void cancelled_before_its_limit(void) {
    hc_group *g = group_of(2);
    latch inside = LATCH(1);
    hc_task_options options = options_of(cancelled_and_late, &inside);
    options.run_limit = HOUR;
    hc_task *t = held_with(g, &options);
    latch_wait(&inside);
    CHECK_RC(hc_task_cancel_wait(t, HC_NEVER), HC_DONE);
    CHECK_RC(end_of(t), HC_OK); /* it ran, and in time */
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(100);
    RUN(every_kind_of_group);
    RUN(one_of_its_own_counts_before_the_groups);
    RUN(its_failure_is_told_all_the_same);
    RUN(limits_that_expire_at_the_end);
    RUN(what_does_not_run_has_no_limit);
    RUN(cancelled_before_its_limit);
    return 0;
}
