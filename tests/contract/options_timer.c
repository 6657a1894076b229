/* Guards against: timer options misread, a refused timer that fires or is dropped, a label or a field that is silently dead. */
#include <stddef.h>

#include "timed.h"

enum { first_size = 56 }; /* of the struct, in its first release */

static shot never;
static hc_group *g;

/* An error means that nothing happened: neither a run nor a drop, and no handle. */
static void refused(const hc_timer_options *options, int error) {
    hc_timer *t = (hc_timer *)&never;
    CHECK_RC(hc_timer_create(g, options, &t), error);
    CHECK(t == NULL);
    CHECK_RC(hc_timer_create(g, options, NULL), error);
}

static void everything_unknown_is_refused(void) {
    g = group_of(2);
    hc_task_options task = options_of(shot_run, &never);
    task.drop = shot_drop;
    hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, 0, 0);
    const hc_timer_options fine = options;

    refused(NULL, HC_EINVAL); /* the defaults have no task */
    const uint32_t sizes[] = {0, 1, 4, 8, first_size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        options.size = sizes[i];
        refused(&options, HC_EINVAL);
    }
    options = fine;
    for (unsigned bit = 0; bit < 32; ++bit) {
        options.flags = 1u << bit;
        refused(&options, HC_EINVAL);
    }
    options = fine;
    options.task = NULL;
    refused(&options, HC_EINVAL);
    options = fine;
    const uint32_t unknown[] = {3, 4, 77, UINT32_MAX};
    for (int i = 0; i < 4; ++i) {
        options.mode = unknown[i];
        options.period = 0;
        refused(&options, HC_EINVAL);
        options.period = 1;
        refused(&options, HC_EINVAL);
        options.mode = HC_TIMER_RATE;
        options.missed = unknown[i];
        refused(&options, HC_EINVAL);
        options = fine;
    }
    for (options.mode = HC_TIMER_RATE; options.mode <= HC_TIMER_DELAY; ++options.mode)
        refused(&options, HC_EINVAL); /* a period of at least 1 */
    options = fine;
    options.period = 1; /* of a timer that fires once */
    refused(&options, HC_EINVAL);
    options = fine;

    /* What is wrong with a task. */
    task.fn = NULL;
    refused(&options, HC_EINVAL);
    task.fn = shot_run;
    task.result = &never; /* it has no result */
    refused(&options, HC_EINVAL);
    task.result = NULL;
    task.result_drop = count_task;
    refused(&options, HC_EINVAL);
    task.result_drop = NULL;
    task.size = 3;
    refused(&options, HC_EINVAL);
    task.size = (uint32_t)sizeof task;
    task.flags = 1u << 31;
    refused(&options, HC_EINVAL);
    task.flags = 0;

    CHECK_RC(hc_timer_create(NULL, &options, NULL), HC_EINVAL);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    refused(&options, HC_ESHUTDOWN);
    CHECK_OK(hc_group_destroy(g));
    shot_check(&never, 0, 0, 0);
}

static void what_is_null_is_refused(void) {
    g = group_of(1);
    uint64_t n = 7;
    hc_timer *t = timer_of(g, shot_run, NULL, &never, HC_NEVER);
    CHECK_RC(hc_schedule(NULL, shot_run, &never, 0), HC_EINVAL);
    CHECK_RC(hc_schedule(g, NULL, &never, 0), HC_EINVAL);
    CHECK_RC(hc_schedule(g, NULL, &never, HOUR), HC_EINVAL);
    CHECK_RC(hc_schedule_at(NULL, shot_run, &never, 0), HC_EINVAL);
    CHECK_RC(hc_schedule_at(g, NULL, &never, 0), HC_EINVAL);
    CHECK_RC(hc_timer_arm(NULL, 0, 0), HC_EINVAL);
    CHECK_RC(hc_timer_arm_at(NULL, 0, 0), HC_EINVAL);
    CHECK_RC(hc_timer_cancel(NULL), HC_EINVAL);
    CHECK_RC(hc_timer_cancel_wait(NULL, HC_NEVER), HC_EINVAL);
    CHECK_RC(hc_timer_remaining(NULL, &n), HC_EINVAL);
    CHECK_RC(hc_timer_remaining(t, NULL), HC_EINVAL);
    CHECK_RC(hc_timer_missed(NULL, &n), HC_EINVAL);
    CHECK_RC(hc_timer_missed(t, NULL), HC_EINVAL);
    CHECK_EQ(n, 7);
    hc_timer_ref(NULL);
    hc_timer_unref(NULL);
    hc_timer_unref(t);
    CHECK_OK(hc_group_destroy(g));
    shot_check(&never, 0, 0, 0);
}

/* A program of a newer header: its larger struct is taken while what is unknown here is zero. */
static void a_larger_struct_is_taken_while_its_tail_is_zero(void) {
    union {
        hc_timer_options options;
        unsigned char bytes[sizeof(hc_timer_options) + 40];
    } newer;
    memset(&newer, 0, sizeof newer);
    g = group_of(1);
    shot s = {0};
    hc_task_options task = options_of(shot_run, &s);
    task.drop = shot_drop;
    newer.options = timer_options_of(&task, HC_TIMER_ONCE, 1, 0);
    newer.options.size = (uint32_t)sizeof newer;
    CHECK_OK(hc_timer_create(g, &newer.options, NULL));
    UNTIL(s.dropped == 1);
    for (size_t at = sizeof(hc_timer_options); at < sizeof newer; ++at) {
        newer.bytes[at] = 1;
        refused(&newer.options, HC_EINVAL);
        newer.bytes[at] = 0;
    }
    CHECK_OK(hc_group_destroy(g));
    shot_check(&s, 1, 1, HC_OK);
}

/* The task's part may be a struct of the first release, too. */
static void the_tasks_struct_of_the_first_release_is_taken(void) {
    g = group_of(1);
    shot s = {0};
    hc_task_options older;
    memset(&older, 0xAA, sizeof older);
    hc_task_options_init(&older, offsetof(hc_task_options, result));
    older.fn = shot_run;
    older.arg = &s;
    older.drop = shot_drop;
    const hc_timer_options options = timer_options_of(&older, HC_TIMER_ONCE, 1, 0);
    CHECK_OK(hc_timer_create(g, &options, NULL));
    UNTIL(s.dropped == 1);
    CHECK_OK(hc_group_destroy(g));
    shot_check(&s, 1, 1, HC_OK);
}

/* Within its leeway, not before, and not long after it: so far as the calendar goes. What its firing may share is not asked. */
static void a_leeway_is_time_after_the_due_time(void) {
    g = group_of(1);
    const uint64_t leeways[] = {0, 1, 1000, ms, 7 * ms + 5, 500 * ms, HOUR, UINT64_MAX};
    for (int i = 0; i < 8; ++i)
        for (uint64_t delay = 1; delay < 3 * HOUR; delay = delay * 5 + 3) {
            shot s = {0};
            hc_task_options task = options_of(shot_run, &s);
            hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, 0, 0);
            s.due = options.when = hc_now() + HOUR + delay;
            options.leeway = leeways[i];
            hc_timer *t = timer_with(g, &options);
            const uint64_t before = hc_now(), left = remaining_of(t), after = hc_now();
            CHECK(after + left >= options.when); /* never early */
            if (leeways[i] < HOUR + 1) CHECK(before + left <= options.when + leeways[i] + 1024);
            CHECK_EQ(hc_timer_cancel(t), HC_REMOVED);
            hc_timer_unref(t);
        }
    shot s[20];
    memset(s, 0, sizeof s);
    for (int i = 0; i < 20; ++i) {
        hc_task_options task = options_of(shot_run, &s[i]);
        hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, (uint64_t)i * 100 * us, 0);
        options.leeway = (uint64_t)i % 4 * ms;
        s[i].due = hc_now() + options.delay;
        CHECK_OK(hc_timer_create(g, &options, NULL));
    }
    for (int i = 0; i < 20; ++i) UNTIL(s[i].ran == 1);
    CHECK_OK(hc_group_destroy(g));
}

static void the_numbers_of_timers_are_exact_when_it_is_quiet(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        g = group_of_kind(kind, 2);
        shot s[10] = {0}, far_one = {0};
        CHECK_EQ(stats_of(g).timers_pending, 0);
        for (int i = 0; i < 10; ++i) shoot(g, &s[i], 1 + (uint64_t)i * 50 * us);
        hc_timer *t = timer_shot(g, &far_one, HOUR);
        for (int i = 0; i < 10; ++i) UNTIL(s[i].ran == 1);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        hc_group_stats_data d = stats_of(g);
        CHECK_EQ(d.timers_pending, 1);
        CHECK_EQ(d.timers_fired, 10);
        CHECK_EQ(d.submitted, 10); /* what has fired counts like other tasks; what is not due does not count */
        CHECK_EQ(d.started, 10);
        CHECK_EQ(d.finished, 10);
        CHECK_EQ(d.queued, 0);
        CHECK_EQ(d.unrun, 0);
        shoot(g, &s[0], 0); /* past: it is submitted, and was no timer */
        UNTIL(s[0].ran == 2);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        d = stats_of(g);
        CHECK_EQ(d.timers_fired, 10);
        CHECK_EQ(d.finished, 11);
        CHECK_EQ(hc_timer_cancel(t), HC_REMOVED);
        hc_timer_unref(t);
        CHECK_EQ(stats_of(g).timers_pending, 0);
        CHECK_EQ(stats_of(g).timers_fired, 10);
        CHECK_OK(hc_group_destroy(g));
    }
}

int main(void) {
    check_deadline(30);
    RUN(everything_unknown_is_refused);
    RUN(what_is_null_is_refused);
    RUN(a_larger_struct_is_taken_while_its_tail_is_zero);
    RUN(the_tasks_struct_of_the_first_release_is_taken);
    RUN(a_leeway_is_time_after_the_due_time);
    RUN(the_numbers_of_timers_are_exact_when_it_is_quiet);
    return 0;
}
