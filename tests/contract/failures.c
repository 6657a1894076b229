/* Guards against: a failure that is lost, overwritten, told of the wrong task, or whose payload is dropped twice or never. */
#include "held.h"

typedef struct payload {
    atomic_int dropped;
} payload;

static void payload_drop(void *arg) { atomic_fetch_add(&((payload *)arg)->dropped, 1); }

typedef struct failing {
    payload first, second;
} failing;

static void fails_twice(void *arg) {
    failing *f = arg;
    CHECK_OK(hc_task_fail(11, &f->first, payload_drop));
    CHECK_EQ(f->first.dropped, 0);
    CHECK_OK(hc_task_fail(22, &f->second, payload_drop));
    CHECK_EQ(f->second.dropped, 1); /* at once */
    CHECK_EQ(f->first.dropped, 0);
}

static void check_failure(hc_task *t, int32_t code, void *wanted) {
    CHECK_RC(outcome_of(t), HC_EFAILED);
    int32_t said = 7;
    void *p = t;
    CHECK_OK(hc_task_error(t, &said, &p));
    CHECK_EQ(said, code);
    CHECK(p == wanted);
    said = 7;
    CHECK_OK(hc_task_error(t, &said, NULL));
    CHECK_EQ(said, code);
    CHECK_RC(hc_task_result(t, &p), HC_EFAILED);
}

static void fail_and_tell(hc_group *g) {
    for (int i = 0; i < 20; ++i) {
        failing f = {{0}, {0}};
        ledger l = {0};
        hc_task_options options = options_of(fails_twice, &f);
        options.result = &l;
        options.result_drop = ledger_result_drop;
        hc_task *t = held_with(g, &options);
        check_failure(t, 11, &f.first);
        hc_task_ref(t);
        hc_task_unref(t);
        CHECK_EQ(f.first.dropped, 0);
        CHECK_EQ(l.result_dropped, 0);
        hc_task_unref(t);
        if (hc_group_current() == NULL) CHECK_OK(hc_group_drain(g, HC_NEVER));
        UNTIL(f.first.dropped == 1 || hc_group_current() != NULL); /* its entry may be behind us */
        if (hc_group_current() != NULL) {
            while (f.first.dropped == 0) { /* let the worker, if it is ours, go past it */
                hc_task *promise = promise_in(g);
                CHECK_RC(hc_task_wait(promise, 100000, HC_WAIT_HELP_ANY, NULL), HC_ETIMEDOUT);
                hc_task_unref(promise);
            }
        } else {
            UNTIL(l.result_dropped == 1);
        }
        CHECK_EQ(f.first.dropped, 1);
        CHECK_EQ(f.second.dropped, 1);
    }
}

static void a_task_can_fail(void) { everywhere_stealing(fail_and_tell); }

static void a_task_of_a_queue_can_fail(void) {
    for (uint32_t kind = HC_KIND_SHARED; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            fail_and_tell(g);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void fails_with_nothing(void *arg) {
    (void)arg;
    CHECK_OK(hc_task_fail(0, NULL, NULL)); /* a failure all the same */
}

static void fails_with_no_drop(void *arg) { CHECK_OK(hc_task_fail(-3, arg, NULL)); }

static void a_failure_needs_no_payload(void) {
    hc_group *g = group_of(1);
    hc_task *t = held(g, fails_with_nothing, NULL);
    check_failure(t, 0, NULL);
    hc_task_unref(t);
    int here = 0;
    t = held(g, fails_with_no_drop, &here);
    check_failure(t, -3, &here);
    hc_task_unref(t);
    CHECK_OK(hc_group_destroy(g));
}

static void cannot_fail(void *arg) {
    payload *p = arg;
    CHECK_RC(hc_task_fail(1, p, payload_drop), HC_EINVAL);
    CHECK_EQ(p->dropped, 0); /* it stays ours */
}

static void drop_cannot_fail(void *arg, int32_t why) {
    (void)why;
    cannot_fail(arg);
    ((payload *)arg)->dropped = 100;
}

static void only_held_tasks_can_fail(void) {
    payload p = {0};
    cannot_fail(&p);
    hc_group *g = group_of(1);
    CHECK_OK(hc_submit(g, cannot_fail, &p));
    hc_task_options options = options_of(cannot_fail, &p);
    options.label = "detached";
    CHECK_OK(hc_task_submit(g, &options, NULL));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(p.dropped, 0);
    gate at = GATE;
    gate_hold(g, &at);
    options.drop = drop_cannot_fail;
    hc_task *t = held_with(g, &options);
    CHECK_EQ(hc_task_cancel(t), HC_REMOVED); /* its drop is not in it */
    CHECK_EQ(p.dropped, 100);
    CHECK_RC(end_of(t), HC_ECANCELED);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
}

/* A task that fails, and waits for one that fails: each has its own. */
typedef struct nest {
    failing inner;
    payload own;
    int after; /* whether the outer one fails after the wait, or before */
} nest;

static void fails_inside(void *arg) {
    nest *n = arg;
    if (!n->after) CHECK_OK(hc_task_fail(1, &n->own, payload_drop));
    hc_task *t = held(hc_group_current(), fails_twice, &n->inner);
    check_failure(t, 11, &n->inner.first);
    hc_task_unref(t);
    if (n->after) CHECK_OK(hc_task_fail(1, &n->own, payload_drop));
}

static void nested_failures(hc_group *g) {
    for (int after = 0; after < 2; ++after) {
        static nest n;
        n = (nest){{{0}, {0}}, {0}, after};
        hc_task *t = held(g, fails_inside, &n);
        check_failure(t, 1, &n.own);
        hc_task_unref(t);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        UNTIL(n.own.dropped == 1 && n.inner.first.dropped == 1);
        CHECK_EQ(n.inner.second.dropped, 1);
    }
}

static void each_fails_for_itself(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            nested_failures(g);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* A record that is used again knows nothing of the failure before. */
static void a_failure_leaves_no_trace(void) {
    hc_group *g = group_of(2);
    for (int i = 0; i < 1000; ++i) {
        failing f = {{0}, {0}};
        ledger l = {0};
        hc_task *bad = held(g, fails_twice, &f);
        CHECK_RC(end_of(bad), HC_EFAILED);
        hc_task *good = held_to_the_end(g, &l);
        CHECK_RC(end_of(good), HC_OK);
        UNTIL(f.first.dropped == 1 && l.result_dropped == 1);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Scopes keep the first -------------------------------------------------------------------------------------- */

typedef struct in_scope {
    payload p;
    int32_t code;
} in_scope;

static void fails_in_scope(void *arg) {
    in_scope *i = arg;
    CHECK(hc_task_current() == NULL); /* a scope's task has no handle */
    CHECK_OK(hc_task_fail(i->code, &i->p, payload_drop));
}

static void scope_of_failures(hc_group *g) {
    enum { many = 30 };
    static in_scope all[3][many]; /* three places, one after the other */
    static atomic_int next;
    in_scope *mine = all[atomic_fetch_add(&next, 1) % 3];
    memset(mine, 0, many * sizeof *mine);
    hc_scope *s = NULL;
    CHECK_OK(hc_scope_create(g, &s));
    int32_t failure = 7, code = 7;
    void *p = g;
    CHECK_OK(hc_scope_error(s, &code, &p));
    CHECK_EQ(code, 0);
    CHECK(p == NULL);
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
    CHECK_RC(failure, HC_OK);
    mine[0].code = 100;
    CHECK_OK(hc_scope_submit(s, fails_in_scope, &mine[0], NULL));
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
    CHECK_RC(failure, HC_EFAILED);
    for (int i = 1; i < many; ++i) {
        mine[i].code = 100 + i;
        CHECK_OK(hc_scope_submit(s, fails_in_scope, &mine[i], NULL));
    }
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
    CHECK_RC(failure, HC_EFAILED);
    CHECK_OK(hc_scope_error(s, &code, &p));
    CHECK_EQ(code, 100); /* the first */
    CHECK(p == &mine[0].p);
    CHECK_OK(hc_scope_error(s, NULL, NULL));
    CHECK_EQ(mine[0].p.dropped, 0);
    for (int i = 1; i < many; ++i) {
        UNTIL(mine[i].p.dropped != 0);
        CHECK_EQ(mine[i].p.dropped, 1);
    }
    CHECK_OK(hc_scope_destroy(s));
    if (hc_group_current() == NULL) UNTIL(mine[0].p.dropped == 1);
}

static void a_scope_keeps_the_first_failure(void) { everywhere(scope_of_failures); }

int main(void) {
    check_deadline(60);
    RUN(a_task_can_fail);
    RUN(a_task_of_a_queue_can_fail);
    RUN(a_failure_needs_no_payload);
    RUN(only_held_tasks_can_fail);
    RUN(each_fails_for_itself);
    RUN(a_failure_leaves_no_trace);
    RUN(a_scope_keeps_the_first_failure);
    return 0;
}
