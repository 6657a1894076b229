/* Guards against: a forked child that waits for threads it does not have, touches what its parent's workers held, or
 * can have no pool of its own; a parent that a fork disturbs. */
#include "check.h"

static void never_runs(void *arg) {
    (void)arg;
    check_failed(__FILE__, __LINE__, "a task of the parent ran in the child");
}

/* All that the header offers for a group, on one that stayed in the parent. Not one of them may block. */
static void every_function_answers_forked(hc_group *g) {
    CHECK_RC(hc_submit(g, never_runs, NULL), HC_EFORKED);
    hc_call calls[300];
    for (int i = 0; i < 300; ++i) calls[i] = (hc_call){never_runs, NULL};
    size_t accepted = 99;
    CHECK_RC(hc_submit_batch(g, calls, 300, &accepted), HC_EFORKED);
    CHECK_EQ(accepted, 0);
    CHECK_RC(hc_submit_to(g, 0, never_runs, NULL), HC_EFORKED);
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = never_runs;
    CHECK_RC(hc_task_submit(g, &task, NULL), HC_EFORKED);
    CHECK_RC(hc_group_drain(g, 0), HC_EFORKED);
    CHECK_RC(hc_group_drain(g, HC_NEVER), HC_EFORKED);
    CHECK_RC(hc_group_await(g, 0), HC_EFORKED);
    CHECK_RC(hc_group_await(g, HC_NEVER), HC_EFORKED);
    hc_group_stats_data data;
    CHECK_RC(hc_group_stats(g, &data, (uint32_t)sizeof data), HC_EFORKED);
    CHECK_RC(hc_group_trim(g), HC_EFORKED);
    CHECK_RC(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN), HC_EFORKED);
    CHECK_RC(hc_group_shutdown(g, HC_SHUTDOWN_NOW), HC_EFORKED);
    CHECK_RC(hc_group_destroy(g), HC_EFORKED);
    hc_group_ref(g);
    hc_group_unref(g);
    hc_group_unref(g); /* not even the last one frees or waits for anything */
    CHECK_RC(hc_submit(g, never_runs, NULL), HC_EFORKED);
}

static void a_new_group_works(void) {
#if !CHECK_TSAN /* that tool cannot start threads in a child of a process that had some */
    for (uint32_t workers = 1; workers <= 3; ++workers) {
        hc_group *g = group_of(workers);
        atomic_int ran = 0;
        for (int i = 0; i < 2000; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(ran, 2000);
        CHECK_EQ(stats_of(g).workers, workers);
        CHECK_OK(hc_group_destroy(g));
    }
#endif
}

static hc_group *parents;

static void in_the_child(void) {
    every_function_answers_forked(parents);
    a_new_group_works();
    every_function_answers_forked(parents);
}

static void an_idle_group_forks(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        parents = group_with(&options);
        CHECK_EQ(check_fork(in_the_child, 20), 0);
        atomic_int ran = 0;
        for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(parents, count_task, &ran));
        CHECK_OK(hc_group_destroy(parents));
        CHECK_EQ(ran, 100); /* the parent did not notice */
    }
}

/* The fork falls anywhere: in the middle of submits, claims, parks. */
static atomic_bool stop;

static void *keep_submitting(void *arg) {
    atomic_int *ran = arg;
    int sent = 0;
    while (!stop) {
        for (int i = 0; i < 50; ++i, ++sent) CHECK_OK(hc_submit(parents, count_task, ran));
        CHECK_OK(hc_group_drain(parents, HC_NEVER));
    }
    return NULL;
}

static void a_busy_group_forks(void) {
    const int rounds = CHECK_TSAN ? 5 : 30;
    parents = group_of(3);
    atomic_int ran = 0;
    stop = false;
    pthread_t submitters[2];
    for (int i = 0; i < 2; ++i) submitters[i] = thread_start(keep_submitting, &ran);
    for (int i = 0; i < rounds; ++i) {
        CHECK_OK(hc_submit(parents, count_task, &ran)); /* this thread has a lane of its own too */
        CHECK_EQ(check_fork(in_the_child, 20), 0);
    }
    stop = true;
    for (int i = 0; i < 2; ++i) thread_join(submitters[i]);
    CHECK_OK(hc_group_drain(parents, HC_NEVER));
    CHECK_EQ(stats_of(parents).finished, ran);
    CHECK_OK(hc_group_destroy(parents));
}

/* A task forks: its child is one of the parent's group no longer, and can be a parent itself. */
static atomic_int forked_inside;

static void forks(void *arg) {
    (void)arg;
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(20);
        in_the_child();
        CHECK_EQ(check_fork(in_the_child, 20), 0); /* a grandchild, for which the group is just as foreign */
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    forked_inside += 1;
}

static void a_task_forks(void) {
    parents = group_of(2);
    for (int i = 0; i < 5; ++i) CHECK_OK(hc_submit(parents, forks, NULL));
    CHECK_OK(hc_group_destroy(parents));
    CHECK_EQ(forked_inside, 5);
}

/* Queued in the parent: it runs there, and only there. */
static void queued_tasks_stay_with_the_parent(void) {
    parents = group_of(1);
    gate at = GATE;
    gate_hold(parents, &at);
    atomic_int ran = 0;
    for (int i = 0; i < 1000; ++i) CHECK_OK(hc_submit(parents, count_task, &ran));
    CHECK_EQ(check_fork(in_the_child, 20), 0);
    CHECK_EQ(ran, 0);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(parents));
    CHECK_EQ(ran, 1000);
}

/* A shut group is still the parent's first: HC_EFORKED, not HC_ESHUTDOWN. */
static void a_shut_group_forks(void) {
    parents = group_of(1);
    hc_group_ref(parents);
    CHECK_OK(hc_group_destroy(parents));
    CHECK_EQ(check_fork(in_the_child, 20), 0);
    CHECK_RC(hc_submit(parents, never_runs, NULL), HC_ESHUTDOWN);
    hc_group_unref(parents);
}

/* A child of a process that made no group yet is like any other process. */
static void before_the_first_group(void) { CHECK_EQ(check_fork(a_new_group_works, 20), 0); }

int main(void) {
    check_deadline(90);
    RUN(before_the_first_group);
    RUN(an_idle_group_forks);
    RUN(a_busy_group_forks);
    RUN(a_task_forks);
    RUN(queued_tasks_stay_with_the_parent);
    RUN(a_shut_group_forks);
    return 0;
}
