/* Guards against: tasks of a serial that overlap, overtake or are lost; one that ends with its last handle though it has work; a wait that
 * runs a task out of its turn, or is never over; an order that continuations and scopes do not keep. */
#include "turns.h"

enum { n_tasks = 400 };

static void in_all_kinds(void (*body)(uint32_t kind, uint32_t workers)) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) body(kind, worker_counts[i]);
}

static hc_serial *serial_of(hc_group *g) {
    hc_serial *s = NULL;
    CHECK_OK(hc_serial_create(g, &s));
    CHECK(s != NULL);
    return s;
}

static hc_task_options options_in(hc_serial *s, hc_fn fn, void *arg) {
    hc_task_options options = options_of(fn, arg);
    options.serial = s;
    return options;
}

/* ---- Order ----------------------------------------------------------------------------------------------------------- */

typedef struct submitter {
    hc_group *g;
    hc_serial *serial;
    int number;
    track *on;
    turn *turns;
    atomic_int accepted;
} submitter;

static void *submits(void *arg) {
    submitter *s = arg;
    for (int i = 0; i < n_tasks; ++i) {
        s->turns[i] = (turn){s->on, s->number, i + 1};
        hc_task_options options = options_in(s->serial, take_turn, &s->turns[i]);
        hc_task *t = NULL;
        int rc;
        options.drop = turn_drop;
        switch (i % 3) {
            case 0: rc = hc_serial_submit(s->serial, take_turn, &s->turns[i], turn_drop); break;
            case 1: rc = hc_task_submit(s->g, &options, &t); break;
            default: rc = hc_task_submit(s->g, &options, NULL); break;
        }
        if (rc != HC_OK) {
            CHECK_RC(rc, HC_ESHUTDOWN);
            break;
        }
        hc_task_unref(t);
        ++s->accepted;
    }
    hc_serial_unref(s->serial);
    return NULL;
}

static void many(uint32_t kind, uint32_t workers, int how) {
    static turn turns[submitters][n_tasks];
    track t = {0};
    hc_group *g = group_of_kind(kind, workers);
    hc_serial *serial = serial_of(g);
    submitter all[submitters];
    pthread_t threads[submitters];
    for (int i = 0; i < submitters; ++i) {
        hc_serial_ref(serial);
        all[i] = (submitter){g, serial, i, &t, turns[i], 0};
        threads[i] = thread_start(submits, &all[i]);
    }
    hc_serial_unref(serial); /* the submitters have theirs, and then nobody */
    if (how >= 0) {
        UNTIL(all[0].accepted > n_tasks / 4);
        CHECK_OK(hc_group_shutdown(g, (uint32_t)how));
    }
    int accepted = 0;
    for (int i = 0; i < submitters; ++i) {
        thread_join(threads[i]);
        accepted += all[i].accepted;
    }
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(t.count + t.dropped, accepted);
    if (how != HC_SHUTDOWN_NOW) CHECK_EQ(t.dropped, 0);
    if (how < 0) CHECK_EQ(t.count, submitters * n_tasks);
}

static void keep_their_order(uint32_t kind, uint32_t workers) {
    for (int how = -1; how <= HC_SHUTDOWN_RUN_TIMERS; ++how) many(kind, workers, how);
}
static void tasks_keep_their_order(void) { in_all_kinds(keep_their_order); }

/* Handed back in order too, and after the one that was running. */
static void come_back(uint32_t kind, uint32_t workers) {
    turn turns[20];
    track t = {0};
    hc_group *g = group_of_kind(kind, workers);
    hc_serial *serial = serial_of(g);
    gate at = GATE;
    CHECK_OK(hc_serial_submit(serial, gate_task, &at, NULL));
    latch_wait(&at.inside);
    for (int i = 0; i < 20; ++i) {
        turns[i] = (turn){&t, 0, i + 1};
        CHECK_OK(hc_serial_submit(serial, take_turn, &turns[i], turn_drop_in_order));
    }
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_EQ(t.dropped, 0);
    gate_open(&at);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_EQ(t.dropped, 20);
    CHECK_RC(hc_serial_submit(serial, take_turn, &turns[0], NULL), HC_ESHUTDOWN);
    hc_serial_unref(serial);
    CHECK_OK(hc_group_destroy(g));
}
static void what_comes_back_comes_in_order(void) { in_all_kinds(come_back); }

static void many_serials(uint32_t kind, uint32_t workers) {
    enum { n = 100 };
    static track tracks[n];
    static turn turns[n][10];
    memset(tracks, 0, sizeof tracks);
    hc_serial *all[n];
    hc_group *g = group_of_kind(kind, workers);
    for (int k = 0; k < n; ++k) all[k] = serial_of(g);
    for (int i = 0; i < 10; ++i)
        for (int k = 0; k < n; ++k) {
            turns[k][i] = (turn){&tracks[k], 0, i + 1};
            CHECK_OK(hc_serial_submit(all[k], take_turn, &turns[k][i], NULL));
        }
    for (int k = 0; k < n; ++k) hc_serial_unref(all[k]); /* queued tasks still run */
    CHECK_OK(hc_group_destroy(g));
    for (int k = 0; k < n; ++k) CHECK_EQ(tracks[k].count, 10);
}
static void serials_are_many(void) { in_all_kinds(many_serials); }

/* ---- What is refused ------------------------------------------------------------------------------------------------- */

static void another_groups_is_refused(void) {
    hc_group *g = group_of(1), *other = group_of(1);
    hc_serial *serial = serial_of(g);
    hc_scope *scope;
    hc_task *t = NULL;
    CHECK_OK(hc_scope_create(g, &scope));
    hc_task_options options = options_in(serial, count_task, &scope);
    CHECK_RC(hc_task_submit(other, &options, &t), HC_EINVAL);
    CHECK(t == NULL);
    options.key = 1; /* without a mode, and beside a serial */
    CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
    options.key_mode = HC_KEY_PLAIN;
    CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
    options.serial = NULL;
    options.key_mode = HC_KEY_BOUND + 1;
    CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
    options.key_mode = HC_KEY_BOUND;
    CHECK_RC(hc_task_submit(g, &options, NULL), HC_ENOTSUP);
    options = options_of(count_task, &scope);
    options.scope = scope;
    CHECK_RC(hc_task_submit(other, &options, NULL), HC_EINVAL);
    CHECK_RC(hc_task_submit(g, &options, &t), HC_EINVAL); /* a scope's task has no handle */
    options.flags = HC_TASK_WORKER_ONLY;
    CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
    CHECK_OK(hc_task_promise(g, &t));
    options.flags = 0;
    CHECK_RC(hc_task_then(t, &options, NULL), HC_EINVAL);
    hc_task_unref(t);
    CHECK_OK(hc_scope_destroy(scope));
    hc_serial_unref(serial);
    CHECK_OK(hc_group_destroy(g));
    CHECK_OK(hc_group_destroy(other));
}

/* ---- Waits ----------------------------------------------------------------------------------------------------------- */

static void wait_out_of_turn(uint32_t kind, uint32_t workers) {
    turn turns[30];
    track t = {0};
    hc_task *tasks[30];
    hc_group *g = group_of_kind(kind, workers);
    hc_serial *serial = serial_of(g);
    gate at = GATE;
    CHECK_OK(hc_serial_submit(serial, gate_task, &at, NULL));
    latch_wait(&at.inside);
    for (int i = 0; i < 30; ++i) {
        turns[i] = (turn){&t, 0, i + 1};
        hc_task_options options = options_in(serial, take_turn, &turns[i]);
        tasks[i] = held_with(g, &options);
    }
    CHECK_RC(hc_task_wait(tasks[29], 1000000, 0, NULL), HC_ETIMEDOUT); /* it does not run it */
    CHECK_RC(hc_task_wait(tasks[29], 1000000, HC_WAIT_HELP_ANY, NULL), HC_ETIMEDOUT);
    CHECK_EQ(t.count, 0);
    gate_open(&at);
    for (int i = 30; i-- > 0;) {
        CHECK_OK(hc_task_wait(tasks[i], HC_NEVER, i % 2 ? 0 : HC_WAIT_HELP_ANY, NULL));
        hc_task_unref(tasks[i]);
    }
    hc_serial_unref(serial);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(t.count, 30);
}
static void a_wait_does_not_run_out_of_turn(void) { in_all_kinds(wait_out_of_turn); }

typedef struct later {
    gate at;
    hc_task *task;
    hc_scope *scope;
    atomic_int rc;
} later;

static void waits_for_later(void *arg) {
    later *l = arg;
    gate_task(&l->at);
    l->rc = l->task != NULL ? hc_task_wait(l->task, HC_NEVER, 0, NULL) : hc_scope_wait(l->scope, HC_NEVER, 0, NULL);
}

static void for_a_later_one(uint32_t kind, uint32_t workers) {
    for (int way = 0; way < 3; ++way) { /* a serial, a key, a scope's task of a serial */
        later l = {GATE, NULL, NULL, 1};
        atomic_int ran = 0;
        hc_group *g = group_of_kind(kind, workers);
        hc_serial *serial = serial_of(g);
        hc_task_options first = options_in(serial, waits_for_later, &l), second = options_in(serial, count_task, &ran);
        if (way == 1) {
            first.serial = second.serial = NULL;
            first.key = second.key = 9;
            first.key_mode = second.key_mode = HC_KEY_PLAIN;
        }
        CHECK_OK(hc_task_submit(g, &first, NULL));
        latch_wait(&l.at.inside);
        if (way == 2) {
            CHECK_OK(hc_scope_create(g, &l.scope));
            second.scope = l.scope;
            CHECK_OK(hc_task_submit(g, &second, NULL));
        } else {
            l.task = held_with(g, &second);
        }
        gate_open(&l.at);
        CHECK_OK(l.task != NULL ? hc_task_wait(l.task, HC_NEVER, 0, NULL) : hc_scope_wait(l.scope, HC_NEVER, 0, NULL));
        CHECK_RC(l.rc, HC_EDEADLK);
        hc_task_unref(l.task);
        CHECK_OK(hc_scope_destroy(l.scope));
        hc_serial_unref(serial);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, 1);
    }
}
static void to_wait_for_a_later_one_is_a_deadlock(void) { in_all_kinds(for_a_later_one); }

/* One worker, which waits inside of a task for one that has an order: another comes for it, or it lets anything run. */
typedef struct inner {
    hc_group *g;
    uint32_t flags;
    int in_scope;
    atomic_int ran;
} inner;

static void waits_inside(void *arg) {
    inner *in = arg;
    hc_task_options options = options_of(count_task, &in->ran);
    options.key = 3;
    options.key_mode = HC_KEY_PLAIN;
    if (in->in_scope) {
        hc_scope *s;
        CHECK_OK(hc_scope_create(in->g, &s));
        options.scope = s;
        for (int i = 0; i < 20; ++i) CHECK_OK(hc_task_submit(in->g, &options, NULL));
        CHECK_OK(hc_scope_wait(s, HC_NEVER, in->flags, NULL));
        CHECK_OK(hc_scope_destroy(s));
    } else {
        for (int i = 0; i < 19; ++i) CHECK_OK(hc_task_submit(in->g, &options, NULL));
        hc_task *t = held_with(in->g, &options);
        CHECK_OK(hc_task_wait(t, HC_NEVER, in->flags, NULL));
        hc_task_unref(t);
    }
    CHECK_EQ(in->ran, 20);
}

static void a_wait_inside_of_a_task_is_over(void) {
    for (int spare = 0; spare < 2; ++spare)
        for (int in_scope = 0; in_scope < 2; ++in_scope) {
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.max_workers = 1;
            options.spare_workers = spare ? 2 : HC_NONE32;
            hc_group *g = group_with(&options);
            inner in = {g, spare ? 0 : HC_WAIT_HELP_ANY, in_scope, 0};
            CHECK_OK(hc_submit(g, waits_inside, &in));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(in.ran, 20);
        }
}

/* ---- Scopes and continuations ---------------------------------------------------------------------------------------- */

static void in_scopes(uint32_t kind, uint32_t workers) {
    turn turns[60];
    track t = {0};
    hc_group *g = group_of_kind(kind, workers);
    hc_serial *serial = serial_of(g);
    hc_scope *scope;
    CHECK_OK(hc_scope_create(g, &scope));
    for (int round = 0; round < 2; ++round) { /* in the second they are cancelled */
        gate at = GATE;
        t.last[0] = 0;
        CHECK_OK(hc_serial_submit(serial, gate_task, &at, NULL));
        latch_wait(&at.inside);
        for (int i = 0; i < 60; ++i) {
            turns[i] = (turn){&t, 0, i + 1};
            hc_task_options options = options_in(i % 3 == 0 ? NULL : serial, i % 3 == 0 ? count_task : take_turn,
                                                 i % 3 == 0 ? (void *)&t.dropped : &turns[i]);
            options.scope = scope;
            options.drop = i % 3 == 0 ? NULL : turn_drop;
            if (i % 3 == 0 && round == 1) continue;
            CHECK_OK(hc_task_submit(g, &options, NULL));
        }
        if (round == 1) CHECK_OK(hc_scope_cancel(scope));
        CHECK_EQ(t.count, round == 0 ? 0 : 40);
        if (round == 1) CHECK_EQ(t.dropped, 20 + 40);
        if (round == 1) CHECK_OK(hc_scope_wait(scope, 0, 0, NULL));
        gate_open(&at);
        int32_t failure = 1;
        CHECK_OK(hc_scope_wait(scope, HC_NEVER, 0, &failure));
        CHECK_RC(failure, round == 0 ? HC_OK : HC_ECANCELED);
        CHECK_EQ(t.count, 40);
        CHECK_OK(hc_group_drain(g, HC_NEVER)); /* the gate's task may still look at it */
    }
    CHECK_OK(hc_scope_destroy(scope));
    hc_serial_unref(serial);
    CHECK_OK(hc_group_destroy(g));
}
static void a_scope_waits_for_those_that_have_an_order(void) { in_all_kinds(in_scopes); }

static void follow(uint32_t kind, uint32_t workers) {
    for (int shut = 0; shut < 2; ++shut) {
        enum { n = 200 };
        static turn turns[n];
        track t = {0};
        hc_task *before, *all[n];
        hc_group *g = group_of_kind(kind, workers);
        hc_serial *serial = serial_of(g);
        gate at = GATE;
        before = held(g, gate_task, &at);
        latch_wait(&at.inside);
        hc_task *last = before;
        for (int i = 0; i < n; ++i) { /* a chain, of one serial; and some that all follow the first */
            turns[i] = (turn){&t, i % 2, i + 1};
            hc_task_options options = options_in(serial, i % 2 ? count_task : take_turn, i % 2 ? (void *)&t.dropped : &turns[i]);
            CHECK_OK(hc_task_then(i % 2 ? before : last, &options, &all[i]));
            if (i % 2 == 0) last = all[i];
        }
        hc_serial_unref(serial);
        if (shut) CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        gate_open(&at);
        for (int i = n; i-- > 0;) {
            int32_t outcome = 1;
            CHECK_OK(hc_task_wait(all[i], HC_NEVER, 0, &outcome));
            CHECK_OK(outcome);
            hc_task_unref(all[i]);
        }
        hc_task_unref(before);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(t.count, n / 2);
        CHECK_EQ(t.dropped, n / 2);
    }
}
static void continuations_keep_the_order(void) { in_all_kinds(follow); }

/* What never becomes ready keeps nothing. */
static void an_unready_one_lets_go(void) {
    hc_group *g = group_of(1);
    hc_serial *serial = serial_of(g);
    hc_task *promise, *t;
    ledger l = {0};
    CHECK_OK(hc_task_promise(g, &promise));
    hc_task_options options = options_of_ledger(&l);
    options.serial = serial;
    CHECK_OK(hc_task_then(promise, &options, &t));
    CHECK_RC(hc_task_cancel(t), HC_REMOVED);
    hc_task_unref(t);
    CHECK_OK(hc_task_then(promise, &options, &t));
    hc_serial_unref(serial);
    CHECK_OK(hc_group_destroy(g));
    CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
    CHECK_EQ(l.dropped, 2);
    hc_task_unref(t);
    hc_task_unref(promise);
}

int main(void) {
    check_deadline(60);
    RUN(tasks_keep_their_order);
    RUN(what_comes_back_comes_in_order);
    RUN(serials_are_many);
    RUN(another_groups_is_refused);
    RUN(a_wait_does_not_run_out_of_turn);
    RUN(to_wait_for_a_later_one_is_a_deadlock);
    RUN(a_wait_inside_of_a_task_is_over);
    RUN(a_scope_waits_for_those_that_have_an_order);
    RUN(continuations_keep_the_order);
    RUN(an_unready_one_lets_go);
    return 0;
}
