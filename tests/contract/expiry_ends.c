/* Guards against: a time in the queue that is over while the task is cancelled, its group paused, shut down, trimmed or let go; drops
 * on the library's thread that do what any drop may do, a fork(2) included; memory or threads that are not there. */
#include "held.h"

enum { us = 1000, ms = 1000000 };

static hc_task_options expiring(ledger *l, uint64_t ns) {
    hc_task_options options = options_of_ledger(l);
    options.queue_expiry = ns;
    return options;
}

static uint64_t next_random(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

static void spins(uint64_t ns) {
    const uint64_t until = hc_now() + ns;
    while (hc_now() < until) continue;
}

/* ---- Something else happens at that time ----------------------------------------------------------------------------- */

enum { at_once = 64 };
typedef struct many {
    ledger l[at_once], scoped[at_once];
    hc_task *held[at_once];
    hc_scope *s;
} many;

static void submit_many(hc_group *g, many *m) {
    memset(m, 0, sizeof *m);
    CHECK_OK(hc_scope_create(g, &m->s));
    for (int i = 0; i < at_once; ++i) {
        const hc_task_options options = expiring(&m->l[i], next_random() % (200 * us) + 1);
        CHECK_OK(hc_task_submit(g, &options, i % 3 == 0 ? NULL : &m->held[i]));
        CHECK_OK(hc_scope_submit(m->s, ledger_run, &m->scoped[i], ledger_drop));
    }
}

/* Each once, and only for such a reason. `why`: the other one that there may be. */
static void all_told_once(many *m, int32_t why) {
    CHECK_OK(hc_scope_wait(m->s, HC_NEVER, HC_WAIT_NO_HELP, NULL));
    for (int i = 0; i < 2 * at_once; ++i) {
        ledger *l = i < at_once ? &m->l[i] : &m->scoped[i - at_once];
        if (i < at_once && m->held[i] != NULL) {
            const int32_t outcome = end_of(m->held[i]);
            CHECK_RC(outcome, l->ran ? HC_OK : l->why);
        }
        CHECK_EQ(l->ran + l->dropped, 1);
        if (l->dropped) CHECK(l->why == HC_EEXPIRED || l->why == why);
    }
    CHECK_OK(hc_scope_destroy(m->s));
}

static hc_group *group_for_both(uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = workers;
    options.queue_expiry = 100 * us;
    return fixed_with(&options);
}

static void while_it_is_cancelled(void) {
    many m;
    for (int round = 0; round < 100; ++round) {
        hc_group *g = group_for_both(round % 2 == 0 ? 1 : 3);
        CHECK_OK(hc_group_pause(g));
        submit_many(g, &m);
        spins(next_random() % (200 * us));
        for (int i = 0; i < at_once; ++i)
            if (m.held[i] != NULL) {
                const int was = hc_task_cancel_wait(m.held[i], HC_NEVER);
                CHECK(was == HC_REMOVED || was == HC_DONE);
                CHECK_EQ(m.l[i].dropped, 1);
            }
        CHECK_OK(hc_scope_cancel(m.s));
        CHECK_OK(hc_group_resume(g));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        all_told_once(&m, HC_ECANCELED);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void while_it_is_shut_down(void) {
    many m;
    for (int round = 0; round < 120; ++round) {
        hc_group *g = group_for_both(round % 2 == 0 ? 1 : 3);
        if (round % 4 < 2) CHECK_OK(hc_group_pause(g));
        submit_many(g, &m);
        spins(next_random() % (200 * us));
        CHECK_OK(hc_group_shutdown(g, (uint32_t)round % 3));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        if (round % 8 < 4) all_told_once(&m, HC_ESHUTDOWN); /* also when the group is gone */
        CHECK_OK(hc_group_destroy(g));
        if (round % 8 >= 4) all_told_once(&m, HC_ESHUTDOWN);
    }
}

/* Nobody waits: whoever is last ends it, the library's thread perhaps. */
static void while_it_is_let_go(void) {
    static ledger l[200];
    memset(l, 0, sizeof l);
    for (int round = 0; round < 200; ++round) {
        hc_group *g = group_of(1);
        if (round % 2 == 0) CHECK_OK(hc_group_pause(g));
        const hc_task_options options = expiring(&l[round], next_random() % (100 * us) + 1);
        CHECK_OK(hc_task_submit(g, &options, NULL));
        spins(next_random() % (100 * us));
        hc_group_unref(g);
    }
    for (int round = 0; round < 200; ++round) UNTIL(l[round].ran + l[round].dropped == 1);
}

static void while_it_is_paused_and_trimmed(void) {
    many m;
    hc_group *g = group_for_both(2);
    uint64_t expired = 0;
    for (int round = 0; round < 100; ++round) {
        CHECK_OK(hc_group_pause(g));
        submit_many(g, &m);
        for (int i = 0; i < 5; ++i) {
            CHECK_OK(hc_group_trim(g));
            spins(next_random() % (100 * us));
        }
        if (round % 2 == 0) /* all of it comes back without a worker */
            for (int i = 0; i < at_once; ++i) UNTIL(m.l[i].dropped && m.scoped[i].dropped);
        CHECK_OK(hc_group_resume(g));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        for (int i = 0; i < at_once; ++i) expired += (uint64_t)(m.l[i].dropped + m.scoped[i].dropped);
        all_told_once(&m, HC_EEXPIRED);
        CHECK_EQ(stats_of(g).expired, expired);
        CHECK_OK(hc_group_trim(g));
    }
    CHECK_OK(hc_group_destroy(g));
}

/* A scope is let go as soon as it is idle, wherever its last task has ended, and whatever is still in the queue for it. */
static void while_its_scope_is_destroyed(void) {
    for (int w = 0; w < 2; ++w) {
        hc_group *g = group_for_both(w == 0 ? 1 : 3);
        for (int round = 0; round < 3000; ++round) {
            ledger l = {0};
            hc_scope *s;
            if (round % 3 == 0) CHECK_OK(hc_group_pause(g));
            CHECK_OK(hc_scope_create(g, &s));
            CHECK_OK(hc_scope_submit(s, ledger_run, &l, ledger_drop));
            if (round % 3 == 1) spins(next_random() % (200 * us));
            UNTIL(hc_scope_destroy(s) == HC_OK);
            CHECK_EQ(l.ran + l.dropped, 1);
            if (round % 3 == 0) CHECK_OK(hc_group_resume(g));
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Somebody begins to wait, or to follow, at that time. */
static void *waits_for_it(void *task) {
    int32_t outcome = 0;
    CHECK_OK(hc_task_wait(task, HC_NEVER, HC_WAIT_NO_HELP, &outcome));
    CHECK_RC(outcome, HC_EEXPIRED);
    return NULL;
}

static void while_others_begin_to_wait(void) {
    hc_group *g = group_of(1);
    CHECK_OK(hc_group_pause(g));
    for (int round = 0; round < 300; ++round) {
        ledger l = {0}, last = {0};
        const hc_task_options options = expiring(&l, 50 * us);
        hc_task *t = held_with(g, &options);
        pthread_t other = thread_start(waits_for_it, t);
        const hc_task_options then_options = expiring(&last, 1);
        hc_task *after = then_with(t, &then_options);
        waits_for_it(after);
        thread_join(other);
        hc_task_unref(after);
        CHECK_RC(end_of(t), HC_EEXPIRED);
        ledger_check(&l, 0, 1, HC_EEXPIRED);
        ledger_check(&last, 0, 1, HC_EEXPIRED);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- What a drop may do ---------------------------------------------------------------------------------------------- */

typedef struct doer {
    hc_group *g;
    int rounds;
    atomic_int done;
} doer;

static void must_not_run(void *arg) {
    (void)arg;
    CHECK(false);
}

static void submits_again(void *arg, int32_t why) {
    doer *d = arg;
    CHECK_RC(why, HC_EEXPIRED);
    CHECK(hc_group_current() == d->g);
    CHECK_EQ(hc_worker_index(), -1);
    CHECK_RC(hc_group_drain(d->g, HC_NEVER), HC_EDEADLK);
    CHECK_OK(hc_group_trim(d->g));
    if (--d->rounds > 0) {
        hc_task_options options = options_of(must_not_run, d);
        options.drop = submits_again;
        options.queue_expiry = 1;
        CHECK_OK(hc_task_submit(d->g, &options, NULL));
    } else {
        d->done = 1;
    }
}

static void a_drop_submits_and_trims(void) {
    doer d = {group_of(1), 200, 0};
    CHECK_OK(hc_group_pause(d.g));
    hc_task_options options = options_of(must_not_run, &d);
    options.drop = submits_again;
    options.queue_expiry = 1;
    CHECK_OK(hc_task_submit(d.g, &options, NULL));
    UNTIL(d.done);
    CHECK_EQ(stats_of(d.g).expired, 200);
    CHECK_OK(hc_group_destroy(d.g));
}

static void destroys(void *arg, int32_t why) {
    doer *d = arg;
    CHECK_RC(why, HC_EEXPIRED);
    CHECK_OK(hc_group_destroy(d->g)); /* the last reference: it does not wait */
    d->done = 1;
}

static void a_drop_destroys_its_group(void) {
    for (int round = 0; round < 100; ++round) {
        doer d = {group_of(1), 0, 0};
        CHECK_OK(hc_group_pause(d.g));
        hc_task_options options = options_of(must_not_run, &d);
        options.drop = destroys;
        hc_group_ref(d.g); /* ours, for the length of the call */
        options.queue_expiry = 100 * us;
        hc_task *t = NULL;
        CHECK_OK(hc_task_submit(d.g, &options, round % 2 == 0 ? NULL : &t));
        hc_group_unref(d.g);
        UNTIL(d.done);
        hc_task_unref(t);
    }
}

static void in_a_child(void) {
    if (!CHECK_CHILD_GOES_ON) return;
    ledger l = {0};
    hc_group *g = group_of(1);
    CHECK_OK(hc_group_pause(g));
    const hc_task_options options = expiring(&l, 1);
    CHECK_OK(hc_task_submit(g, &options, NULL));
    UNTIL(l.dropped);
    CHECK_OK(hc_group_destroy(g));
}

static bool in_the_child;
static void forks(void *arg, int32_t why) {
    doer *d = arg;
    CHECK(!in_the_child); /* what else has expired is the parent's to hand back */
    CHECK_RC(why, HC_EEXPIRED);
    CHECK_EQ(check_fork(in_a_child, 60), 0); /* a child that goes on, */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) { /* and one that comes back: its only thread is the library's, which ends */
        check_deadline(60);
        CHECK_RC(hc_group_drain(d->g, 0), HC_EFORKED);
        /* The one does not follow a fork of a process with threads; for the other, what is forgotten, not freed, is a leak. */
        if (CHECK_TSAN || CHECK_ASAN) _exit(0);
        in_the_child = true;
        return;
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    d->done += 1;
}

static void a_drop_forks(void) {
    doer d = {group_of(1), 0, 0};
    CHECK_OK(hc_group_pause(d.g));
    for (int i = 0; i < 6; ++i) {
        hc_task_options options = options_of(must_not_run, &d);
        options.drop = forks;
        options.queue_expiry = 1;
        hc_task *t = NULL;
        CHECK_OK(hc_task_submit(d.g, &options, i % 2 == 0 ? &t : NULL));
        if (t != NULL) waits_for_it(t);
        hc_task_unref(t);
        UNTIL(d.done == i + 1);
    }
    CHECK_OK(hc_group_destroy(d.g));
}

static void *submits_one_that_forks(void *arg) {
    doer *d = arg;
    hc_task_options options = options_of(must_not_run, d);
    options.drop = forks;
    options.queue_expiry = 30000000;
    CHECK_OK(hc_task_submit(d->g, &options, NULL));
    CHECK_OK(hc_task_submit(d->g, &options, NULL));
    return NULL;
}
static void a_drop_forks_and_more_have_expired(void) {
    doer d = {group_of(1), 0, 0};
    CHECK_OK(hc_group_pause(d.g));
    pthread_t other = thread_start(submits_one_that_forks, &d);
    submits_one_that_forks(&d);
    thread_join(other);
    UNTIL(d.done == 4);
    CHECK_OK(hc_group_destroy(d.g));
}

/* ---- What there is not ----------------------------------------------------------------------------------------------- */

static atomic_bool dry;
static void *alloc_or_not(size_t size, size_t align, void *user) {
    (void)user;
    void *p = NULL;
    return dry || posix_memalign(&p, align < sizeof p ? sizeof p : align, size) != 0 ? NULL : p;
}
static void free_it(void *p, size_t size, size_t align, void *user) {
    (void)size, (void)align, (void)user;
    free(p);
}

static void without_memory(void) {
    CHECK_OK(hc_allocator_set(alloc_or_not, free_it, NULL));
    hc_group *g = group_of(1);
    CHECK_OK(hc_group_pause(g));
    uint64_t accepted = 0;
    static ledger l[20000];
    for (int i = 0; i < 20000; ++i) { /* what is accepted comes back, the rest is refused */
        if (i == 100) dry = true;
        hc_task *t = NULL;
        const hc_task_options options = expiring(&l[i], 1 + next_random() % (2 * ms));
        const int rc = hc_task_submit(g, &options, i % 2 == 0 ? NULL : &t);
        if (rc != HC_OK) CHECK_RC(rc, HC_ENOMEM);
        CHECK_EQ(t != NULL, rc == HC_OK && i % 2 != 0);
        if (rc == HC_OK) {
            accepted++;
            UNTIL(i < 100 || l[i].dropped);
        }
        ledger_check(&l[i], 0, l[i].dropped, HC_EEXPIRED);
        hc_task_unref(t);
    }
    UNTIL(stats_of(g).expired == accepted);
    dry = false;
    CHECK_OK(hc_group_destroy(g));
    uint64_t dropped = 0;
    for (int i = 0; i < 20000; ++i) dropped += (uint64_t)l[i].dropped;
    CHECK_EQ(dropped, accepted);
}

int main(void) {
    check_deadline(100);
    RUN_FORKED(without_memory);
    RUN(while_it_is_cancelled);
    RUN(while_it_is_shut_down);
    RUN(while_it_is_let_go);
    RUN(while_it_is_paused_and_trimmed);
    RUN(while_its_scope_is_destroyed);
    RUN(while_others_begin_to_wait);
    RUN(a_drop_submits_and_trims);
    RUN(a_drop_destroys_its_group);
    RUN(a_drop_forks);
    RUN(a_drop_forks_and_more_have_expired);
    return 0;
}
