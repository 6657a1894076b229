/* Guards against: a queue that grows past its bound, is full long before it, never gets its room back, or runs a task
 * on its submitter although that was not asked for. */
#include "check.h"

static const uint64_t capacities[] = {1, 2, 5, 6, 7, 60, 1000, 4096, 20000};
enum { n_capacities = sizeof capacities / sizeof capacities[0] };

static hc_group *group_bounded(uint32_t kind, uint32_t workers, uint64_t capacity, uint32_t policy) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.capacity = capacity;
    options.full_policy = policy;
    return fixed_with(&options);
}

static uint64_t fill_up(hc_group *g, atomic_int *ran) {
    uint64_t taken = 0;
    int rc;
    while ((rc = hc_submit(g, count_task, ran)) == HC_OK) ++taken;
    CHECK_RC(rc, HC_EFULL);
    return taken;
}

static void check_bound(uint64_t taken, uint64_t capacity) {
    CHECK(taken <= capacity);
    CHECK(taken >= capacity - capacity / 6); /* a sixth early at most */
}

static void one_submitter_meets_the_bound(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int c = 0; c < n_capacities; ++c) {
            hc_group *g = group_bounded(kind, 2, capacities[c], HC_FULL_FAIL);
            atomic_int ran = 0;
            int64_t total = 0;
            for (int round = 0; round < 3; ++round) { /* the room comes back with each drain */
                hold at;
                hold_all(g, &at, 2);
                uint64_t taken = fill_up(g, &ran);
                check_bound(taken, capacities[c]);
                CHECK_EQ(stats_of(g).queued, taken);
                total += (int64_t)taken;
                hold_release(&at);
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                CHECK_EQ(ran, total);
            }
            CHECK_OK(hc_group_destroy(g));
        }
}

/* Several submitters share one bound, whatever portions they take ahead. */
typedef struct filler {
    hc_group *g;
    atomic_int *ran;
    uint64_t taken;
} filler;

static void *fill_thread(void *arg) {
    filler *f = arg;
    f->taken = fill_up(f->g, f->ran);
    return NULL;
}

static void many_submitters_share_one_bound(void) {
    enum { threads = 8 };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int c = 0; c < n_capacities; ++c) {
            hc_group *g = group_bounded(kind, 2, capacities[c], HC_FULL_FAIL);
            atomic_int ran = 0;
            hold at;
            hold_all(g, &at, 2);
            filler fillers[threads];
            pthread_t ids[threads];
            uint64_t taken = 0;
            for (int i = 0; i < threads; ++i) {
                fillers[i] = (filler){g, &ran, 0};
                ids[i] = thread_start(fill_thread, &fillers[i]);
            }
            for (int i = 0; i < threads; ++i) {
                thread_join(ids[i]);
                taken += fillers[i].taken;
            }
            check_bound(taken, capacities[c]);
            CHECK_EQ(stats_of(g).queued, taken);
            hold_release(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(ran, taken);
            /* Threads that are gone have not kept any of the room. */
            hold_all(g, &at, 2);
            check_bound(fill_up(g, &ran), capacities[c]);
            hold_release(&at);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* Submitters that have queued one task each and live on: what they took ahead is not lost for the others. */
typedef struct idler {
    hc_group *g;
    atomic_int *ran;
    latch submitted, leave;
} idler;

static void *submit_one_and_stay(void *arg) {
    idler *all = arg;
    CHECK_OK(hc_submit(all->g, count_task, all->ran));
    latch_down(&all->submitted);
    latch_wait(&all->leave);
    return NULL;
}

static void idle_submitters_do_not_sit_on_the_room(void) {
    enum { threads = 100, capacity = 6000 };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_bounded(kind, 2, capacity, HC_FULL_FAIL);
        atomic_int ran = 0;
        hold at;
        hold_all(g, &at, 2);
        idler all = {g, &ran, LATCH(threads), LATCH(1)};
        pthread_t ids[threads];
        for (int i = 0; i < threads; ++i) ids[i] = thread_start(submit_one_and_stay, &all);
        latch_wait(&all.submitted);
        check_bound(fill_up(g, &ran) + threads, capacity);
        latch_down(&all.leave);
        for (int i = 0; i < threads; ++i) thread_join(ids[i]);
        hold_release(&at);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Submitters that press against the bound while workers run. What is queued is never less than what was accepted less
 * what has started, the one counted before the other; a worker may be between taking its task and counting it. */
enum { pressing_workers = 2 };
static atomic_bool stop;
static atomic_int pressed;

static void *press(void *arg) {
    filler *f = arg;
    while (!stop) {
        int rc = hc_submit(f->g, count_task, f->ran);
        CHECK(rc == HC_OK || rc == HC_EFULL);
        if (rc == HC_OK) pressed += 1;
    }
    return NULL;
}

static void the_bound_holds_while_workers_run(void) {
    enum { threads = 3, capacity = 100 };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_bounded(kind, pressing_workers, capacity, HC_FULL_FAIL);
        atomic_int ran = 0;
        stop = false;
        pressed = 0;
        filler all = {g, &ran, 0};
        pthread_t ids[threads];
        for (int i = 0; i < threads; ++i) ids[i] = thread_start(press, &all);
        while (ran < 20000) {
            int accepted = pressed, started = ran;
            CHECK(accepted - started <= capacity + pressing_workers);
            sched_yield();
        }
        stop = true;
        for (int i = 0; i < threads; ++i) thread_join(ids[i]);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, pressed);
    }
}

/* ---- HC_FULL_RUN ----------------------------------------------------------------------------------------------- */

static pthread_t submitter;
static hc_group *running_group;
static atomic_int ran_here;
static const char label[] = "run by its submitter";

static void must_run_here(void *arg) {
    CHECK(pthread_equal(pthread_self(), submitter));
    CHECK(hc_group_current() == running_group);
    CHECK_EQ(hc_worker_index(), -1);
    CHECK(hc_task_label() == arg);
    CHECK_RC(hc_group_drain(running_group, 0), HC_EDEADLK); /* it is a task of this group */
    CHECK_RC(hc_group_await(running_group, 0), HC_EDEADLK);
    CHECK_RC(hc_thread_sigmask_restore(), HC_EINVAL); /* but no worker */
    atomic_fetch_add(&ran_here, 1);
}

static void a_full_group_runs_the_task_on_its_submitter(void) {
    submitter = pthread_self();
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int c = 0; c < n_capacities; ++c) {
            hc_group *g = running_group = group_bounded(kind, 2, capacities[c], HC_FULL_RUN);
            hold at;
            hold_all(g, &at, 2);
            atomic_int ran = 0;
            uint64_t queued = 0;
            while (CHECK_OK(hc_submit(g, count_task, &ran)), ran == 0) ++queued;
            check_bound(queued, capacities[c]);
            CHECK_EQ(stats_of(g).queued, queued);

            ran_here = 0;
            for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(g, must_run_here, NULL));
            hc_task_options options = HC_TASK_OPTIONS_INIT;
            options.fn = must_run_here;
            options.arg = (void *)label;
            options.label = label;
            CHECK_OK(hc_task_submit(g, &options, NULL));
            if (kind == HC_KIND_PINNED) CHECK_OK(hc_submit_to(g, 0, must_run_here, NULL));
            CHECK_EQ(ran_here, kind == HC_KIND_PINNED ? 102 : 101);
            CHECK(hc_group_current() == NULL); /* and it is over */
            CHECK(hc_task_label() == NULL);
            CHECK_EQ(stats_of(g).queued, queued);

            hold_release(&at);
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, queued + 1);
        }
}

static void a_full_group_runs_the_rest_of_a_batch_on_its_submitter(void) {
    enum { n = 3000, capacity = 1000 };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_bounded(kind, 2, capacity, HC_FULL_RUN);
        hold at;
        hold_all(g, &at, 2);
        atomic_int ran = 0;
        static hc_call calls[n];
        for (int i = 0; i < n; ++i) calls[i] = (hc_call){count_task, &ran};
        size_t accepted = 0;
        CHECK_OK(hc_submit_batch(g, calls, n, &accepted));
        CHECK_EQ(accepted, n);
        CHECK(ran >= n - capacity);
        CHECK(ran <= n - (capacity - capacity / 6));
        CHECK_EQ(stats_of(g).queued, n - ran);
        hold_release(&at);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, n);
    }
}

/* A full group that is shut down refuses; it does not run. */
static void a_shut_group_runs_nothing_on_its_submitter(void) {
    hc_group *g = group_bounded(HC_KIND_STEALING, 1, 1, HC_FULL_RUN);
    gate at = GATE;
    gate_hold(g, &at);
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, count_task, &ran));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_RC(hc_submit(g, count_task, &ran), HC_ESHUTDOWN);
    CHECK_EQ(ran, 0);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 0);
}

/* A task on its worker fills the group up and runs what does not fit inside itself: still the worker's own place. */
static atomic_int nested;

static void runs_inside(void *arg) {
    (void)arg;
    nested += 1;
}

static void fills_from_inside(void *arg) {
    (void)arg;
    hc_group *g = hc_group_current();
    int32_t index = hc_worker_index();
    for (int i = 0; i < 50; ++i) CHECK_OK(hc_submit(g, runs_inside, NULL));
    CHECK(nested >= 40);
    CHECK(hc_group_current() == g);
    CHECK_EQ(hc_worker_index(), index);
}

static void a_task_may_run_what_does_not_fit(void) {
    hc_group *g = group_bounded(HC_KIND_STEALING, 1, 10, HC_FULL_RUN);
    CHECK_OK(hc_submit(g, fills_from_inside, NULL));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(nested, 50);
}

int main(void) {
    check_deadline(90);
    RUN(one_submitter_meets_the_bound);
    RUN(many_submitters_share_one_bound);
    RUN(idle_submitters_do_not_sit_on_the_room);
    RUN(the_bound_holds_while_workers_run);
    RUN(a_full_group_runs_the_task_on_its_submitter);
    RUN(a_full_group_runs_the_rest_of_a_batch_on_its_submitter);
    RUN(a_shut_group_runs_nothing_on_its_submitter);
    RUN(a_task_may_run_what_does_not_fit);
    return 0;
}
