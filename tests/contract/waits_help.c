/* Guards against: a waiter that hangs where it could help, runs what it must not, or hides a running task from a drain. */
#include <errno.h>

#include "held.h"

static const uint64_t a_while = 20000000; /* ns */

/* ---- Who runs it ------------------------------------------------------------------------------------------------ */

typedef struct who {
    hc_group *g;
    hc_task *t; /* set before it can run */
    pthread_t thread;
    int32_t index;
    int ran;
} who;

static void note_who(void *arg) {
    who *w = arg;
    w->thread = pthread_self();
    w->index = hc_worker_index();
    CHECK(hc_group_current() == w->g);
    CHECK(hc_task_current() == w->t);
    w->ran += 1;
}

static void a_waiter_outside_runs_it_itself(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) {
            hc_group *g = group_of_kind(kind, worker_counts[i]);
            hold at;
            hold_all(g, &at, worker_counts[i]);
            for (int flags = 0; flags <= HC_WAIT_INTERRUPTIBLE; flags += HC_WAIT_INTERRUPTIBLE) {
                who w = {g, NULL, pthread_self(), 7, 0};
                w.t = held(g, note_who, &w);
                CHECK_OK(hc_task_wait(w.t, HC_NEVER, (uint32_t)flags, NULL));
                CHECK(pthread_equal(w.thread, pthread_self()));
                CHECK_EQ(w.index, -1);
                CHECK_EQ(w.ran, 1);
                hc_task_unref(w.t);
                CHECK(hc_group_current() == NULL && hc_task_current() == NULL && hc_task_label() == NULL);
            }
            hold_release(&at);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* A waiter that was no submitter, and never heard of the group. */
typedef struct stranger {
    hc_task *t;
    pthread_t thread;
} stranger;

static void *wait_as_stranger(void *arg) {
    stranger *s = arg;
    s->thread = pthread_self();
    CHECK_RC(outcome_of(s->t), HC_OK);
    return NULL;
}

static void so_does_a_thread_that_never_submitted(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    who w = {g, NULL, pthread_self(), 7, 0};
    w.t = held(g, note_who, &w);
    stranger s = {w.t, pthread_self()};
    thread_join(thread_start(wait_as_stranger, &s));
    CHECK(!pthread_equal(w.thread, pthread_self()));
    CHECK_EQ(w.ran, 1);
    hc_task_unref(w.t);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
}

static void worker_only_tasks_are_left_to_workers(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i)
            for (int continued = 0; continued < 2; ++continued) {
                hc_group *g = group_of_kind(kind, worker_counts[i]);
                hold at;
                hold_all(g, &at, worker_counts[i]);
                who w = {g, NULL, pthread_self(), 7, 0};
                hc_task_options options = options_of(note_who, &w);
                options.flags = HC_TASK_WORKER_ONLY;
                if (continued) {
                    ledger l = {0};
                    hc_task *first = held_to_the_end(g, &l);
                    w.t = then_with(first, &options);
                    CHECK_RC(hc_task_wait(w.t, a_while, 0, NULL), HC_ETIMEDOUT);
                    CHECK_EQ(l.ran, 1); /* what it waits for may run here */
                    hc_task_unref(first);
                    CHECK_EQ(l.result_dropped, 0); /* the entry of it is queued still */
                    hold_release(&at);
                    CHECK_OK(hc_task_wait(w.t, HC_NEVER, 0, NULL));
                    CHECK_OK(hc_group_drain(g, HC_NEVER));
                    UNTIL(l.result_dropped == 1);
                } else {
                    w.t = held_with(g, &options);
                    CHECK_RC(hc_task_wait(w.t, a_while, 0, NULL), HC_ETIMEDOUT);
                    hold_release(&at);
                    CHECK_OK(hc_task_wait(w.t, HC_NEVER, 0, NULL));
                }
                CHECK_EQ(w.ran, 1);
                CHECK(!pthread_equal(w.thread, pthread_self()));
                CHECK(w.index >= 0 && w.index < (int32_t)worker_counts[i]);
                hc_task_unref(w.t);
                CHECK_OK(hc_group_destroy(g));
            }
}

static void waits_for_worker_only(void *arg) {
    who *w = arg;
    hc_task_options options = options_of(ledger_run, &(ledger){0});
    options.flags = HC_TASK_WORKER_ONLY;
    hc_task *t = held_with(w->g, &options);
    CHECK_RC(end_of(t), HC_OK);
    w->ran += 1;
}

static void a_waiting_worker_runs_them(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        who w = {g, NULL, pthread_self(), 7, 0};
        CHECK_OK(hc_submit(g, waits_for_worker_only, &w));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(w.ran, 1);
    }
}

static void no_help_only_sleeps(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        gate_hold(g, &at);
        ledger l = {0};
        hc_task *t = held_ledger(g, &l);
        CHECK_RC(hc_task_wait(t, a_while, HC_WAIT_NO_HELP, NULL), HC_ETIMEDOUT);
        CHECK_EQ(l.ran, 0);
        hc_scope *s = NULL;
        CHECK_OK(hc_scope_create(g, &s));
        ledger m = {0};
        CHECK_OK(hc_scope_submit(s, ledger_run, &m, NULL));
        CHECK_RC(hc_scope_wait(s, a_while, HC_WAIT_NO_HELP, NULL), HC_ETIMEDOUT);
        CHECK_EQ(m.ran, 0);
        gate_open(&at);
        CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
        CHECK_OK(hc_scope_wait(s, HC_NEVER, HC_WAIT_NO_HELP, NULL));
        CHECK_EQ(l.ran + m.ran, 2);
        CHECK_OK(hc_scope_destroy(s));
        hc_task_unref(t);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Waits in tasks --------------------------------------------------------------------------------------------- */

typedef struct nesting {
    hc_group *g;
    int depth, reached;
} nesting;

static void waits_for_the_next(void *arg) {
    nesting *n = arg;
    n->reached += 1;
    if (--n->depth == 0) return;
    CHECK_RC(end_of(held(n->g, waits_for_the_next, n)), HC_OK);
}

static void waits_nest(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i)
            for (int depth = 8; depth <= 200; depth += 192) {
                hc_group *g = group_of_kind(kind, worker_counts[i]);
                nesting n = {g, depth, 0};
                hc_task *t = held(g, waits_for_the_next, &n);
                CHECK_OK(hc_task_wait(t, HC_NEVER, i % 2 == 0 ? HC_WAIT_NO_HELP : 0, NULL));
                CHECK_EQ(n.reached, depth);
                hc_task_unref(t);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* A tree: each task waits for several, in one order or the other. */
typedef struct tree {
    hc_group *g;
    int depth, leaves;
} tree;

static void grows(void *arg) {
    tree *t = arg;
    if (t->depth == 0) {
        t->leaves = 1;
        return;
    }
    tree parts[3];
    hc_task *tasks[3];
    for (int i = 0; i < 3; ++i) {
        parts[i] = (tree){t->g, t->depth - 1, 0};
        tasks[i] = held(t->g, grows, &parts[i]);
    }
    t->leaves = 0;
    for (int i = 0; i < 3; ++i) {
        int at = t->depth % 2 == 0 ? i : 2 - i;
        CHECK_RC(end_of(tasks[at]), HC_OK);
        t->leaves += parts[at].leaves;
    }
}

static void grow_a_tree(hc_group *g) {
    tree t = {g, 5, 0};
    CHECK_RC(end_of(held(g, grows, &t)), HC_OK);
    CHECK_EQ(t.leaves, 243);
}

static void trees_of_waits_end(void) { everywhere(grow_a_tree); }

/* ---- Help with anything ------------------------------------------------------------------------------------------ */

typedef struct promised {
    hc_group *g;
    hc_task *promise;
    int answer;
    uint32_t flags;
} promised;

static void completes(void *arg) {
    promised *p = arg;
    CHECK_OK(hc_task_complete(p->promise, HC_OK, NULL, NULL));
}

static void waits_for_a_promise(void *arg) {
    promised *p = arg;
    p->promise = promise_in(p->g);
    CHECK_OK(hc_submit(p->g, completes, p));
    int32_t outcome = 7;
    CHECK_OK(hc_task_wait(p->promise, HC_NEVER, HC_WAIT_HELP_ANY, &outcome));
    CHECK_RC(outcome, HC_OK);
    p->answer = 1;
    hc_task_unref(p->promise);
}

static void help_any_runs_strangers(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) {
            hc_group *g = group_of_kind(kind, worker_counts[i]);
            for (int round = 0; round < 20; ++round) {
                promised p = {g, NULL, 0, 0};
                hc_task *t = held(g, waits_for_a_promise, &p);
                CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
                CHECK_EQ(p.answer, 1);
                hc_task_unref(t);
            }
            CHECK_OK(hc_group_destroy(g));
        }
}

/* What is submitted while the helper sleeps already, by another thread. */
static void waits_for_the_promise(void *arg) {
    promised *p = arg;
    CHECK_OK(hc_task_wait(p->promise, HC_NEVER, HC_WAIT_HELP_ANY, NULL));
    p->answer = 1;
}

static void help_any_sees_what_comes_later(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        for (int round = 0; round < 10; ++round) {
            promised p = {g, promise_in(g), 0, 0};
            hc_task *t = held(g, waits_for_the_promise, &p);
            CHECK_RC(hc_task_wait(t, round % 2 == 0 ? 1000 : 5000000, HC_WAIT_NO_HELP, NULL), HC_ETIMEDOUT);
            CHECK_OK(hc_submit(g, completes, &p));
            CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
            CHECK_EQ(p.answer, 1);
            hc_task_unref(t);
            hc_task_unref(p.promise);
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Outside, with the workers blocked: the waiter is the only one left. */
static void help_any_works_outside(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) {
            hc_group *g = group_of_kind(kind, worker_counts[i]);
            hold at;
            hold_all(g, &at, worker_counts[i]);
            promised p = {g, promise_in(g), 0, 0};
            atomic_int ran = 0;
            for (int k = 0; k < 100; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
            CHECK_OK(hc_submit(g, completes, &p));
            CHECK_OK(hc_task_wait(p.promise, HC_NEVER, HC_WAIT_HELP_ANY, NULL));
            CHECK_EQ(ran, 100);
            hc_task_unref(p.promise);
            hold_release(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            hc_group_stats_data stats = stats_of(g);
            CHECK_EQ(stats.finished, stats.submitted);
            CHECK_EQ(stats.queued, 0);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- Signals ---------------------------------------------------------------------------------------------------- */

static atomic_int signals_seen;

static void on_signal(int number) {
    (void)number;
    atomic_fetch_add(&signals_seen, 1);
}

typedef struct interrupted {
    hc_task *t;
    hc_scope *s;
    uint32_t flags;
    atomic_int begun;
    atomic_int answer;
} interrupted;

static void *wait_interruptibly(void *arg) {
    interrupted *i = arg;
    i->begun = 1;
    int32_t outcome = 7;
    int rc = i->s != NULL ? hc_scope_wait(i->s, HC_NEVER, i->flags, &outcome)
                          : hc_task_wait(i->t, HC_NEVER, i->flags, &outcome);
    if (rc != HC_OK) CHECK_EQ(outcome, 7);
    i->answer = rc;
    return NULL;
}

static void interrupt_waits(int sa_flags) {
    hc_group *g = group_of(1);
    gate at = GATE;
    hc_scope *s = NULL;
    CHECK_OK(hc_scope_create(g, &s));
    CHECK_OK(hc_scope_submit(s, gate_task, &at, NULL));
    latch_wait(&at.inside);
    hc_task *promise = promise_in(g);
    for (int scope = 0; scope < 2; ++scope)
            for (uint32_t help = 0; help <= 2; ++help) {
                struct sigaction action = {0}, before;
                action.sa_handler = on_signal;
                action.sa_flags = sa_flags;
                CHECK_EQ(sigaction(SIGUSR1, &action, &before), 0);
                const uint32_t flags = help | HC_WAIT_INTERRUPTIBLE;
                interrupted i = {promise, scope ? s : NULL, flags, 0, 1};
                pthread_t thread = thread_start(wait_interruptibly, &i);
                UNTIL(i.begun == 1);
                while (i.answer == 1) { /* a signal that comes before it sleeps is not noticed: again */
                    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
                    usleep(100);
                }
                thread_join(thread);
                CHECK_RC(i.answer, HC_EINTR);
                /* Without the flag it sleeps on. */
                hc_task *other = promise_in(g);
                i = (interrupted){other, NULL, help, 0, 1};
                thread = thread_start(wait_interruptibly, &i);
                UNTIL(i.begun == 1);
                int seen = signals_seen;
                for (int k = 0; k < 20; ++k) {
                    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
                    usleep(100);
                }
                UNTIL(CHECK_TSAN || signals_seen > seen); /* the race detector may keep them until the wait ends */
                CHECK_EQ(i.answer, 1);
                CHECK_OK(hc_task_complete(other, HC_OK, NULL, NULL));
                thread_join(thread);
                CHECK_RC(i.answer, HC_OK);
                hc_task_unref(other);
                CHECK_EQ(sigaction(SIGUSR1, &before, NULL), 0);
            }
    gate_open(&at);
    CHECK_OK(hc_scope_wait(s, HC_NEVER, HC_WAIT_INTERRUPTIBLE, NULL));
    CHECK_OK(hc_scope_destroy(s));
    hc_task_unref(promise);
    CHECK_OK(hc_group_destroy(g));
}

static void a_signal_ends_an_interruptible_wait(void) { interrupt_waits(0); }
/* As signal() installs it, whatever that says of system calls. */
static void so_does_one_whose_handler_restarts(void) { interrupt_waits(SA_RESTART); }

/* ---- Waiting for oneself ---------------------------------------------------------------------------------------- */

typedef struct circle {
    hc_group *g;
    hc_task *outer;
    latch known;
    int levels;
    atomic_int answered;
} circle;

static void check_deadlock(hc_task *t) {
    const uint64_t timeouts[] = {1, 1000000, HC_NEVER};
    const uint32_t flags[] = {0, HC_WAIT_NO_HELP, HC_WAIT_HELP_ANY, HC_WAIT_INTERRUPTIBLE};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 4; ++k) CHECK_RC(hc_task_wait(t, timeouts[i], flags[k], NULL), HC_EDEADLK);
        CHECK_RC(hc_task_cancel_wait(t, timeouts[i]), HC_EDEADLK);
    }
}

static void asks_for_the_outer(void *arg) {
    circle *c = arg;
    check_deadlock(c->outer);
    check_deadlock(hc_task_current());
    if (c->levels-- > 0) CHECK_RC(end_of(held(c->g, asks_for_the_outer, c)), HC_OK);
    c->answered += 1;
}

static void begins_a_circle(void *arg) {
    circle *c = arg;
    latch_wait(&c->known);
    check_deadlock(c->outer);
    CHECK_RC(end_of(held(c->g, asks_for_the_outer, c)), HC_OK);
}

/* One worker, so that what is inside runs on the same thread. */
static void nobody_waits_for_itself(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int outside = 0; outside < 2; ++outside) {
            hc_group *g = group_of_kind(kind, 1);
            circle c = {g, NULL, LATCH(1), 5, 0};
            hold at;
            hold_all(g, &at, 1);
            c.outer = held(g, begins_a_circle, &c);
            latch_down(&c.known);
            if (!outside) hold_release(&at);
            CHECK_OK(hc_task_wait(c.outer, HC_NEVER, outside ? 0 : HC_WAIT_NO_HELP, NULL));
            if (outside) hold_release(&at);
            CHECK_EQ(c.answered, 6);
            CHECK_OK(hc_task_wait(c.outer, HC_NEVER, 0, NULL)); /* from outside there is nothing wrong */
            hc_task_unref(c.outer);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- Locks ------------------------------------------------------------------------------------------------------ */

typedef struct locking {
    hc_group *g;
    pthread_mutex_t mutex;
    atomic_int strangers, own;
} locking;

#define LOCKING(g) \
    { (g), PTHREAD_MUTEX_INITIALIZER, 0, 0 }

static void wants_the_lock(void *arg) {
    locking *l = arg;
    pthread_mutex_lock(&l->mutex);
    pthread_mutex_unlock(&l->mutex);
    l->strangers += 1;
}

static void needs_no_lock(void *arg) { ((locking *)arg)->own += 1; }

static void submit_strangers(locking *l) {
    for (int i = 0; i < 3; ++i) CHECK_OK(hc_submit(l->g, wants_the_lock, l));
    hc_task_unref(held(l->g, wants_the_lock, l));
}

static void waits_with_a_lock(void *arg) {
    locking *l = arg;
    pthread_mutex_lock(&l->mutex);
    submit_strangers(l);
    hc_task *t = held(l->g, needs_no_lock, l);
    submit_strangers(l);
    hc_task *after = then(t, needs_no_lock, l);
    CHECK_RC(end_of(after), HC_OK);
    CHECK_RC(end_of(t), HC_OK);
    CHECK_EQ(l->strangers, 0);
    pthread_mutex_unlock(&l->mutex);
}

static void waits_for_a_scope_with_a_lock(void *arg) {
    locking *l = arg;
    hc_scope *s = NULL, *other = NULL;
    CHECK_OK(hc_scope_create(l->g, &s));
    CHECK_OK(hc_scope_create(l->g, &other));
    pthread_mutex_lock(&l->mutex);
    submit_strangers(l);
    CHECK_OK(hc_scope_submit(other, wants_the_lock, l, NULL));
    for (int i = 0; i < 2; ++i) CHECK_OK(hc_scope_submit(s, needs_no_lock, l, NULL));
    submit_strangers(l);
    CHECK_OK(hc_scope_submit(other, wants_the_lock, l, NULL));
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
    CHECK_EQ(l->strangers, 0);
    pthread_mutex_unlock(&l->mutex);
    CHECK_OK(hc_scope_wait(other, HC_NEVER, 0, NULL));
    CHECK_OK(hc_scope_destroy(s));
    CHECK_OK(hc_scope_destroy(other));
}

static void locked_waits(uint32_t kind, uint32_t workers, hc_fn body, int strangers) {
    hc_group *g = group_of_kind(kind, workers);
    for (int outside = 0; outside < 2; ++outside)
        for (int round = 0; round < 20; ++round) {
            locking l = LOCKING(g);
            if (outside)
                body(&l);
            else
                CHECK_OK(hc_submit(g, body, &l));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(l.own, 2);
            CHECK_EQ(l.strangers, strangers);
        }
    CHECK_OK(hc_group_destroy(g));
}

static void a_waiter_may_hold_a_lock(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) {
            locked_waits(kind, worker_counts[i], waits_with_a_lock, 8);
            locked_waits(kind, worker_counts[i], waits_for_a_scope_with_a_lock, 10);
        }
}

/* ---- Drain ------------------------------------------------------------------------------------------------------ */

static void *wait_for_it(void *arg) {
    CHECK_RC(outcome_of(arg), HC_OK);
    return NULL;
}

static void *wait_for_scope(void *arg) {
    CHECK_OK(hc_scope_wait(arg, HC_NEVER, 0, NULL));
    return NULL;
}

/* A task that a waiter runs is running, though no worker does. */
static void drain_counts_what_waiters_run(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int scope = 0; scope < 2; ++scope) {
            hc_group *g = group_of_kind(kind, 2);
            hold at;
            hold_all(g, &at, 2);
            gate inside = GATE;
            hc_task *t = NULL;
            hc_scope *s = NULL;
            pthread_t waiter;
            if (scope) {
                CHECK_OK(hc_scope_create(g, &s));
                CHECK_OK(hc_scope_submit(s, gate_task, &inside, NULL));
                waiter = thread_start(wait_for_scope, s);
            } else {
                t = held(g, gate_task, &inside);
                waiter = thread_start(wait_for_it, t);
            }
            latch_wait(&inside.inside);
            hold_release(&at);
            UNTIL(stats_of(g).queued == 0 && stats_of(g).workers_parked == 2);
            for (int i = 0; i < 100; ++i) CHECK_RC(hc_group_drain(g, 0), HC_ETIMEDOUT);
            CHECK_RC(hc_group_drain(g, a_while), HC_ETIMEDOUT);
            gate_open(&inside);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            thread_join(waiter);
            hc_task_unref(t);
            if (scope) CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_destroy(g));
        }
}

/* The drain must come back, whoever ran what. */
static void drain_and_waiters_race(void) {
    for (uint32_t workers = 1; workers <= 2; ++workers) {
        hc_group *g = group_of(workers);
        for (unsigned round = 0; round < 6000 / CHECK_SLOWER; ++round) {
            ledger l = {0};
            hc_scope *s = NULL;
            hc_task *t = NULL;
            pthread_t waiter;
            if (round % 2 == 0) {
                t = held_to_the_end(g, &l);
                waiter = thread_start(wait_for_it, t);
            } else {
                CHECK_OK(hc_scope_create(g, &s));
                CHECK_OK(hc_scope_submit(s, ledger_run, &l, NULL));
                waiter = thread_start(wait_for_scope, s);
            }
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(l.ran, 1);
            thread_join(waiter);
            if (t != NULL) {
                hc_task_unref(t);
                UNTIL(l.result_dropped == 1);
            }
            if (s != NULL) CHECK_OK(hc_scope_destroy(s));
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Help with forks -------------------------------------------------------------------------------------------- */

typedef struct forking {
    hc_group *g;
    latch inside;
    pthread_t owner, thief;
    atomic_int ran;
} forking;

static void run_elsewhere(hc_worker *w, void *arg) {
    forking *f = arg;
    CHECK(w != NULL);
    f->thief = pthread_self();
    f->ran += 1;
}

/* Forks, and blocks until another has run it. */
static void forks_and_blocks(void *arg) {
    forking *f = arg;
    f->owner = pthread_self();
    hc_worker *w = hc_worker_self();
    hc_fork fork;
    hc_worker *in = hc_fork_push(w, &fork, run_elsewhere, f);
    latch_down(&f->inside);
    UNTIL(f->ran == 1);
    CHECK(hc_fork_join(in, &fork) == w);
    CHECK(!pthread_equal(f->owner, f->thief));
}

/* The only other thread is the one that waits. The worker has forked before, or not. */
static void forks_before(void *arg) {
    forking *f = arg;
    hc_worker *w = hc_worker_self();
    hc_fork fork;
    CHECK(hc_fork_join(hc_fork_push(w, &fork, run_elsewhere, f), &fork) == w);
}

static void wait_for_a_forking_task(bool first) {
    for (int round = 0; round < 30; ++round) {
        hc_group *g = group_of(1);
        forking f = {g, LATCH(1), pthread_self(), pthread_self(), 0};
        if (!first) CHECK_OK(hc_submit(g, forks_before, &f));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        f.ran = 0;
        hc_worker *w = NULL;
        CHECK_OK(hc_worker_enter(g, &w));
        hc_task *t = held(g, forks_and_blocks, &f);
        latch_wait(&f.inside);
        CHECK_RC(end_of(t), HC_OK);
        CHECK(pthread_equal(f.thief, pthread_self()));
        hc_worker_leave(w);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void a_waiter_runs_the_forks_of_its_task(void) { wait_for_a_forking_task(false); }
static void also_if_they_are_the_first_of_their_worker(void) { wait_for_a_forking_task(true); }

/* A task that its waiter runs is in a task as any other: it may fork. */
static void forks_inside(void *arg) {
    CHECK(hc_worker_self() != NULL);
    forks_before(arg);
}

static void a_task_that_its_waiter_runs_may_fork(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) {
            hc_group *g = group_of_kind(kind, worker_counts[i]);
            hold at;
            hold_all(g, &at, worker_counts[i]);
            forking f = {g, LATCH(1), pthread_self(), pthread_self(), 0};
            CHECK_RC(end_of(held(g, forks_inside, &f)), HC_OK);
            CHECK_EQ(f.ran, 1);
            CHECK(hc_worker_self() == NULL);
            hc_scope *s = NULL;
            CHECK_OK(hc_scope_create(g, &s));
            CHECK_OK(hc_scope_submit(s, forks_inside, &f, NULL));
            CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
            CHECK_OK(hc_scope_destroy(s));
            CHECK_EQ(f.ran, 2);
            hold_release(&at);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- Chains: what it waits for may be far away ------------------------------------------------------------------ */

typedef struct chained {
    hc_group *g;
    int length;
    atomic_int ran;
} chained;

static void waits_for_a_chain(void *arg) {
    chained *c = arg;
    hc_task *t = held(c->g, count_task, &c->ran);
    for (int i = 1; i < c->length; ++i) {
        hc_task *next = then(t, count_task, &c->ran);
        hc_task_unref(t);
        t = next;
    }
    CHECK_RC(end_of(t), HC_OK);
    CHECK_EQ(c->ran, c->length);
}

static void wait_for_a_chain(hc_group *g) {
    for (int length = 2; length <= 50; length += 16) {
        chained c = {g, length, 0};
        waits_for_a_chain(&c);
    }
}

static void a_chain_can_be_waited_for(void) { everywhere(wait_for_a_chain); }

static void a_chain_of_any_length_can_be_waited_for(void) {
    for (int length = 64; length <= 100000; length = length < 1000 ? length * 2 : length * 10) {
        hc_group *g = group_of(1);
        chained c = {g, length, 0};
        CHECK_OK(hc_submit(g, waits_for_a_chain, &c));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- A helper that always finds something must still look at the clock ------------------------------------------- */

typedef struct endless {
    hc_group *g;
    hc_task *promise;
    atomic_bool stop;
    atomic_int answer;
} endless;

static void submits_itself(void *arg) {
    endless *e = arg;
    if (!e->stop) CHECK_OK(hc_submit(e->g, submits_itself, e));
}

static void waits_a_while(void *arg) {
    endless *e = arg;
    e->answer = hc_task_wait(e->promise, a_while, HC_WAIT_HELP_ANY, NULL);
    e->stop = true;
}

static void help_any_keeps_its_timeout(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        endless e = {g, promise_in(g), false, 7};
        CHECK_OK(hc_submit(g, submits_itself, &e));
        CHECK_OK(hc_submit(g, waits_a_while, &e));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_RC(e.answer, HC_ETIMEDOUT);
        hc_task_unref(e.promise);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- What becomes queued while its waiter sleeps ------------------------------------------------------------------- */

/* Nothing depends on it: it makes it likely that the waiter is asleep already. */
static void time_to_fall_asleep(void) { usleep(1000); }

typedef struct sleeper {
    hc_group *g;
    hc_task *before, *t;
    gate at; /* of what comes before */
    latch waits;
    atomic_int ran;
    int32_t index;
} sleeper;

static void nothing(void *arg) { (void)arg; }

static void sleeps_for_it(void *arg) {
    sleeper *s = arg;
    latch_down(&s->waits);
    CHECK_RC(outcome_of(s->t), HC_OK);
    CHECK(s->ran >= 1);
}

static void comes_before(void *arg) {
    sleeper *s = arg;
    s->index = hc_worker_index();
    gate_task(&s->at);
}

/* The only worker sleeps for a continuation: the promise that queues it must wake it, for nobody else can run it. */
static void a_sleeping_worker_runs_what_a_promise_queues(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i)
            for (int round = 0; round < 6; ++round) {
                hc_group *g = group_of_kind(kind, worker_counts[i]);
                sleeper s = {g, promise_in(g), NULL, GATE, LATCH(1), 0, 7};
                s.t = then(s.before, count_task, &s.ran);
                CHECK_OK(hc_submit(g, sleeps_for_it, &s));
                latch_wait(&s.waits);
                if (round % 2 == 0) time_to_fall_asleep();
                CHECK_OK(hc_task_complete(s.before, HC_OK, NULL, NULL));
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                CHECK_EQ(s.ran, 1);
                hc_task_unref(s.before);
                hc_task_unref(s.t);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* Another worker queues it, and deals it to the one that sleeps for it. */
static void a_sleeping_worker_runs_what_it_is_dealt(void) {
    for (int dealt = 0; dealt < 4; ++dealt) /* to whom it is dealt is a matter of turns */
        for (int round = 0; round < 4; ++round) {
            hc_group *g = group_of_kind(HC_KIND_PINNED, 2);
            sleeper s = {g, NULL, NULL, GATE, LATCH(1), 0, 7};
            s.before = held(g, comes_before, &s);
            latch_wait(&s.at.inside);
            s.t = then(s.before, count_task, &s.ran);
            CHECK_OK(hc_submit_to(g, 1 - (uint32_t)s.index, sleeps_for_it, &s));
            latch_wait(&s.waits);
            for (int k = 0; k < dealt; ++k) CHECK_OK(hc_submit(g, nothing, NULL));
            if (round % 2 == 0) time_to_fall_asleep();
            gate_open(&s.at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(s.ran, 1);
            hc_task_unref(s.before);
            hc_task_unref(s.t);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* A waiter outside runs what comes before, and queues two: the only worker sleeps for one of them. */
static void a_sleeping_worker_runs_one_of_two_that_follow(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int round = 0; round < 12; ++round) {
            hc_group *g = group_of_kind(kind, 1);
            sleeper s = {g, NULL, NULL, GATE, LATCH(1), 0, 7};
            hold at;
            hold_all(g, &at, 1);
            CHECK_OK(hc_submit(g, sleeps_for_it, &s));
            s.before = held(g, comes_before, &s);
            hc_task *two[2];
            for (int k = 0; k < 2; ++k) two[k] = then(s.before, count_task, &s.ran);
            s.t = two[round % 2];
            pthread_t waiter = thread_start(wait_for_it, s.before);
            latch_wait(&s.at.inside);
            CHECK_EQ(s.index, -1);
            hold_release(&at);
            latch_wait(&s.waits);
            if (round % 4 < 2) time_to_fall_asleep();
            gate_open(&s.at);
            thread_join(waiter);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(s.ran, 2);
            for (int k = 0; k < 2; ++k) CHECK_RC(end_of(two[k]), HC_OK);
            hc_task_unref(s.before);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- Layers: the ways down are many, the looks are few -------------------------------------------------------------- */

enum { layer_width = 8, layer_count = 6 };

typedef struct layers {
    hc_group *g;
    hc_task *promises[layer_width], *all;
    atomic_int ran;
} layers;

static void build_layers(layers *l) {
    hc_task *now[layer_width];
    for (int i = 0; i < layer_width; ++i) now[i] = l->promises[i] = promise_in(l->g);
    for (int depth = 0;; ++depth) {
        CHECK_OK(hc_task_all(now, layer_width, &l->all));
        if (depth > 0)
            for (int i = 0; i < layer_width; ++i) hc_task_unref(now[i]);
        if (depth == layer_count) return;
        for (int i = 0; i < layer_width; ++i) now[i] = then(l->all, count_task, &l->ran);
        hc_task_unref(l->all);
    }
}

static void looks_for_work_in_layers(void *arg) {
    layers *l = arg;
    CHECK_RC(hc_task_wait(l->all, 1000000, 0, NULL), HC_ETIMEDOUT);
    CHECK_RC(hc_task_wait(l->all, 1000000, HC_WAIT_HELP_ANY, NULL), HC_ETIMEDOUT);
}

/* 8 to the power of 6 ways lead from the last to promises, and nothing is to be found at the end of any. */
static void a_wait_for_layers_keeps_its_timeout(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 2);
        layers l = {g, {NULL}, NULL, 0};
        build_layers(&l);
        looks_for_work_in_layers(&l);
        CHECK_OK(hc_submit(g, looks_for_work_in_layers, &l));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(l.ran, 0);
        for (int i = 0; i < layer_width; ++i) {
            CHECK_OK(hc_task_complete(l.promises[i], HC_OK, NULL, NULL));
            hc_task_unref(l.promises[i]);
        }
        CHECK_RC(end_of(l.all), HC_OK);
        CHECK_EQ(l.ran, layer_width * layer_count);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Worker-only, to whom anything may be given ---------------------------------------------------------------------- */

static void runs_on_a_worker(void *arg) {
    CHECK(hc_worker_index() >= 0);
    count_task(arg);
}

/* To help with anything is not to help with these: neither as what is waited for, nor as a stranger's. */
static void help_any_leaves_worker_only_tasks_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) {
            hc_group *g = group_of_kind(kind, worker_counts[i]);
            hold at;
            hold_all(g, &at, worker_counts[i]);
            atomic_int ran = 0;
            hc_task_options options = options_of(runs_on_a_worker, &ran);
            options.flags = HC_TASK_WORKER_ONLY;
            for (int k = 0; k < 3; ++k) hc_task_unref(held_with(g, &options));
            hc_task *t = held_with(g, &options), *promise = promise_in(g);
            CHECK_RC(hc_task_wait(t, 1000000, HC_WAIT_HELP_ANY, NULL), HC_ETIMEDOUT);
            CHECK_RC(hc_task_wait(promise, 1000000, HC_WAIT_HELP_ANY, NULL), HC_ETIMEDOUT);
            CHECK_EQ(ran, 0);
            hold_release(&at);
            CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_HELP_ANY, NULL));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(ran, 4);
            hc_task_unref(t);
            hc_task_unref(promise);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* A submitter that runs what finds no room queues these nevertheless. */
static void a_full_queue_takes_worker_only_tasks(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) {
            hc_group_options full = HC_GROUP_OPTIONS_INIT;
            full.kind = kind;
            full.max_workers = worker_counts[i];
            full.capacity = 1;
            full.full_policy = HC_FULL_RUN;
            hc_group *g = fixed_with(&full);
            atomic_int ran = 0, on_workers = 0;
            gate *gates = calloc(worker_counts[i], sizeof *gates);
            for (uint32_t k = 0; k < worker_counts[i]; ++k) { /* worker-only as well: no submitter can be held */
                gates[k] = (gate)GATE;
                hc_task_options options = options_of(gate_task, &gates[k]);
                options.flags = HC_TASK_WORKER_ONLY;
                hc_task_unref(held_with(g, &options));
                latch_wait(&gates[k].inside);
            }
            for (int k = 0; k < 3; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
            CHECK(ran >= 2); /* by this thread: there is room for one */
            hc_task_options options = options_of(runs_on_a_worker, &on_workers);
            options.flags = HC_TASK_WORKER_ONLY;
            for (int k = 0; k < 5; ++k) hc_task_unref(held_with(g, &options));
            hc_task *t = held_with(g, &options);
            CHECK_EQ(on_workers, 0);
            for (uint32_t k = 0; k < worker_counts[i]; ++k) gate_open(&gates[k]);
            CHECK_RC(end_of(t), HC_OK);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(on_workers, 6);
            CHECK_EQ(ran, 3);
            free(gates);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- Two groups on one stack ------------------------------------------------------------------------------------------ */

typedef struct across {
    hc_group *a, *b;
    hc_task *outer, *middle, *inner;
    pthread_t thread;
    int ran;
} across;

static void where_am_i(hc_group *g, hc_task *t) {
    CHECK(hc_group_current() == g);
    CHECK(hc_task_current() == t);
    CHECK_RC(hc_group_drain(g, 1000000), HC_EDEADLK);
}

static void across_inner(void *arg) { /* of a, in b's, in a's */
    across *c = arg;
    CHECK(pthread_equal(c->thread, pthread_self()));
    where_am_i(c->a, c->inner);
    c->ran += 1;
}

static void across_middle(void *arg) { /* of b, in a's */
    across *c = arg;
    CHECK(pthread_equal(c->thread, pthread_self()));
    where_am_i(c->b, c->middle);
    CHECK_EQ(hc_worker_index(), -1); /* no worker of that */
    CHECK_RC(outcome_of(c->inner), HC_OK);
    where_am_i(c->b, c->middle);
    c->ran += 1;
}

static void across_outer(void *arg) {
    across *c = arg;
    c->thread = pthread_self();
    where_am_i(c->a, c->outer);
    CHECK_EQ(hc_worker_index(), 0);
    CHECK_RC(outcome_of(c->middle), HC_OK);
    where_am_i(c->a, c->outer);
    CHECK_EQ(hc_worker_index(), 0);
    c->ran += 1;
}

/* The worker of one group runs a task of another, which waits for one of the first: each sees its own group. */
static void helped_tasks_see_their_own_group(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        across c = {group_of_kind(kind, 1), group_of_kind(kind, 1), NULL, NULL, NULL, pthread_self(), 0};
        hold at_a, at_b;
        hold_all(c.a, &at_a, 1);
        hold_all(c.b, &at_b, 1);
        c.outer = held(c.a, across_outer, &c);
        c.middle = held(c.b, across_middle, &c);
        c.inner = held(c.a, across_inner, &c);
        hold_release(&at_a);
        CHECK_OK(hc_task_wait(c.outer, HC_NEVER, HC_WAIT_NO_HELP, NULL));
        CHECK_EQ(c.ran, 3);
        hold_release(&at_b);
        hc_task_unref(c.outer);
        hc_task_unref(c.middle);
        hc_task_unref(c.inner);
        CHECK_OK(hc_group_destroy(c.a));
        CHECK_OK(hc_group_destroy(c.b));
    }
}

int main(void) {
    check_deadline(60);
    RUN(a_waiter_outside_runs_it_itself);
    RUN(so_does_a_thread_that_never_submitted);
    RUN(worker_only_tasks_are_left_to_workers);
    RUN(a_waiting_worker_runs_them);
    RUN(no_help_only_sleeps);
    RUN(waits_nest);
    RUN(trees_of_waits_end);
    RUN(help_any_runs_strangers);
    RUN(help_any_sees_what_comes_later);
    RUN(help_any_works_outside);
    RUN(a_signal_ends_an_interruptible_wait);
    RUN(a_waiter_may_hold_a_lock);
    RUN(drain_counts_what_waiters_run);
    RUN(drain_and_waiters_race);
    RUN(a_chain_can_be_waited_for);
    RUN(a_waiter_runs_the_forks_of_its_task);
    RUN(help_any_keeps_its_timeout);
    RUN(a_chain_of_any_length_can_be_waited_for);
    RUN(so_does_one_whose_handler_restarts);
    RUN(nobody_waits_for_itself);
    RUN(a_task_that_its_waiter_runs_may_fork);
    RUN(also_if_they_are_the_first_of_their_worker);
    RUN(a_sleeping_worker_runs_what_a_promise_queues);
    RUN(a_sleeping_worker_runs_what_it_is_dealt);
    RUN(a_sleeping_worker_runs_one_of_two_that_follow);
    RUN(a_wait_for_layers_keeps_its_timeout);
    RUN(help_any_leaves_worker_only_tasks_alone);
    RUN(a_full_queue_takes_worker_only_tasks);
    RUN(helped_tasks_see_their_own_group);
    return 0;
}
