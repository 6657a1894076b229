/* Guards against: a continuation that starts too early, twice or never, that takes stack for each link, or that is lost when
 * its group, or what it waits for, goes. */
#include "counting.h"
#include "held.h"

/* ---- Then -------------------------------------------------------------------------------------------------------- */

typedef struct step {
    int in, out; /* plainly: the order makes it visible */
} step;

static void first_step(void *arg) { ((step *)arg)->in = 1; }
static void second_step(void *arg) {
    step *s = arg;
    CHECK_EQ(s->in, 1);
    s->out = 2;
}

static void then_after_all_sorts(hc_group *g) {
    for (int i = 0; i < 30; ++i) {
        step s = {0, 0};
        hc_task *a = held(g, first_step, &s);
        if (i % 3 == 0) CHECK_RC(outcome_of(a), HC_OK); /* it has ended already; or runs; or waits */
        hc_task *b = then(a, second_step, &s);
        if (i % 2 == 0) hc_task_unref(a);
        CHECK_RC(outcome_of(b), HC_OK);
        CHECK_EQ(s.out, 2);
        if (i % 2 != 0) CHECK_RC(end_of(a), HC_OK);
        hc_task_unref(b);
    }
}

static void what_follows_starts_afterwards(void) { everywhere(then_after_all_sorts); }

static void fails(void *arg) { CHECK_OK(hc_task_fail(9, arg, NULL)); }

static void then_after_failures(hc_group *g) {
    ledger l = {0};
    hc_task *failed = held(g, fails, NULL), *promise = promise_in(g);
    hc_task *a = then_ledger(failed, &l), *b = then_ledger(promise, &l);
    CHECK_RC(end_of(a), HC_OK);
    CHECK_EQ(hc_task_cancel(promise), HC_REMOVED);
    CHECK_RC(end_of(b), HC_OK);
    a = then_ledger(failed, &l), b = then_ledger(promise, &l); /* both have ended by now */
    CHECK_RC(end_of(a), HC_OK);
    CHECK_RC(end_of(b), HC_OK);
    ledger_check(&l, 4, 0, 0);
    hc_task_unref(failed);
    hc_task_unref(promise);
}

static void however_it_ended(void) { everywhere(then_after_failures); }

/* While it runs, for certain. */
static void while_it_runs(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            gate at = GATE;
            ledger l = {0};
            hc_task *a = held(g, gate_task, &at);
            latch_wait(&at.inside);
            hc_task *b = then_ledger(a, &l);
            hc_task_options options = options_of(ledger_run, &l);
            CHECK_OK(hc_task_then(a, &options, NULL)); /* nobody wants its handle */
            CHECK_RC(hc_task_wait(b, 1000000, 0, NULL), HC_ETIMEDOUT);
            CHECK_EQ(l.ran, 0);
            gate_open(&at);
            CHECK_RC(end_of(b), HC_OK);
            CHECK_RC(end_of(a), HC_OK);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            ledger_check(&l, 2, 0, 0);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void wrong_arguments_are_refused(void) {
    hc_group *g = group_of(1);
    hc_task *promise = promise_in(g), *none = NULL, *out = promise;
    hc_task_options options = options_of(NULL, NULL);
    CHECK_RC(hc_task_then(promise, &options, &out), HC_EINVAL);
    CHECK(out == NULL);
    CHECK_RC(hc_task_then(promise, NULL, &out), HC_EINVAL);
    CHECK_RC(hc_task_all(NULL, 1, &out), HC_EINVAL);
    CHECK_RC(hc_task_all(&promise, 0, &out), HC_EINVAL);
    CHECK_RC(hc_task_all(&none, 1, &out), HC_EINVAL);
    CHECK_RC(hc_task_all(&promise, 1, NULL), HC_EINVAL);
    CHECK_RC(hc_task_any(NULL, 1, &out), HC_EINVAL);
    CHECK_RC(hc_task_any(&promise, 0, &out), HC_EINVAL);
    CHECK_RC(hc_task_any(&none, 1, &out), HC_EINVAL);
    CHECK_RC(hc_task_any(&promise, 1, NULL), HC_EINVAL);
    CHECK_RC(hc_task_promise(NULL, &out), HC_EINVAL);
    CHECK_RC(hc_task_promise(g, NULL), HC_EINVAL);
    CHECK_RC(hc_task_complete(NULL, HC_OK, NULL, NULL), HC_EINVAL);
    CHECK_RC(hc_task_complete(promise, 1, NULL, NULL), HC_EINVAL);
    CHECK(!has_ended(promise));
    hc_task_unref(promise);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Many --------------------------------------------------------------------------------------------------------- */

static int64_t chain_ran; /* plainly: one after the other */

static void link_runs(void *arg) {
    char here;
    char **top = arg;
    if (*top == NULL) *top = &here;
    ptrdiff_t deeper = *top - &here;
    CHECK(deeper < 8192 && deeper > -8192); /* no stack for each link */
    chain_ran += 1;
}

/* A chain behind a promise: when that is completed, all run. On a worker with the least of stacks. */
static void chain_of(int64_t length, bool cancelled, bool shut_down) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1;
    options.stack_size = 65536;
    hc_group *g = fixed_with(&options);
    char *top = NULL;
    chain_ran = 0;
    hc_task *promise = promise_in(g), *t = promise;
    hc_task_ref(promise);
    gate at = GATE;
    if (shut_down) {
        hc_task_unref(t);
        t = held(g, gate_task, &at);
        latch_wait(&at.inside);
    }
    for (int64_t i = 0; i < length; ++i) {
        hc_task *next = then(t, link_runs, &top);
        hc_task_unref(t);
        t = next;
    }
    if (shut_down) {
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        gate_open(&at);
    } else if (cancelled) {
        CHECK_EQ(hc_task_cancel(promise), HC_REMOVED);
    } else {
        CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
    }
    int32_t outcome = 7;
    CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, &outcome));
    CHECK_RC(outcome, HC_OK);
    CHECK_EQ(chain_ran, length);
    hc_task_unref(t);
    hc_task_unref(promise);
    CHECK_OK(hc_group_destroy(g));
}

static void a_chain_takes_constant_stack(void) {
    chain_of(1000000 / CHECK_SLOWER, false, false);
    chain_of(100000 / CHECK_SLOWER, true, false);
    chain_of(1000000 / CHECK_SLOWER, false, true); /* after a shutdown they are not queued one by one */
}

/* The same, all of it dropped: nothing runs, and yet the stack must do. */
static void count_drop(void *arg, int32_t why) {
    CHECK_RC(why, HC_ESHUTDOWN);
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void *drop_a_chain(void *arg) {
    (void)arg;
    hc_group *g = group_of(1);
    hc_task *promise = promise_in(g), *t = promise;
    hc_task_ref(promise);
    atomic_int dropped = 0;
    int length = (int)(300000 / CHECK_SLOWER);
    for (int i = 0; i < length; ++i) {
        hc_task_options options = options_of(count_task, &dropped);
        options.drop = count_drop;
        hc_task *next = then_with(t, &options);
        hc_task_unref(t);
        t = next;
    }
    CHECK_OK(hc_group_destroy(g));
    hc_task_unref(promise);
    CHECK_EQ(dropped, length);
    CHECK_RC(end_of(t), HC_ESHUTDOWN);
    return NULL;
}

static pthread_t thread_with_stack(size_t size, void *(*body)(void *), void *arg) {
    pthread_attr_t attr;
    pthread_t thread;
    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_setstacksize(&attr, size), 0);
    CHECK_EQ(pthread_create(&thread, &attr, body, arg), 0);
    pthread_attr_destroy(&attr);
    return thread;
}

static void a_dropped_chain_takes_constant_stack(void) {
    thread_join(thread_with_stack(262144, drop_a_chain, NULL));
}

static void fan_out(hc_group *g) {
    enum { many = 1000 };
    ledger l = {0};
    hc_task *promise = promise_in(g), **after = calloc(many, sizeof *after);
    for (int i = 0; i < many; ++i) after[i] = then_ledger(promise, &l);
    CHECK_EQ(l.ran, 0);
    CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
    hc_task_unref(promise);
    for (int i = 0; i < many; ++i) CHECK_RC(end_of(after[i]), HC_OK);
    ledger_check(&l, many, 0, 0);
    free(after);
}

static void a_thousand_may_follow_one(void) { everywhere(fan_out); }

/* Those who add continuations race with the end. */
static void adding_races_with_the_end(void) {
    hc_group *g = group_of(2);
    for (unsigned round = 0; round < 20000 / CHECK_SLOWER; ++round) {
        ledger l = {0};
        hc_task *a = held_ledger(g, &l);
        for (unsigned spin = round % 50 * 4; spin > 0; --spin) __asm__ volatile("" ::: "memory");
        hc_task *b = then_ledger(a, &l), *c = then_ledger(a, &l);
        CHECK_OK(hc_task_wait(c, HC_NEVER, HC_WAIT_NO_HELP, NULL));
        CHECK_OK(hc_task_wait(b, HC_NEVER, 0, NULL));
        ledger_check(&l, 3, 0, 0);
        hc_task_unref(a);
        hc_task_unref(b);
        hc_task_unref(c);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- All and any ------------------------------------------------------------------------------------------------- */

static void all_of_promises(hc_group *g) {
    for (size_t n = 1; n <= 40; n = n * 2 + 1) {
        hc_task *promises[100], *t = NULL;
        for (size_t i = 0; i < n; ++i) {
            promises[i] = promise_in(g);
            if (i % 5 == 4) CHECK_OK(hc_task_complete(promises[i], HC_OK, NULL, NULL)); /* before */
        }
        CHECK_OK(hc_task_all(promises, n, &t));
        for (size_t i = n; i-- > 0;) {
            CHECK(!has_ended(t));
            if (i % 5 != 4) CHECK_OK(hc_task_complete(promises[i], i % 3 == 2 ? -(int)i : HC_OK, NULL, NULL));
        }
        int32_t first = 0;
        for (size_t i = 0; first == 0 && i < n; ++i)
            if (i % 5 != 4 && i % 3 == 2) first = -(int)i;
        CHECK_EQ(outcome_of(t), first); /* the first in the array, not the first in time */
        hc_task *again = NULL;
        CHECK_OK(hc_task_all(promises, n, &again)); /* of what has ended */
        CHECK(has_ended(again));
        CHECK_EQ(end_of(again), first);
        for (size_t i = 0; i < n; ++i) hc_task_unref(promises[i]);
        CHECK_EQ(end_of(t), first);
    }
}

static void all_ends_with_the_last(void) { everywhere(all_of_promises); }

static void any_of_promises(hc_group *g) {
    for (size_t n = 1; n <= 40; n = n * 2 + 1)
        for (size_t winner = 0; winner < n; winner += n / 2 + 1)
            for (int failed = 0; failed < 2; ++failed) {
                hc_task *promises[100], *t = NULL;
                for (size_t i = 0; i < n; ++i) promises[i] = promise_in(g);
                CHECK_OK(hc_task_any(promises, n, &t));
                CHECK(!has_ended(t));
                CHECK_OK(hc_task_complete(promises[winner], failed ? -77 : HC_OK, NULL, NULL));
                CHECK_EQ(outcome_of(t), failed ? -77 : 0);
                void *won = NULL;
                if (!failed) {
                    CHECK_OK(hc_task_result(t, &won));
                    CHECK(won == promises[winner]);
                }
                hc_task *again = NULL;
                CHECK_OK(hc_task_any(promises, n, &again)); /* one has ended */
                CHECK_EQ(end_of(again), failed ? -77 : 0);
                for (size_t i = 0; i < n; ++i) hc_task_unref(promises[i]); /* the winner's last, but for t */
                if (!failed) {
                    int32_t outcome = 7;
                    CHECK_OK(hc_task_wait(won, 0, 0, &outcome));
                    CHECK_EQ(outcome, 0);
                    hc_task_ref(won); /* a borrowed handle can be kept */
                }
                hc_task_unref(t);
                if (!failed) {
                    CHECK_RC(outcome_of(won), HC_OK);
                    hc_task_unref(won);
                }
            }
}

static void any_ends_with_the_first(void) { everywhere(any_of_promises); }

/* Tasks of several groups, of each kind. */
static void groups_may_be_mixed(void) {
    for (int w = 0; w < n_worker_counts; ++w)
        for (int any = 0; any < 2; ++any)
            for (int round = 0; round < 20; ++round) {
                hc_group *groups[3];
                ledger l = {0};
                hc_task *tasks[9], *t = NULL;
                for (uint32_t i = 0; i < 3; ++i) groups[i] = group_of_kind(i, worker_counts[w]);
                for (int i = 0; i < 9; ++i) tasks[i] = held_ledger(groups[i % 3], &l);
                CHECK_OK(any ? hc_task_any(tasks, 9, &t) : hc_task_all(tasks, 9, &t));
                hc_task *after = then_ledger(t, &l);
                CHECK_OK(hc_task_wait(after, HC_NEVER, round % 2 == 0 ? HC_WAIT_NO_HELP : 0, NULL));
                CHECK(any ? l.ran >= 2 : l.ran == 10);
                for (int i = 0; i < 9; ++i) hc_task_unref(tasks[i]);
                for (int i = 2; i >= 0; --i) CHECK_OK(hc_group_destroy(groups[i]));
                CHECK_RC(end_of(t), HC_OK);
                CHECK_RC(end_of(after), HC_OK);
                ledger_check(&l, 10, 0, 0);
            }
}

/* They wait for tasks that nobody has begun, with the only worker waiting: it runs them. */
static void waits_for_several(hc_group *g) {
    for (int any = 0; any < 2; ++any) {
        ledger l = {0};
        hc_task *tasks[20], *t = NULL;
        for (int i = 0; i < 20; ++i) tasks[i] = held_ledger(g, &l);
        CHECK_OK(any ? hc_task_any(tasks, 20, &t) : hc_task_all(tasks, 20, &t));
        CHECK_RC(end_of(t), HC_OK);
        CHECK(any ? l.ran >= 1 : l.ran == 20);
        for (int i = 0; i < 20; ++i) CHECK_RC(end_of(tasks[i]), HC_OK);
        CHECK_EQ(l.ran, 20);
    }
}

static void who_waits_for_several_helps(void) { everywhere(waits_for_several); }

/* ---- Promises ---------------------------------------------------------------------------------------------------- */

typedef struct completing {
    hc_task *promise;
    pthread_barrier_t *start;
    ledger l;
    int rc;
} completing;

static void *complete_at_once(void *arg) {
    completing *c = arg;
    pthread_barrier_wait(c->start);
    c->rc = hc_task_complete(c->promise, HC_OK, &c->l, ledger_result_drop);
    hc_task_unref(c->promise);
    return NULL;
}

static void a_promise_is_kept_once(void) {
    hc_group *g = group_of(1);
    for (unsigned round = 0; round < 500; ++round) {
        pthread_barrier_t start;
        CHECK_EQ(pthread_barrier_init(&start, NULL, 2), 0);
        hc_task *promise = promise_in(g);
        completing both[2];
        pthread_t threads[2];
        for (int i = 0; i < 2; ++i) {
            both[i] = (completing){promise, &start, {0}, 7};
            hc_task_ref(promise);
            threads[i] = thread_start(complete_at_once, &both[i]);
        }
        CHECK_RC(outcome_of(promise), HC_OK);
        void *result = NULL;
        CHECK_OK(hc_task_result(promise, &result));
        for (int i = 0; i < 2; ++i) thread_join(threads[i]);
        CHECK_EQ((both[0].rc == HC_OK) + (both[1].rc == HC_OK), 1);
        CHECK_EQ((both[0].rc == HC_EBUSY) + (both[1].rc == HC_EBUSY), 1);
        int winner = both[0].rc == HC_OK ? 0 : 1;
        CHECK(result == &both[winner].l);
        CHECK_EQ(both[winner].l.result_dropped, 0);
        hc_task_unref(promise);
        CHECK_EQ(both[winner].l.result_dropped, 1);
        CHECK_EQ(both[1 - winner].l.result_dropped, 0); /* it stays the caller's */
        CHECK_EQ(pthread_barrier_destroy(&start), 0);
    }
    CHECK_OK(hc_group_destroy(g));
}

static void keep_a_promise(hc_group *g) {
    int here = 5;
    void *result = NULL;
    hc_task *promise = promise_in(g);
    CHECK_RC(hc_task_wait(promise, 1000, 0, NULL), HC_ETIMEDOUT);
    CHECK_RC(hc_task_result(promise, &result), HC_EBUSY);
    CHECK_OK(hc_task_complete(promise, HC_OK, &here, NULL));
    CHECK_RC(hc_task_complete(promise, HC_OK, NULL, NULL), HC_EBUSY);
    CHECK_RC(outcome_of(promise), HC_OK);
    CHECK_OK(hc_task_result(promise, &result));
    CHECK(result == &here);
    hc_task_unref(promise);
    const int32_t outcomes[] = {-1, -1234567, HC_EFAILED, HC_ETIMEDOUT, INT32_MIN};
    for (int i = 0; i < 5; ++i) {
        promise = promise_in(g);
        CHECK_OK(hc_task_complete(promise, outcomes[i], &here, NULL));
        CHECK_EQ(outcome_of(promise), outcomes[i]);
        int32_t code = 7;
        CHECK_OK(hc_task_error(promise, &code, NULL));
        CHECK_EQ(code, outcomes[i]);
        CHECK_RC(hc_task_result(promise, &result), HC_EFAILED);
        hc_task_unref(promise);
    }
    ledger l = {0};
    hc_task *t = held_ledger(g, &l);
    CHECK_RC(hc_task_complete(t, HC_OK, NULL, NULL), HC_EINVAL); /* not a promise */
    CHECK_RC(end_of(t), HC_OK);
}

static void a_promise_ends_as_it_is_told(void) { everywhere(keep_a_promise); }

static void break_a_promise(hc_group *g) {
    ledger l = {0};
    hc_task *promise = promise_in(g), *all = NULL, *any = NULL;
    CHECK_OK(hc_task_all(&promise, 1, &all));
    CHECK_OK(hc_task_any(&promise, 1, &any));
    hc_task *after = then_ledger(promise, &l);
    hc_task_ref(promise);
    hc_task_unref(promise);
    CHECK(!has_ended(all));
    hc_task_unref(promise); /* the last handle */
    CHECK(has_ended(all) && has_ended(any));
    CHECK_RC(end_of(all), HC_ECANCELED);
    CHECK_RC(end_of(any), HC_ECANCELED);
    CHECK_RC(end_of(after), HC_OK); /* it runs all the same */
    CHECK_EQ(l.ran, 1);
}

static void a_broken_promise_ends(void) { everywhere(break_a_promise); }

/* ---- Shutdown ---------------------------------------------------------------------------------------------------- */

static void what_follows_a_running_task_is_as_if_it_were_queued(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how)
            for (int w = 0; w < n_worker_counts; ++w) {
                hc_group *g = group_of_kind(kind, worker_counts[w]);
                gate at = GATE;
                ledger first = {0}, second = {0}, many = {0}, late = {0};
                hc_task *t = held(g, gate_task, &at);
                latch_wait(&at.inside);
                hc_task *a = then_to_the_end(t, &first), *b = then_to_the_end(a, &second);
                for (int i = 0; i < 20; ++i) hc_task_unref(then_ledger(t, &many));
                hc_task *promise = promise_in(g), *c = then_to_the_end(promise, &late);
                CHECK_OK(hc_group_shutdown(g, how));
                hc_task_options options = options_of_ledger(&late);
                CHECK_RC(hc_task_then(t, &options, NULL), HC_ESHUTDOWN);
                CHECK_RC(hc_group_await(g, 1000), HC_ETIMEDOUT);
                CHECK_EQ(first.ran, 0);
                gate_open(&at);
                CHECK_OK(hc_group_await(g, HC_NEVER)); /* it waits for them, but not for the promise */
                const int runs = how == HC_SHUTDOWN_DRAIN, drops = 1 - runs;
                ledger_check(&first, runs, drops, HC_ESHUTDOWN);
                ledger_check(&second, runs, drops, HC_ESHUTDOWN);
                ledger_check(&many, 20 * runs, 20 * drops, HC_ESHUTDOWN);
                ledger_check(&late, 0, 0, 0);
                CHECK_RC(end_of(a), runs ? HC_OK : HC_ESHUTDOWN);
                CHECK_RC(end_of(b), runs ? HC_OK : HC_ESHUTDOWN);
                CHECK_RC(end_of(t), HC_OK);
                CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
                ledger_check(&late, 0, 1, HC_ESHUTDOWN);
                CHECK_RC(end_of(c), HC_ESHUTDOWN);
                hc_task_unref(promise);
                CHECK_EQ(first.result_dropped + second.result_dropped + late.result_dropped, 3);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* Without a drop, the group's on_unrun is told, as long as the group lives. */
static void on_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    CHECK(fn == count_task && arg == user);
    CHECK_RC(why, HC_ESHUTDOWN);
    atomic_fetch_add((atomic_int *)user, 100);
}

static void the_group_is_told_of_what_did_not_follow(void) {
    atomic_int told = 0;
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1;
    options.user = &told;
    options.on_unrun = on_unrun;
    hc_group *g = fixed_with(&options);
    hc_task *promise = promise_in(g);
    hc_task *t = then(promise, count_task, &told);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
    CHECK_EQ(told, 100);
    CHECK_RC(end_of(t), HC_ESHUTDOWN);
    hc_task_unref(promise);
    CHECK_OK(hc_group_destroy(g));
}

/* The groups go while promises are kept elsewhere. */
typedef struct late {
    hc_task *promises[50];
} late;

static void *complete_late(void *arg) {
    late *l = arg;
    for (int i = 0; i < 50; ++i) {
        CHECK_OK(hc_task_complete(l->promises[i], HC_OK, NULL, NULL));
        hc_task_unref(l->promises[i]);
    }
    return NULL;
}

static void promises_race_with_the_end_of_the_group(void) {
    for (unsigned round = 0; round < 300 / CHECK_SLOWER; ++round) {
        static ledger all[50];
        memset(all, 0, sizeof all);
        late l;
        hc_group *g = group_of(2);
        for (int i = 0; i < 50; ++i) {
            l.promises[i] = promise_in(g);
            hc_task_unref(then_to_the_end(l.promises[i], &all[i]));
        }
        pthread_t thread = thread_start(complete_late, &l);
        for (unsigned k = 0; k < round % 7; ++k) sched_yield();
        CHECK_OK(hc_group_destroy(g));
        thread_join(thread);
        for (int i = 0; i < 50; ++i) {
            CHECK_EQ(all[i].ran + all[i].dropped, 1);
            if (all[i].dropped) CHECK_RC(all[i].why, HC_ESHUTDOWN);
            UNTIL(all[i].result_dropped == 1);
        }
    }
}

/* What follows a task that was handed back is handed back too: only the running ones have successors. */
static void what_follows_a_task_that_was_handed_back_is_too(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int stuck = 0; stuck < 2; ++stuck) {
            hc_group *g = group_of_kind(kind, 1);
            gate at = GATE;
            gate_hold(g, &at);
            ledger first = {0}, second = {0};
            hc_task *a = held_to_the_end(g, &first), *b = then_to_the_end(a, &second);
            CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
            if (stuck) CHECK_RC(hc_group_await(g, 1), HC_ETIMEDOUT);
            gate_open(&at);
            CHECK_OK(hc_group_await(g, HC_NEVER));
            ledger_check(&first, 0, 1, HC_ESHUTDOWN);
            ledger_check(&second, 0, 1, HC_ESHUTDOWN);
            CHECK_RC(end_of(a), HC_ESHUTDOWN);
            CHECK_RC(end_of(b), HC_ESHUTDOWN);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- Corners ------------------------------------------------------------------------------------------------------ */

/* The first of them ends while the others are still being looked at. */
static void any_races_with_its_inputs(void) {
    hc_group *g = group_of(2);
    for (unsigned round = 0; round < 30000 / CHECK_SLOWER; ++round) {
        enum { n = 8 };
        ledger l = {0};
        hc_task *tasks[n], *t = NULL;
        for (int i = 0; i < n; ++i) tasks[i] = held_ledger(g, &l);
        CHECK_OK(round % 3 == 0 ? hc_task_all(tasks, n, &t) : hc_task_any(tasks, n, &t));
        CHECK_RC(end_of(t), HC_OK);
        for (int i = 0; i < n; ++i) CHECK_RC(end_of(tasks[i]), HC_OK);
        CHECK_EQ(l.ran, n);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* A long chain of anys: each holds its winner. */
static void *chain_anys(void *arg) {
    (void)arg;
    hc_group *g = group_of(1);
    hc_task *promise = promise_in(g), *t = promise;
    hc_task_ref(promise);
    for (unsigned i = 0; i < 300000 / CHECK_SLOWER; ++i) {
        hc_task *next = NULL;
        CHECK_OK(i % 2 == 0 ? hc_task_any(&t, 1, &next) : hc_task_all(&t, 1, &next));
        hc_task_unref(t);
        t = next;
    }
    CHECK_OK(hc_task_complete(promise, -5, NULL, NULL));
    hc_task_unref(promise);
    CHECK_EQ(end_of(t), -5);
    promise = promise_in(g), t = promise;
    hc_task_ref(promise);
    for (unsigned i = 0; i < 300000 / CHECK_SLOWER; ++i) {
        hc_task *next = NULL;
        CHECK_OK(hc_task_any(&t, 1, &next));
        hc_task_unref(t);
        t = next;
    }
    CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
    hc_task_unref(promise);
    CHECK_EQ(end_of(t), HC_OK);
    CHECK_OK(hc_group_destroy(g));
    return NULL;
}

static void chains_of_anys_take_constant_stack(void) { thread_join(thread_with_stack(262144, chain_anys, NULL)); }

/* The same task several times: no reference is forgotten. */
static counting memory = COUNTING;

static void twice_the_same_alone(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    for (int any = 0; any < 2; ++any)
        for (int before = 0; before < 2; ++before) {
            hc_group *g = group_of(1);
            static ledger l;
            l = (ledger){0};
            hc_task *promise = promise_in(g), *tasks[3] = {promise, promise, promise}, *t = NULL;
            if (before) CHECK_OK(hc_task_complete(promise, HC_OK, &l, ledger_result_drop));
            CHECK_OK(any ? hc_task_any(tasks, 3, &t) : hc_task_all(tasks, 3, &t));
            if (!before) CHECK_OK(hc_task_complete(promise, HC_OK, &l, ledger_result_drop));
            CHECK_RC(end_of(t), HC_OK);
            CHECK_EQ(l.result_dropped, 0);
            hc_task_unref(promise);
            CHECK_EQ(l.result_dropped, 1);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void the_same_may_come_twice(void) {
    on_own_thread(twice_the_same_alone);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

/* A task that a waiter outside runs is still running, too. */
static void *wait_for_its_end(void *arg) {
    CHECK_RC(outcome_of(arg), HC_OK);
    return NULL;
}

static void so_is_what_follows_a_task_that_its_waiter_runs(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_worker_counts; ++w) {
            hc_group *g = group_of_kind(kind, worker_counts[w]);
            hold at;
            hold_all(g, &at, worker_counts[w]);
            gate inside = GATE;
            ledger first = {0}, second = {0};
            hc_task *t = held(g, gate_task, &inside), *a = then_ledger(t, &first), *b = then_ledger(t, &second);
            pthread_t waiter = thread_start(wait_for_its_end, t);
            latch_wait(&inside.inside);
            CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
            gate_open(&inside);
            thread_join(waiter);
            hold_release(&at);
            CHECK_OK(hc_group_await(g, HC_NEVER));
            ledger_check(&first, 1, 0, 0);
            ledger_check(&second, 1, 0, 0);
            CHECK_RC(end_of(a), HC_OK);
            CHECK_RC(end_of(b), HC_OK);
            hc_task_unref(t);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* An any that has ended leaves nothing behind in those that have not: a promise that is part of many. */
static void any_in_a_loop_alone(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    hc_group *g = group_of(1);
    hc_task *promise = promise_in(g);
    atomic_int ran = 0;
    int64_t before = 0;
    for (int i = 0; i < 2000; ++i) {
        if (i == 200) before = counting_read(&memory, &memory.blocks);
        hc_task *two[2] = {promise, held(g, count_task, &ran)}, *any = NULL;
        CHECK_OK(hc_task_any(two, 2, &any));
        CHECK_RC(end_of(any), HC_OK);
        hc_task_unref(two[1]);
        CHECK_OK(hc_group_drain(g, HC_NEVER)); /* the worker keeps up with what is left of those that ran here */
    }
    int64_t more = counting_read(&memory, &memory.blocks) - before;
    if (more > 4) fprintf(stderr, "%d blocks more\n", (int)more);
    CHECK(more <= 4);
    CHECK_EQ(ran, 2000);
    hc_task_unref(promise);
    CHECK_OK(hc_group_destroy(g));
}

static void an_ended_any_leaves_nothing_behind(void) {
    on_own_thread(any_in_a_loop_alone);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

int main(void) {
    check_deadline(60);
    RUN_FORKED(an_ended_any_leaves_nothing_behind);
    RUN_FORKED(the_same_may_come_twice); /* before there is any group */
    RUN(what_follows_starts_afterwards);
    RUN(however_it_ended);
    RUN(while_it_runs);
    RUN(wrong_arguments_are_refused);
    RUN(a_chain_takes_constant_stack);
    RUN(a_dropped_chain_takes_constant_stack);
    RUN(a_thousand_may_follow_one);
    RUN(adding_races_with_the_end);
    RUN(all_ends_with_the_last);
    RUN(any_ends_with_the_first);
    RUN(groups_may_be_mixed);
    RUN(who_waits_for_several_helps);
    RUN(a_promise_is_kept_once);
    RUN(a_promise_ends_as_it_is_told);
    RUN(a_broken_promise_ends);
    RUN(what_follows_a_running_task_is_as_if_it_were_queued);
    RUN(the_group_is_told_of_what_did_not_follow);
    RUN(promises_race_with_the_end_of_the_group);
    RUN(any_races_with_its_inputs);
    RUN(chains_of_anys_take_constant_stack);
    RUN(what_follows_a_task_that_was_handed_back_is_too);
    RUN(so_is_what_follows_a_task_that_its_waiter_runs);
    return 0;
}
