/* Guards against: a limit that does not end the waits and sleeps of its task, or ends those of another; pieces of a range that run
 * past it; nested waits that lose count of their limits; a fork(2), and a thread, that it outlives. */
#include <poll.h>
#include <sys/socket.h>

#include "timed.h"

static hc_task_options limited_to(hc_fn fn, void *arg, uint64_t ns) {
    hc_task_options options = options_of(fn, arg);
    options.run_limit = ns;
    return options;
}

static void ends_late(hc_group *g, hc_fn fn, void *arg) {
    const hc_task_options options = limited_to(fn, arg, 2 * ms);
    CHECK_RC(end_of(held_with(g, &options)), HC_ELIMIT);
    hc_task_options ticket = options; /* the same for one that nobody holds */
    ticket.label = "detached";
    const uint64_t before = stats_of(g).overran;
    CHECK_OK(hc_task_submit(g, &ticket, NULL));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(stats_of(g).overran, before + 1);
}

/* ---- Sleeps and waits ---------------------------------------------------------------------------------------------- */

static void sleeps(void *arg) {
    (void)arg;
    CHECK_RC(hc_sleep(HC_NEVER), HC_ECANCELED);
    CHECK_RC(hc_sleep(0), HC_ECANCELED); /* and it stays so */
}

static void polls(void *arg) {
    struct pollfd one = {*(int *)arg, POLLIN, 0};
    CHECK_RC(hc_poll(&one, 1, HC_NEVER), HC_ECANCELED);
    CHECK_EQ(one.revents, 0);
    CHECK_RC(hc_poll(NULL, 0, HC_NEVER), HC_ECANCELED);
}

static void waits_for_a_task(void *promise) {
    CHECK_RC(hc_task_wait(promise, HC_NEVER, HC_WAIT_INTERRUPTIBLE, NULL), HC_ECANCELED);
    CHECK_RC(hc_task_wait(promise, HC_NEVER, HC_WAIT_INTERRUPTIBLE | HC_WAIT_NO_HELP, NULL), HC_ECANCELED);
    CHECK_RC(hc_task_wait(promise, HC_NEVER, HC_WAIT_INTERRUPTIBLE | HC_WAIT_HELP_ANY, NULL), HC_ECANCELED);
    CHECK_RC(hc_task_wait(promise, 1, 0, NULL), HC_ETIMEDOUT); /* others go on */
}

static void waits_for_a_scope(void *scope) {
    CHECK_RC(hc_scope_wait(scope, HC_NEVER, HC_WAIT_INTERRUPTIBLE | HC_WAIT_NO_HELP, NULL), HC_ECANCELED);
    CHECK_RC(hc_scope_wait(scope, 1, HC_WAIT_NO_HELP, NULL), HC_ETIMEDOUT);
}

static void a_limit_ends_them(void) {
    for (int w = 0; w < n_many_counts; ++w) {
        hc_group *g = group_of(many_counts[w]), *other = group_of(1);
        ends_late(g, sleeps, NULL);
        int pair[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        ends_late(g, polls, &pair[0]);
        hc_task *promise = promise_in(g);
        ends_late(g, waits_for_a_task, promise);
        CHECK_OK(hc_task_complete(promise, 0, NULL, NULL));
        hc_task_unref(promise);
        hc_scope *s;
        CHECK_OK(hc_scope_create(other, &s));
        gate at = GATE;
        CHECK_OK(hc_scope_submit(s, gate_task, &at, NULL));
        latch_wait(&at.inside);
        ends_late(g, waits_for_a_scope, s);
        gate_open(&at);
        CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(s));
        close(pair[0]);
        close(pair[1]);
        CHECK_OK(hc_group_destroy(g));
        CHECK_OK(hc_group_destroy(other));
    }
}

/* Many at once, each with its own time. */
static void many_sleep(void) {
    enum { n = 200 };
    hc_group *g = group_of(64);
    hc_task *all[n];
    for (int i = 0; i < n; ++i) {
        const hc_task_options options = limited_to(sleeps, NULL, (uint64_t)(i % 17 + 1) * 100 * us);
        all[i] = held_with(g, &options);
    }
    for (int i = 0; i < n; ++i) CHECK_RC(end_of(all[i]), HC_ELIMIT);
    CHECK_EQ(stats_of(g).overran, n);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Ranges and forks ---------------------------------------------------------------------------------------------- */

typedef struct pieces {
    hc_group *g;
    atomic_int ran;
} pieces;

static void slow_piece(void *arg, uint64_t begin, uint64_t end) {
    (void)begin, (void)end;
    ((pieces *)arg)->ran += 1;
    UNTIL(hc_task_cancelled());
}

static void ranges(void *arg) {
    pieces *p = arg;
    CHECK_RC(hc_group_for(p->g, 0, 1000, 1, slow_piece, p), HC_ECANCELED);
}

static void a_range_leaves_out_the_rest(void) {
    for (int w = 0; w < n_many_counts; ++w) {
        pieces p = {group_of(many_counts[w]), 0};
        for (uint64_t limit = 2 * ms; p.ran == 0; limit *= 2) { /* until it does not pass before the first */
            const hc_task_options options = limited_to(ranges, &p, limit);
            CHECK_RC(end_of(held_with(p.g, &options)), HC_ELIMIT);
        }
        CHECK(p.ran <= (int)many_counts[w] + 1); /* at most one on each, and one on who waits */
        CHECK_OK(hc_group_destroy(p.g));
    }
}

static void fork_sees_it(hc_worker *w, void *arg) {
    (void)w;
    UNTIL(hc_task_cancelled());
    *(atomic_int *)arg += 1;
}

static void forks(void *arg) {
    hc_worker *w = hc_worker_self();
    CHECK(w != NULL);
    hc_fork f;
    hc_worker *inner = hc_fork_push(w, &f, fork_sees_it, arg);
    UNTIL(hc_task_cancelled());
    hc_fork_join(inner, &f);
}

static void forks_belong_to_their_task(void) {
    for (int w = 0; w < n_worker_counts; ++w) {
        hc_group *g = group_of(worker_counts[w]);
        atomic_int ran = 0;
        const hc_task_options options = limited_to(forks, &ran, 1 * ms);
        CHECK_RC(end_of(held_with(g, &options)), HC_ELIMIT);
        CHECK_EQ(ran, 1);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- One on top of another ----------------------------------------------------------------------------------------- */

enum { deepest = 12, kept = 8 };
typedef struct nest {
    hc_group *g;
    int depth;
    atomic_int late;
} nest;

/* Each waits for one that runs on top of it; then it sees its own limit, if it is one of the eight outermost. */
static void nests(void *arg) {
    nest *n = arg;
    const int depth = n->depth++;
    if (depth + 1 < deepest) {
        const hc_task_options options = limited_to(nests, n, 1);
        const int32_t outcome = end_of(held_with(n->g, &options));
        CHECK_RC(outcome, depth + 1 < kept ? HC_ELIMIT : HC_OK);
    }
    if (depth < kept) {
        UNTIL(hc_task_cancelled());
        n->late += 1;
    } else {
        CHECK_EQ(hc_task_cancelled(), 0);
    }
}

static void the_eight_outermost_have_theirs(void) {
    nest n = {group_of(1), 0, 0}; /* its only worker: each is run by who waits for it */
    hc_task_options options = limited_to(nests, &n, 1);
    options.flags = HC_TASK_WORKER_ONLY;
    for (int round = 0; round < 50; ++round) {
        n.depth = 0;
        CHECK_RC(end_of(held_with(n.g, &options)), HC_ELIMIT);
    }
    CHECK_EQ(n.late, 50 * kept);
    CHECK_OK(hc_group_destroy(n.g));
}

/* The one that waits has a limit, what runs on top of it has none of its own. */
static void inner_is_calm(void *arg) {
    for (int i = 0; i < 100; ++i) CHECK_EQ(hc_task_cancelled(), 0);
    *(atomic_int *)arg += 1;
}

typedef struct outer {
    hc_group *g;
    atomic_int ran;
} outer;

static void waits_past_its_limit(void *arg) {
    outer *o = arg;
    UNTIL(hc_task_cancelled());
    for (int i = 0; i < 100; ++i) CHECK_RC(end_of(held(o->g, inner_is_calm, &o->ran)), HC_OK);
    CHECK_EQ(hc_task_cancelled(), 1);
}

static void a_limit_is_one_tasks(void) {
    for (int w = 0; w < n_worker_counts; ++w) {
        outer o = {group_of(worker_counts[w]), 0};
        const hc_task_options options = limited_to(waits_past_its_limit, &o, 1);
        CHECK_RC(end_of(held_with(o.g, &options)), HC_ELIMIT);
        CHECK_EQ(o.ran, 100);
        CHECK_OK(hc_group_destroy(o.g));
    }
}

/* On threads that come and go: a waiter's own thread runs it. */
static hc_group *of_waiters;
static void waiter_runs_it(void) {
    const hc_task_options options = limited_to(sleeps, NULL, 1);
    CHECK_RC(end_of(held_with(of_waiters, &options)), HC_ELIMIT);
}

static void threads_that_wait_have_limits_too(void) {
    of_waiters = group_of(1);
    hold at;
    hold_all(of_waiters, &at, 1);
    for (int i = 0; i < 200; ++i) on_own_thread(waiter_runs_it);
    hold_release(&at);
    CHECK_OK(hc_group_destroy(of_waiters));
}

/* ---- A child ------------------------------------------------------------------------------------------------------- */

static void child_has_limits(void) {
    if (!CHECK_CHILD_GOES_ON) return;
    hc_group *g = group_of(1);
    ends_late(g, sleeps, NULL);
    CHECK_OK(hc_group_destroy(g));
}

static void forks_past_its_limit(void *arg) {
    (void)arg;
    UNTIL(hc_task_cancelled());
    CHECK_EQ(check_fork(child_has_limits, 60), 0);
    CHECK_EQ(hc_task_cancelled(), 1);
}

static void a_child_begins_anew(void) {
    hc_group *g = group_of(1);
    ends_late(g, forks_past_its_limit, NULL);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(100);
    RUN(a_limit_ends_them);
    RUN(many_sleep);
    RUN(a_range_leaves_out_the_rest);
    RUN(forks_belong_to_their_task);
    RUN(the_eight_outermost_have_theirs);
    RUN(a_limit_is_one_tasks);
    RUN(threads_that_wait_have_limits_too);
    RUN(a_child_begins_anew);
    return 0;
}
