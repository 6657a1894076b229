/* Guards against: a rate that drifts or fires early, times that are counted wrongly when a body is slow, a body that
 * overlaps itself, a period that does not change when it is told to. */
#include "timed.h"

/* ---- The phase ------------------------------------------------------------------------------------------------------- */

typedef struct rate {
    hc_group *g;
    hc_timer *t;
    latch known; /* t is */
    uint64_t start, period;
    _Atomic uint64_t fired;
    atomic_int inside, dropped;
} rate;

/* The times that have passed without a firing of their own are counted, so it is known which one this is. */
static void on_time(void *arg) {
    rate *r = arg;
    latch_wait(&r->known);
    CHECK_EQ(atomic_fetch_add(&r->inside, 1), 0);
    CHECK(hc_now() >= r->start + (r->fired + missed_of(r->t)) * r->period);
    r->fired += 1;
    atomic_fetch_sub(&r->inside, 1);
}

static void rate_drop(void *arg, int32_t why) {
    rate *r = arg;
    CHECK_RC(why, HC_ECANCELED);
    CHECK_EQ(r->inside, 0);
    r->dropped += 1;
}

static void rate_start(hc_group *g, rate *r, hc_fn fn, uint32_t missed, uint64_t delay, uint64_t period) {
    hc_task_options task = options_of(fn, r);
    task.drop = rate_drop;
    hc_timer_options options = timer_options_of(&task, HC_TIMER_RATE, 0, period);
    options.missed = missed;
    options.when = r->start = hc_now() + delay;
    r->period = period;
    r->g = g;
    r->t = timer_with(g, &options);
    latch_down(&r->known);
}

/* Between two bodies: when it fires next is one of its times, rounded up to at most the next microsecond and a bit. */
static void phase_is_kept(const rate *r) {
    const uint64_t before = hc_now(), left = remaining_of(r->t), after = hc_now();
    if (left == 0 || left == HC_NEVER) return;
    const uint64_t latest = after + left, earliest = before + left;
    CHECK(latest >= r->start);
    CHECK(r->start + (latest - r->start) / r->period * r->period + 1024 >= earliest);
}

/* Ends it between two bodies, while a firing is pending. */
static void rate_rest(rate *r) {
    const int was = hc_timer_arm(r->t, HOUR, 0);
    CHECK(was == HC_REMOVED || was == HC_RUNNING);
    CHECK_OK(hc_group_drain(r->g, HC_NEVER));
    CHECK(remaining_of(r->t) > HOUR / 2 && remaining_of(r->t) <= HOUR + 1024);
}

static void rate_end(rate *r) {
    rate_rest(r);
    CHECK_EQ(hc_timer_cancel(r->t), HC_REMOVED);
    CHECK_EQ(r->dropped, 1);
    hc_timer_unref(r->t);
}

static void keeps_phase(hc_group *g, uint32_t workers) {
    (void)workers;
    for (uint32_t missed = HC_MISSED_COALESCE; missed <= HC_MISSED_SKIP; ++missed)
        for (int k = 0; k < 2; ++k) {
            rate r = {.known = LATCH(1)};
            rate_start(g, &r, on_time, missed, k == 0 ? 50 * us : 3 * ms, k == 0 ? 100 * us + 7 : ms);
            const uint64_t enough = k == 0 ? 40 : 8;
            while (r.fired < enough) {
                phase_is_kept(&r);
                sched_yield();
            }
            if (missed == HC_MISSED_BURST) CHECK_EQ(missed_of(r.t), 0); /* each has its own */
            rate_end(&r);
            CHECK(r.fired >= enough);
        }
}

static void a_rate_keeps_its_phase_and_is_never_early(void) { in_all_groups(keeps_phase); }

/* ---- Times that are missed -------------------------------------------------------------------------------------------- */

typedef struct slow {
    hc_timer *t;
    latch known;
    uint64_t start, period;
    uint64_t begun[8], ended[8], missed[8];
    _Atomic uint64_t fired;
} slow;

/* The first body blocks past five of its times. */
static void blocks_once(void *arg) {
    slow *s = arg;
    latch_wait(&s->known);
    const uint64_t n = s->fired;
    if (n >= 8) return;
    s->begun[n] = hc_now();
    s->missed[n] = missed_of(s->t);
    if (n == 0) UNTIL(hc_now() >= s->start + 5 * s->period + s->period / 2);
    s->ended[n] = hc_now();
    s->fired += 1;
}

static uint64_t index_at(const slow *s, uint64_t time) { return (time - s->start) / s->period; }

static void miss(hc_group *g, uint32_t workers) {
    (void)workers;
    for (uint32_t missed = HC_MISSED_COALESCE; missed <= HC_MISSED_SKIP; ++missed) {
        slow s = {.known = LATCH(1), .period = 2 * ms};
        hc_task_options task = options_of(blocks_once, &s);
        hc_timer_options options = timer_options_of(&task, HC_TIMER_RATE, 0, s.period);
        options.missed = missed;
        options.when = s.start = hc_now() + 100 * us;
        s.t = timer_with(g, &options);
        latch_down(&s.known);
        UNTIL(s.fired >= 7);
        (void)hc_timer_cancel_wait(s.t, HC_NEVER);
        CHECK_EQ(s.missed[0], 0);
        const uint64_t least = index_at(&s, s.ended[0]),
                       most = index_at(&s, s.begun[1]); /* passed when the body returned */
        CHECK(least >= 5);
        switch (missed) {
            case HC_MISSED_COALESCE: /* the second firing is for the last of them */
                CHECK(s.missed[1] + 1 >= least && s.missed[1] + 1 <= most);
                break;
            case HC_MISSED_SKIP: /* it is the next one that comes */
                CHECK(s.missed[1] >= least && s.missed[1] + 1 <= most);
                CHECK(s.begun[1] >= s.start + (least + 1) * s.period);
                break;
            default: CHECK_EQ(missed_of(s.t), 0);
        }
        for (uint64_t i = 0; i < 7; ++i) {
            CHECK(s.begun[i] >= s.start + (i + s.missed[i]) * s.period);
            if (i > 0) CHECK(s.begun[i] >= s.ended[i - 1]);
        }
        hc_timer_unref(s.t);
    }
}

static void what_is_missed_is_counted_and_caught_up_as_told(void) { in_all_groups(miss); }

/* The group was busy: a body that begins late is late like one that takes long. */
static void a_busy_group_misses_times(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t missed = HC_MISSED_COALESCE; missed <= HC_MISSED_SKIP; ++missed) {
            hc_group *g = group_of_kind(kind, 1);
            gate at = GATE;
            gate_hold(g, &at);
            rate r = {.known = LATCH(1)};
            rate_start(g, &r, on_time, missed, 100 * us, ms);
            UNTIL(hc_now() >= r.start + 5 * r.period);
            CHECK_EQ(r.fired, 0);
            gate_open(&at);
            UNTIL(r.fired >= 7);
            rate_rest(&r);
            const uint64_t count = missed_of(r.t);
            CHECK(missed == HC_MISSED_BURST ? count == 0 : count >= (missed == HC_MISSED_COALESCE ? 4 : 5));
            rate_end(&r);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void overlaps_never(void *arg) {
    rate *r = arg;
    CHECK_EQ(atomic_fetch_add(&r->inside, 1), 0);
    const uint64_t until = hc_now() + 5 * r->period;
    UNTIL(hc_now() >= until);
    atomic_fetch_sub(&r->inside, 1);
    r->fired += 1;
}

static void long_bodies(hc_group *g, uint32_t workers) {
    (void)workers;
    for (uint32_t missed = HC_MISSED_COALESCE; missed <= HC_MISSED_SKIP; ++missed) {
        rate r = {.known = LATCH(1)};
        rate_start(g, &r, overlaps_never, missed, 10 * us, 30 * us);
        UNTIL(r.fired >= 15);
        rate_end(&r);
        CHECK_EQ(r.inside, 0);
    }
}

static void a_body_longer_than_its_period_does_not_overlap_itself(void) { in_all_groups(long_bodies); }

/* ---- After each body -------------------------------------------------------------------------------------------------- */

typedef struct pause {
    uint64_t delay;
    uint64_t last; /* end of the last body; guarded by bodies that do not overlap */
    atomic_int inside;
    _Atomic uint64_t fired;
} pause_of;

static void comes_after_a_pause(void *arg) {
    pause_of *p = arg;
    CHECK_EQ(atomic_fetch_add(&p->inside, 1), 0);
    if (p->fired != 0) CHECK(hc_now() >= p->last + p->delay);
    const uint64_t until = hc_now() + 3 * p->delay / 2;
    if (p->fired % 4 == 0) UNTIL(hc_now() >= until);
    atomic_fetch_sub(&p->inside, 1);
    p->fired += 1;
    p->last = hc_now();
}

static void pauses(hc_group *g, uint32_t workers) {
    (void)workers;
    pause_of p = {.delay = 200 * us};
    hc_timer *t = repeating(g, comes_after_a_pause, NULL, &p, HC_TIMER_DELAY, 0, p.delay);
    UNTIL(p.fired >= 20);
    (void)hc_timer_cancel_wait(t, HC_NEVER);
    CHECK_EQ(missed_of(t), 0);
    hc_timer_unref(t);
}

static void a_delay_is_a_pause_after_each_body(void) { in_all_groups(pauses); }

/* ---- Another time, another period --------------------------------------------------------------------------------------- */

/* From a far time and a far period to near ones: the phase is that of the new time. */
static void change_of_period(hc_group *g, uint32_t workers) {
    (void)workers;
    rate r = {.known = LATCH(1)};
    hc_task_options task = options_of(on_time, &r);
    const hc_timer_options options = timer_options_of(&task, HC_TIMER_RATE, HOUR, HOUR);
    r.t = timer_with(g, &options);
    r.start = hc_now() + 300 * us;
    r.period = 250 * us;
    CHECK_EQ(hc_timer_arm_at(r.t, r.start, r.period), HC_REMOVED);
    latch_down(&r.known);
    while (r.fired < 10) phase_is_kept(&r);
    int was = hc_timer_arm(r.t, HC_NEVER, 0); /* it rests, and is a rate still */
    CHECK(was == HC_REMOVED || was == HC_RUNNING);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    const uint64_t fired = r.fired;
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(r.fired, fired);
    CHECK(remaining_of(r.t) == HC_NEVER);
    r.start = hc_now() + 100 * us - (fired + missed_of(r.t)) * r.period; /* as if it had gone on all the time */
    CHECK_EQ(hc_timer_arm(r.t, 100 * us, 0), HC_DONE);
    UNTIL(r.fired >= fired + 5);
    (void)hc_timer_cancel_wait(r.t, HC_NEVER);
    hc_timer_unref(r.t);
}

static void arm_changes_time_and_period(void) { in_all_groups(change_of_period); }

/* ---- From its own body ----------------------------------------------------------------------------------------------------- */

typedef struct self_armed {
    hc_timer *t;
    latch known;
    uint64_t due;
    uint64_t last_delay; /* what the last one is armed with: HC_NEVER, to rest */
    atomic_int fired;
} self_armed;

static void arms_itself(void *arg) {
    self_armed *s = arg;
    latch_wait(&s->known);
    const uint64_t now = hc_now();
    CHECK(now >= s->due);
    const int n = s->fired + 1;
    const uint64_t delay = n % 30 == 0 ? s->last_delay : (uint64_t)(n % 7) * 30 * us;
    CHECK_EQ(hc_timer_arm(s->t, HOUR, 0), HC_RUNNING);
    CHECK(remaining_of(s->t) > HOUR / 2 && remaining_of(s->t) <= HOUR + 1024);
    s->due = delay == HC_NEVER ? HC_NEVER : hc_now() + delay;
    CHECK_EQ(hc_timer_arm(s->t, delay, 0), HC_RUNNING); /* the last word counts */
    s->fired += 1;
}

static void arm_itself(hc_group *g, uint32_t workers) {
    (void)workers;
    for (uint32_t mode = HC_TIMER_ONCE; mode <= HC_TIMER_DELAY; ++mode) {
        self_armed s = {.known = LATCH(1), .last_delay = HC_NEVER};
        s.t = repeating(g, arms_itself, NULL, &s, mode, 0, mode == HC_TIMER_ONCE ? 0 : 1);
        latch_down(&s.known);
        for (int round = 1; round <= 2; ++round) {
            UNTIL(s.fired == round * 30);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(s.fired, round * 30);
            CHECK(remaining_of(s.t) == HC_NEVER);
            s.due = hc_now();
            if (round == 1) CHECK_EQ(hc_timer_arm(s.t, 0, 0), HC_DONE);
        }
        CHECK_EQ(hc_timer_cancel_wait(s.t, HC_NEVER), HC_DONE);
        hc_timer_unref(s.t);
    }
}

static void a_body_may_arm_its_own_timer(void) { in_all_groups(arm_itself); }

/* ---- Without a handle ------------------------------------------------------------------------------------------------------ */

static void repeats_until_shutdown(hc_group *g, uint32_t workers) {
    (void)workers;
    static shot shots[2];
    memset(shots, 0, sizeof shots);
    for (uint32_t mode = HC_TIMER_RATE; mode <= HC_TIMER_DELAY; ++mode) {
        hc_task_options task = options_of(shot_run, &shots[mode - 1]);
        task.drop = shot_drop;
        const hc_timer_options options = timer_options_of(&task, mode, 0, 100 * us);
        CHECK_OK(hc_timer_create(g, &options, NULL));
    }
    UNTIL(shots[0].ran >= 10 && shots[1].ran >= 10);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_OK(hc_group_await(g, HC_NEVER));
    for (int i = 0; i < 2; ++i) {
        CHECK_EQ(shots[i].dropped, 1);
        CHECK_RC(shots[i].why, HC_ESHUTDOWN);
    }
}

static void without_a_handle_it_goes_on_until_the_shutdown(void) { in_all_groups(repeats_until_shutdown); }

int main(void) {
    check_deadline(90);
    RUN(a_rate_keeps_its_phase_and_is_never_early);
    RUN(what_is_missed_is_counted_and_caught_up_as_told);
    RUN(a_busy_group_misses_times);
    RUN(a_body_longer_than_its_period_does_not_overlap_itself);
    RUN(a_delay_is_a_pause_after_each_body);
    RUN(arm_changes_time_and_period);
    RUN(a_body_may_arm_its_own_timer);
    RUN(without_a_handle_it_goes_on_until_the_shutdown);
    return 0;
}
