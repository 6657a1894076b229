/* timed.h - what the tests of timers share: a ledger of one timer that knows whether it was early, and short ways to make
 * one. How late a timer is, no test asks. */
#ifndef TIMED_H
#define TIMED_H

#include "held.h"

enum { us = 1000, ms = 1000000 };
#define HOUR ((uint64_t)3600 * 1000 * ms)

static const uint32_t many_counts[] = {1, 2, 3, 8, 64};
enum { n_many_counts = sizeof many_counts / sizeof many_counts[0] };

typedef void (*sized_group_body)(hc_group *g, uint32_t workers);

/* In groups of every kind and of several sizes. */
static inline void in_all_groups(sized_group_body body) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_many_counts; ++i) {
            hc_group *g = group_of_kind(kind, many_counts[i]);
            body(g, many_counts[i]);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- One timer's ledger ---------------------------------------------------------------------------------------------- */

typedef struct shot {
    _Atomic uint64_t due; /* not before */
    atomic_int ran, dropped, why;
} shot;

static inline void shot_run(void *arg) {
    shot *s = arg;
    CHECK(hc_now() >= s->due); /* never early: exactly */
    CHECK_EQ(s->dropped, 0);   /* the drop is the last of it */
    atomic_fetch_add(&s->ran, 1);
}

static inline void shot_drop(void *arg, int32_t why) {
    shot *s = arg;
    atomic_store(&s->why, why);
    atomic_fetch_add(&s->dropped, 1);
}

static inline void shot_check(shot *s, int ran, int dropped, int why) {
    CHECK_EQ(s->ran, ran);
    CHECK_EQ(s->dropped, dropped);
    if (dropped != 0) CHECK_RC(s->why, why);
}

/* Detached: `due` is set to a time that the library's own reading of the clock cannot precede. */
static inline void shoot(hc_group *g, shot *s, uint64_t delay) {
    const uint64_t now = hc_now();
    s->due = delay > UINT64_MAX - now ? UINT64_MAX : now + delay;
    CHECK_OK(hc_schedule(g, shot_run, s, delay));
}

/* ---- Making them ----------------------------------------------------------------------------------------------------- */

static inline hc_timer_options timer_options_of(hc_task_options *task, uint32_t mode, uint64_t delay, uint64_t period) {
    hc_timer_options options = HC_TIMER_OPTIONS_INIT;
    options.task = task;
    options.mode = mode;
    options.delay = delay;
    options.period = period;
    return options;
}

static inline hc_timer *timer_with(hc_group *g, const hc_timer_options *options) {
    hc_timer *t = NULL;
    CHECK_OK(hc_timer_create(g, options, &t));
    CHECK(t != NULL);
    return t;
}

static inline hc_timer *timer_of(hc_group *g, hc_fn fn, hc_drop_fn drop, void *arg, uint64_t delay) {
    hc_task_options task = options_of(fn, arg);
    task.drop = drop;
    const hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, delay, 0);
    return timer_with(g, &options);
}

static inline hc_timer *repeating(hc_group *g, hc_fn fn, hc_drop_fn drop, void *arg, uint32_t mode, uint64_t delay,
                                  uint64_t period) {
    hc_task_options task = options_of(fn, arg);
    task.drop = drop;
    const hc_timer_options options = timer_options_of(&task, mode, delay, period);
    return timer_with(g, &options);
}

static inline hc_timer *timer_shot(hc_group *g, shot *s, uint64_t delay) {
    const uint64_t now = hc_now();
    s->due = delay > UINT64_MAX - now ? UINT64_MAX : now + delay;
    return timer_of(g, shot_run, shot_drop, s, delay);
}

static inline int arm_shot(hc_timer *t, shot *s, uint64_t delay) {
    const uint64_t now = hc_now();
    s->due = delay > UINT64_MAX - now ? UINT64_MAX : now + delay;
    return hc_timer_arm(t, delay, 0);
}

static inline uint64_t remaining_of(hc_timer *t) {
    uint64_t ns = 1;
    CHECK_OK(hc_timer_remaining(t, &ns));
    return ns;
}

static inline uint64_t missed_of(hc_timer *t) {
    uint64_t count = UINT64_MAX;
    CHECK_OK(hc_timer_missed(t, &count));
    return count;
}

/* A body that notes that it is inside, and waits to be let go. */
typedef struct held_shot {
    gate at;
    atomic_int ran, dropped, why;
} held_shot;

static inline void held_shot_run(void *arg) {
    held_shot *h = arg;
    gate_task(&h->at);
    h->ran += 1;
}

static inline void held_shot_drop(void *arg, int32_t why) {
    held_shot *h = arg;
    h->why = why;
    h->dropped += 1;
}

#endif
