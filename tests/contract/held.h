/* held.h - what the tests of held tasks, scopes, ranges and forks share: a ledger of one task, short ways to make one, and
 * the places from which everything must work. */
#ifndef HELD_H
#define HELD_H

#include "check.h"

static const uint32_t worker_counts[] = {1, 2, 3, 8};
enum { n_worker_counts = sizeof worker_counts / sizeof worker_counts[0] };

static inline hc_group *group_of_kind(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    return fixed_with(&options);
}

/* ---- One task's ledger ----------------------------------------------------------------------------------------- */

typedef struct ledger {
    atomic_int ran, dropped, why, result_dropped;
} ledger;

static inline void ledger_run(void *arg) { atomic_fetch_add(&((ledger *)arg)->ran, 1); }

static inline void ledger_drop(void *arg, int32_t why) {
    ledger *l = arg;
    atomic_store(&l->why, why);
    atomic_fetch_add(&l->dropped, 1);
}

static inline void ledger_result_drop(void *arg) { atomic_fetch_add(&((ledger *)arg)->result_dropped, 1); }

static inline hc_task_options options_of(hc_fn fn, void *arg) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = fn;
    options.arg = arg;
    return options;
}

static inline hc_task_options options_of_ledger(ledger *l) {
    hc_task_options options = options_of(ledger_run, l);
    options.drop = ledger_drop;
    return options;
}

/* With a result that is dropped: the ledger must live until the last reference goes, and the library has some. */
static inline hc_task_options options_to_the_end(ledger *l) {
    hc_task_options options = options_of_ledger(l);
    options.result = l;
    options.result_drop = ledger_result_drop;
    return options;
}

static inline void ledger_check(ledger *l, int ran, int dropped, int why) {
    CHECK_EQ(l->ran, ran);
    CHECK_EQ(l->dropped, dropped);
    if (dropped != 0) CHECK_RC(l->why, why);
}

/* ---- Making them ----------------------------------------------------------------------------------------------- */

static inline hc_task *held_with(hc_group *g, const hc_task_options *options) {
    hc_task *t = NULL;
    CHECK_OK(hc_task_submit(g, options, &t));
    CHECK(t != NULL);
    return t;
}

static inline hc_task *held(hc_group *g, hc_fn fn, void *arg) {
    hc_task_options options = options_of(fn, arg);
    return held_with(g, &options);
}

static inline hc_task *held_ledger(hc_group *g, ledger *l) {
    hc_task_options options = options_of_ledger(l);
    return held_with(g, &options);
}

static inline hc_task *held_to_the_end(hc_group *g, ledger *l) {
    hc_task_options options = options_to_the_end(l);
    return held_with(g, &options);
}

static inline hc_task *then_with(hc_task *before, const hc_task_options *options) {
    hc_task *t = NULL;
    CHECK_OK(hc_task_then(before, options, &t));
    CHECK(t != NULL);
    return t;
}

static inline hc_task *then(hc_task *before, hc_fn fn, void *arg) {
    hc_task_options options = options_of(fn, arg);
    return then_with(before, &options);
}

static inline hc_task *then_ledger(hc_task *before, ledger *l) {
    hc_task_options options = options_of_ledger(l);
    return then_with(before, &options);
}

static inline hc_task *then_to_the_end(hc_task *before, ledger *l) {
    hc_task_options options = options_to_the_end(l);
    return then_with(before, &options);
}

static inline hc_task *promise_in(hc_group *g) {
    hc_task *t = NULL;
    CHECK_OK(hc_task_promise(g, &t));
    CHECK(t != NULL);
    return t;
}

/* Waits; the outcome. */
static inline int32_t outcome_of(hc_task *t) {
    int32_t outcome = 1;
    CHECK_OK(hc_task_wait(t, HC_NEVER, 0, &outcome));
    return outcome;
}

/* The same, and the handle is gone. */
static inline int32_t end_of(hc_task *t) {
    int32_t outcome = outcome_of(t);
    hc_task_unref(t);
    return outcome;
}

static inline bool has_ended(hc_task *t) {
    int rc = hc_task_wait(t, 0, 0, NULL);
    if (rc != HC_OK) CHECK_RC(rc, HC_ETIMEDOUT);
    return rc == HC_OK;
}

/* ---- From everywhere: outside, in a task, and in a task that a task waits for ----------------------------------- */

typedef void (*group_body)(hc_group *g);

typedef struct place {
    hc_group *g;
    group_body body;
    latch done;
} place;

static inline void place_task(void *arg) {
    place *p = arg;
    p->body(p->g);
}

static inline void place_in_task(void *arg) {
    place_task(arg);
    latch_down(&((place *)arg)->done);
}

static inline void place_nested(void *arg) {
    place *p = arg;
    CHECK_RC(end_of(held(p->g, place_task, p)), HC_OK);
    latch_down(&p->done);
}

static inline void from_everywhere(hc_group *g, group_body body) {
    body(g);
    const hc_fn ways[] = {place_in_task, place_nested};
    for (int i = 0; i < 2; ++i) {
        place p = {g, body, LATCH(1)};
        CHECK_OK(hc_submit(g, ways[i], &p));
        latch_wait(&p.done);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    }
}

static inline void everywhere_in(uint32_t kinds, group_body body) {
    for (uint32_t kind = 0; kind < kinds; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            from_everywhere(g, body);
            CHECK_OK(hc_group_destroy(g));
        }
}

static inline void everywhere(group_body body) { everywhere_in(HC_KIND_PINNED + 1, body); }
static inline void everywhere_stealing(group_body body) { everywhere_in(HC_KIND_STEALING + 1, body); }

#endif
