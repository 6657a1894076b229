/* Guards against: a task that a shutdown loses, runs twice or holds hostage behind a stuck worker; a late submit that
 * is neither run nor refused. */
#include "check.h"

static atomic_int ran, handed_back;

static void run_task(void *arg) {
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

static void drop_task(void *arg, int32_t why) {
    (void)arg;
    CHECK_RC(why, HC_ESHUTDOWN);
    atomic_fetch_add(&handed_back, 1);
}

static void reset(void) {
    ran = 0;
    handed_back = 0;
}

static void submit_droppable(hc_group *g, int n) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = run_task;
    options.drop = drop_task;
    for (int i = 0; i < n; ++i) CHECK_OK(hc_task_submit(g, &options, NULL));
}

static void null_and_unknown_ways_are_refused(void) {
    CHECK_RC(hc_group_shutdown(NULL, HC_SHUTDOWN_DRAIN), HC_EINVAL);
    CHECK_RC(hc_group_shutdown(NULL, HC_SHUTDOWN_NOW), HC_EINVAL);
    CHECK_RC(hc_group_shutdown(NULL, HC_SHUTDOWN_RUN_TIMERS), HC_EINVAL);
    hc_group *g = group_of(1);
    CHECK_RC(hc_group_shutdown(g, 3), HC_EINVAL);
    CHECK_RC(hc_group_shutdown(g, HC_NONE32), HC_EINVAL);
    reset();
    CHECK_OK(hc_submit(g, run_task, NULL)); /* a refused shutdown is none */
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
}

static void every_submit_is_refused_after(uint32_t how) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        reset();
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        hc_group *g = fixed_with(&options);
        CHECK_OK(hc_group_shutdown(g, how));
        CHECK_RC(hc_submit(g, run_task, NULL), HC_ESHUTDOWN);
        const hc_call calls[3] = {{run_task, NULL}, {run_task, NULL}, {run_task, NULL}};
        size_t accepted = 99;
        CHECK_RC(hc_submit_batch(g, calls, 3, &accepted), HC_ESHUTDOWN);
        CHECK_EQ(accepted, 0);
        hc_task_options task = HC_TASK_OPTIONS_INIT;
        task.fn = run_task;
        task.drop = drop_task;
        CHECK_RC(hc_task_submit(g, &task, NULL), HC_ESHUTDOWN);
        if (kind == HC_KIND_PINNED) CHECK_RC(hc_submit_to(g, 1, run_task, NULL), HC_ESHUTDOWN);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran + handed_back, 0);
    }
}

static void no_submit_enters_after_a_shutdown(void) {
    every_submit_is_refused_after(HC_SHUTDOWN_DRAIN);
    every_submit_is_refused_after(HC_SHUTDOWN_NOW);
    every_submit_is_refused_after(HC_SHUTDOWN_RUN_TIMERS);
}

/* A task that is already inside is no exception. */
static void submits_while_shut(void *arg) {
    gate_task(arg);
    hc_group *g = hc_group_current();
    CHECK_RC(hc_submit(g, run_task, NULL), HC_ESHUTDOWN);
    const hc_call call = {run_task, NULL};
    size_t accepted = 99;
    CHECK_RC(hc_submit_batch(g, &call, 1, &accepted), HC_ESHUTDOWN);
    CHECK_EQ(accepted, 0);
}

static void no_submit_of_a_task_enters_after_a_shutdown(void) {
    reset();
    hc_group *g = group_of(1);
    gate at = GATE;
    CHECK_OK(hc_submit(g, submits_while_shut, &at));
    latch_wait(&at.inside);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN)); /* returns at once, the task is still inside */
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 0);
}

static void drain_runs_all_that_is_queued(void) {
    reset();
    hc_group *g = group_of(2);
    hold at;
    hold_all(g, &at, 2);
    submit_droppable(g, 1000);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_EQ(stats_of(g).queued, 1000);
    hold_release(&at);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_EQ(ran, 1000);
    CHECK_EQ(handed_back, 0);
    hc_group_unref(g);
}

static void now_hands_all_that_is_queued_back(void) {
    reset();
    hc_group *g = group_of(2);
    hold at;
    hold_all(g, &at, 2);
    submit_droppable(g, 1000);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    hold_release(&at);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_EQ(ran, 0);
    CHECK_EQ(handed_back, 1000);
    hc_group_stats_data stats = stats_of(g);
    CHECK_EQ(stats.submitted, 1002);
    CHECK_EQ(stats.started, 2);
    CHECK_EQ(stats.finished, 2);
    CHECK_EQ(stats.unrun, 1000);
    CHECK_EQ(stats.queued, 0);
    hc_group_unref(g);
}

/* All workers are stuck in tasks: the waiter itself hands the tasks back. */
static void stuck_workers_hold_no_task_after_now(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        reset();
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        hc_group *g = fixed_with(&options);
        hold at;
        hold_all(g, &at, 2);
        submit_droppable(g, 1000);
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
        while (handed_back < 1000) CHECK_RC(hc_group_await(g, 1000000), HC_ETIMEDOUT); /* they are still inside */
        CHECK_EQ(handed_back, 1000);
        CHECK_EQ(ran, 0);
        hold_release(&at);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(handed_back, 1000);
        CHECK_EQ(ran, 0);
    }
}

/* The rest of a batch that a worker had taken before it got stuck is queued too. */
static void the_batch_of_a_stuck_worker_comes_back_after_now(void) {
    reset();
    hc_group *g = group_of(1);
    static gate before = GATE, at = GATE;
    gate_hold(g, &before);
    CHECK_OK(hc_submit(g, gate_task, &at)); /* the first of what will be taken together */
    submit_droppable(g, 200);
    gate_open(&before);
    latch_wait(&at.inside);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    while (handed_back < 200) CHECK_RC(hc_group_await(g, 1000000), HC_ETIMEDOUT);
    CHECK_EQ(ran, 0);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(handed_back, 200);
    CHECK_EQ(ran, 0);
}

static void drain_may_become_now(void) {
    reset();
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    submit_droppable(g, 500);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    gate_open(&at);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_EQ(handed_back, 500);
    CHECK_EQ(ran, 0);
    hc_group_unref(g);
}

static void now_never_becomes_drain(void) {
    reset();
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    submit_droppable(g, 500);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN)); /* it is shut down already: 0, and nothing changes */
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g)); /* neither does the drain in here */
    CHECK_EQ(handed_back, 500);
    CHECK_EQ(ran, 0);
}

static void shuts_down(void *arg) {
    hc_group *g = hc_group_current();
    CHECK_OK(hc_group_shutdown(g, *(uint32_t *)arg));
    CHECK_RC(hc_submit(g, run_task, NULL), HC_ESHUTDOWN);
}

static void a_task_may_shut_its_own_group_down(void) {
    for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how) {
        reset();
        hc_group *g = group_of(1);
        gate at = GATE;
        gate_hold(g, &at);
        CHECK_OK(hc_submit(g, shuts_down, &how));
        submit_droppable(g, 300);
        gate_open(&at);
        CHECK_OK(hc_group_await(g, HC_NEVER)); /* "by whomever" */
        CHECK_EQ(ran, how == HC_SHUTDOWN_DRAIN ? 300 : 0);
        CHECK_EQ(handed_back, how == HC_SHUTDOWN_DRAIN ? 0 : 300);
        hc_group_unref(g);
    }
}

/* Before the creator even has the handle. */
typedef struct early {
    uint32_t how, first; /* the workers from this index on shut it down */
    atomic_int started, stopped;
} early;

static void shuts_down_at_start(void *user, uint32_t index) {
    early *e = user;
    if (index >= e->first) {
        CHECK_OK(hc_group_shutdown(hc_group_current(), e->how));
        CHECK_RC(hc_submit(hc_group_current(), run_task, NULL), HC_ESHUTDOWN);
    }
    e->started += 1;
}

static void counts_stop(void *user, uint32_t index) {
    (void)index;
    ((early *)user)->stopped += 1;
}

static void a_start_hook_may_shut_its_own_group_down(void) {
    for (int round = 0; round < 10; ++round)
        for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how)
            for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
                for (uint32_t workers = 1; workers <= 4; ++workers)
                    for (int which = 0; which < 2; ++which) { /* all of them, or the last */
                        reset();
                        early e = {how, which == 0 ? 0 : workers - 1, 0, 0};
                        hc_group_options options = HC_GROUP_OPTIONS_INIT;
                        options.kind = kind;
                        options.max_workers = workers;
                        options.user = &e;
                        options.on_thread_start = shuts_down_at_start;
                        options.on_thread_stop = counts_stop;
                        hc_group *g = fixed_with(&options); /* which did not fail */
                        UNTIL(e.started > (int)e.first); /* after that, no more need come */
                        CHECK_RC(hc_submit(g, run_task, NULL), HC_ESHUTDOWN);
                        CHECK_OK(hc_group_await(g, HC_NEVER));
                        CHECK_EQ(e.stopped, e.started);
                        CHECK_EQ(stats_of(g).workers, 0);
                        CHECK_EQ(stats_of(g).submitted, 0);
                        CHECK_RC(hc_submit(g, run_task, NULL), HC_ESHUTDOWN);
                        CHECK_OK(hc_group_destroy(g));
                        CHECK_EQ(ran, 0);
                    }
}

int main(void) {
    check_deadline(60);
    RUN(null_and_unknown_ways_are_refused);
    RUN(no_submit_enters_after_a_shutdown);
    RUN(no_submit_of_a_task_enters_after_a_shutdown);
    RUN(drain_runs_all_that_is_queued);
    RUN(now_hands_all_that_is_queued_back);
    RUN(stuck_workers_hold_no_task_after_now);
    RUN(the_batch_of_a_stuck_worker_comes_back_after_now);
    RUN(drain_may_become_now);
    RUN(now_never_becomes_drain);
    RUN(a_task_may_shut_its_own_group_down);
    RUN(a_start_hook_may_shut_its_own_group_down);
    return 0;
}
