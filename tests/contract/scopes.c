/* Guards against: a scope that forgets a task, ends too early or never, takes what it refused, or lets a waiter run a
 * stranger. */
#include "held.h"

static hc_scope *scope_in(hc_group *g) {
    hc_scope *s = NULL;
    CHECK_OK(hc_scope_create(g, &s));
    CHECK(s != NULL);
    return s;
}

static void wait_well(hc_scope *s) {
    int32_t failure = 7;
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
    CHECK_RC(failure, HC_OK);
}

/* ---- The plain use ----------------------------------------------------------------------------------------------- */

static void add_one(void *arg) { *(int *)arg += 1; } /* plainly: the wait makes it visible */

static void one_after_the_other(hc_group *g) {
    hc_scope *s = scope_in(g);
    int part[100] = {0};
    wait_well(s); /* empty */
    for (int round = 1; round <= 5; ++round) { /* used again after each wait */
        for (int i = 0; i < 100; ++i) CHECK_OK(hc_scope_submit(s, add_one, &part[i], NULL));
        wait_well(s);
        for (int i = 0; i < 100; ++i) CHECK_EQ(part[i], round);
        CHECK_OK(hc_scope_wait(s, 0, 0, NULL));
    }
    CHECK_OK(hc_scope_destroy(s));
    s = scope_in(g);
    CHECK_OK(hc_scope_destroy(s)); /* never used */
}

static void a_scope_waits_for_all_of_its_tasks(void) { everywhere(one_after_the_other); }

static void wrong_arguments_are_refused(void) {
    hc_group *g = group_of(1);
    hc_scope *s = (hc_scope *)g;
    CHECK_RC(hc_scope_create(NULL, &s), HC_EINVAL);
    CHECK(s == NULL);
    CHECK_RC(hc_scope_create(g, NULL), HC_EINVAL);
    CHECK_RC(hc_scope_submit(NULL, add_one, NULL, NULL), HC_EINVAL);
    CHECK_RC(hc_scope_wait(NULL, 0, 0, NULL), HC_EINVAL);
    CHECK_RC(hc_scope_error(NULL, NULL, NULL), HC_EINVAL);
    CHECK_RC(hc_scope_cancel(NULL), HC_EINVAL);
    CHECK_OK(hc_scope_destroy(NULL));
    s = scope_in(g);
    CHECK_RC(hc_scope_submit(s, NULL, NULL, NULL), HC_EINVAL);
    CHECK_RC(hc_scope_wait(s, 0, HC_WAIT_HELP_ANY | HC_WAIT_NO_HELP, NULL), HC_EINVAL);
    CHECK_RC(hc_scope_wait(s, 0, 8, NULL), HC_EINVAL);
    CHECK_OK(hc_scope_destroy(s));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_RC(hc_scope_create(g, &s), HC_ESHUTDOWN);
    CHECK(s == NULL);
    CHECK_OK(hc_group_destroy(g));
}

static void a_busy_scope_says_so(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate before = GATE, at = GATE;
        gate_hold(g, &before);
        hc_scope *s = scope_in(g);
        CHECK_OK(hc_scope_submit(s, gate_task, &at, NULL));
        for (int running = 0; running < 2; ++running) {
            int32_t failure = 7;
            for (int i = 0; i < 500; ++i) CHECK_RC(hc_scope_wait(s, 0, 0, &failure), HC_ETIMEDOUT);
            uint64_t begin = hc_now();
            CHECK_RC(hc_scope_wait(s, 3000000, HC_WAIT_NO_HELP, &failure), HC_ETIMEDOUT);
            CHECK(hc_now() - begin >= 3000000);
            CHECK_EQ(failure, 7);
            CHECK_RC(hc_scope_destroy(s), HC_EBUSY);
            if (running) break;
            gate_open(&before);
            latch_wait(&at.inside);
        }
        gate_open(&at);
        wait_well(s);
        CHECK_OK(hc_scope_destroy(s));
        CHECK_OK(hc_group_destroy(g));
    }
}

/* The scope may go the moment wait returns, also the group. */
static void the_scope_may_go_when_wait_returns(void) {
    for (int round = 0; round < 300; ++round) {
        hc_group *g = group_of(2);
        hc_scope *s = scope_in(g);
        int *parts = calloc(20, sizeof *parts);
        for (int i = 0; i < 20; ++i) CHECK_OK(hc_scope_submit(s, add_one, &parts[i], NULL));
        CHECK_OK(hc_scope_wait(s, HC_NEVER, round % 2 == 0 ? HC_WAIT_NO_HELP : 0, NULL));
        CHECK_OK(hc_scope_destroy(s));
        free(parts);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void a_scope_keeps_its_group(void) {
    hc_group *g = group_of(1);
    hc_scope *s = scope_in(g);
    int part = 0;
    CHECK_OK(hc_scope_submit(s, add_one, &part, NULL));
    wait_well(s);
    CHECK_OK(hc_group_destroy(g));
    CHECK_RC(hc_scope_submit(s, add_one, &part, NULL), HC_ESHUTDOWN);
    wait_well(s);
    CHECK_OK(hc_scope_error(s, NULL, NULL));
    CHECK_OK(hc_scope_cancel(s));
    CHECK_EQ(part, 1);
    CHECK_OK(hc_scope_destroy(s));
}

/* ---- Nested ------------------------------------------------------------------------------------------------------- */

typedef struct nest {
    hc_group *g;
    int depth;
    atomic_int *leaves;
} nest;

static void opens_another(void *arg) {
    nest *n = arg;
    if (n->depth == 0) {
        atomic_fetch_add(n->leaves, 1);
        return;
    }
    hc_scope *s = scope_in(n->g);
    nest inner = {n->g, n->depth - 1, n->leaves};
    for (int i = 0; i < 2; ++i) CHECK_OK(hc_scope_submit(s, opens_another, &inner, NULL));
    wait_well(s);
    CHECK_OK(hc_scope_destroy(s));
}

static void nest_eight(hc_group *g) {
    atomic_int leaves = 0;
    nest n = {g, 8, &leaves};
    opens_another(&n);
    CHECK_EQ(leaves, 256);
}

static void scopes_nest(void) { everywhere(nest_eight); }

/* ---- Tasks that add to their own scope ---------------------------------------------------------------------------- */

typedef struct growth {
    hc_scope *s;
    atomic_int ran;
    int most;
} growth;

static void adds_two(void *arg) {
    growth *w = arg;
    int mine = atomic_fetch_add(&w->ran, 1);
    for (int i = 1; i <= 2; ++i)
        if (2 * mine + i < w->most) CHECK_OK(hc_scope_submit(w->s, adds_two, w, NULL));
}

static void grow(hc_group *g) {
    growth w = {scope_in(g), 0, 1000};
    CHECK_OK(hc_scope_submit(w.s, adds_two, &w, NULL));
    wait_well(w.s);
    CHECK_EQ(w.ran, 1000);
    CHECK_OK(hc_scope_destroy(w.s));
}

static void a_task_may_add_to_its_scope(void) { everywhere(grow); }

static void deadlocks_inside(void *arg) {
    growth *w = arg;
    const uint64_t timeouts[] = {1, 1000000, HC_NEVER};
    for (int i = 0; i < 3; ++i)
        for (uint32_t flags = 0; flags <= 2; ++flags) CHECK_RC(hc_scope_wait(w->s, timeouts[i], flags, NULL), HC_EDEADLK);
    CHECK_RC(hc_scope_destroy(w->s), HC_EBUSY);
    w->ran += 1;
}

static void wait_inside(hc_group *g) {
    growth w = {scope_in(g), 0, 0};
    CHECK_OK(hc_scope_submit(w.s, deadlocks_inside, &w, NULL));
    wait_well(w.s);
    CHECK_EQ(w.ran, 1);
    CHECK_OK(hc_scope_destroy(w.s));
}

static void a_task_cannot_wait_for_its_scope(void) { everywhere(wait_inside); }

/* Nor when it is a task of another that it waits for. One worker: all of it is one thread. */
static void deadlocks_further_out(void *arg) {
    growth *w = arg;
    CHECK_RC(hc_scope_wait(w->s, 1000000, 0, NULL), HC_EDEADLK);
    CHECK_RC(hc_scope_wait(w->s, HC_NEVER, 0, NULL), HC_EDEADLK);
    w->ran += 1;
}

static void opens_an_inner_one(void *arg) {
    hc_scope *inner = scope_in(hc_group_current());
    CHECK_OK(hc_scope_submit(inner, deadlocks_further_out, arg, NULL));
    wait_well(inner);
    CHECK_OK(hc_scope_destroy(inner));
    CHECK_RC(end_of(held(hc_group_current(), deadlocks_further_out, arg)), HC_OK);
}

static void nor_from_further_inside(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        growth w = {scope_in(g), 0, 0};
        CHECK_OK(hc_scope_submit(w.s, opens_an_inner_one, &w, NULL));
        CHECK_OK(hc_scope_wait(w.s, HC_NEVER, HC_WAIT_NO_HELP, NULL));
        CHECK_EQ(w.ran, 2);
        CHECK_OK(hc_scope_destroy(w.s));
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Many threads ------------------------------------------------------------------------------------------------- */

typedef struct sharing {
    hc_scope *s;
    ledger *all;
    int from, count;
} sharing;

static void *submit_and_wait(void *arg) {
    sharing *h = arg;
    for (int i = 0; i < h->count; ++i) {
        CHECK_OK(hc_scope_submit(h->s, ledger_run, &h->all[h->from + i], ledger_drop));
        if (i % 100 != 50) continue;
        int rc = hc_scope_wait(h->s, i % 200 == 50 ? 1000 : HC_NEVER, 0, NULL);
        CHECK(rc == HC_OK || (rc == HC_ETIMEDOUT && i % 200 == 50));
    }
    wait_well(h->s);
    for (int i = 0; i < h->count; ++i) ledger_check(&h->all[h->from + i], 1, 0, 0);
    return NULL;
}

static void many_threads_share_a_scope(void) {
    enum { threads = 6, each = 600 };
    static ledger all[threads * each];
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            memset(all, 0, sizeof all);
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            hc_scope *s = scope_in(g);
            sharing shares[threads];
            pthread_t ids[threads];
            for (int i = 0; i < threads; ++i) {
                shares[i] = (sharing){s, all, i * each, each / (int)CHECK_SLOWER};
                ids[i] = thread_start(submit_and_wait, &shares[i]);
            }
            for (int i = 0; i < threads; ++i) thread_join(ids[i]);
            CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_destroy(g));
        }
}

static void *wait_for_scope(void *arg) {
    CHECK_OK(hc_scope_wait(arg, HC_NEVER, 0, NULL));
    return NULL;
}

static void *wait_for_scope_asleep(void *arg) {
    CHECK_OK(hc_scope_wait(arg, HC_NEVER, HC_WAIT_NO_HELP, NULL));
    return NULL;
}

static void several_may_wait_for_one_scope(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int waiters = 2; waiters <= 8; waiters += 6) {
            hc_group *g = group_of_kind(kind, 2);
            hc_scope *s = scope_in(g);
            for (int round = 0; round < 20; ++round) {
                gate at = GATE;
                CHECK_OK(hc_scope_submit(s, gate_task, &at, NULL));
                latch_wait(&at.inside);
                pthread_t ids[8];
                for (int i = 0; i < waiters; ++i)
                    ids[i] = thread_start(i % 2 == 0 ? wait_for_scope : wait_for_scope_asleep, s);
                gate_open(&at);
                for (int i = 0; i < waiters; ++i) thread_join(ids[i]);
            }
            CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_destroy(g));
        }
}

/* A task that comes while the waiter sleeps is the waiter's to run, if nobody else can. */
static void a_sleeping_waiter_runs_what_comes_later(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        hc_scope *s = scope_in(g);
        gate at = GATE;
        CHECK_OK(hc_scope_submit(s, gate_task, &at, NULL)); /* the worker is in a task of the scope itself */
        latch_wait(&at.inside);
        pthread_t waiter = thread_start(wait_for_scope, s);
        for (int round = 0; round < 20; ++round) {
            ledger l = {0};
            if (round % 4 == 0) CHECK_RC(hc_group_drain(g, 2000000), HC_ETIMEDOUT); /* time to fall asleep */
            CHECK_OK(hc_scope_submit(s, ledger_run, &l, ledger_drop));
            UNTIL(l.ran == 1);
        }
        gate_open(&at);
        thread_join(waiter);
        CHECK_OK(hc_scope_destroy(s));
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Cancelling --------------------------------------------------------------------------------------------------- */

typedef struct polite {
    hc_scope *s;
    latch inside;
    atomic_bool told;
    bool cancels;
} polite;

static void runs_until_told(void *arg) {
    polite *p = arg;
    CHECK_EQ(hc_task_cancelled(), 0);
    if (p->cancels) CHECK_OK(hc_scope_cancel(p->s)); /* from inside */
    latch_down(&p->inside);
    UNTIL(hc_task_cancelled() == 1);
    CHECK_RC(hc_scope_submit(p->s, ledger_run, NULL, NULL), HC_ECANCELED);
    p->told = true;
}

static void a_cancelled_scope_hands_back_and_tells(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w)
            for (int inside = 0; inside < 2; ++inside) {
                if (kind == HC_KIND_PINNED && w != 0 && !inside) continue; /* the others cannot be held: who is dealt what? */
                enum { many = 60 };
                ledger all[many];
                memset(all, 0, sizeof all);
                hc_group *g = group_of_kind(kind, worker_counts[w]);
                hold at, others;
                hold_all(g, &at, worker_counts[w]);
                hc_scope *s = scope_in(g), *other = scope_in(g);
                polite p = {s, LATCH(1), false, inside != 0};
                ledger spared = {0};
                CHECK_OK(hc_scope_submit(other, ledger_run, &spared, ledger_drop));
                CHECK_OK(hc_scope_submit(s, runs_until_told, &p, NULL));
                if (!inside) {
                    hold_release(&at);
                    latch_wait(&p.inside);
                    hold_all(g, &others, worker_counts[w] - 1);
                }
                for (int i = 0; i < many; ++i) CHECK_OK(hc_scope_submit(s, ledger_run, &all[i], ledger_drop));
                if (inside) {
                    hold_release(&at);
                    latch_wait(&p.inside);
                }
                CHECK_OK(hc_scope_cancel(s));
                for (int i = 0; i < many; ++i) {
                    UNTIL(all[i].ran + all[i].dropped == 1); /* who cancelled first may be at it still */
                    if (!inside) ledger_check(&all[i], 0, 1, HC_ECANCELED);
                    if (inside && all[i].dropped) CHECK_RC(all[i].why, HC_ECANCELED);
                }
                ledger late = {0};
                CHECK_RC(hc_scope_submit(s, ledger_run, &late, ledger_drop), HC_ECANCELED);
                ledger_check(&late, 0, 0, 0); /* it stays ours */
                if (!inside) hold_release(&others);
                int32_t failure = 7;
                CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
                CHECK(p.told);
                if (!inside) CHECK_RC(failure, HC_ECANCELED);
                CHECK_OK(hc_scope_wait(other, HC_NEVER, 0, NULL));
                ledger_check(&spared, 1, 0, 0);
                CHECK_OK(hc_scope_cancel(s)); /* again */
                CHECK_RC(hc_scope_submit(s, ledger_run, &late, ledger_drop), HC_ECANCELED); /* from now on */
                CHECK_OK(hc_scope_destroy(s));
                CHECK_OK(hc_scope_destroy(other));
                CHECK_OK(hc_group_destroy(g));
            }
}

static void cancel_races_with_the_tasks(void) {
    hc_group *g = group_of(2);
    for (unsigned round = 0; round < 2000 / CHECK_SLOWER; ++round) {
        ledger all[20];
        memset(all, 0, sizeof all);
        hc_scope *s = scope_in(g);
        for (int i = 0; i < 20; ++i) CHECK_OK(hc_scope_submit(s, ledger_run, &all[i], ledger_drop));
        for (unsigned spin = round % 100 * 10; spin > 0; --spin) __asm__ volatile("" ::: "memory");
        CHECK_OK(hc_scope_cancel(s));
        int32_t failure = 7;
        CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
        int dropped = 0;
        for (int i = 0; i < 20; ++i) {
            CHECK_EQ(all[i].ran + all[i].dropped, 1);
            if (all[i].dropped) CHECK_RC(all[i].why, HC_ECANCELED);
            dropped += all[i].dropped;
        }
        CHECK_RC(failure, dropped ? HC_ECANCELED : HC_OK);
        CHECK_OK(hc_scope_destroy(s));
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Full, and shut down ------------------------------------------------------------------------------------------ */

static void a_full_queue_refuses(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 1;
        options.capacity = 10;
        hc_group *g = fixed_with(&options);
        for (int round = 0; round < 5; ++round) {
            ledger all[12];
            memset(all, 0, sizeof all);
            hold at;
            hold_all(g, &at, 1);
            hc_scope *s = scope_in(g);
            int taken = 0, rc;
            while ((rc = hc_scope_submit(s, ledger_run, &all[taken], ledger_drop)) == HC_OK) CHECK(++taken <= 10);
            CHECK_RC(rc, HC_EFULL);
            CHECK(taken >= 8);
            if (round % 2 == 0) hold_release(&at);
            wait_well(s);
            if (round % 2 != 0) hold_release(&at);
            for (int i = 0; i < 12; ++i) ledger_check(&all[i], i < taken, 0, 0);
            CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

typedef struct closing {
    hc_group *g;
    hc_scope *s;
    gate at;
    ledger all[10];
    uint32_t how;
} closing;

static void adds_after_the_shutdown(void *arg) {
    closing *c = arg;
    gate_task(&c->at);
    CHECK_RC(hc_submit(c->g, ledger_run, NULL), HC_ESHUTDOWN);
    for (int i = 0; i < 10; ++i)
        CHECK_RC(hc_scope_submit(c->s, ledger_run, &c->all[i], ledger_drop),
                 c->how == HC_SHUTDOWN_DRAIN ? HC_OK : HC_ESHUTDOWN);
}

static void opens_a_scope_after_the_shutdown(void *arg) {
    closing *c = arg;
    gate_task(&c->at);
    c->s = scope_in(c->g);
    for (int i = 0; i < 10; ++i) CHECK_OK(hc_scope_submit(c->s, ledger_run, &c->all[i], ledger_drop));
    wait_well(c->s);
    CHECK_OK(hc_scope_destroy(c->s));
}

static void after_a_shutdown_the_waiter_runs_the_rest(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w)
            for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how) {
                static closing c;
                c = (closing){group_of_kind(kind, worker_counts[w]), NULL, GATE, {{0}}, how};
                c.s = scope_in(c.g);
                CHECK_OK(hc_scope_submit(c.s, adds_after_the_shutdown, &c, NULL));
                latch_wait(&c.at.inside);
                CHECK_OK(hc_group_shutdown(c.g, how));
                ledger late = {0};
                CHECK_RC(hc_scope_submit(c.s, ledger_run, &late, ledger_drop), HC_ESHUTDOWN); /* from outside */
                gate_open(&c.at);
                wait_well(c.s);
                for (int i = 0; i < 10; ++i) ledger_check(&c.all[i], how == HC_SHUTDOWN_DRAIN, 0, 0);
                ledger_check(&late, 0, 0, 0);
                CHECK_OK(hc_group_await(c.g, HC_NEVER));
                CHECK_OK(hc_scope_destroy(c.s));
                CHECK_OK(hc_group_destroy(c.g));
            }
}

static void a_task_may_open_a_scope_after_a_shutdown(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            static closing c;
            c = (closing){group_of_kind(kind, worker_counts[w]), NULL, GATE, {{0}}, HC_SHUTDOWN_DRAIN};
            CHECK_OK(hc_submit(c.g, opens_a_scope_after_the_shutdown, &c));
            latch_wait(&c.at.inside);
            CHECK_OK(hc_group_shutdown(c.g, HC_SHUTDOWN_DRAIN));
            gate_open(&c.at);
            CHECK_OK(hc_group_await(c.g, HC_NEVER));
            for (int i = 0; i < 10; ++i) ledger_check(&c.all[i], 1, 0, 0);
            CHECK_OK(hc_group_destroy(c.g));
        }
}

/* What is queued when the group is shut down at once comes back, and the waiter learns of it; or it has run it. */
static void a_shutdown_at_once_hands_back(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int stuck = 0; stuck < 2; ++stuck) {
            enum { many = 40 };
            ledger all[many];
            memset(all, 0, sizeof all);
            hc_group *g = group_of_kind(kind, 1);
            gate at = GATE;
            gate_hold(g, &at);
            hc_scope *s = scope_in(g);
            for (int i = 0; i < many; ++i) CHECK_OK(hc_scope_submit(s, ledger_run, &all[i], ledger_drop));
            CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
            if (stuck) CHECK_RC(hc_group_await(g, 1), HC_ETIMEDOUT);
            gate_open(&at);
            int32_t failure = 7;
            CHECK_OK(hc_scope_wait(s, HC_NEVER, HC_WAIT_NO_HELP, &failure));
            CHECK_RC(failure, HC_ESHUTDOWN);
            for (int i = 0; i < many; ++i) ledger_check(&all[i], 0, 1, HC_ESHUTDOWN);
            int32_t code = 7;
            CHECK_OK(hc_scope_error(s, &code, NULL));
            CHECK_RC(code, HC_ESHUTDOWN);
            CHECK_OK(hc_group_await(g, HC_NEVER));
            CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_destroy(g));
        }
}

/* Scopes whose waiters race with a shutdown: every task runs or comes back. */
static void *use_scopes(void *arg) {
    hc_group *g = arg;
    for (;;) {
        hc_scope *s = NULL;
        int rc = hc_scope_create(g, &s);
        if (rc == HC_ESHUTDOWN) return NULL;
        CHECK_OK(rc);
        ledger all[10];
        memset(all, 0, sizeof all);
        int taken = 0;
        for (; taken < 10; ++taken) {
            rc = hc_scope_submit(s, ledger_run, &all[taken], ledger_drop);
            if (rc != HC_OK) break;
        }
        if (taken < 10) CHECK_RC(rc, HC_ESHUTDOWN);
        int32_t failure = 7;
        CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, &failure));
        CHECK(failure == HC_OK || failure == HC_ESHUTDOWN);
        for (int i = 0; i < 10; ++i) CHECK_EQ(all[i].ran + all[i].dropped, i < taken);
        CHECK_OK(hc_scope_destroy(s));
    }
}

static void scopes_race_with_a_shutdown(void) {
    for (unsigned round = 0; round < 200 / CHECK_SLOWER; ++round) {
        hc_group *g = group_of_kind(round % 3, 2);
        pthread_t threads[3];
        for (int i = 0; i < 3; ++i) threads[i] = thread_start(use_scopes, g);
        for (unsigned i = 0; i < round % 20; ++i) sched_yield();
        CHECK_OK(hc_group_shutdown(g, round % 2));
        for (int i = 0; i < 3; ++i) thread_join(threads[i]);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Accepted is accepted ------------------------------------------------------------------------------------------ */

/* Several submit as fast as they can, until there has been enough, or it is refused for good. */
typedef struct flood {
    hc_scope *s;
    ledger all;
    atomic_int accepted, refusal;
    int attempts; /* of each */
    hc_group *shut_down; /* by whoever submits the 500th */
} flood;

static void *submits_to_the_flood(void *arg) {
    flood *f = arg;
    for (int i = 0; i < f->attempts; ++i) {
        int rc = hc_scope_submit(f->s, ledger_run, &f->all, ledger_drop);
        if (rc == HC_OK) {
            if (atomic_fetch_add(&f->accepted, 1) == 499 && f->shut_down != NULL)
                CHECK_OK(hc_group_shutdown(f->shut_down, HC_SHUTDOWN_DRAIN));
        } else if (rc != HC_EFULL) {
            f->refusal = rc;
            break;
        }
    }
    return NULL;
}

static void flood_check(flood *f) {
    CHECK_OK(hc_scope_wait(f->s, HC_NEVER, HC_WAIT_NO_HELP, NULL));
    CHECK_EQ(f->all.ran + f->all.dropped, f->accepted);
    CHECK_OK(hc_scope_destroy(f->s));
}

/* A submit that was refused for want of room takes back its own task, not the note of another's. */
static void a_full_queue_loses_nothing_of_a_scope(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w)
            for (uint64_t capacity = 1; capacity <= 4; capacity += 3) {
                hc_group_options options = HC_GROUP_OPTIONS_INIT;
                options.kind = kind;
                options.max_workers = worker_counts[w];
                options.capacity = capacity;
                hc_group *g = fixed_with(&options);
                flood f = {scope_in(g), {0}, 0, 0, 10000 / (int)CHECK_SLOWER, NULL};
                pthread_t ids[3];
                for (int i = 0; i < 3; ++i) ids[i] = thread_start(submits_to_the_flood, &f);
                for (int i = 0; i < 3; ++i) thread_join(ids[i]);
                CHECK_RC(f.refusal, HC_OK);
                flood_check(&f);
                CHECK_EQ(f.all.dropped, 0);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* The same for a submit that a shutdown refuses: await knows of all that was accepted. */
static void a_shutdown_loses_nothing_of_a_scope(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (unsigned round = 0; round < 80 / CHECK_SLOWER; ++round) {
            hc_group *g = group_of_kind(kind, 2);
            flood f = {scope_in(g), {0}, 0, 0, INT32_MAX, g};
            pthread_t ids[4];
            for (int i = 0; i < 4; ++i) ids[i] = thread_start(submits_to_the_flood, &f);
            for (int i = 0; i < 4; ++i) thread_join(ids[i]);
            CHECK_RC(f.refusal, HC_ESHUTDOWN);
            CHECK_OK(hc_group_await(g, HC_NEVER));
            CHECK_EQ(f.all.ran + f.all.dropped, f.accepted);
            flood_check(&f);
            CHECK_OK(hc_group_destroy(g));
        }
}

int main(void) {
    check_deadline(60);
    RUN(a_scope_waits_for_all_of_its_tasks);
    RUN(wrong_arguments_are_refused);
    RUN(a_busy_scope_says_so);
    RUN(the_scope_may_go_when_wait_returns);
    RUN(a_scope_keeps_its_group);
    RUN(scopes_nest);
    RUN(a_task_may_add_to_its_scope);
    RUN(a_task_cannot_wait_for_its_scope);
    RUN(many_threads_share_a_scope);
    RUN(several_may_wait_for_one_scope);
    RUN(a_sleeping_waiter_runs_what_comes_later);
    RUN(a_cancelled_scope_hands_back_and_tells);
    RUN(cancel_races_with_the_tasks);
    RUN(a_full_queue_refuses);
    RUN(after_a_shutdown_the_waiter_runs_the_rest);
    RUN(a_task_may_open_a_scope_after_a_shutdown);
    RUN(a_shutdown_at_once_hands_back);
    RUN(scopes_race_with_a_shutdown);
    RUN(nor_from_further_inside);
    RUN(a_full_queue_loses_nothing_of_a_scope);
    RUN(a_shutdown_loses_nothing_of_a_scope);
    return 0;
}
