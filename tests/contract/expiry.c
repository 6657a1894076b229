/* Guards against: a task that runs though its time in the queue is over, or comes back early, twice or never; one that was refused
 * and comes back all the same; a count, an outcome and a drop that disagree; a queue that stays full of what has expired. What else
 * may happen at that time: expiry_ends.c. */
#include "timed.h"

static hc_task_options expiring(ledger *l, uint64_t ns) {
    hc_task_options options = options_of_ledger(l);
    options.queue_expiry = ns;
    return options;
}

static void note_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user;
    CHECK(fn == ledger_run);
    ledger_drop(arg, why);
}

static hc_group *group_that_expires(uint32_t kind, uint32_t workers, uint64_t ns) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.queue_expiry = ns;
    options.on_unrun = note_unrun;
    return fixed_with(&options);
}

static void hold_firmly(hc_group *g, hold *at, uint32_t workers) { /* whatever the group's expiry is */
    *at = (hold){LATCH(0), LATCH(1)};
    hc_task_options options = options_of(hold_task, at);
    options.queue_expiry = HC_NONE64;
    for (uint32_t i = 0; i < workers; ++i) {
        latch_reset(&at->inside, 1);
        CHECK_OK(hc_task_submit(g, &options, NULL));
        latch_wait(&at->inside);
    }
}

/* Reason and number, once it has come back. */
static void comes_back(ledger *l) {
    UNTIL(l->dropped);
    ledger_check(l, 0, 1, HC_EEXPIRED);
}

/* ---- In whatever way it came, all workers being stuck --------------------------------------------------------------- */

static void every_kind_of_task(uint32_t kind, uint32_t workers) {
    hc_group *g = group_that_expires(kind, workers, 1 * ms);
    hold at;
    hold_firmly(g, &at, workers);
    ledger l[9] = {{0}};
    int n = 0;
    const uint64_t begin = hc_now();
    CHECK_OK(hc_submit(g, ledger_run, &l[n])); /* the group's: bare, */
    comes_back(&l[n++]);
    CHECK(hc_now() - begin >= 1 * ms);
    const hc_call calls[] = {{ledger_run, &l[n]}, {ledger_run, &l[n + 1]}};
    size_t accepted;
    CHECK_OK(hc_submit_batch(g, calls, 2, &accepted)); /* in a batch, */
    CHECK_EQ(accepted, 2);
    comes_back(&l[n++]);
    comes_back(&l[n++]);
    CHECK_OK(hc_submit_timed(g, ledger_run, &l[n], HC_NEVER));
    comes_back(&l[n++]);
    if (kind == HC_KIND_PINNED)
        CHECK_OK(hc_submit_to(g, workers - 1, ledger_run, &l[n]));
    else
        CHECK_OK(hc_submit(g, ledger_run, &l[n]));
    comes_back(&l[n++]);
    hc_task *t = held_ledger(g, &l[n]); /* held, */
    CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
    ledger_check(&l[n++], 0, 1, HC_EEXPIRED);
    int32_t code;
    CHECK_OK(hc_task_error(t, &code, NULL));
    CHECK_RC(code, HC_EEXPIRED);
    CHECK_RC(hc_task_cancel(t), HC_DONE);
    hc_task *after = then_ledger(t, &l[n]); /* a continuation, from when it could have begun, */
    CHECK_OK(hc_task_wait(after, HC_NEVER, HC_WAIT_NO_HELP, NULL));
    CHECK_RC(end_of(after), HC_EEXPIRED);
    CHECK_RC(end_of(t), HC_EEXPIRED);
    ledger_check(&l[n++], 0, 1, HC_EEXPIRED);
    hc_scope *s;
    CHECK_OK(hc_scope_create(g, &s)); /* a scope's, */
    CHECK_OK(hc_scope_submit(s, ledger_run, &l[n], ledger_drop));
    int32_t failure;
    CHECK_OK(hc_scope_wait(s, HC_NEVER, HC_WAIT_NO_HELP, &failure));
    CHECK_RC(failure, HC_EEXPIRED);
    ledger_check(&l[n++], 0, 1, HC_EEXPIRED);
    CHECK_OK(hc_scope_destroy(s));
    hc_task_options own = expiring(&l[n], 1); /* and its own, detached, with a ticket */
    CHECK_OK(hc_task_submit(g, &own, NULL));
    comes_back(&l[n++]);
    CHECK_EQ(n, 9);
    CHECK_EQ(stats_of(g).expired, n);
    CHECK_EQ(stats_of(g).queued, n); /* until a worker comes across them */
    hold_release(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(stats_of(g).queued, 0);
    CHECK_EQ(stats_of(g).expired, n);
    for (int i = 0; i < n; ++i) ledger_check(&l[i], 0, 1, HC_EEXPIRED);
    CHECK_OK(hc_group_destroy(g));
}

static void every_kind_of_group(void) {
    for (uint32_t kind = 0; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_many_counts; ++w) every_kind_of_task(kind, many_counts[w]);
}

/* In a line, behind one that is stuck or one that has expired; before all others; in a scope. */
static void in_order_and_by_priority(void) {
    for (uint32_t kind = 0; kind <= HC_KIND_PINNED; ++kind)
        for (int w = 0; w < n_many_counts; ++w) {
            const uint32_t workers = many_counts[w];
            hc_group *g = group_that_expires(kind, workers, HC_NONE64);
            hold at;
            hold_firmly(g, &at, workers);
            hc_serial *serial;
            hc_scope *s;
            CHECK_OK(hc_serial_create(g, &serial));
            CHECK_OK(hc_scope_create(g, &s));
            enum { n = 5 };
            ledger l[n][3] = {{{0}}};
            hc_task *t = NULL;
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < 3; ++k) { /* detached, held, and one that stays */
                    hc_task_options options = expiring(&l[i][k], k < 2 ? 1 * ms : HC_NONE64);
                    if (i == 0) options.key = 7, options.key_mode = HC_KEY_PLAIN;
                    if (i == 1) options.key = 8, options.key_mode = HC_KEY_STICKY;
                    if (i == 2) options.serial = serial;
                    if (i == 3) options.priority = HC_PRIORITY_HIGH;
                    if (i == 4) options.scope = s;
                    CHECK_OK(hc_task_submit(g, &options, k == 1 && i < 4 ? &t : NULL));
                    if (k == 1 && i < 4) CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
                    if (k == 1 && i < 4) CHECK_RC(end_of(t), HC_EEXPIRED);
                    if (k < 2) comes_back(&l[i][k]);
                }
            CHECK_EQ(stats_of(g).expired, 2 * n);
            hold_release(&at);
            CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            for (int i = 0; i < n; ++i)
                for (int k = 0; k < 3; ++k) ledger_check(&l[i][k], k == 2, k < 2, HC_EEXPIRED);
            CHECK_OK(hc_scope_destroy(s));
            hc_serial_unref(serial);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void one_of_its_own_counts_before_the_groups(void) {
    hc_group *g = group_that_expires(0, 1, 1);
    hold at;
    hold_firmly(g, &at, 1);
    ledger l[5] = {{0}}, gone = {0};
    const uint64_t own[] = {HC_NONE64, HOUR, HC_NONE64 - 1};
    hc_task *held_one = NULL;
    for (int i = 0; i < 3; ++i) {
        const hc_task_options options = expiring(&l[i], own[i]);
        CHECK_OK(hc_task_submit(g, &options, i == 0 ? &held_one : NULL));
    }
    CHECK_OK(hc_submit(g, ledger_run, &gone));
    comes_back(&gone);
    CHECK_OK(hc_schedule(g, ledger_run, &l[3], 0)); /* timers have none: they are late, but fire */
    hc_timer *timer = timer_of(g, ledger_run, NULL, &l[4], 0);
    hold_release(&at);
    UNTIL(l[4].ran && l[3].ran);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    hc_timer_unref(timer);
    for (int i = 0; i < 5; ++i) ledger_check(&l[i], 1, 0, 0);
    CHECK_RC(end_of(held_one), HC_OK);
    CHECK_OK(hc_group_destroy(g));
}

static void a_timer_takes_none(void) {
    ledger l = {0};
    hc_group *g = group_of(1);
    hc_task_options task = expiring(&l, HOUR);
    const hc_timer_options once = timer_options_of(&task, HC_TIMER_ONCE, 0, 0);
    hc_timer *t;
    CHECK_RC(hc_timer_create(g, &once, &t), HC_EINVAL);
    CHECK(t == NULL);
    CHECK_OK(hc_group_destroy(g));
    ledger_check(&l, 0, 0, 0);
}

/* Workers hand back what they find too late, in the order in which it came. */
static void found_by_a_worker(void) {
    enum { n = 1000 };
    static ledger l[n];
    for (int w = 0; w < n_worker_counts; ++w) {
        memset(l, 0, sizeof l);
        hc_group *g = group_of(worker_counts[w]);
        hc_task *all[n] = {NULL};
        for (int i = 0; i < n; ++i) {
            const hc_task_options options = expiring(&l[i], (uint64_t)(i % 50 + 1) * us);
            CHECK_OK(hc_task_submit(g, &options, i % 2 == 0 ? &all[i] : NULL));
        }
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        uint64_t expired = 0;
        for (int i = 0; i < n; ++i) {
            CHECK_EQ(l[i].ran + l[i].dropped, 1);
            if (l[i].dropped) CHECK_RC(l[i].why, HC_EEXPIRED);
            expired += (uint64_t)l[i].dropped;
            if (all[i] != NULL) CHECK_RC(end_of(all[i]), l[i].dropped ? HC_EEXPIRED : HC_OK);
        }
        CHECK_EQ(stats_of(g).expired, expired);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Many ---------------------------------------------------------------------------------------------------------- */

static atomic_int many_dropped;
static void count_drop(void *arg, int32_t why) {
    CHECK_RC(why, HC_EEXPIRED);
    CHECK_EQ(((ledger *)arg)->dropped++, 0);
    many_dropped += 1;
}

static void many_at_once(void) {
    const int n = (int)(100000 / CHECK_SLOWER);
    ledger *l = calloc((size_t)n, sizeof *l);
    hc_task **all = calloc((size_t)n, sizeof *all);
    CHECK(l != NULL && all != NULL);
    for (int w = 0; w < 2; ++w) {
        const uint32_t workers = w == 0 ? 1 : 8;
        memset(l, 0, (size_t)n * sizeof *l);
        hc_group *g = group_of(workers);
        hold at;
        hold_all(g, &at, workers);
        many_dropped = 0;
        for (int i = 0; i < n; ++i) {
            hc_task_options options = expiring(&l[i], 20 * ms);
            options.drop = count_drop;
            CHECK_OK(hc_task_submit(g, &options, i % 2 == 0 ? &all[i] : NULL));
        }
        UNTIL(many_dropped == n);
        for (int i = 0; i < n; i += 2) CHECK_RC(end_of(all[i]), HC_EEXPIRED);
        hold_release(&at);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(many_dropped, n);
        for (int i = 0; i < n; ++i) CHECK_EQ(l[i].ran, 0);
    }
    free(all);
    free(l);
}

/* ---- Refused, or expired ------------------------------------------------------------------------------------------- */

typedef struct try {
    hc_group *g;
    hc_scope *s;
} try;

/* A time that is over before the submit returns. A result says whose the argument is: dropped, if it was accepted. */
static void tries_to_submit(const try *on, uint64_t *accepted, int *refusals) {
    static ledger l[3];
    memset(l, 0, sizeof l);
    hc_task *t = NULL;
    hc_task_options options = expiring(&l[0], 1);
    const int rc[] = {hc_task_submit(on->g, &options, &t),
                      (options.arg = &l[1], hc_task_submit(on->g, &options, NULL)),
                      hc_scope_submit(on->s, ledger_run, &l[2], ledger_drop)};
    CHECK_EQ(t != NULL, rc[0] == HC_OK);
    for (int i = 0; i < 3; ++i) {
        *refusals += rc[i] < 0;
        *accepted += rc[i] == HC_OK;
        if (rc[i] < 0) CHECK(rc[i] == HC_EFULL || rc[i] == HC_ESHUTDOWN);
        if (rc[i] == HC_OK) UNTIL(l[i].dropped);
        ledger_check(&l[i], 0, rc[i] == HC_OK, HC_EEXPIRED);
    }
    if (t != NULL) CHECK_RC(end_of(t), HC_EEXPIRED);
    CHECK_OK(hc_scope_wait(on->s, HC_NEVER, 0, NULL));
}

static void either_refused_or_expired(void) {
    for (uint32_t kind = 0; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 1;
        options.capacity = 2;
        options.queue_expiry = 1;
        try on = {fixed_with(&options), NULL};
        hold at;
        hold_firmly(on.g, &at, 1);
        CHECK_OK(hc_scope_create(on.g, &on.s));
        uint64_t accepted = 0;
        int refusals = 0;
        for (int i = 0; i < 500; ++i) tries_to_submit(&on, &accepted, &refusals);
        CHECK(refusals >= 500); /* what has expired still takes its room */
        hold_release(&at);
        while (accepted < 10) tries_to_submit(&on, &accepted, &refusals); /* the room comes back with the worker */
        refusals = 0;
        CHECK_OK(hc_group_shutdown(on.g, HC_SHUTDOWN_DRAIN));
        const uint64_t before = accepted;
        for (int i = 0; i < 200; ++i) tries_to_submit(&on, &accepted, &refusals);
        CHECK_EQ(accepted, before);
        CHECK_EQ(refusals, 600);
        CHECK_EQ(stats_of(on.g).expired, accepted);
        CHECK_OK(hc_scope_destroy(on.s));
        CHECK_OK(hc_group_destroy(on.g));
    }
}

static void counts_drop(void *told, int32_t why) {
    CHECK_RC(why, HC_EEXPIRED);
    count_task(told);
}

/* A record that expires while its submit finds the group closed was never accepted. */
static void none_is_accepted_after_a_shutdown(void) {
    for (unsigned round = 0; round < 120 / CHECK_SLOWER; ++round) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = round % 3;
        options.max_workers = 1;
        options.queue_expiry = 1;
        hc_group *g = fixed_with(&options);
        atomic_int told = 0;
        hc_task_options task = options_of(count_task, &told);
        task.drop = counts_drop;
        task.queue_expiry = 1;
        for (int i = 0; i < 200; ++i) CHECK_OK(hc_task_submit(g, &task, NULL)); /* the reaper has something to do */
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        for (int i = 0; i < 3000; ++i) {
            hc_task *t = NULL;
            CHECK_RC(hc_task_submit(g, &task, NULL), HC_ESHUTDOWN);
            CHECK_RC(hc_task_submit(g, &task, &t), HC_ESHUTDOWN);
        }
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(told, 200);
    }
}

int main(void) {
    check_deadline(100);
    RUN(every_kind_of_group);
    RUN(in_order_and_by_priority);
    RUN(one_of_its_own_counts_before_the_groups);
    RUN(a_timer_takes_none);
    RUN(found_by_a_worker);
    RUN(many_at_once);
    RUN(either_refused_or_expired);
    RUN(none_is_accepted_after_a_shutdown);
    return 0;
}
