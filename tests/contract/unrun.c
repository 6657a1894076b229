/* Guards against: an accepted task that vanishes, is told twice, told to the wrong callback, or told under a lock. */
#include "check.h"

enum { tasks = 3000 };
static atomic_uchar runs[tasks], drops[tasks], unruns[tasks];

static void mark_run(void *arg) { atomic_fetch_add(&runs[(uintptr_t)arg], 1); }

static void mark_drop(void *arg, int32_t why) {
    CHECK_RC(why, HC_ESHUTDOWN);
    atomic_fetch_add(&drops[(uintptr_t)arg], 1);
}

static char the_user;

static void mark_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    CHECK(user == &the_user);
    CHECK(fn == mark_run);
    CHECK_RC(why, HC_ESHUTDOWN);
    atomic_fetch_add(&unruns[(uintptr_t)arg], 1);
}

static hc_group *group_that_tells(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.user = &the_user;
    options.on_unrun = mark_unrun;
    return fixed_with(&options);
}

static void clear(void) {
    for (int i = 0; i < tasks; ++i) runs[i] = drops[i] = unruns[i] = 0;
}

/* One in three has a drop of its own, one is bare, one comes in a batch. */
static void submit_all(hc_group *g) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = mark_run;
    options.drop = mark_drop;
    for (uintptr_t i = 0; i < tasks; i += 3) {
        options.arg = (void *)i;
        CHECK_OK(hc_task_submit(g, &options, NULL));
        CHECK_OK(hc_submit(g, mark_run, (void *)(i + 1)));
        const hc_call call = {mark_run, (void *)(i + 2)};
        size_t accepted = 0;
        CHECK_OK(hc_submit_batch(g, &call, 1, &accepted));
    }
}

static void each_task_is_told_once_and_to_the_right_one(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        clear();
        hc_group *g = group_that_tells(kind, 2);
        hold at;
        hold_all(g, &at, 2);
        submit_all(g);
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
        hold_release(&at);
        CHECK_OK(hc_group_destroy(g));
        for (int i = 0; i < tasks; ++i) {
            CHECK_EQ(runs[i], 0);
            CHECK_EQ(drops[i], i % 3 == 0);
            CHECK_EQ(unruns[i], i % 3 != 0);
        }
    }
}

/* While the workers are at it: either or, never both, never neither. */
static void a_shutdown_amid_the_work_tells_each_task_once(void) {
    for (int round = 0; round < 60; ++round) {
        clear();
        hc_group *g = group_that_tells((uint32_t)round % 3, 1 + (uint32_t)round % 4);
        submit_all(g);
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        uint64_t told = 0;
        for (int i = 0; i < tasks; ++i) {
            CHECK_EQ(runs[i] + drops[i] + unruns[i], 1);
            told += drops[i] + unruns[i];
            CHECK(i % 3 == 0 || drops[i] == 0);
            CHECK(i % 3 != 0 || unruns[i] == 0);
        }
        CHECK_EQ(stats_of(g).unrun, told);
        CHECK_EQ(stats_of(g).finished, tasks - told);
        hc_group_unref(g);
    }
}

/* A task that runs is not dropped, not even long after. */
static void a_task_that_ran_is_never_told(void) {
    clear();
    hc_group *g = group_that_tells(HC_KIND_STEALING, 3);
    submit_all(g);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_OK(hc_group_destroy(g));
    for (int i = 0; i < tasks; ++i) CHECK_EQ(runs[i] * 100 + drops[i] + unruns[i], 100);
}

/* Without anyone to tell, they are only counted. */
static void untold_tasks_are_counted(void) {
    clear();
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    for (uintptr_t i = 0; i < 700; ++i) CHECK_OK(hc_submit(g, mark_run, (void *)i));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    gate_open(&at);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_EQ(stats_of(g).unrun, 700);
    CHECK_EQ(stats_of(g).queued, 0);
    hc_group_unref(g);
    for (int i = 0; i < 700; ++i) CHECK_EQ(runs[i], 0);
}

/* No lock is held: a drop may call back into the group, and may wait for another thread that does. */
static hc_group *called_back;
static atomic_int calls_from_drops;

static void *use_group(void *arg) {
    hc_group *g = arg;
    CHECK_RC(hc_submit(g, mark_run, NULL), HC_ESHUTDOWN);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_OK(hc_group_trim(g));
    (void)stats_of(g);
    hc_group_ref(g);
    hc_group_unref(g);
    return NULL;
}

static void calls_back(void *arg, int32_t why) {
    (void)arg, (void)why;
    use_group(called_back);
    thread_join(thread_start(use_group, called_back));
    hc_group *another = group_of(1); /* nor a lock of the library as a whole */
    CHECK_OK(hc_group_destroy(another));
    atomic_fetch_add(&calls_from_drops, 1);
}

static void calls_back_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user, (void)fn;
    calls_back(arg, why);
}

static void a_callback_may_use_the_group(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1;
    options.on_unrun = calls_back_unrun;
    called_back = fixed_with(&options);
    gate at = GATE;
    gate_hold(called_back, &at);
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = mark_run;
    task.drop = calls_back;
    for (int i = 0; i < 10; ++i) {
        CHECK_OK(hc_task_submit(called_back, &task, NULL));
        CHECK_OK(hc_submit(called_back, mark_run, NULL));
    }
    CHECK_OK(hc_group_shutdown(called_back, HC_SHUTDOWN_NOW));
    gate_open(&at);
    CHECK_OK(hc_group_destroy(called_back));
    CHECK_EQ(calls_from_drops, 20);
}

/* A wait for the group in which the callback is would wait for itself, whoever calls it: a worker, shutdown, await. */
static atomic_int told_by_worker, told_by_others;

static void waits_in_vain(void) {
    hc_group *g = hc_group_current();
    CHECK(g == called_back);
    const uint64_t timeouts[] = {0, 1, HC_NEVER};
    for (size_t i = 0; i < 3; ++i) {
        CHECK_RC(hc_group_drain(g, timeouts[i]), HC_EDEADLK);
        CHECK_RC(hc_group_await(g, timeouts[i]), HC_EDEADLK);
    }
    atomic_fetch_add(hc_worker_index() == -1 ? &told_by_others : &told_by_worker, 1);
}

static void drop_waits(void *arg, int32_t why) {
    (void)arg, (void)why;
    waits_in_vain();
}

static void unrun_waits(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user, (void)fn, (void)arg, (void)why;
    waits_in_vain();
}

enum told_by { by_worker, by_shutdown, by_await };

static void tasks_are_told_by(uint32_t kind, enum told_by by) {
    told_by_worker = told_by_others = 0;
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = 1;
    options.on_unrun = unrun_waits;
    called_back = fixed_with(&options);
    gate before = GATE, at = GATE;
    gate_hold(called_back, &before);
    if (by == by_shutdown) CHECK_OK(hc_submit(called_back, gate_task, &at)); /* the first of a batch */
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = mark_run;
    task.drop = drop_waits;
    for (int i = 0; i < 10; ++i) {
        CHECK_OK(hc_task_submit(called_back, &task, NULL));
        CHECK_OK(hc_submit(called_back, mark_run, NULL));
    }
    if (by == by_shutdown) {
        gate_open(&before);
        latch_wait(&at.inside);
    }
    CHECK_OK(hc_group_shutdown(called_back, HC_SHUTDOWN_NOW));
    if (by == by_await) {
        while (told_by_others < 20) CHECK_RC(hc_group_await(called_back, 1), HC_ETIMEDOUT);
    } else if (by == by_shutdown) {
        CHECK_EQ(told_by_others, 20);
        gate_open(&at);
    }
    if (by != by_shutdown) gate_open(&before);
    if (by == by_worker) UNTIL(told_by_worker == 20);
    CHECK_OK(hc_group_destroy(called_back));
    CHECK_EQ(told_by_worker, by == by_worker ? 20 : 0);
    CHECK_EQ(told_by_others, by == by_worker ? 0 : 20);
    CHECK(hc_group_current() == NULL);
}

static void a_callback_cannot_wait_for_its_own_group(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        tasks_are_told_by(kind, by_worker);
        tasks_are_told_by(kind, by_await);
        if (kind != HC_KIND_SHARED) tasks_are_told_by(kind, by_shutdown); /* that one takes no batches */
    }
}

/* What the submitter wrote before is visible to the drop, what the drop wrote is visible after the wait: plain memory.
 */
static int plain[500];

static void plain_drop(void *arg, int32_t why) {
    (void)why;
    *(int *)arg += 1;
}

static void drops_are_ordered_with_submit_and_wait(void) {
    for (int round = 0; round < 20; ++round) {
        hc_group *g = group_of(2);
        hc_task_options task = HC_TASK_OPTIONS_INIT;
        task.fn = mark_run;
        task.drop = plain_drop;
        hold at;
        hold_all(g, &at, 2);
        for (int i = 0; i < 500; ++i) {
            plain[i] = 10;
            task.arg = &plain[i];
            CHECK_OK(hc_task_submit(g, &task, NULL));
        }
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
        hold_release(&at);
        CHECK_OK(round % 2 ? hc_group_await(g, HC_NEVER) : hc_group_drain(g, HC_NEVER));
        for (int i = 0; i < 500; ++i) CHECK_EQ(plain[i], 11);
        CHECK_OK(hc_group_destroy(g));
    }
}

int main(void) {
    check_deadline(60);
    RUN(each_task_is_told_once_and_to_the_right_one);
    RUN(a_shutdown_amid_the_work_tells_each_task_once);
    RUN(a_task_that_ran_is_never_told);
    RUN(untold_tasks_are_counted);
    RUN(a_callback_may_use_the_group);
    RUN(a_callback_cannot_wait_for_its_own_group);
    RUN(drops_are_ordered_with_submit_and_wait);
    return 0;
}
