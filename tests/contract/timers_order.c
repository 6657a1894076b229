/* Guards against: timers that overtake each other; a body that does not find its own handle; an end that loses the timers that it was
 * asked to keep, or waits for ever for those that never fire. */
#include "check.h"

enum { timers = 1000 };
static int order[timers];
static atomic_int fired;

static void notes(void *arg) { /* by one worker */
    order[fired] = (int)(intptr_t)arg;
    fired += 1;
}

static hc_group *one_worker(uint32_t kind) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = 1;
    fired = 0;
    return fixed_with(&options);
}

/* `apart` ns: the same time for all, and times that fall into one look, or into several. What has passed when it is scheduled is none of
 * them: then again, with more time. */
static bool fire_in_turn(uint32_t kind, uint64_t apart, uint64_t margin) {
    hc_group *g = one_worker(kind);
    const uint64_t start = hc_now() + margin;
    for (int i = 0; i < timers; ++i) CHECK_OK(hc_schedule_at(g, notes, (void *)(intptr_t)i, start + (uint64_t)i * apart));
    const bool in_time = hc_now() < start;
    UNTIL(fired == timers);
    for (int i = 0; in_time && i < timers; ++i) CHECK_EQ(order[i], i);
    CHECK_OK(hc_group_destroy(g));
    return in_time;
}

static void one_threads_timers_fire_in_their_order(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint64_t apart = 0; apart <= 100000; apart = apart == 0 ? 1024 : apart * 10)
            for (uint64_t margin = 10000000; !fire_in_turn(kind, apart, margin); margin *= 2) CHECK(margin < 20000000000);
}

/* All are overdue before the worker comes: still by their times. */
static bool overdue_in_turn(uint64_t margin) {
    hc_group *g = one_worker(HC_KIND_STEALING);
    gate at = GATE;
    gate_hold(g, &at);
    const uint64_t start = hc_now() + margin;
    for (int i = timers; i-- > 0;) CHECK_OK(hc_schedule_at(g, notes, (void *)(intptr_t)i, start + (uint64_t)i * 2048));
    const bool in_time = hc_now() < start;
    UNTIL(hc_now() > start + timers * (uint64_t)2048);
    gate_open(&at);
    UNTIL(fired == timers);
    for (int i = 0; in_time && i < timers; ++i) CHECK_EQ(order[i], i);
    CHECK_OK(hc_group_destroy(g));
    return in_time;
}

static void those_that_wait_for_a_worker_keep_their_order(void) {
    for (uint64_t margin = 10000000; !overdue_in_turn(margin); margin *= 2) CHECK(margin < 20000000000);
}

typedef struct {
    hc_timer *timer;
    atomic_int ran;
} self;

static void stops_itself(void *arg) {
    self *s = arg;
    CHECK(s->timer != NULL);
    CHECK_EQ(hc_timer_cancel(s->timer), HC_RUNNING);
    s->ran += 1;
}

static void a_body_finds_its_handle(void) {
    for (uint32_t workers = 1; workers <= 8; workers *= 2) {
        hc_group *g = group_of(workers);
        for (int i = 0; i < 500; ++i) {
            self s = {NULL, 0};
            hc_task_options task = HC_TASK_OPTIONS_INIT;
            task.fn = stops_itself;
            task.arg = &s;
            hc_timer_options options = HC_TIMER_OPTIONS_INIT;
            options.task = &task;
            CHECK_OK(hc_timer_create(g, &options, &s.timer));
            UNTIL(s.ran == 1);
            CHECK_EQ(hc_timer_cancel_wait(s.timer, HC_NEVER), HC_DONE);
            hc_timer_unref(s.timer);
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Neither does destroy turn RUN_TIMERS into something else, nor does "never" keep a group alive. */
static void destroy_keeps_what_shutdown_said(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = one_worker(kind);
        CHECK_OK(hc_schedule(g, notes, NULL, 30000000));
        CHECK_OK(hc_schedule(g, notes, NULL, HC_NEVER));
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(fired, 1);
    }
}

static void never_without_a_handle_is_refused(void) {
    hc_group *g = group_of(1);
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = notes;
    hc_timer_options options = HC_TIMER_OPTIONS_INIT;
    options.task = &task;
    options.delay = HC_NEVER;
    CHECK_RC(hc_timer_create(g, &options, NULL), HC_EINVAL);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(60);
    RUN(one_threads_timers_fire_in_their_order);
    RUN(those_that_wait_for_a_worker_keep_their_order);
    RUN(a_body_finds_its_handle);
    RUN(destroy_keeps_what_shutdown_said);
    RUN(never_without_a_handle_is_refused);
    return 0;
}
