/* Guards against: a held task that runs twice or never, gives the wrong outcome or result, or is freed under a handle; a
 * wait that returns early, sleeps on, or blocks when it should only look. */
#include "held.h"

static void nothing(void *arg) { (void)arg; }

/* ---- Result and outcome ---------------------------------------------------------------------------------------- */

typedef struct square {
    int in, out; /* plainly: the wait makes it visible */
} square;

static void square_it(void *arg) {
    square *s = arg;
    s->out = s->in * s->in;
}

static void results_of_many(hc_group *g) {
    enum { many = 100 };
    square all[many];
    hc_task *tasks[many];
    for (int i = 0; i < many; ++i) {
        all[i] = (square){i, -1};
        hc_task_options options = options_of(square_it, &all[i]);
        options.result = &all[i].out;
        tasks[i] = held_with(g, &options);
    }
    for (int k = 0; k < many; ++k) {
        int i = k % 2 == 0 ? k : many - k; /* not in the order in which they were submitted */
        CHECK_RC(outcome_of(tasks[i]), HC_OK);
        void *result = NULL;
        CHECK_OK(hc_task_result(tasks[i], &result));
        CHECK(result == &all[i].out);
        CHECK_EQ(*(int *)result, i * i);
        int32_t code = 1;
        void *payload = all;
        CHECK_OK(hc_task_error(tasks[i], &code, &payload));
        CHECK_EQ(code, 0);
        CHECK(payload == NULL);
        CHECK_OK(hc_task_error(tasks[i], NULL, NULL));
    }
    for (int i = 0; i < many; ++i) hc_task_unref(tasks[i]);
}

static void a_held_task_has_a_result_and_an_outcome(void) { everywhere(results_of_many); }

static void wrong_arguments_are_refused(void) {
    hc_group *g = group_of(1);
    hc_task_options options = options_of(nothing, NULL);
    hc_task *t = (hc_task *)g;
    int32_t outcome = 7;
    void *p = g;
    CHECK_RC(hc_task_submit(NULL, &options, &t), HC_EINVAL);
    CHECK(t == NULL);
    CHECK_RC(hc_task_submit(g, NULL, &t), HC_EINVAL);
    options.result = g;
    CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL); /* a result without a handle */
    options.result = NULL;
    options.result_drop = nothing;
    CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
    options.result_drop = NULL;
    options.fn = NULL;
    CHECK_RC(hc_task_submit(g, &options, &t), HC_EINVAL);
    options.fn = nothing;
    options.flags = 4;
    CHECK_RC(hc_task_submit(g, &options, &t), HC_EINVAL);
    options.flags = 0;
    CHECK_RC(hc_task_wait(NULL, HC_NEVER, 0, &outcome), HC_EINVAL);
    CHECK_RC(hc_task_result(NULL, &p), HC_EINVAL);
    CHECK_RC(hc_task_error(NULL, NULL, NULL), HC_EINVAL);
    CHECK_RC(hc_task_cancel(NULL), HC_EINVAL);
    CHECK_RC(hc_task_cancel_wait(NULL, HC_NEVER), HC_EINVAL);
    CHECK_RC(hc_task_then(NULL, &options, &t), HC_EINVAL);
    hc_task_ref(NULL);
    hc_task_unref(NULL);
    t = held_with(g, &options);
    CHECK_RC(hc_task_wait(t, HC_NEVER, HC_WAIT_HELP_ANY | HC_WAIT_NO_HELP, &outcome), HC_EINVAL);
    CHECK_RC(hc_task_wait(t, HC_NEVER, 8, &outcome), HC_EINVAL);
    CHECK_RC(hc_task_result(t, NULL), HC_EINVAL);
    CHECK_EQ(outcome, 7);
    CHECK(p == g);
    CHECK_RC(end_of(t), HC_OK);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Looking and waiting --------------------------------------------------------------------------------------- */

static void look_while_it_is_queued_and_running(uint32_t kind) {
    hc_group *g = group_of_kind(kind, 1);
    gate before = GATE, at = GATE;
    gate_hold(g, &before);
    hc_task *t = held(g, gate_task, &at);
    for (int running = 0; running < 2; ++running) {
        int32_t outcome = 7;
        void *result = g;
        for (int i = 0; i < 1000; ++i) CHECK_RC(hc_task_wait(t, 0, 0, &outcome), HC_ETIMEDOUT);
        CHECK_RC(hc_task_wait(t, 0, HC_WAIT_HELP_ANY, &outcome), HC_ETIMEDOUT);
        CHECK_RC(hc_task_result(t, &result), HC_EBUSY);
        CHECK_RC(hc_task_error(t, &outcome, &result), HC_EBUSY);
        CHECK_EQ(outcome, 7);
        CHECK(result == g);
        const uint64_t timeouts[] = {1, 1000, 5000000};
        for (int i = 0; i < 3; ++i) {
            uint64_t begin = hc_now();
            CHECK_RC(hc_task_wait(t, timeouts[i], HC_WAIT_NO_HELP, &outcome), HC_ETIMEDOUT);
            CHECK(hc_now() - begin >= timeouts[i]); /* never early */
        }
        if (running) break;
        gate_open(&before);
        latch_wait(&at.inside);
    }
    gate_open(&at);
    CHECK_OK(hc_task_wait(t, HC_NEVER - 1, 0, NULL));
    CHECK_OK(hc_task_wait(t, 0, 0, NULL)); /* over is over */
    CHECK_OK(hc_task_wait(t, 0, HC_WAIT_NO_HELP, NULL));
    CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_HELP_ANY | HC_WAIT_INTERRUPTIBLE, NULL));
    hc_task_unref(t);
    CHECK_OK(hc_group_destroy(g));
}

static void a_timeout_of_nothing_only_looks(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) look_while_it_is_queued_and_running(kind);
}

typedef struct waiting {
    hc_task *t;
    uint32_t flags;
    int *plain;
    atomic_int *returned;
} waiting;

static void wait_and_see(void *arg) {
    waiting *w = arg;
    int32_t outcome = 7;
    CHECK_OK(hc_task_wait(w->t, HC_NEVER, w->flags, &outcome));
    CHECK_RC(outcome, HC_OK);
    CHECK_EQ(*w->plain, 42);
    atomic_fetch_add(w->returned, 1);
}

static void *wait_and_see_thread(void *arg) {
    wait_and_see(arg);
    return NULL;
}

typedef struct slow_write {
    gate at;
    int plain;
} slow_write;

static void write_slowly(void *arg) {
    slow_write *s = arg;
    gate_task(&s->at);
    s->plain = 42;
}

/* `waiters` threads and as many tasks on one handle; some help, some only sleep. */
static void waiters_on_one_handle(uint32_t kind, uint32_t workers, int waiters) {
    hc_group *g = group_of_kind(kind, workers);
    slow_write s = {GATE, 0};
    atomic_int returned = 0;
    hc_task *t = held(g, write_slowly, &s);
    waiting how[2] = {{t, 0, &s.plain, &returned}, {t, HC_WAIT_NO_HELP, &s.plain, &returned}};
    latch_wait(&s.at.inside);
    pthread_t threads[8];
    hc_task *tasks[8];
    for (int i = 0; i < waiters; ++i) {
        threads[i] = thread_start(wait_and_see_thread, &how[i % 2]);
        tasks[i] = held(g, wait_and_see, &how[i % 2]);
    }
    for (int i = 0; i < 50; ++i) sched_yield(); /* time to return too early, if they do */
    CHECK_EQ(returned, 0);
    gate_open(&s.at);
    for (int i = 0; i < waiters; ++i) {
        thread_join(threads[i]);
        CHECK_RC(end_of(tasks[i]), HC_OK);
    }
    CHECK_EQ(returned, 2 * waiters);
    hc_task_unref(t);
    CHECK_OK(hc_group_destroy(g));
}

static void many_may_wait_for_one_task(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            waiters_on_one_handle(kind, worker_counts[w], 2);
            waiters_on_one_handle(kind, worker_counts[w], 8);
        }
}

/* All begin to wait before it has begun: one of them runs it, once. */
typedef struct racing {
    hc_task *t;
    pthread_barrier_t *start;
} racing;

static void *wait_at_once(void *arg) {
    racing *r = arg;
    pthread_barrier_wait(r->start);
    CHECK_RC(outcome_of(r->t), HC_OK);
    hc_task_unref(r->t);
    return NULL;
}

static void waiters_and_workers_race_for_one_task(void) {
    hc_group *g = group_of(2);
    for (int round = 0; round < 300; ++round) {
        ledger l = {0};
        pthread_barrier_t start;
        CHECK_EQ(pthread_barrier_init(&start, NULL, 4), 0);
        hold at;
        hold_all(g, &at, 2);
        racing r = {held_to_the_end(g, &l), &start};
        pthread_t threads[3];
        for (int i = 0; i < 3; ++i) {
            hc_task_ref(r.t);
            threads[i] = thread_start(wait_at_once, &r);
        }
        pthread_barrier_wait(&start);
        hold_release(&at);
        for (int i = 0; i < 3; ++i) thread_join(threads[i]);
        ledger_check(&l, 1, 0, 0);
        hc_task_unref(r.t);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(l.result_dropped, 1);
        CHECK_EQ(pthread_barrier_destroy(&start), 0);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Who am I? -------------------------------------------------------------------------------------------------- */

typedef struct inner {
    hc_task *current;
    hc_group *group;
    char label[8];
    int cancelled;
} inner;

static void look_around(void *arg) {
    inner *i = arg;
    i->current = hc_task_current();
    i->group = hc_group_current();
    i->cancelled = hc_task_cancelled();
    snprintf(i->label, sizeof i->label, "%s", hc_task_label());
}

static void each_knows_itself(hc_group *g) {
    hc_task *outer = hc_task_current();
    const char *outer_label = hc_task_label();
    for (int i = 0; i < 10; ++i) {
        inner in = {NULL, NULL, "", 1};
        hc_task_options options = options_of(look_around, &in);
        options.label = "inner";
        hc_task *t = held_with(g, &options);
        CHECK_RC(outcome_of(t), HC_OK);
        CHECK(in.current == t && in.group == g && in.cancelled == 0);
        CHECK_STR(in.label, "inner");
        hc_task_unref(t);
    }
    CHECK(hc_task_current() == outer && hc_task_label() == outer_label); /* a task run in between has left no trace */
}

static void not_held(void *arg) {
    CHECK(hc_task_current() == NULL);
    CHECK_EQ(hc_task_cancelled(), 0);
    count_task(arg);
}

static void a_task_knows_its_handle(void) {
    CHECK(hc_task_current() == NULL);
    CHECK_EQ(hc_task_cancelled(), 0);
    everywhere(each_knows_itself);
    atomic_int ran = 0;
    hc_group *g = group_of(1);
    CHECK_OK(hc_submit(g, not_held, &ran));
    hc_task_options options = options_of(not_held, &ran);
    options.label = "detached";
    CHECK_OK(hc_task_submit(g, &options, NULL));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 2);
}

/* ---- Handles ---------------------------------------------------------------------------------------------------- */

static void unref_early(hc_group *g) {
    enum { many = 200 };
    static ledger all[many];
    memset(all, 0, sizeof all);
    for (int i = 0; i < many; ++i) {
        hc_task *t = held_ledger(g, &all[i]);
        if (i % 2 == 0) hc_task_ref(t), hc_task_unref(t);
        hc_task_unref(t); /* neither cancels nor waits */
    }
    if (hc_group_current() != NULL) return; /* a task cannot wait for what it has no handle of: the caller drains */
    for (int i = 0; i < many; ++i) UNTIL(all[i].ran == 1);
}

static void check_unref_early(uint32_t kind, uint32_t workers) {
    hc_group *g = group_of_kind(kind, workers);
    static ledger all[300];
    memset(all, 0, sizeof all);
    gate at = GATE;
    hc_task *running = held(g, gate_task, &at);
    latch_wait(&at.inside);
    hc_task_unref(running); /* while it runs */
    for (int i = 0; i < 300; ++i) hc_task_unref(held_to_the_end(g, &all[i]));
    gate_open(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    for (int i = 0; i < 300; ++i) {
        ledger_check(&all[i], 1, 0, 0);
        UNTIL(all[i].result_dropped != 0); /* the worker's own reference goes a moment later than its task ends */
        CHECK_EQ(all[i].result_dropped, 1);
    }
    CHECK_OK(hc_group_destroy(g));
}

static void a_task_needs_no_handle_to_run(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) check_unref_early(kind, worker_counts[w]);
    everywhere(unref_early);
}

/* The handle, and what the task works on, go the moment wait returns: the library must not look at either any more. */
static void drop_when_wait_returns(hc_group *g) {
    for (int i = 0; i < 300; ++i) {
        ledger *l = calloc(1, sizeof *l);
        hc_task_options options = options_of_ledger(l);
        hc_task *t = held_with(g, &options);
        CHECK_OK(hc_task_wait(t, HC_NEVER, i % 3 == 0 && hc_group_current() == NULL ? HC_WAIT_NO_HELP : 0, NULL));
        hc_task_unref(t);
        CHECK_EQ(l->ran, 1);
        free(l);
    }
}

static void the_last_handle_may_go_when_wait_returns(void) { everywhere(drop_when_wait_returns); }

static atomic_int freed;

static void free_it(void *p) {
    free(p);
    freed += 1;
}

/* result_drop is told when the last reference goes, whoever has it. */
static void results_are_freed(hc_group *g) {
    int before = freed;
    for (int i = 0; i < 300; ++i) {
        ledger *l = calloc(1, sizeof *l);
        hc_task_options options = options_of(ledger_run, l);
        options.result = l;
        options.result_drop = free_it;
        hc_task *t = held_with(g, &options);
        if (i % 3 != 0) CHECK_RC(outcome_of(t), HC_OK);
        if (i % 3 == 1) {
            void *result = NULL;
            CHECK_OK(hc_task_result(t, &result));
            CHECK_EQ(((ledger *)result)->ran, 1);
        }
        hc_task_unref(t);
    }
    if (hc_group_current() == NULL) UNTIL(freed == before + 300);
}

static void a_result_is_dropped_once(void) {
    freed = 0;
    everywhere(results_are_freed);
    CHECK_EQ(freed, 300 * 3 * 3 * n_worker_counts);
}

/* ---- Handles that outlive their group --------------------------------------------------------------------------- */

static void fails_once(void *arg) { CHECK_OK(hc_task_fail(5, arg, NULL)); }

static void ended_handles_answer(hc_task *t, int32_t wanted, void *result) {
    int32_t outcome = 7;
    void *p = NULL;
    CHECK_OK(hc_task_wait(t, 0, 0, &outcome));
    CHECK_RC(outcome, wanted);
    CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_HELP_ANY, &outcome));
    CHECK_RC(hc_task_result(t, &p), wanted == HC_OK ? HC_OK : HC_EFAILED);
    if (wanted == HC_OK) CHECK(p == result);
    CHECK_OK(hc_task_error(t, &outcome, &p));
    CHECK_EQ(outcome, wanted == HC_EFAILED ? 5 : wanted);
    CHECK_EQ(hc_task_cancel(t), HC_DONE);
    CHECK_EQ(hc_task_cancel_wait(t, HC_NEVER), HC_DONE);
    hc_task_options options = options_of(nothing, NULL);
    hc_task *out = t;
    CHECK_RC(hc_task_then(t, &options, &out), HC_ESHUTDOWN);
    CHECK(out == NULL);
    CHECK_RC(hc_task_then(t, &options, NULL), HC_ESHUTDOWN);
    CHECK_RC(hc_task_all(&t, 1, &out), HC_ESHUTDOWN);
    CHECK_RC(hc_task_any(&t, 1, &out), HC_ESHUTDOWN);
    CHECK(out == NULL);
    CHECK_RC(hc_task_complete(t, HC_OK, NULL, NULL), HC_EINVAL);
    hc_task_ref(t);
    hc_task_unref(t);
}

static void handles_outlive_their_group(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int later = 0; later < 2; ++later) {
            hc_group *g = group_of_kind(kind, 2);
            static ledger ok, cancelled, unrun, mine;
            ok = cancelled = unrun = mine = (ledger){0};
            hold at;
            hold_all(g, &at, 2);
            hc_task *t_ok = held_to_the_end(g, &ok), *t_failed = held(g, fails_once, NULL);
            hc_task *t_cancelled = held_to_the_end(g, &cancelled);
            CHECK_EQ(hc_task_cancel(t_cancelled), HC_REMOVED);
            hc_task *promise = promise_in(g), *waits = then_to_the_end(promise, &unrun);
            hold_release(&at);
            CHECK_OK(hc_group_destroy(g)); /* waits for no promise */
            ended_handles_answer(t_ok, HC_OK, &ok);
            ended_handles_answer(t_failed, HC_EFAILED, NULL);
            ended_handles_answer(t_cancelled, HC_ECANCELED, NULL);
            hc_task_unref(t_failed);
            hc_task_unref(t_cancelled);
            hc_task_unref(t_ok);
            CHECK_EQ(ok.result_dropped, 1);
            ledger_check(&ok, 1, 0, 0);
            ledger_check(&cancelled, 0, 1, HC_ECANCELED);

            int32_t outcome = 7;
            CHECK_RC(hc_task_wait(promise, 1000, 0, &outcome), HC_ETIMEDOUT);
            CHECK_RC(hc_task_wait(waits, 1000, 0, &outcome), HC_ETIMEDOUT);
            CHECK_EQ(unrun.dropped, 0);
            if (later) {
                CHECK_OK(hc_task_complete(promise, HC_OK, &mine, ledger_result_drop));
                CHECK_RC(outcome_of(promise), HC_OK);
            }
            hc_task_unref(promise); /* or this ends it */
            CHECK_EQ(mine.result_dropped, later);
            CHECK_OK(hc_task_wait(waits, 0, 0, &outcome));
            CHECK_RC(outcome, HC_ESHUTDOWN);
            ledger_check(&unrun, 0, 1, HC_ESHUTDOWN);
            hc_task_unref(waits);
            CHECK_EQ(unrun.result_dropped, 1);
        }
}

/* Threads that drop handles while the group goes. */
typedef struct holder {
    hc_task *tasks[100];
} holder;

static void *drop_handles(void *arg) {
    holder *h = arg;
    for (int i = 0; i < 100; ++i) hc_task_unref(h->tasks[i]);
    return NULL;
}

static void handles_go_while_the_group_does(void) {
    for (int round = 0; round < 100; ++round) {
        static ledger all[200];
        memset(all, 0, sizeof all);
        hc_group *g = group_of(2);
        holder holders[2];
        for (int i = 0; i < 200; ++i) holders[i % 2].tasks[i / 2] = held_to_the_end(g, &all[i]);
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) threads[i] = thread_start(drop_handles, &holders[i]);
        if (round % 2 == 0) CHECK_OK(hc_group_trim(g));
        CHECK_OK(hc_group_destroy(g));
        for (int i = 0; i < 2; ++i) thread_join(threads[i]);
        for (int i = 0; i < 200; ++i) {
            ledger_check(&all[i], 1, 0, 0);
            UNTIL(all[i].result_dropped == 1);
        }
    }
}

/* ---- Shutdown --------------------------------------------------------------------------------------------------- */

static void *wait_for_shutdown(void *arg) {
    int32_t outcome = 7;
    CHECK_OK(hc_task_wait(arg, HC_NEVER, HC_WAIT_NO_HELP, &outcome));
    CHECK_RC(outcome, HC_ESHUTDOWN);
    return NULL;
}

static void shutdown_hands_held_tasks_back(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int stuck = 0; stuck < 2; ++stuck) /* await hands back itself, or the worker does */
            for (uint32_t workers = 1; workers <= 2; ++workers) {
                enum { many = 50 };
                static ledger all[many];
                memset(all, 0, sizeof all);
                hc_group *g = group_of_kind(kind, workers);
                hold at;
                hold_all(g, &at, workers);
                hc_task *tasks[many];
                for (int i = 0; i < many; ++i) tasks[i] = held_to_the_end(g, &all[i]);
                pthread_t waiters[2];
                for (int i = 0; i < 2; ++i) waiters[i] = thread_start(wait_for_shutdown, tasks[many - 1 - i]);
                CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
                if (!stuck) hold_release(&at);
                if (stuck) CHECK_RC(hc_group_await(g, 1), HC_ETIMEDOUT);
                for (int i = 0; i < 2; ++i) thread_join(waiters[i]);
                if (stuck) hold_release(&at);
                CHECK_OK(hc_group_await(g, HC_NEVER));
                for (int i = 0; i < many; ++i) {
                    ledger_check(&all[i], 0, 1, HC_ESHUTDOWN);
                    CHECK_RC(outcome_of(tasks[i]), HC_ESHUTDOWN);
                    void *p = NULL;
                    CHECK_RC(hc_task_result(tasks[i], &p), HC_EFAILED);
                    CHECK_EQ(all[i].result_dropped, 0);
                    hc_task_unref(tasks[i]);
                    CHECK_EQ(all[i].result_dropped, 1); /* however it ended */
                }
                hc_task *t = NULL;
                hc_task_options options = options_of(nothing, NULL);
                CHECK_RC(hc_task_submit(g, &options, &t), HC_ESHUTDOWN);
                CHECK_RC(hc_task_promise(g, &t), HC_ESHUTDOWN);
                CHECK(t == NULL);
                CHECK_EQ(stats_of(g).unrun, many);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* A full queue refuses a held task as any other; a dead entry gives its room back when a worker meets it. */
static void a_full_queue_refuses_held_tasks(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 1;
        options.capacity = 10;
        hc_group *g = fixed_with(&options);
        for (int round = 0; round < 5; ++round) {
            static ledger all[11];
            memset(all, 0, sizeof all);
            hc_task *tasks[11];
            int taken = 0, rc;
            hold at;
            hold_all(g, &at, 1);
            hc_task_options task = HC_TASK_OPTIONS_INIT;
            for (;; ++taken) {
                CHECK(taken <= 10);
                task = options_to_the_end(&all[taken]);
                if ((rc = hc_task_submit(g, &task, &tasks[taken])) != HC_OK) break;
            }
            CHECK_RC(rc, HC_EFULL);
            CHECK(tasks[taken] == NULL);
            ledger_check(&all[taken], 0, 0, 0);
            CHECK_EQ(all[taken].result_dropped, 0); /* yours still */
            CHECK(taken >= 8);
            for (int i = 0; i < taken; ++i) CHECK_RC(end_of(tasks[i]), HC_OK); /* run by us */
            CHECK_RC(hc_group_drain(g, 0), HC_ETIMEDOUT);
            hold_release(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

/* After a shutdown at once a waiter that could have run the task hands it back. */
static void a_waiter_runs_nothing_after_a_shutdown_at_once(void) {
    const uint32_t flags[] = {0, HC_WAIT_NO_HELP, HC_WAIT_HELP_ANY};
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i)
            for (int k = 0; k < 3; ++k) {
                hc_group *g = group_of_kind(kind, worker_counts[i]);
                hold at;
                hold_all(g, &at, worker_counts[i]);
                ledger l = {0};
                hc_task *t = held_ledger(g, &l);
                CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
                int32_t outcome = HC_ESHUTDOWN;
                int rc = hc_task_wait(t, 1000000, flags[k], &outcome); /* it need not be the one that does it */
                if (rc != HC_OK) CHECK_RC(rc, HC_ETIMEDOUT);
                CHECK_RC(outcome, HC_ESHUTDOWN);
                CHECK_EQ(l.ran, 0);
                hold_release(&at);
                CHECK_OK(hc_group_await(g, HC_NEVER));
                ledger_check(&l, 0, 1, HC_ESHUTDOWN);
                CHECK_RC(end_of(t), HC_ESHUTDOWN);
                CHECK_OK(hc_group_destroy(g));
            }
}

int main(void) {
    check_deadline(60);
    RUN(a_held_task_has_a_result_and_an_outcome);
    RUN(wrong_arguments_are_refused);
    RUN(a_timeout_of_nothing_only_looks);
    RUN(many_may_wait_for_one_task);
    RUN(waiters_and_workers_race_for_one_task);
    RUN(a_task_knows_its_handle);
    RUN(a_task_needs_no_handle_to_run);
    RUN(the_last_handle_may_go_when_wait_returns);
    RUN(a_result_is_dropped_once);
    RUN(handles_outlive_their_group);
    RUN(handles_go_while_the_group_does);
    RUN(shutdown_hands_held_tasks_back);
    RUN(a_full_queue_refuses_held_tasks);
    RUN(a_waiter_runs_nothing_after_a_shutdown_at_once);
    return 0;
}
