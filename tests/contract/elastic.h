/* elastic.h - what the tests of groups that breathe share: a crew that knows who is there, and tasks that count how many run
 * at once. */
#ifndef ELASTIC_H
#define ELASTIC_H

#include "held.h"

static const uint32_t most_counts[] = {1, 2, 3, 8, 64};
enum { n_most_counts = sizeof most_counts / sizeof most_counts[0] };

/* ---- Who is there: for the thread hooks ------------------------------------------------------------------------------ */

typedef struct crew {
    atomic_int starts, stops, now, most;
    atomic_int there[HC_MAX_WORKERS + 64];
} crew;

static inline void at_most(atomic_int *most, int n) {
    int m = *most;
    while (n > m && !atomic_compare_exchange_weak(most, &m, n)) {
    }
}

static inline void crew_start(void *user, uint32_t index) {
    crew *c = user;
    CHECK(index < hc_group_slots(hc_group_current()));
    CHECK_EQ(hc_worker_index(), index);
    CHECK_EQ(atomic_exchange(&c->there[index], 1), 0); /* no two with one index */
    atomic_fetch_add(&c->starts, 1);
    at_most(&c->most, atomic_fetch_add(&c->now, 1) + 1);
}

static inline void crew_stop(void *user, uint32_t index) {
    crew *c = user;
    CHECK(index < hc_group_slots(hc_group_current()));
    CHECK_EQ(hc_worker_index(), index);
    CHECK_EQ(atomic_exchange(&c->there[index], 0), 1);
    atomic_fetch_sub(&c->now, 1);
    atomic_fetch_add(&c->stops, 1);
}

static inline void crew_check_gone(crew *c) {
    CHECK_EQ(c->starts, c->stops);
    CHECK_EQ(c->now, 0);
}

/* Room for `most`, none of them there yet unless `least` says so, and no spare ones. */
static inline hc_group_options elastic_options(uint32_t kind, uint32_t least, uint32_t most, crew *c) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.min_workers = least;
    options.max_workers = most;
    options.spare_workers = HC_NONE32;
    if (c != NULL) {
        memset(c, 0, sizeof *c);
        options.user = c;
        options.on_thread_start = crew_start;
        options.on_thread_stop = crew_stop;
    }
    return options;
}

/* ---- How many run at once -------------------------------------------------------------------------------------------- */

typedef struct meter {
    atomic_int now, most, ran;
} meter;

static inline void meter_task(void *arg) {
    meter *m = arg;
    at_most(&m->most, atomic_fetch_add(&m->now, 1) + 1);
    for (int i = 0; i < 3; ++i) sched_yield();
    atomic_fetch_sub(&m->now, 1);
    atomic_fetch_add(&m->ran, 1);
}

/* Some time, of no known length, and no system call that would make others run. */
static inline void dawdle(unsigned n) {
    for (volatile unsigned i = 0; i < n; ++i) {
    }
}

static inline unsigned next_random(unsigned *state) { return *state = *state * 1664525u + 1013904223u, *state >> 8; }

#endif
