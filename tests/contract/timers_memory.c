/* Guards against: memory that grows with the timers that were, not with those that are; a burst that allocates again what it
 * had; timers that are lost, fire nevertheless, or end badly when there is no memory. */
#include "counting.h"
#include "timed.h"

static counting memory = COUNTING;

static int64_t bytes_now(void) { return counting_read(&memory, &memory.bytes); }
static int64_t requests_now(void) { return counting_read(&memory, &memory.requests); }

/* On a thread of its own, so that what is noted of a thread is gone with it. */
static void leaves_nothing(check_body body) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(body);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

/* ---- What was costs nothing --------------------------------------------------------------------------------------------- */

enum { many = 100000, some = 1000 };

static void one_by_one(hc_group *g, shot *s) {
    hc_timer *t = timer_shot(g, s, HOUR);
    CHECK_EQ(hc_timer_cancel(t), HC_REMOVED);
    hc_timer_unref(t);
}

static hc_timer *ring[some];

static void a_thousand_at_a_time(hc_group *g, shot *s, int i) {
    hc_timer *t = timer_shot(g, s, HOUR + (uint64_t)(i * 7919LL % 100000) * ms);
    hc_timer *oldest = ring[i % some];
    ring[i % some] = t;
    hc_timer_unref(oldest); /* cancels it */
}

static void arm_and_cancel_alone(void) {
    const int n = (int)(many / CHECK_SLOWER);
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 2);
        static shot s;
        for (int i = 0; i < 100; ++i) one_by_one(g, &s);
        int64_t bytes = bytes_now();
        for (int i = 0; i < n; ++i) one_by_one(g, &s);
        CHECK(bytes_now() <= bytes + 1024);

        memset(ring, 0, sizeof ring);
        for (int i = 0; i < 3 * some; ++i) a_thousand_at_a_time(g, &s, i);
        bytes = bytes_now();
        for (int i = 0; i < n; ++i) a_thousand_at_a_time(g, &s, i);
        CHECK(bytes_now() <= bytes + bytes / 4 + 4096);
        CHECK_EQ(stats_of(g).timers_pending, some);
        for (int i = 0; i < some; ++i) hc_timer_unref(ring[i]);

        hc_timer *t = timer_shot(g, &s, HOUR);
        const int64_t requests = requests_now();
        for (int i = 0; i < n; ++i) CHECK_EQ(hc_timer_arm(t, HOUR + (uint64_t)i * us, 0), HC_REMOVED); /* put off */
        CHECK_EQ(requests_now(), requests);
        for (int i = 0; i < n; ++i) CHECK_EQ(hc_timer_arm(t, i % 2 == 0 ? HOUR : 2 * HOUR, 0), HC_REMOVED);
        CHECK(requests_now() <= requests + 16);
        hc_timer_unref(t);
        CHECK_EQ(stats_of(g).timers_pending, 0);
        CHECK_EQ(s.ran, 0);
        CHECK_OK(hc_group_destroy(g));
    }
}
static void what_is_cancelled_leaves_memory_flat(void) { leaves_nothing(arm_and_cancel_alone); }

/* ---- Bursts ---------------------------------------------------------------------------------------------------------------- */

enum { burst = 3000 };

static void far_burst(hc_group *g, int turn) {
    static hc_timer *timers[burst];
    static shot s;
    (void)turn;
    for (int i = 0; i < burst; ++i) timers[i] = timer_shot(g, &s, HOUR + (uint64_t)i * ms);
    for (int i = 0; i < burst; ++i) hc_timer_unref(timers[i]);
    CHECK_EQ(s.ran, 0);
}

/* The worker is held, so that all of them wait at once. */
static void near_burst(hc_group *g, int turn) {
    atomic_int ran = 0;
    gate at = GATE;
    gate_hold(g, &at);
    (void)turn;
    const uint64_t when = hc_now() + 100 * ms;
    for (int i = 0; i < burst; ++i) CHECK_OK(hc_schedule_at(g, count_task, &ran, when));
    gate_open(&at);
    UNTIL(ran == burst);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
}

static void bursts_of(uint32_t kind, void (*one)(hc_group *, int)) {
    hc_group *g = group_of_kind(kind, 1);
    atomic_int ran = 0;
    CHECK_OK(hc_schedule(g, count_task, &ran, 1));
    UNTIL(ran == 1);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_OK(hc_group_trim(g));
    const int64_t before = bytes_now();
    /* Which slots of time they fall into is chance: some turns, until all have enough. */
    int64_t asked = 1;
    for (int turn = 0; asked != 0 && turn < 20; ++turn) {
        const int64_t requests = requests_now();
        one(g, turn);
        asked = requests_now() - requests;
    }
    CHECK_EQ(asked, 0);
    CHECK(bytes_now() > before + burst * 16);
    CHECK_OK(hc_group_trim(g));
    CHECK(bytes_now() <= before + 4096);
    one(g, 0);
    CHECK_OK(hc_group_trim(g));
    CHECK(bytes_now() <= before + 4096);
    CHECK_OK(hc_group_destroy(g));
}

static void bursts_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        bursts_of(kind, far_burst);
        bursts_of(kind, near_burst);
    }
}
static void a_burst_like_the_last_allocates_nothing(void) { leaves_nothing(bursts_alone); }

/* Handles that outlive their group keep what they need, and no more. */
static void late_handles_alone(void) {
    static hc_timer *timers[burst];
    static shot s[burst];
    memset(s, 0, sizeof s);
    hc_group *g = group_of(2);
    for (int i = 0; i < burst; ++i) timers[i] = timer_shot(g, &s[i], i % 2 == 0 ? HOUR : HC_NEVER);
    CHECK_OK(hc_group_destroy(g));
    for (int i = 0; i < burst; ++i) hc_timer_unref(timers[i]);
    for (int i = 0; i < burst; ++i) shot_check(&s[i], 0, 1, i % 2 == 0 ? HC_ESHUTDOWN : HC_OK);
}
static void late_handles_leave_nothing(void) { leaves_nothing(late_handles_alone); }

/* ---- Without memory ---------------------------------------------------------------------------------------------------------- */

enum { tries = 400 };
static shot shots[tries];

static void survive(uint32_t kind, int64_t n, bool *any_failed) {
    static hc_timer *timers[tries];
    static bool accepted[tries], armed_far[tries];
    memset(shots, 0, sizeof shots);
    memset(timers, 0, sizeof timers);
    memset(accepted, 0, sizeof accepted);
    memset(armed_far, 0, sizeof armed_far);
    hc_group *g = group_of_kind(kind, 1);
    gate at = GATE;
    gate_hold(g, &at);
    int refused = 0;
    counting_fail_after(&memory, n);
    for (int i = 0; i < tries; ++i) {
        /* Spread over all of time, so that many slots are asked for. */
        const uint64_t delay = (uint64_t)(i % 40) * 100 * us + (i % 7 == 0 ? 0 : 1);
        int rc;
        shots[i].due = hc_now() + delay;
        if (i % 4 < 2) {
            rc = hc_schedule(g, shot_run, &shots[i], delay);
        } else {
            hc_task_options task = options_of(shot_run, &shots[i]);
            task.drop = shot_drop;
            const hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, i % 4 == 3 ? HOUR : delay, 0);
            timers[i] = (hc_timer *)&shots;
            rc = hc_timer_create(g, &options, &timers[i]);
            CHECK((timers[i] != NULL) == (rc == HC_OK));
            if (i % 4 == 3 && rc == HC_OK) {
                const int was = hc_timer_arm(timers[i], delay, 0); /* brought forward: that may need memory */
                armed_far[i] = was == HC_ENOMEM;
                CHECK(was == HC_REMOVED || was == HC_ENOMEM);
                refused += was != HC_REMOVED;
                if (armed_far[i]) CHECK(remaining_of(timers[i]) > HOUR / 2); /* nothing has changed */
            }
        }
        CHECK(rc == HC_OK || rc == HC_ENOMEM);
        refused += rc != HC_OK;
        accepted[i] = rc == HC_OK;
    }
    const int64_t failed = counting_read(&memory, &memory.failed);
    CHECK(failed > 0 || refused == 0); /* HC_ENOMEM is not made up */
    *any_failed = failed > 0;
    if (n % 2 != 0) counting_fail_after(&memory, -1); /* otherwise they fire without memory, too */
    gate_open(&at);
    for (int i = 0; i < tries; ++i)
        if (accepted[i] && !armed_far[i]) UNTIL(shots[i].ran == 1);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    counting_fail_after(&memory, -1);
    for (int i = 0; i < tries; ++i) {
        shot_check(&shots[i], accepted[i] && !armed_far[i], 0, 0);
        if (timers[i] == NULL) continue;
        if (armed_far[i]) CHECK(remaining_of(timers[i]) > HOUR / 2);
        hc_timer_unref(timers[i]);
        CHECK_EQ(shots[i].dropped, 1);
        CHECK_RC(shots[i].why, armed_far[i] ? HC_ECANCELED : HC_OK);
    }
    CHECK_OK(hc_group_destroy(g));
}

static void failures_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        bool failed = true;
        for (int64_t n = 0; failed; ++n) survive(kind, n, &failed);
    }
}
static void timers_survive_every_failure(void) { leaves_nothing(failures_alone); }

/* A next time that finds no memory ends the series, and says why. */
typedef struct starved {
    hc_group *g;
    atomic_int ran, dropped, why;
} starved;

static void starves(void *arg) {
    starved *s = arg;
    s->ran += 1;
    if (s->ran != 3) return;
    CHECK_OK(hc_group_trim(s->g));
    counting_fail_after(&memory, 0);
}

static void starved_drop(void *arg, int32_t why) {
    starved *s = arg;
    counting_fail_after(&memory, -1);
    s->why = why;
    s->dropped += 1;
}

static void starved_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t mode = HC_TIMER_RATE; mode <= HC_TIMER_DELAY; ++mode)
            for (int handle = 0; handle < 2; ++handle) {
                hc_group *g = group_of_kind(kind, 2);
                starved s = {g, 0, 0, 0};
                hc_timer *t = NULL;
                hc_task_options task = options_of(starves, &s);
                task.drop = starved_drop;
                const hc_timer_options options = timer_options_of(&task, mode, 0, 100 * us);
                CHECK_OK(hc_timer_create(g, &options, handle ? &t : NULL));
                UNTIL(s.dropped == 1);
                CHECK_EQ(s.ran, 3);
                CHECK_RC(s.why, HC_ENOMEM);
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                if (handle) CHECK_RC(hc_timer_arm(t, 0, 0), HC_ECANCELED);
                hc_timer_unref(t);
                CHECK_OK(hc_group_destroy(g));
                CHECK_EQ(s.dropped, 1);
            }
}
static void a_series_without_memory_says_so(void) { leaves_nothing(starved_alone); }

/* Pending ones come back also when there is nothing left to note it with. */
static void back_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how) {
            static hc_timer *timers[some];
            static shot s[some];
            memset(s, 0, sizeof s);
            hc_group *g = group_of_kind(kind, 2);
            for (int i = 0; i < some; ++i) timers[i] = timer_shot(g, &s[i], HOUR + (uint64_t)i * ms);
            CHECK_OK(hc_group_trim(g));
            counting_fail_after(&memory, 0);
            CHECK_OK(hc_group_shutdown(g, how));
            CHECK_OK(hc_group_await(g, HC_NEVER));
            counting_fail_after(&memory, -1);
            for (int i = 0; i < some; ++i) {
                hc_timer_unref(timers[i]);
                shot_check(&s[i], 0, 1, HC_ESHUTDOWN);
            }
            CHECK_OK(hc_group_destroy(g));
        }
}
static void pending_timers_come_back_without_memory(void) { leaves_nothing(back_alone); }

int main(void) {
    check_deadline(90);
    RUN_FORKED(what_is_cancelled_leaves_memory_flat);
    RUN_FORKED(a_burst_like_the_last_allocates_nothing);
    RUN_FORKED(late_handles_leave_nothing);
    RUN_FORKED(timers_survive_every_failure);
    RUN_FORKED(a_series_without_memory_says_so);
    RUN_FORKED(pending_timers_come_back_without_memory);
    return 0;
}
