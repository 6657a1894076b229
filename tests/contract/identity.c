/* Guards against: an index out of bounds of the per-worker scratch, two workers of one index, a task that believes
 * itself in another group, hooks that do not pair. */
#include <sys/syscall.h>

#include "check.h"

static hc_group *group_of_kind(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    return fixed_with(&options);
}

enum { most_workers = 64 };
static atomic_int thread_of[most_workers]; /* the kernel's number of the thread that had this index */

static void knows_itself(void *arg) {
    hc_group *g = arg;
    CHECK(hc_group_current() == g);
    int32_t index = hc_worker_index();
    CHECK(index >= 0 && (uint32_t)index < hc_group_slots(g));
    int mine = (int)syscall(SYS_gettid), none = 0;
    if (!atomic_compare_exchange_strong(&thread_of[index], &none, mine)) CHECK_EQ(none, mine);
}

static void an_index_belongs_to_one_thread(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t workers = 1; workers <= most_workers; workers *= 4) {
            for (int i = 0; i < most_workers; ++i) thread_of[i] = 0;
            hc_group *g = group_of_kind(kind, workers);
            CHECK_EQ(hc_group_slots(g), workers);
            for (int i = 0; i < 2000; ++i) CHECK_OK(hc_submit(g, knows_itself, g));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(hc_group_slots(g), workers); /* constant for its life */
            for (uint32_t i = 0; i < workers; ++i)
                for (uint32_t k = 0; k < i; ++k) CHECK(thread_of[i] == 0 || thread_of[i] != thread_of[k]);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void outside_of_tasks_there_is_no_current_group(void) {
    hc_group *g = group_of(1);
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, count_task, &ran));
    CHECK(hc_group_current() == NULL);
    CHECK_EQ(hc_worker_index(), -1);
    CHECK(hc_task_label() == NULL);
    CHECK(hc_task_current() == NULL);
    CHECK(hc_worker_self() == NULL);
    CHECK_RC(hc_thread_sigmask_restore(), HC_EINVAL);
    CHECK_OK(hc_group_destroy(g));
    CHECK(hc_group_current() == NULL);
}

/* A thread that a task starts is outside. */
static void *is_outside(void *arg) {
    (void)arg;
    CHECK(hc_group_current() == NULL);
    CHECK_EQ(hc_worker_index(), -1);
    CHECK(hc_task_current() == NULL);
    CHECK_EQ(hc_task_cancelled(), 0);
    CHECK_RC(hc_task_fail(1, NULL, NULL), HC_EINVAL);
    return NULL;
}

static void starts_a_thread(void *arg) {
    knows_itself(arg);
    thread_join(thread_start(is_outside, NULL));
    knows_itself(arg);
}

static void threads_of_a_task_are_outside(void) {
    for (int i = 0; i < most_workers; ++i) thread_of[i] = 0;
    hc_group *g = group_of(2);
    hc_task_options held = HC_TASK_OPTIONS_INIT;
    held.fn = starts_a_thread;
    held.arg = g;
    for (int i = 0; i < 20; ++i) {
        hc_task *t;
        CHECK_OK(hc_submit(g, starts_a_thread, g));
        CHECK_OK(hc_task_submit(g, &held, &t));
        hc_task_cancel(t); /* queued or running: the thread is told nothing of it */
        hc_task_unref(t);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Thread hooks ---------------------------------------------------------------------------------------------- */

static char the_user;
static atomic_int starts[most_workers], stops[most_workers], tasks_seen;
static hc_group *hooked;

static void on_start(void *user, uint32_t index) {
    CHECK(user == &the_user);
    CHECK(index < most_workers);
    CHECK_EQ(hc_worker_index(), index);
    CHECK(hc_group_current() != NULL); /* "the group whose task (or thread hook) the caller is in" */
    CHECK(hc_task_label() == NULL);
    CHECK(hc_task_current() == NULL);
    CHECK_EQ(atomic_fetch_add(&starts[index], 1), 0);
    CHECK_EQ(stops[index], 0);
    thread_of[index] = (int)syscall(SYS_gettid);
}

static void on_stop(void *user, uint32_t index) {
    CHECK(user == &the_user);
    CHECK_EQ(hc_worker_index(), index);
    CHECK(hc_group_current() != NULL);
    CHECK_EQ(starts[index], 1);
    CHECK_EQ(atomic_fetch_add(&stops[index], 1), 0);
    CHECK_EQ(thread_of[index], (int)syscall(SYS_gettid)); /* on the worker itself */
}

static void between_the_hooks(void *arg) {
    (void)arg;
    int32_t index = hc_worker_index();
    CHECK_EQ(starts[index], 1);
    CHECK_EQ(stops[index], 0);
    CHECK_EQ(thread_of[index], (int)syscall(SYS_gettid));
    CHECK(hc_group_current() == hooked);
    tasks_seen += 1;
}

static void each_worker_starts_and_stops_once(uint32_t kind, uint32_t workers, uint32_t how) {
    for (int i = 0; i < most_workers; ++i) starts[i] = stops[i] = thread_of[i] = 0;
    tasks_seen = 0;
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.user = &the_user;
    options.on_thread_start = on_start;
    options.on_thread_stop = on_stop;
    hc_group *g = hooked = fixed_with(&options);
    for (int i = 0; i < 500; ++i) CHECK_OK(hc_submit(g, between_the_hooks, NULL));
    CHECK_OK(hc_group_shutdown(g, how));
    CHECK_OK(hc_group_await(g, HC_NEVER));
    for (uint32_t i = 0; i < workers; ++i) {
        CHECK_EQ(starts[i], 1); /* all of them, also those that found no task */
        CHECK_EQ(stops[i], 1);
    }
    CHECK_EQ(tasks_seen, stats_of(g).finished);
    hc_group_unref(g);
}

static void the_thread_hooks_pair(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int round = 0; round < 5; ++round) {
            each_worker_starts_and_stops_once(kind, 1, HC_SHUTDOWN_DRAIN);
            each_worker_starts_and_stops_once(kind, 5, HC_SHUTDOWN_DRAIN);
            each_worker_starts_and_stops_once(kind, 5, HC_SHUTDOWN_NOW);
        }
}

/* A hook may submit, and may be slow: nothing waits for it but its own worker. */
static latch from_hooks = LATCH(4), hooks_may_go = LATCH(1);

static void from_hook(void *arg) {
    (void)arg;
    latch_down(&from_hooks);
}

static void submits_in_hook(void *user, uint32_t index) {
    (void)user, (void)index;
    CHECK_OK(hc_submit(hc_group_current(), from_hook, NULL));
    latch_wait(&hooks_may_go);
}

static void create_does_not_wait_for_a_hook_that_submits(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 4;
    options.on_thread_start = submits_in_hook;
    hc_group *g = fixed_with(&options); /* all four hooks are stuck */
    latch_down(&hooks_may_go);
    latch_wait(&from_hooks);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(60);
    RUN(an_index_belongs_to_one_thread);
    RUN(outside_of_tasks_there_is_no_current_group);
    RUN(threads_of_a_task_are_outside);
    RUN(the_thread_hooks_pair);
    RUN(create_does_not_wait_for_a_hook_that_submits);
    return 0;
}
