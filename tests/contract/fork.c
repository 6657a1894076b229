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
    CHECK_RC(hc_submit_keyed(g, 1, HC_KEY_PLAIN, never_runs, NULL), HC_EFORKED);
    hc_serial *s = (hc_serial *)g;
    CHECK_RC(hc_serial_create(g, &s), HC_EFORKED);
    CHECK(s == NULL);
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = never_runs;
    CHECK_RC(hc_task_submit(g, &task, NULL), HC_EFORKED);
    CHECK_RC(hc_schedule(g, never_runs, NULL, 0), HC_EFORKED);
    CHECK_RC(hc_schedule(g, never_runs, NULL, 1), HC_EFORKED);
    CHECK_RC(hc_schedule_at(g, never_runs, NULL, HC_NEVER), HC_EFORKED);
    hc_timer_options timer = HC_TIMER_OPTIONS_INIT;
    timer.task = &task;
    hc_timer *t = (hc_timer *)g;
    CHECK_RC(hc_timer_create(g, &timer, &t), HC_EFORKED);
    CHECK(t == NULL);
    CHECK_RC(hc_timer_create(g, &timer, NULL), HC_EFORKED);
    CHECK_RC(hc_group_drain(g, 0), HC_EFORKED);
    CHECK_RC(hc_group_drain(g, HC_NEVER), HC_EFORKED);
    CHECK_RC(hc_group_await(g, 0), HC_EFORKED);
    CHECK_RC(hc_group_await(g, HC_NEVER), HC_EFORKED);
    hc_group_stats_data data;
    CHECK_RC(hc_group_stats(g, &data, (uint32_t)sizeof data), HC_EFORKED);
    CHECK_RC(hc_group_trim(g), HC_EFORKED);
    CHECK_RC(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN), HC_EFORKED);
    CHECK_RC(hc_group_shutdown(g, HC_SHUTDOWN_NOW), HC_EFORKED);
    CHECK_RC(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS), HC_EFORKED);
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

static void in_the_child_of_a_still_process(void) {
    every_function_answers_forked(parents);
    a_new_group_works();
    every_function_answers_forked(parents);
}

/* The allocator of AddressSanitizer (gcc 12) keeps no lock free for a child: what another thread of the parent was
 * allocating at the fork blocks the first allocation here. With that tool only a still process has children that
 * allocate. */
static void in_the_child(void) {
    if (CHECK_ASAN)
        every_function_answers_forked(parents);
    else
        in_the_child_of_a_still_process();
}

static void an_idle_group_forks(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        parents = fixed_with(&options);
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
    CHECK_EQ(check_fork(in_the_child_of_a_still_process, 20), 0);
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

/* ---- Where a fork is awkward ------------------------------------------------------------------------------------ */

static pid_t the_parent;

/* The one thread of the child ends, and with it the process: normally. What it had to forget, for it was the parent's,
 * is no leak. */
static void ends_normally_in_the_child(void) {
    if (getpid() != the_parent) _exit(0);
}

static void begin_child(void) {
    CHECK_OK(hc_thread_sigmask_restore()); /* so that the alarm is heard */
    check_deadline(20);
}

static void wait_for_normal_end(pid_t child) {
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(!WIFSIGNALED(status));
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

/* A worker of `parents`, with a batch behind it, submits to a full group, and so runs there what forks. */
enum child_ends { in_the_task, after_the_submit, with_its_worker, ends };
enum submit_way { one, two, labelled, ways };
enum { rest = 100 };
static hc_group *full_group;
static enum child_ends child_ends;
static enum submit_way submit_way;
static atomic_int forks_here, second_here, queued_there, behind[rest];

static void only_in_the_parent(void *arg) {
    CHECK_EQ(getpid(), the_parent);
    count_task(arg);
}

static void forks_on_its_submitter(void *arg) {
    (void)arg;
    CHECK(hc_group_current() == full_group);
    CHECK_EQ(hc_worker_index(), -1);
    forks_here += 1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        begin_child();
        every_function_answers_forked(full_group);
        every_function_answers_forked(parents);
        if (child_ends == in_the_task) {
            a_new_group_works();
            _exit(0);
        }
        return;
    }
    wait_for_normal_end(child);
}

static void submits_what_forks(void *arg) {
    (void)arg;
    hc_group *mine = parents;
    const hc_call calls[2] = {{forks_on_its_submitter, NULL}, {only_in_the_parent, &second_here}};
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = forks_on_its_submitter;
    options.label = "forks";
    size_t accepted = 99;
    int rc = submit_way == one   ? hc_submit(full_group, forks_on_its_submitter, NULL)
             : submit_way == two ? hc_submit_batch(full_group, calls, 2, &accepted)
                                 : hc_task_submit(full_group, &options, NULL);
    if (getpid() == the_parent) {
        CHECK_OK(rc);
        CHECK(hc_group_current() == mine);
        CHECK_EQ(hc_worker_index(), 0);
        if (submit_way == two) CHECK_EQ(accepted, 2);
        return;
    }
    CHECK_RC(rc, HC_EFORKED);
    if (submit_way == two) CHECK_EQ(accepted, 1); /* it has run, up to its end in either process */
    CHECK(hc_group_current() == NULL);
    every_function_answers_forked(full_group);
    every_function_answers_forked(mine);
    a_new_group_works();
    if (child_ends == after_the_submit) _exit(0);
}

static void forks_in_a_task_that_another_groups_worker_runs(uint32_t kind, uint32_t full_kind) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = 1;
    parents = fixed_with(&options);
    options.kind = full_kind;
    options.capacity = 2;
    options.full_policy = HC_FULL_RUN;
    full_group = fixed_with(&options);
    forks_here = second_here = queued_there = 0;
    for (int i = 0; i < rest; ++i) behind[i] = 0;

    gate full_at = GATE, at = GATE;
    gate_hold(full_group, &full_at);
    for (int i = 0; i < 2; ++i) CHECK_OK(hc_submit(full_group, only_in_the_parent, &queued_there));
    CHECK_EQ(queued_there, 0);
    gate_hold(parents, &at); /* so that the next ones are taken together */
    CHECK_OK(hc_submit(parents, submits_what_forks, NULL));
    for (int i = 0; i < rest; ++i) CHECK_OK(hc_submit(parents, only_in_the_parent, &behind[i]));
    fflush(NULL);
    gate_open(&at);
    CHECK_OK(hc_group_drain(parents, HC_NEVER));
    CHECK_EQ(forks_here, 1);
    CHECK_EQ(second_here, submit_way == two);
    for (int i = 0; i < rest; ++i) CHECK_EQ(behind[i], 1);
    CHECK_EQ(stats_of(parents).finished, rest + 2);
    CHECK_EQ(queued_there, 0);
    gate_open(&full_at);
    CHECK_OK(hc_group_drain(full_group, HC_NEVER));
    CHECK_EQ(queued_there, 2);
    CHECK_OK(hc_group_destroy(parents));
    CHECK_OK(hc_group_destroy(full_group));
}

static void a_task_forks_on_a_worker_of_another_group(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t full_kind = HC_KIND_STEALING; full_kind <= HC_KIND_PINNED; ++full_kind)
            for (submit_way = one; submit_way < ways; ++submit_way)
                for (child_ends = in_the_task; child_ends < ends; ++child_ends)
                    forks_in_a_task_that_another_groups_worker_runs(kind, full_kind);
}

/* A hook forks, and its child comes back out of it: there is no worker left to go on as. No more than one thread under
 * a sanitizer: a child is stuck in the locks of that tool if others were starting or ending. */
static const int most_workers = CHECK_SLOWER > 1 ? 1 : 3;
static bool child_calls; /* it uses the library once more before it goes */
static atomic_int starts, stops, starts_left, stops_left;

static void fork_in_hook(atomic_int *left) {
    if (atomic_fetch_sub(left, 1) <= 0) return;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (!child_calls) return; /* as if nothing had happened */
        begin_child();
        every_function_answers_forked(parents);
        a_new_group_works();
        return;
    }
    wait_for_normal_end(child);
}

static void on_start_that_forks(void *user, uint32_t index) {
    (void)index;
    latch_wait(user); /* until the group has a name */
    fork_in_hook(&starts_left);
    starts += 1;
}

static void on_stop_that_forks(void *user, uint32_t index) {
    (void)user, (void)index;
    CHECK_EQ(getpid(), the_parent); /* a child has had its last hook */
    fork_in_hook(&stops_left);
    stops += 1;
}

static void a_hook_forks(int at_start, int at_stop) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int workers = 1; workers <= most_workers; ++workers) {
            latch known = LATCH(1);
            starts = stops = 0;
            starts_left = at_start * workers;
            stops_left = at_stop * workers;
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.max_workers = (uint32_t)workers;
            options.user = &known;
            options.on_thread_start = on_start_that_forks;
            options.on_thread_stop = on_stop_that_forks;
            parents = fixed_with(&options);
            fflush(NULL);
            latch_down(&known);
            UNTIL(starts == workers);
            atomic_int ran = 0;
            for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(parents, count_task, &ran));
            CHECK_OK(hc_group_destroy(parents));
            CHECK_EQ(ran, 100);
            CHECK_EQ(stops, workers);
            CHECK(starts_left <= 0 && stops_left <= 0);
        }
}

static void a_start_hook_forks(void) {
    for (int calls = 0; calls < 2; ++calls) {
        child_calls = calls;
        a_hook_forks(1, 0);
    }
}

static void a_stop_hook_forks(void) {
    for (int calls = 0; calls < 2; ++calls) {
        child_calls = calls;
        a_hook_forks(0, 1);
    }
}

int main(void) {
    check_deadline(90);
    the_parent = getpid();
    CHECK_EQ(atexit(ends_normally_in_the_child), 0);
    RUN(before_the_first_group);
    RUN(an_idle_group_forks);
    RUN(a_busy_group_forks);
    RUN(a_task_forks);
    RUN(queued_tasks_stay_with_the_parent);
    RUN(a_shut_group_forks);
    RUN(a_task_forks_on_a_worker_of_another_group);
    RUN(a_start_hook_forks);
    RUN(a_stop_hook_forks);
    return 0;
}
