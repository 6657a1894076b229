/* Guards against: a pinned task on the wrong worker, out of order, stolen, or lost with a stuck worker. */
#include "check.h"

enum { workers = 3, per_worker = 5000 };

static hc_group *pinned(uint32_t n) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = HC_KIND_PINNED;
    options.max_workers = n;
    return fixed_with(&options);
}

static void only_pinned_groups_take_it(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        hc_group *g = fixed_with(&options);
        atomic_int ran = 0;
        CHECK_RC(hc_submit_to(g, 0, count_task, &ran), HC_ENOTSUP);
        CHECK_RC(hc_submit_to(g, 1, count_task, &ran), HC_ENOTSUP);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, 0);
    }
}

static void bad_arguments_are_refused(void) {
    hc_group *g = pinned(2);
    atomic_int ran = 0;
    CHECK_RC(hc_submit_to(NULL, 0, count_task, &ran), HC_EINVAL);
    CHECK_RC(hc_submit_to(g, 0, NULL, &ran), HC_EINVAL);
    CHECK_RC(hc_submit_to(g, 2, count_task, &ran), HC_EINVAL);
    CHECK_RC(hc_submit_to(g, HC_NONE32, count_task, &ran), HC_EINVAL);
    CHECK_RC(hc_submit_to(g, HC_MAX_WORKERS, count_task, &ran), HC_EINVAL);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 0);
}

static size_t next_of[workers]; /* plain: each cell belongs to one worker */

static void here_and_in_order(void *arg) {
    uintptr_t worker = (uintptr_t)arg % workers, number = (uintptr_t)arg / workers;
    CHECK_EQ(hc_worker_index(), worker);
    CHECK_EQ(next_of[worker], number);
    next_of[worker] = number + 1;
}

static void each_worker_runs_its_own_in_order(void) {
    memset(next_of, 0, sizeof next_of);
    hc_group *g = pinned(workers);
    for (uintptr_t i = 0; i < per_worker; ++i)
        for (uint32_t w = 0; w < workers; ++w)
            CHECK_OK(hc_submit_to(g, w, here_and_in_order, (void *)(i * workers + w)));
    CHECK_OK(hc_group_destroy(g));
    for (int w = 0; w < workers; ++w) CHECK_EQ(next_of[w], per_worker);
}

/* From several threads: first in, first out for each worker, whoever submits. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t ticket[workers];

static void *take_tickets(void *arg) {
    for (uint32_t i = 0; i < per_worker; ++i) {
        pthread_mutex_lock(&one_at_a_time);
        uint32_t w = i % workers;
        CHECK_OK(hc_submit_to(arg, w, here_and_in_order, (void *)(ticket[w]++ * workers + w)));
        pthread_mutex_unlock(&one_at_a_time);
    }
    return NULL;
}

static void each_worker_serves_first_come_first(void) {
    memset(next_of, 0, sizeof next_of);
    hc_group *g = pinned(workers);
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) threads[i] = thread_start(take_tickets, g);
    for (int i = 0; i < 4; ++i) thread_join(threads[i]);
    CHECK_OK(hc_group_destroy(g));
    for (int w = 0; w < workers; ++w) CHECK_EQ(next_of[w], ticket[w]);
}

static atomic_int dealt[workers];

static void count_dealt(void *arg) {
    (void)arg;
    dealt[hc_worker_index()] += 1;
}

static void plain_submits_are_dealt_in_turn(void) {
    hc_group *g = pinned(workers);
    for (int i = 0; i < workers * 100; ++i) CHECK_OK(hc_submit(g, count_dealt, NULL));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    for (int w = 0; w < workers; ++w) CHECK_EQ(dealt[w], 100);
    hc_call calls[workers * 10];
    for (int i = 0; i < workers * 10; ++i) calls[i] = (hc_call){count_dealt, NULL};
    size_t accepted = 0;
    CHECK_OK(hc_submit_batch(g, calls, workers * 10, &accepted));
    CHECK_OK(hc_group_destroy(g));
    for (int w = 0; w < workers; ++w) CHECK_EQ(dealt[w], 110);
}

/* Each task is passed on to the next worker, from inside. */
static atomic_int hops;

static void pass_on(void *arg) {
    uint32_t here = (uint32_t)(uintptr_t)arg;
    CHECK_EQ(hc_worker_index(), here);
    if (atomic_fetch_add(&hops, 1) >= 3000) return;
    uint32_t next = (here + 1) % workers;
    CHECK_OK(hc_submit_to(hc_group_current(), next, pass_on, (void *)(uintptr_t)next));
}

static void tasks_pass_work_from_worker_to_worker(void) {
    hc_group *g = pinned(workers);
    CHECK_OK(hc_submit_to(g, 0, pass_on, (void *)0));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(hops, 3001);
    CHECK_OK(hc_group_destroy(g));
}

/* Never stolen: what is bound to a stuck worker waits for it; the others go on. */
static latch others = LATCH(1000);

static void others_task(void *arg) {
    (void)arg;
    CHECK_EQ(hc_worker_index(), 1);
    latch_down(&others);
}

static void only_here(void *arg) {
    CHECK_EQ(hc_worker_index(), 0);
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void a_stuck_worker_keeps_its_own_and_nothing_else(void) {
    hc_group *g = pinned(2);
    gate at = GATE;
    CHECK_OK(hc_submit_to(g, 0, gate_task, &at));
    latch_wait(&at.inside);
    atomic_int ran = 0;
    for (int i = 0; i < 1000; ++i) {
        CHECK_OK(hc_submit_to(g, 0, only_here, &ran));
        CHECK_OK(hc_submit_to(g, 1, others_task, NULL));
    }
    latch_wait(&others);
    CHECK_EQ(ran, 0);
    CHECK_EQ(stats_of(g).queued, 1000);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1000);
}

int main(void) {
    check_deadline(60);
    RUN(only_pinned_groups_take_it);
    RUN(bad_arguments_are_refused);
    RUN(each_worker_runs_its_own_in_order);
    RUN(each_worker_serves_first_come_first);
    RUN(plain_submits_are_dealt_in_turn);
    RUN(tasks_pass_work_from_worker_to_worker);
    RUN(a_stuck_worker_keeps_its_own_and_nothing_else);
    return 0;
}
