/* Guards against: a child that fires its parent's timers, waits for their locks, or lets their records go; a parent whose
 * timers a fork disturbs; a body or a drop that forks. */
#include "timed.h"

static pid_t the_parent;
static hc_group *parents;

enum { n_timers = 5 };
static hc_timer *timers[n_timers];

/* The one thread of the child ends, and with it the process: normally. What it had to forget is no leak. */
static void ends_normally_in_the_child(void) {
    if (getpid() != the_parent) _exit(0);
}

static void never_called(void *arg) {
    (void)arg;
    check_failed(__FILE__, __LINE__, "a timer that was refused has fired");
}

static void only_in_the_parent(void *arg) {
    CHECK_EQ(getpid(), the_parent);
    shot_run(arg);
}
static void dropped_in_the_parent(void *arg, int32_t why) {
    CHECK_EQ(getpid(), the_parent);
    shot_drop(arg, why);
}

/* Not one of them may block, or change anything, whatever the timer does over there. */
static void every_function_answers_forked(void) {
    for (int i = 0; i < n_timers; ++i) {
        hc_timer *t = timers[i];
        uint64_t n = 7;
        CHECK_RC(hc_timer_arm(t, 0, 0), HC_EFORKED);
        CHECK_RC(hc_timer_arm(t, HC_NEVER, 1), HC_EFORKED);
        CHECK_RC(hc_timer_arm_at(t, 0, 0), HC_EFORKED);
        CHECK_RC(hc_timer_cancel(t), HC_EFORKED);
        CHECK_RC(hc_timer_cancel_wait(t, 0), HC_EFORKED);
        CHECK_RC(hc_timer_cancel_wait(t, HC_NEVER), HC_EFORKED);
        CHECK_RC(hc_timer_remaining(t, &n), HC_EFORKED);
        CHECK_RC(hc_timer_missed(t, &n), HC_EFORKED);
        CHECK_EQ(n, 7);
        hc_timer_ref(t);
        for (int k = 0; k < 3; ++k) hc_timer_unref(t); /* not even the last one frees, cancels or drops */
        CHECK_RC(hc_timer_cancel(t), HC_EFORKED);
    }
    CHECK_RC(hc_schedule(parents, never_called, NULL, 0), HC_EFORKED);
    CHECK_RC(hc_schedule(parents, never_called, NULL, 1), HC_EFORKED);
    CHECK_RC(hc_schedule_at(parents, never_called, NULL, 1), HC_EFORKED);
}

static void a_new_group_has_timers(void) {
#if !CHECK_TSAN /* that tool cannot start threads in a child of a process that had some */
    for (uint32_t workers = 1; workers <= 3; ++workers) {
        hc_group *g = group_of(workers);
        shot s[20] = {0}, held_one = {0};
        for (int i = 0; i < 20; ++i) shoot(g, &s[i], (uint64_t)i * 50 * us);
        hc_timer *t = timer_shot(g, &held_one, HOUR);
        CHECK_EQ(arm_shot(t, &held_one, 100 * us), HC_REMOVED);
        for (int i = 0; i < 20; ++i) UNTIL(s[i].ran == 1);
        UNTIL(held_one.ran == 1);
        hc_timer_unref(t);
        CHECK_OK(hc_group_destroy(g));
    }
#endif
}

static void in_the_child(void) {
    every_function_answers_forked();
    if (!CHECK_ASAN) a_new_group_has_timers(); /* that tool's locks are free in a child of a still process only */
    every_function_answers_forked();
}

/* Pending, put off, running, resting, and repeating without a pause. */
static void timers_stay_with_the_parent(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int round = 0; round < 10; ++round) {
            static shot s[n_timers];
            held_shot running = {GATE, 0, 0, 0};
            memset(s, 0, sizeof s);
            parents = group_of_kind(kind, 3);
            s[0].due = hc_now() + 5 * ms;
            timers[0] = timer_of(parents, only_in_the_parent, dropped_in_the_parent, &s[0], 5 * ms);
            timers[1] = timer_of(parents, only_in_the_parent, dropped_in_the_parent, &s[1], HOUR);
            s[1].due = hc_now() + 2 * HOUR;
            CHECK_EQ(hc_timer_arm(timers[1], 2 * HOUR, 0), HC_REMOVED);
            timers[2] = timer_of(parents, held_shot_run, held_shot_drop, &running, 0);
            latch_wait(&running.at.inside);
            timers[3] = timer_of(parents, only_in_the_parent, dropped_in_the_parent, &s[3], HC_NEVER);
            timers[4] = repeating(parents, only_in_the_parent, dropped_in_the_parent, &s[4], HC_TIMER_RATE, 0, 10 * us);
            UNTIL(s[4].ran > round);
            CHECK_EQ(check_fork(in_the_child, 20), 0);
            UNTIL(s[0].ran == 1);
            const int so_far = s[4].ran;
            UNTIL(s[4].ran > so_far); /* the parent did not notice */
            gate_open(&running.at);
            for (int i = 0; i < n_timers; ++i) CHECK(hc_timer_cancel_wait(timers[i], HC_NEVER) >= HC_REMOVED);
            for (int i = 0; i < n_timers; ++i) hc_timer_unref(timers[i]);
            CHECK_OK(hc_group_destroy(parents));
            shot_check(&s[0], 1, 1, HC_OK);
            shot_check(&s[1], 0, 1, HC_ECANCELED);
            shot_check(&s[3], 0, 1, HC_OK);
            CHECK_EQ(running.ran, 1);
            CHECK_EQ(running.dropped, 1);
        }
}

/* ---- A callback forks ------------------------------------------------------------------------------------------------- */

static atomic_int forked, dropped;
static bool returns; /* the child goes on as if nothing had happened */

static void fork_here(void) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)hc_thread_sigmask_restore(); /* so that the alarm is heard, on a worker */
        check_deadline(20);
        every_function_answers_forked();
        if (returns) return;
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    forked += 1;
}

static void forks(void *arg) {
    (void)arg;
    fork_here();
}
static void nothing(void *arg) { (void)arg; }
static void drop_forks(void *arg, int32_t why) {
    (void)arg, (void)why;
    fork_here();
    dropped += 1;
}
static void drop_counts(void *arg, int32_t why) {
    (void)arg, (void)why;
    CHECK_EQ(getpid(), the_parent); /* in the child the timer is as foreign as its group */
    dropped += 1;
}

static void a_body_or_a_drop_forks(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int way = 0; way < 4; ++way) { /* body or drop; the child ends there, or comes back */
            returns = way % 2 != 0;
            forked = dropped = 0;
            parents = group_of_kind(kind, 1);
            for (int i = 0; i < n_timers; ++i) timers[i] = timer_of(parents, nothing, NULL, NULL, HOUR);
            hc_task_options task = options_of(way < 2 ? forks : nothing, NULL);
            task.drop = way < 2 ? drop_counts : drop_forks;
            const hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, 100 * us, 0);
            for (int i = 0; i < 3; ++i) CHECK_OK(hc_timer_create(parents, &options, NULL));
            UNTIL(forked == 3 && dropped == 3);
            for (int i = 0; i < n_timers; ++i) hc_timer_unref(timers[i]);
            CHECK_OK(hc_group_destroy(parents));
            CHECK_EQ(dropped, 3);
        }
}

/* A handle that outlived its group is the parent's as well. */
static void handles_without_a_group_stay_too(void) {
    shot s[n_timers] = {0};
    parents = group_of(2);
    hc_group_ref(parents);
    for (int i = 0; i < n_timers; ++i) timers[i] = timer_shot(parents, &s[i], i % 2 == 0 ? HOUR : HC_NEVER);
    CHECK_OK(hc_group_destroy(parents));
    CHECK_EQ(check_fork(in_the_child, 20), 0);
    hc_group_unref(parents);
    parents = group_of(1); /* another */
    CHECK_EQ(check_fork(in_the_child, 20), 0);
    for (int i = 0; i < n_timers; ++i) hc_timer_unref(timers[i]);
    for (int i = 0; i < n_timers; ++i) shot_check(&s[i], 0, 1, i % 2 == 0 ? HC_ESHUTDOWN : HC_OK);
    CHECK_OK(hc_group_destroy(parents));
}

/* A shutdown hands a timer back while tasks are queued, and its drop forks: the child runs none of them. A handle that outlives its group:
 * the drop forks inside the call that ends it. */
static void tasks_stay_with_the_parent(void *arg) {
    CHECK_EQ(getpid(), the_parent);
    count_task(arg);
}

static void a_drop_forks_while_tasks_are_queued(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        returns = true;
        forked = dropped = 0;
        atomic_int ran = 0;
        parents = group_of_kind(kind, 1);
        for (int i = 0; i < n_timers; ++i) timers[i] = timer_of(parents, nothing, i == 0 ? drop_forks : NULL, NULL, HOUR);
        gate at = GATE;
        gate_hold(parents, &at);
        for (int i = 0; i < 500; ++i) CHECK_OK(hc_submit(parents, tasks_stay_with_the_parent, &ran));
        CHECK_OK(hc_group_shutdown(parents, HC_SHUTDOWN_DRAIN));
        fflush(NULL);
        gate_open(&at);
        CHECK_OK(hc_group_await(parents, HC_NEVER));
        CHECK_EQ(ran, 500);
        CHECK_EQ(dropped, 1);
        CHECK_EQ(forked, 1);
        for (int i = 0; i < n_timers; ++i) hc_timer_unref(timers[i]);
        hc_group_unref(parents);
    }
}

static void ends_a_resting_timer(bool by_cancel) {
    parents = group_of(1);
    for (int i = 0; i < n_timers; ++i) timers[i] = timer_of(parents, nothing, i == 0 ? drop_forks : NULL, NULL, HC_NEVER);
    hc_group_ref(parents);
    CHECK_OK(hc_group_destroy(parents));
    forked = dropped = 0;
    if (by_cancel) {
        int rc = hc_timer_cancel_wait(timers[0], HC_NEVER);
        if (getpid() != the_parent) _exit(rc == HC_EFORKED ? 0 : 1);
        CHECK_EQ(rc, HC_DONE);
    }
    hc_timer_unref(timers[0]);
    if (getpid() != the_parent) _exit(0);
    CHECK_EQ(dropped, 1);
    CHECK_EQ(forked, 1);
    for (int i = 1; i < n_timers; ++i) hc_timer_unref(timers[i]);
    hc_group_unref(parents);
}

static void a_drop_forks_inside_a_call(void) {
    returns = true;
    ends_a_resting_timer(true);
    ends_a_resting_timer(false);
}

int main(void) {
    check_deadline(90);
    the_parent = getpid();
    CHECK_EQ(atexit(ends_normally_in_the_child), 0);
    RUN(timers_stay_with_the_parent);
    RUN(a_body_or_a_drop_forks);
    RUN(handles_without_a_group_stay_too);
    RUN(a_drop_forks_while_tasks_are_queued);
    RUN(a_drop_forks_inside_a_call);
    return 0;
}
