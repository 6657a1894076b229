/* Guards against: a wait that hangs, returns early, ignores its timeout or waits for its own caller; effects of a task
 * that its waiter does not see. */
#include "check.h"

/* ---- Drain ----------------------------------------------------------------------------------------------------- */

static void drain_of_an_idle_group_is_at_once(void) {
    CHECK_RC(hc_group_drain(NULL, 0), HC_EINVAL);
    CHECK_RC(hc_group_drain(NULL, HC_NEVER), HC_EINVAL);
    hc_group *g = group_of(2);
    CHECK_OK(hc_group_drain(g, 0));
    CHECK_OK(hc_group_drain(g, 1));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_OK(hc_group_drain(g, HC_NEVER - 1));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_OK(hc_group_drain(g, 0));
    CHECK_OK(hc_group_destroy(g));
}

static void drain_times_out_while_something_runs_or_is_queued(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    CHECK_RC(hc_group_drain(g, 0), HC_ETIMEDOUT);
    CHECK_RC(hc_group_drain(g, 1), HC_ETIMEDOUT);
    uint64_t before = hc_now();
    CHECK_RC(hc_group_drain(g, 20000000), HC_ETIMEDOUT);
    CHECK(hc_now() - before >= 20000000); /* never early */
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, count_task, &ran));
    CHECK_RC(hc_group_drain(g, 1000), HC_ETIMEDOUT);
    gate_open(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(ran, 1);
    CHECK_OK(hc_group_destroy(g));
}

/* A timeout of centuries must not overflow into one of nothing. */
static void *drain_nearly_for_ever(void *arg) {
    CHECK_OK(hc_group_drain(arg, HC_NEVER - 1));
    CHECK_OK(hc_group_drain(arg, UINT64_MAX / 2));
    CHECK_OK(hc_group_drain(arg, (uint64_t)INT64_MAX - 1));
    return NULL;
}

static void very_long_timeouts_saturate(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    pthread_t waiter = thread_start(drain_nearly_for_ever, g);
    for (int i = 0; i < 1000; ++i) sched_yield(); /* time to return too early, if it does */
    gate_open(&at);
    thread_join(waiter);
    CHECK_OK(hc_group_destroy(g));
}

/* What a task wrote, plainly, is there when drain returns: a race detector sees to it. */
enum { writers = 400 };
static int plain[writers];

static void write_plain(void *arg) { *(int *)arg += 1; }

static void drain_sees_what_the_tasks_did(void) {
    hc_group *g = group_of(3);
    for (int round = 1; round <= 50; ++round) {
        for (int i = 0; i < writers; ++i) {
            plain[i] += 1; /* seen by the task */
            CHECK_OK(hc_submit(g, write_plain, &plain[i]));
        }
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        for (int i = 0; i < writers; ++i) CHECK_EQ(plain[i], 2 * round);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* A child that a task submits counts before its parent is gone: drain cannot fall in between. */
static void submit_child(void *arg) {
    int *depth = arg;
    if (*depth == 0) return;
    *depth -= 1;
    CHECK_OK(hc_submit(hc_group_current(), submit_child, arg));
}

static void drain_does_not_fall_between_parent_and_child(void) {
    for (int round = 0; round < 200; ++round) {
        hc_group *g = group_of(2);
        int depth = 200;
        CHECK_OK(hc_submit(g, submit_child, &depth));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(depth, 0);
        CHECK_OK(hc_group_destroy(g));
    }
}

static atomic_int answered;

static void waits_for_its_own_group(void *arg) {
    (void)arg;
    hc_group *g = hc_group_current();
    const uint64_t timeouts[] = {0, 1, 1000000, HC_NEVER};
    for (size_t i = 0; i < 4; ++i) {
        CHECK_RC(hc_group_drain(g, timeouts[i]), HC_EDEADLK);
        CHECK_RC(hc_group_await(g, timeouts[i]), HC_EDEADLK);
    }
    answered += 1;
}

static void a_task_cannot_wait_for_its_own_group(void) {
    hc_group *g = group_of(2);
    CHECK_OK(hc_submit(g, waits_for_its_own_group, NULL));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(answered, 1);
}

static void waits_for_another_group(void *arg) {
    CHECK_OK(hc_group_drain(arg, HC_NEVER));
    answered += 1;
}

static void a_task_can_wait_for_another_group(void) {
    answered = 0;
    hc_group *g = group_of(1), *other = group_of(1);
    CHECK_OK(hc_submit(g, waits_for_another_group, other));
    CHECK_OK(hc_group_destroy(g));
    CHECK_OK(hc_group_destroy(other));
    CHECK_EQ(answered, 1);
}

static void *drain_once(void *arg) {
    CHECK_OK(hc_group_drain(arg, HC_NEVER));
    return NULL;
}

static void many_may_drain_at_once(void) {
    hc_group *g = group_of(2);
    for (int round = 0; round < 20; ++round) {
        hold at;
        hold_all(g, &at, 2);
        pthread_t waiters[8];
        for (int i = 0; i < 8; ++i) waiters[i] = thread_start(drain_once, g);
        hold_release(&at);
        for (int i = 0; i < 8; ++i) thread_join(waiters[i]);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Await ----------------------------------------------------------------------------------------------------- */

static void await_needs_a_shutdown(void) {
    CHECK_RC(hc_group_await(NULL, 0), HC_EINVAL);
    hc_group *g = group_of(2);
    CHECK_RC(hc_group_await(g, 0), HC_ETIMEDOUT); /* idle, but not shut down */
    CHECK_RC(hc_group_await(g, 1000000), HC_ETIMEDOUT);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_OK(hc_group_await(g, 0)); /* over is over */
    CHECK_EQ(stats_of(g).workers, 0);
    CHECK_OK(hc_group_destroy(g));
}

static void *await_once(void *arg) {
    CHECK_OK(hc_group_await(arg, HC_NEVER));
    CHECK_EQ(stats_of(arg).workers, 0);
    return NULL;
}

static void await_ends_when_another_shuts_down(void) {
    for (int round = 0; round < 50; ++round) {
        hc_group *g = group_of(2);
        pthread_t waiters[3];
        for (int i = 0; i < 3; ++i) waiters[i] = thread_start(await_once, g);
        atomic_int ran = 0;
        for (int i = 0; i < 50; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        for (int i = 0; i < 3; ++i) thread_join(waiters[i]);
        CHECK_EQ(ran, 50);
        hc_group_unref(g);
    }
}

static void await_times_out_while_a_task_runs(void) {
    hc_group *g = group_of(2);
    gate at = GATE;
    gate_hold(g, &at);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_RC(hc_group_await(g, 0), HC_ETIMEDOUT);
    uint64_t before = hc_now();
    CHECK_RC(hc_group_await(g, 10000000), HC_ETIMEDOUT);
    CHECK(hc_now() - before >= 10000000);
    gate_open(&at);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_OK(hc_group_destroy(g));
}

static void await_sees_what_the_tasks_did(void) {
    for (int round = 0; round < 30; ++round) {
        hc_group *g = group_of(3);
        memset(plain, 0, sizeof plain);
        for (int i = 0; i < writers; ++i) CHECK_OK(hc_submit(g, write_plain, &plain[i]));
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        for (int i = 0; i < writers; ++i) CHECK_EQ(plain[i], 1);
        hc_group_unref(g);
    }
}

/* A drop is part of what is awaited, whoever calls it: here a thread that shuts down, or waits itself. */
typedef struct slow_drop {
    hc_group *g;
    gate at;
    bool by_await;
    int dropped; /* plainly */
    atomic_bool returned;
} slow_drop;

static void drop_slowly(void *arg, int32_t why) {
    slow_drop *s = arg;
    CHECK_RC(why, HC_ESHUTDOWN);
    if (s->dropped == 0) gate_task(&s->at);
    s->dropped += 1;
}

static void *hand_back_slowly(void *arg) {
    slow_drop *s = arg;
    CHECK_OK(hc_group_shutdown(s->g, HC_SHUTDOWN_NOW));
    CHECK_OK(hc_group_await(s->g, HC_NEVER));
    CHECK_EQ(s->dropped, 10);
    return NULL;
}

static void *await_slow_drops(void *arg) {
    slow_drop *s = arg;
    CHECK_OK(hc_group_await(s->g, HC_NEVER));
    s->returned = true;
    CHECK_EQ(s->dropped, 10);
    return NULL;
}

static void await_during_a_drop(uint32_t kind, bool by_await) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = 1;
    slow_drop s = {fixed_with(&options), GATE, by_await, 0, false};
    gate before = GATE, at = GATE;
    gate_hold(s.g, &before);
    if (!by_await) CHECK_OK(hc_submit(s.g, gate_task, &at)); /* shutdown hands back what is behind it */
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = count_task;
    task.arg = &s;
    task.drop = drop_slowly;
    for (int i = 0; i < 10; ++i) CHECK_OK(hc_task_submit(s.g, &task, NULL));
    if (!by_await) {
        gate_open(&before);
        latch_wait(&at.inside);
    }
    pthread_t hands_back = thread_start(hand_back_slowly, &s);
    latch_wait(&s.at.inside);
    gate_open(by_await ? &before : &at);
    UNTIL(stats_of(s.g).workers == 0); /* the drop alone is left */
    pthread_t waiter = thread_start(await_slow_drops, &s);
    for (int i = 0; i < 200; ++i) {
        CHECK_RC(hc_group_await(s.g, 0), HC_ETIMEDOUT);
        CHECK_RC(hc_group_drain(s.g, 0), HC_ETIMEDOUT);
        sched_yield();
    }
    CHECK_RC(hc_group_await(s.g, 1000000), HC_ETIMEDOUT);
    CHECK(!s.returned);
    CHECK_EQ(s.dropped, 0);
    gate_open(&s.at);
    CHECK_OK(hc_group_await(s.g, HC_NEVER));
    CHECK_EQ(s.dropped, 10);
    thread_join(waiter);
    thread_join(hands_back);
    CHECK_OK(hc_group_await(s.g, 0));
    CHECK_EQ(stats_of(s.g).unrun, 10);
    hc_group_unref(s.g);
}

static void await_does_not_overtake_a_drop(void) {
    for (int round = 0; round < 10; ++round)
        for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
            await_during_a_drop(kind, true);
            if (kind != HC_KIND_SHARED) await_during_a_drop(kind, false); /* that one takes no batches */
        }
}

int main(void) {
    check_deadline(60);
    RUN(drain_of_an_idle_group_is_at_once);
    RUN(drain_times_out_while_something_runs_or_is_queued);
    RUN(very_long_timeouts_saturate);
    RUN(drain_sees_what_the_tasks_did);
    RUN(drain_does_not_fall_between_parent_and_child);
    RUN(a_task_cannot_wait_for_its_own_group);
    RUN(a_task_can_wait_for_another_group);
    RUN(many_may_drain_at_once);
    RUN(await_needs_a_shutdown);
    RUN(await_ends_when_another_shuts_down);
    RUN(await_times_out_while_a_task_runs);
    RUN(await_sees_what_the_tasks_did);
    RUN(await_does_not_overtake_a_drop);
    return 0;
}
