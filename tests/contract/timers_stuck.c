/* Guards against: a timer that waits for a worker that is stuck while another is free, a flood of timers that starves the
 * tasks or the other way round, a watch that nobody takes over; an idle group that wakes up for nothing. */
#include "timed.h"

/* ---- Stuck workers ------------------------------------------------------------------------------------------------------- */

static hc_group *stuck_group(uint32_t kind, uint32_t workers, hold *at) {
    hc_group *g = group_of_kind(kind, workers);
    hold_all(g, at, workers - 1);
    return g;
}

static void timers_fire_beside_stuck_tasks(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 1; w < n_worker_counts; ++w)
            for (int early = 0; early < 2; ++early) { /* set before the workers are taken, or afterwards */
                enum { n = 50 };
                shot s[n] = {0};
                hold at;
                hc_group *g = early ? group_of_kind(kind, worker_counts[w]) : stuck_group(kind, worker_counts[w], &at);
                for (int i = 0; i < n; ++i) shoot(g, &s[i], (early ? 5 * ms : 0) + (uint64_t)i * 100 * us);
                if (early) hold_all(g, &at, worker_counts[w] - 1);
                if (kind != HC_KIND_PINNED || early) /* what is past is queued, and there for one of them */
                    for (int i = 0; i < n; ++i) UNTIL(s[i].ran == 1);
                else
                    for (int i = 1; i < n; ++i) UNTIL(s[i].ran == 1);
                hold_release(&at);
                CHECK_OK(hc_group_destroy(g));
                for (int i = 0; i < n; ++i) shot_check(&s[i], 1, 0, 0);
            }
}

/* The watch goes from one to the next, as they are taken one by one. */
static void the_watch_is_taken_over(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 1; w < n_worker_counts; ++w)
            for (int round = 0; round < 10; ++round) {
                const uint32_t workers = worker_counts[w];
                hc_group *g = group_of_kind(kind, workers);
                shot far_one = {0}, s[8] = {0};
                hc_timer *t = timer_shot(g, &far_one, HOUR);
                if (round % 2 == 0) UNTIL(stats_of(g).workers_parked == workers);
                hold at = {LATCH(0), LATCH(1)};
                for (uint32_t i = 0; i < workers; ++i) {
                    shoot(g, &s[i], 300 * us + i * 100 * us);
                    if (i + 1 == workers) break; /* the last one is left free */
                    latch_reset(&at.inside, 1);
                    CHECK_OK(hc_submit(g, hold_task, &at));
                    latch_wait(&at.inside);
                    if (round % 3 == 0) UNTIL(s[i].ran == 1);
                }
                for (uint32_t i = 0; i < workers; ++i) UNTIL(s[i].ran == 1);
                CHECK_EQ(arm_shot(t, &far_one, 100 * us), HC_REMOVED);
                UNTIL(far_one.ran == 1);
                hc_timer_unref(t);
                hold_release(&at);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* All are taken: timers wait like tasks, and the first that comes back runs them. */
static void timers_wait_for_a_worker(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            gate mine = GATE;
            hold at;
            shot s[20] = {0};
            if (worker_counts[w] > 1) hold_all(g, &at, worker_counts[w] - 1);
            gate_hold(g, &mine);
            hc_timer *t = timer_shot(g, &s[0], 1);
            for (int i = 1; i < 20; ++i) shoot(g, &s[i], 1 + (uint64_t)i * us);
            UNTIL(remaining_of(t) == 0);
            for (int i = 0; i < 20; ++i) CHECK_EQ(s[i].ran, 0);
            gate_open(&mine);
            for (int i = 0; i < 20; ++i) UNTIL(s[i].ran == 1);
            hc_timer_unref(t);
            if (worker_counts[w] > 1) hold_release(&at);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* A body that blocks, and others of the very same time: they are not behind it. */
typedef struct same_time {
    uint64_t when;
    gate at;
    atomic_int begun, ran;
} same_time;

static void first_blocks(void *arg) {
    same_time *s = arg;
    CHECK(hc_now() >= s->when);
    if (atomic_fetch_add(&s->begun, 1) == 0) gate_task(&s->at);
    s->ran += 1;
}

static void a_stuck_body_holds_up_nothing_but_its_worker(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 1; w < n_worker_counts; ++w)
            for (int round = 0; round < 5; ++round) {
                enum { n = 400 };
                hc_group *g = group_of_kind(kind, worker_counts[w]);
                same_time s = {hc_now() + 2 * ms, GATE, 0, 0};
                for (int i = 0; i < n; ++i) CHECK_OK(hc_schedule_at(g, first_blocks, &s, s.when));
                latch_wait(&s.at.inside);
                UNTIL(s.ran == n - 1);
                shot later = {0}; /* and the next, which only the others can watch */
                shoot(g, &later, 500 * us);
                UNTIL(later.ran == 1);
                gate_open(&s.at);
                CHECK_OK(hc_group_destroy(g));
                CHECK_EQ(s.ran, n);
            }
}

/* ---- Floods --------------------------------------------------------------------------------------------------------------- */

static atomic_bool stop;
static atomic_int flooding;

static void always_due(void *arg) {
    if (!stop)
        CHECK_OK(hc_schedule(hc_group_current(), always_due, arg, 1));
    else
        flooding -= 1;
}
static void always_queued(void *arg) {
    if (!stop)
        CHECK_OK(hc_submit(hc_group_current(), always_queued, arg));
    else
        flooding -= 1;
}

static void flood(uint32_t kind, uint32_t workers, hc_fn what) {
    enum { deep = 2000 };
    hc_group *g = group_of_kind(kind, workers);
    stop = false;
    flooding = deep;
    for (int i = 0; i < deep; ++i) CHECK_OK(hc_submit(g, what, NULL));
    shot s = {0}, early = {0};
    atomic_int ran = 0;
    for (int i = 1; i <= 20; ++i) {
        CHECK_OK(hc_submit(g, count_task, &ran));
        shoot(g, &s, 50 * us);
        UNTIL(ran == i && s.ran == i);
    }
    hc_timer *t = repeating(g, shot_run, NULL, &early, HC_TIMER_RATE, 0, 100 * us);
    UNTIL(early.ran >= 10);
    (void)hc_timer_cancel(t);
    hc_timer_unref(t);
    stop = true;
    UNTIL(flooding == 0);
    CHECK_OK(hc_group_destroy(g));
}

static void a_flood_of_timers_starves_no_task(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t workers = 1; workers <= 3; ++workers) flood(kind, workers, always_due);
}
static void a_flood_of_tasks_starves_no_timer(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t workers = 1; workers <= 3; ++workers) flood(kind, workers, always_queued);
}

int main(void) {
    check_deadline(90);
    RUN(timers_fire_beside_stuck_tasks);
    RUN(the_watch_is_taken_over);
    RUN(timers_wait_for_a_worker);
    RUN(a_stuck_body_holds_up_nothing_but_its_worker);
    RUN(a_flood_of_timers_starves_no_task);
    RUN(a_flood_of_tasks_starves_no_timer);
    return 0;
}
