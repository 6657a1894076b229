/* Guards against: a cancelled task that runs nevertheless, is dropped twice or never, or is told too late; a cancel_wait
 * that returns while the body runs, or waits for itself. */
#include "held.h"

/* ---- Before it begins ------------------------------------------------------------------------------------------- */

static void cancel_queued(uint32_t kind, uint32_t workers, bool wait) {
    enum { many = 100 };
    static ledger all[many];
    memset(all, 0, sizeof all);
    hc_group *g = group_of_kind(kind, workers);
    hold at;
    hold_all(g, &at, workers);
    hc_task *tasks[many];
    for (int i = 0; i < many; ++i) tasks[i] = held_to_the_end(g, &all[i]);
    for (int i = 0; i < many; i += 2) {
        CHECK_EQ(wait ? hc_task_cancel_wait(tasks[i], HC_NEVER) : hc_task_cancel(tasks[i]), HC_REMOVED);
        ledger_check(&all[i], 0, 1, HC_ECANCELED); /* before cancel returns */
        CHECK_EQ(hc_task_cancel(tasks[i]), HC_DONE);
        CHECK_EQ(hc_task_cancel_wait(tasks[i], 0), HC_DONE);
        int32_t outcome = 7;
        CHECK_OK(hc_task_wait(tasks[i], 0, 0, &outcome));
        CHECK_RC(outcome, HC_ECANCELED);
        void *p = NULL;
        CHECK_RC(hc_task_result(tasks[i], &p), HC_EFAILED);
        CHECK_OK(hc_task_error(tasks[i], &outcome, &p));
        CHECK_RC(outcome, HC_ECANCELED);
        CHECK(p == NULL);
    }
    CHECK_RC(hc_group_drain(g, 0), HC_ETIMEDOUT);
    hold_release(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    for (int i = 0; i < many; ++i) {
        ledger_check(&all[i], i % 2, i % 2 == 0, HC_ECANCELED);
        CHECK_RC(end_of(tasks[i]), i % 2 == 0 ? HC_ECANCELED : HC_OK);
        UNTIL(all[i].result_dropped == 1);
    }
    CHECK_OK(hc_group_destroy(g));
}

static void a_queued_task_is_removed(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            cancel_queued(kind, worker_counts[w], false);
            cancel_queued(kind, worker_counts[w], true);
        }
}

/* A task cancels those behind it: its only worker may have them in its batch already. */
typedef struct sibling {
    hc_task *tasks[20];
    ledger all[20];
} sibling;

static void cancels_its_siblings(void *arg) {
    sibling *s = arg;
    for (int i = 0; i < 20; ++i) {
        CHECK_EQ(hc_task_cancel(s->tasks[i]), HC_REMOVED);
        ledger_check(&s->all[i], 0, 1, HC_ECANCELED);
    }
}

static void a_task_can_cancel_what_is_queued_behind_it(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int round = 0; round < 20; ++round) {
            static sibling s;
            memset(&s, 0, sizeof s);
            hc_group *g = group_of_kind(kind, 1);
            gate at = GATE;
            gate_hold(g, &at);
            hc_task *t = held(g, cancels_its_siblings, &s);
            for (int i = 0; i < 20; ++i) s.tasks[i] = held_to_the_end(g, &s.all[i]);
            gate_open(&at);
            CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
            hc_task_unref(t);
            for (int i = 0; i < 20; ++i) hc_task_unref(s.tasks[i]);
            CHECK_OK(hc_group_destroy(g));
            for (int i = 0; i < 20; ++i) CHECK_EQ(s.all[i].result_dropped, 1);
        }
}

/* Without a drop of its own, the group's on_unrun is told. */
static atomic_int unrun;

static void on_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    CHECK(user == &unrun && fn == ledger_run && arg == &unrun);
    CHECK_RC(why, HC_ECANCELED);
    CHECK(hc_group_current() != NULL);
    unrun += 1;
}

static void without_a_drop_the_group_is_told(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1;
    options.user = &unrun;
    options.on_unrun = on_unrun;
    hc_group *g = fixed_with(&options);
    gate at = GATE;
    gate_hold(g, &at);
    hc_task *t = held(g, ledger_run, &unrun);
    CHECK_EQ(hc_task_cancel(t), HC_REMOVED);
    CHECK_EQ(unrun, 1);
    hc_task_unref(t);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(unrun, 1);
}

/* A drop is a callback like any other: it may submit, wait, and drop the last handle. */
typedef struct busy_drop {
    hc_group *g;
    hc_task *self;
    ledger other;
    int dropped;
} busy_drop;

static void drop_busily(void *arg, int32_t why) {
    busy_drop *b = arg;
    CHECK_RC(why, HC_ECANCELED);
    CHECK(hc_group_current() == b->g);
    CHECK_RC(end_of(held_ledger(b->g, &b->other)), HC_OK);
    hc_task_unref(b->self);
    b->dropped += 1;
}

static void a_drop_may_use_the_library(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        gate_hold(g, &at);
        busy_drop b = {g, NULL, {0}, 0};
        hc_task_options options = options_of(ledger_run, &b);
        options.drop = drop_busily;
        b.self = held_with(g, &options);
        hc_task_ref(b.self);
        hc_task *t = b.self;
        CHECK_EQ(hc_task_cancel(t), HC_REMOVED);
        hc_task_unref(t);
        CHECK_EQ(b.dropped, 1);
        ledger_check(&b.other, 1, 0, 0);
        gate_open(&at);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- While it runs ---------------------------------------------------------------------------------------------- */

typedef struct polite {
    latch inside;
    atomic_bool told, go;
    atomic_int ended;
} polite;

static void runs_until_told(void *arg) {
    polite *p = arg;
    CHECK_EQ(hc_task_cancelled(), 0);
    latch_down(&p->inside);
    UNTIL(hc_task_cancelled() == 1);
    p->told = true;
    UNTIL(p->go);
    p->ended += 1;
}

static void cancel_running(hc_group *g) {
    for (int i = 0; i < 5; ++i) {
        polite p = {LATCH(1), false, false, 0};
        hc_task_options options = options_of(runs_until_told, &p);
        options.drop = ledger_drop; /* would write elsewhere: not called */
        hc_task *t = held_with(g, &options);
        latch_wait(&p.inside);
        CHECK_EQ(hc_task_cancel_wait(t, 0), HC_ETIMEDOUT);
        CHECK_EQ(hc_task_cancel(t), HC_RUNNING);
        CHECK_EQ(hc_task_cancel_wait(t, 100000), HC_ETIMEDOUT);
        UNTIL(p.told);
        CHECK_EQ(hc_task_cancel(t), HC_RUNNING);
        p.go = true;
        CHECK_EQ(hc_task_cancel_wait(t, HC_NEVER), HC_DONE);
        CHECK_EQ(p.ended, 1);
        CHECK_EQ(hc_task_cancel(t), HC_DONE);
        CHECK_RC(end_of(t), HC_OK); /* it has run, and returned */
    }
}

static void a_running_task_is_told(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            cancel_running(g);
            if (kind != HC_KIND_PINNED && worker_counts[w] > 2) from_everywhere(g, cancel_running);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void cancels_itself(void *arg) {
    (void)arg;
    hc_task *self = hc_task_current();
    CHECK_EQ(hc_task_cancelled(), 0);
    CHECK_EQ(hc_task_cancel(self), HC_RUNNING);
    CHECK_EQ(hc_task_cancelled(), 1);
    const uint64_t timeouts[] = {0, 1, 1000000, HC_NEVER};
    for (int i = 0; i < 4; ++i) CHECK_RC(hc_task_cancel_wait(self, timeouts[i]), HC_EDEADLK);
}

/* Its own flag only: what it submits, or runs while it waits, is another's. */
static void is_not_cancelled(void *arg) {
    CHECK_EQ(hc_task_cancelled(), 0);
    count_task(arg);
}

static void cancels_itself_and_waits(void *arg) {
    cancels_itself(NULL);
    CHECK_RC(end_of(held(hc_group_current(), is_not_cancelled, arg)), HC_OK);
    CHECK_EQ(hc_task_cancelled(), 1);
}

static void cancel_own(hc_group *g) {
    atomic_int ran = 0;
    CHECK_RC(end_of(held(g, cancels_itself, NULL)), HC_OK);
    CHECK_RC(end_of(held(g, cancels_itself_and_waits, &ran)), HC_OK);
    CHECK_RC(end_of(held(g, is_not_cancelled, &ran)), HC_OK); /* the record is used again: no trace */
    CHECK_EQ(ran, 2);
    CHECK_EQ(hc_task_cancelled(), 0);
}

static void a_body_may_cancel_itself(void) { everywhere(cancel_own); }

static void cancel_ended(hc_group *g) {
    ledger l = {0};
    hc_task *t = held_ledger(g, &l);
    CHECK_RC(outcome_of(t), HC_OK);
    CHECK_EQ(hc_task_cancel(t), HC_DONE);
    CHECK_EQ(hc_task_cancel_wait(t, HC_NEVER), HC_DONE);
    CHECK_RC(end_of(t), HC_OK);
    ledger_check(&l, 1, 0, 0);
}

static void an_ended_task_stays_as_it_ended(void) { everywhere(cancel_ended); }

/* ---- The race --------------------------------------------------------------------------------------------------- */

static void race(uint32_t kind, uint32_t workers, int rounds) {
    hc_group *g = group_of_kind(kind, workers);
    int64_t answers[3] = {0};
    for (int i = 0; i < rounds; ++i) {
        ledger l = {0};
        hc_task *t = held_to_the_end(g, &l);
        for (int spin = i % 64 * 8; spin > 0; --spin) __asm__ volatile("" ::: "memory");
        int rc = i % 4 == 3 ? hc_task_cancel_wait(t, HC_NEVER) : hc_task_cancel(t);
        CHECK(rc >= HC_REMOVED && rc <= HC_DONE);
        answers[rc] += 1;
        if (rc == HC_REMOVED) ledger_check(&l, 0, 1, HC_ECANCELED);
        if (rc == HC_DONE) ledger_check(&l, 1, 0, 0);
        int32_t outcome = outcome_of(t);
        CHECK_RC(outcome, rc == HC_REMOVED ? HC_ECANCELED : HC_OK);
        ledger_check(&l, rc != HC_REMOVED, rc == HC_REMOVED, HC_ECANCELED);
        hc_task_unref(t);
        UNTIL(l.result_dropped == 1);
    }
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(answers[0] + answers[1] + answers[2], rounds);
}

static void cancel_races_with_the_start(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        race(kind, 1, (int)(10000 / CHECK_SLOWER));
        race(kind, 3, (int)(10000 / CHECK_SLOWER));
    }
}

/* Two cancel, one waits, a worker runs: one of them has it. */
typedef struct contest {
    hc_task *t;
    pthread_barrier_t *start;
    atomic_int removed;
} contest;

static void *cancel_at_once(void *arg) {
    contest *c = arg;
    for (;;) {
        pthread_barrier_wait(c->start);
        if (c->t == NULL) return NULL;
        if (hc_task_cancel(c->t) == HC_REMOVED) atomic_fetch_add(&c->removed, 1);
        pthread_barrier_wait(c->start);
    }
}

static void cancellers_and_waiters_race(void) {
    hc_group *g = group_of(1);
    pthread_barrier_t start;
    CHECK_EQ(pthread_barrier_init(&start, NULL, 3), 0);
    contest c = {NULL, &start, 0};
    pthread_t threads[2] = {thread_start(cancel_at_once, &c), thread_start(cancel_at_once, &c)};
    for (unsigned i = 0; i < 4000 / CHECK_SLOWER; ++i) {
        ledger l = {0};
        c.removed = 0;
        c.t = held_to_the_end(g, &l);
        pthread_barrier_wait(&start);
        int32_t outcome = outcome_of(c.t);
        pthread_barrier_wait(&start);
        CHECK(c.removed <= 1);
        CHECK_RC(outcome, c.removed ? HC_ECANCELED : HC_OK);
        ledger_check(&l, !c.removed, c.removed, HC_ECANCELED);
        hc_task_unref(c.t);
        UNTIL(l.result_dropped == 1);
    }
    c.t = NULL;
    pthread_barrier_wait(&start);
    for (int i = 0; i < 2; ++i) thread_join(threads[i]);
    CHECK_EQ(pthread_barrier_destroy(&start), 0);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- What has no body, or waits --------------------------------------------------------------------------------- */

static void cancel_waiting(hc_group *g) {
    ledger first = {0}, second = {0}, third = {0};
    hc_task *promise = promise_in(g);
    hc_task *a = then_ledger(promise, &first), *b = then_ledger(promise, &second), *c = then_ledger(a, &third);
    CHECK_EQ(hc_task_cancel(a), HC_REMOVED);
    ledger_check(&first, 0, 1, HC_ECANCELED);
    CHECK_RC(end_of(c), HC_OK); /* what follows a cancelled task runs: it may ask */
    ledger_check(&third, 1, 0, 0);
    CHECK_EQ(hc_task_cancel(a), HC_DONE);
    CHECK(!has_ended(b));
    CHECK_EQ(hc_task_cancel(promise), HC_REMOVED);
    CHECK_RC(outcome_of(promise), HC_ECANCELED);
    CHECK_EQ(hc_task_cancel(promise), HC_DONE);
    CHECK_RC(hc_task_complete(promise, HC_OK, NULL, NULL), HC_EBUSY);
    CHECK_RC(end_of(b), HC_OK);
    ledger_check(&second, 1, 0, 0);
    CHECK_RC(end_of(a), HC_ECANCELED);
    ledger_check(&first, 0, 1, HC_ECANCELED);
    hc_task_unref(promise);
}

static void a_waiting_continuation_can_be_cancelled(void) { everywhere(cancel_waiting); }

static void cancel_of_joins(hc_group *g) {
    for (int any = 0; any < 2; ++any)
        for (size_t n = 1; n <= 3; ++n) {
            hc_task *promises[3], *t = NULL;
            for (size_t i = 0; i < n; ++i) promises[i] = promise_in(g);
            CHECK_OK(any ? hc_task_any(promises, n, &t) : hc_task_all(promises, n, &t));
            ledger l = {0};
            hc_task *after = then_ledger(t, &l);
            CHECK_EQ(hc_task_cancel(t), HC_REMOVED);
            CHECK_RC(outcome_of(t), HC_ECANCELED);
            CHECK_EQ(hc_task_cancel(t), HC_DONE);
            CHECK_RC(end_of(after), HC_OK);
            for (size_t i = 0; i < n; ++i) {
                CHECK(!has_ended(promises[i])); /* it does not cancel them */
                CHECK_OK(hc_task_complete(promises[i], HC_OK, NULL, NULL));
                hc_task_unref(promises[i]);
            }
            CHECK_RC(outcome_of(t), HC_ECANCELED);
            hc_task_unref(t);
        }
}

static void joins_can_be_cancelled(void) { everywhere(cancel_of_joins); }

/* Of a cancelled any there is no winner. */
static void a_cancelled_any_has_no_result(void) {
    hc_group *g = group_of(1);
    hc_task *promise = promise_in(g), *t = NULL;
    CHECK_OK(hc_task_any(&promise, 1, &t));
    CHECK_EQ(hc_task_cancel(t), HC_REMOVED);
    void *p = g;
    CHECK_RC(hc_task_result(t, &p), HC_EFAILED);
    hc_task_unref(promise);
    hc_task_unref(t);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- A drop is part of what a drain waits for ----------------------------------------------------------------------- */

typedef struct slow_drop {
    hc_task *t;
    hc_scope *s;
    gate at;
    int dropped; /* plainly: drain and await make it visible */
} slow_drop;

static void drop_slowly(void *arg, int32_t why) {
    slow_drop *d = arg;
    CHECK_RC(why, HC_ECANCELED);
    gate_task(&d->at);
    d->dropped += 1;
}

static void *cancels_slowly(void *arg) {
    slow_drop *d = arg;
    if (d->s != NULL)
        CHECK_OK(hc_scope_cancel(d->s));
    else
        CHECK_EQ(hc_task_cancel(d->t), HC_REMOVED);
    CHECK_EQ(d->dropped, 1);
    return NULL;
}

static void drain_during_a_drop(uint32_t kind, bool scope, bool shut_down) {
    hc_group *g = group_of_kind(kind, 1);
    slow_drop d = {NULL, NULL, GATE, 0};
    gate before = GATE;
    gate_hold(g, &before);
    if (scope) {
        CHECK_OK(hc_scope_create(g, &d.s));
        CHECK_OK(hc_scope_submit(d.s, ledger_run, &d, drop_slowly));
    } else {
        hc_task_options options = options_of(ledger_run, &d);
        options.drop = drop_slowly;
        d.t = held_with(g, &options);
    }
    pthread_t canceller = thread_start(cancels_slowly, &d);
    latch_wait(&d.at.inside);
    gate_open(&before); /* the worker comes across what is left of the task */
    for (int i = 0; i < 200; ++i) {
        CHECK_RC(hc_group_drain(g, 0), HC_ETIMEDOUT);
        sched_yield();
    }
    CHECK_RC(hc_group_drain(g, 1000000), HC_ETIMEDOUT);
    if (shut_down) {
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        for (int i = 0; i < 200; ++i) {
            CHECK_RC(hc_group_await(g, 0), HC_ETIMEDOUT);
            sched_yield();
        }
        CHECK_RC(hc_group_await(g, 1000000), HC_ETIMEDOUT);
    }
    CHECK_EQ(d.dropped, 0);
    gate_open(&d.at);
    CHECK_OK(shut_down ? hc_group_await(g, HC_NEVER) : hc_group_drain(g, HC_NEVER));
    CHECK_EQ(d.dropped, 1);
    thread_join(canceller);
    if (scope) {
        CHECK_OK(hc_scope_wait(d.s, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(d.s));
    }
    hc_task_unref(d.t);
    CHECK_OK(hc_group_destroy(g));
}

/* The worker is done with the entry of a cancelled task long before its canceller is with the drop. */
static void drains_do_not_overtake_the_drop_of_a_cancelled_task(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int scope = 0; scope < 2; ++scope)
            for (int shut_down = 0; shut_down < 2; ++shut_down) drain_during_a_drop(kind, scope != 0, shut_down != 0);
}

int main(void) {
    check_deadline(60);
    RUN(a_queued_task_is_removed);
    RUN(a_task_can_cancel_what_is_queued_behind_it);
    RUN(without_a_drop_the_group_is_told);
    RUN(a_drop_may_use_the_library);
    RUN(a_running_task_is_told);
    RUN(a_body_may_cancel_itself);
    RUN(an_ended_task_stays_as_it_ended);
    RUN(cancel_races_with_the_start);
    RUN(cancellers_and_waiters_race);
    RUN(a_waiting_continuation_can_be_cancelled);
    RUN(joins_can_be_cancelled);
    RUN(a_cancelled_any_has_no_result);
    RUN(drains_do_not_overtake_the_drop_of_a_cancelled_task);
    return 0;
}
