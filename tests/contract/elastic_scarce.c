/* Guards against: a group that loses tasks, or hangs, because a thread or memory for one could not be had when it wanted to grow;
 * what groups cost that have nothing to do. */
#include "counting.h"
#include "elastic.h"

/* A pthread_create in front of the system's. It can fail, and it can be held up before it does. */
#include <dlfcn.h>
#include <errno.h>

static atomic_int asked_for, fail_from = -1, fail_count;
static latch *held_up; /* two: it is inside; it may fail */

typedef int (*pthread_create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static pthread_create_fn real_create;

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
                                                          void *(*body)(void *), void *restrict arg) {
    const int call = atomic_fetch_add(&asked_for, 1), from = fail_from;
    if (from >= 0 && call >= from && call < from + fail_count) {
        if (held_up != NULL) {
            latch_down(&held_up[0]);
            latch_wait(&held_up[1]);
        }
        return EAGAIN;
    }
    return real_create(thread, attr, body, arg);
}

static void threads_fail(int from, int count) {
    asked_for = 0;
    fail_count = count;
    fail_from = from;
}

/* One that is not counted. */
static pthread_t helper_start(void *(*body)(void *), void *arg) {
    pthread_t thread;
    CHECK_EQ(real_create(&thread, NULL, body, arg), 0);
    return thread;
}

static counting memory = COUNTING;
static crew all;

/* The n-th growth fails, and then so many more: those who are there do it all. */
static void growth_goes_on_with_those_that_are_there(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int n = 0; n < 6; ++n)
            for (int count = 1; count <= 1000000; count *= 1000) {
                hc_group_options options = elastic_options(kind, 1, 6, &all);
                hc_group *g = group_with(&options);
                atomic_int ran = 0;
                threads_fail(n, count);
                for (int round = 0; round < 20; ++round) {
                    meter m = {0, 0, 0};
                    for (int i = 0; i < 50; ++i) {
                        CHECK_OK(hc_submit(g, count_task, &ran));
                        CHECK_OK(hc_submit(g, meter_task, &m));
                    }
                    CHECK_OK(hc_group_drain(g, HC_NEVER));
                    CHECK_EQ(m.ran, 50);
                }
                CHECK_EQ(ran, 1000);
                CHECK(count == 1 || stats_of(g).workers <= (uint32_t)n + 1);
                threads_fail(-1, 0);
                /* And when there are threads again, more come: it does not ask each time. */
                hold at = {LATCH(0), LATCH(1)};
                for (int k = 1; k <= 6; ++k) {
                    latch_reset(&at.inside, 1);
                    CHECK_OK(hc_submit(g, hold_task, &at));
                    for (bool in = false; !in;) {
                        pthread_mutex_lock(&at.inside.mutex);
                        in = at.inside.count <= 0;
                        pthread_mutex_unlock(&at.inside.mutex);
                        if (!in) CHECK_OK(hc_submit(g, count_task, &ran)); /* each is an occasion */
                        sched_yield();
                    }
                }
                CHECK_EQ(stats_of(g).workers, 6);
                hold_release(&at);
                CHECK_OK(hc_group_destroy(g));
                crew_check_gone(&all);
            }
}

static void the_argument_stays_the_callers_where_no_thread_can_be_had(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int round = 0; round < 3; ++round) {
            hc_group_options options = elastic_options(kind, HC_NONE32, 4, &all);
            options.keep_alive = 1;
            hc_group *g = group_with(&options);
            atomic_int ran = 0, never = 0;
            hc_scope *s = NULL;
            CHECK_OK(hc_scope_create(g, &s));
            hc_task *t = (hc_task *)&memory;
            const hc_task_options task = options_of(count_task, &never);
            const hc_call call = {count_task, &never};
            size_t accepted = 9;
            threads_fail(0, 1000000);
            CHECK_RC(hc_submit(g, count_task, &never), HC_ETHREAD);
            CHECK_RC(hc_task_submit(g, &task, &t), HC_ETHREAD);
            CHECK(t == NULL);
            CHECK_RC(hc_submit_batch(g, &call, 1, &accepted), HC_ETHREAD);
            CHECK_EQ(accepted, 0);
            CHECK_RC(hc_scope_submit(s, count_task, &never, NULL), HC_ETHREAD);
            CHECK_RC(hc_submit_timed(g, count_task, &never, HC_NEVER), HC_ETHREAD);
            CHECK_RC(hc_schedule(g, count_task, &never, 0), HC_ETHREAD);
            CHECK_RC(hc_schedule(g, count_task, &never, 1000), HC_ETHREAD);
            CHECK_EQ(stats_of(g).submitted, 0);
            CHECK_EQ(stats_of(g).workers, 0);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
            threads_fail(-1, 0);
            int rc;
            UNTIL((rc = hc_submit(g, count_task, &ran)) != HC_ETHREAD);
            CHECK_OK(rc);
            UNTIL(ran == 1);
            CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(never, 0);
            crew_check_gone(&all);
        }
}

/* A submitter has gone to fetch a worker, which the others see as one that searches, and then there is none. Meanwhile the
 * only worker has gone to bed, and another submitter relied on that search. */
static hc_group *fetching;
static atomic_int fetched;
static void *submits_and_fetches(void *arg) {
    (void)arg;
    CHECK_OK(hc_submit(fetching, count_task, &fetched));
    return NULL;
}

static void who_relied_on_one_that_did_not_come_is_not_forgotten(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        const hc_group_options options = elastic_options(kind, 1, 2, &all);
        hc_group *g = fetching = group_with(&options);
        gate at = GATE;
        latch two[2] = {LATCH(1), LATCH(1)};
        fetched = 0;
        gate_hold(g, &at);
        held_up = two;
        threads_fail(0, 1000000);
        pthread_t other = helper_start(submits_and_fetches, NULL);
        latch_wait(&two[0]);
        gate_open(&at); /* the worker runs that one too, and goes to bed */
        UNTIL(fetched == 1 && stats_of(g).workers_parked == 1);
        CHECK_OK(hc_submit(g, count_task, &fetched));
        latch_down(&two[1]);
        thread_join(other);
        UNTIL(fetched == 2);
        held_up = NULL;
        threads_fail(-1, 0);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void without_memory_for_another_worker_it_goes_on(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int n = 0; n < 4; ++n) {
            const hc_group_options options = elastic_options(kind, 1, 8, &all);
            hc_group *g = group_with(&options);
            atomic_int ran = 0, accepted = 0;
            CHECK_OK(hc_submit(g, count_task, &ran)); /* whoever submits has what it needs for that */
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            gate at = GATE;
            gate_hold(g, &at);
            counting_fail_after(&memory, n);
            for (int i = 0; i < 50; ++i) {
                const int rc = hc_submit(g, count_task, &ran);
                CHECK(rc == HC_OK || rc == HC_ENOMEM);
                accepted += rc == HC_OK;
            }
            gate_open(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(ran, 1 + accepted);
            counting_fail_after(&memory, -1);
            for (int i = 0; i < 50; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, 51 + accepted);
            crew_check_gone(&all);
        }
}

/* A spare one that cannot be had is no failure of who blocks. */
static void blocks_without_help(void *arg) {
    (void)hc_blocking_begin();
    hc_blocking_end();
    count_task(arg);
}

static void blocking_without_threads_goes_on(void) {
    hc_group_options options = elastic_options(HC_KIND_STEALING, 2, 2, &all);
    options.spare_workers = 4;
    hc_group *g = group_with(&options);
    atomic_int ran = 0;
    threads_fail(0, 1000000);
    for (int i = 0; i < 2000; ++i) CHECK_OK(hc_submit(g, blocks_without_help, &ran));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(ran, 2000);
    CHECK_EQ(stats_of(g).workers, 2);
    UNTIL(stats_of(g).workers_blocked == 0);
    threads_fail(-1, 0);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Later, by itself ------------------------------------------------------------------------------------------------ */

/* All are busy, the next one cannot be had just then, and nobody submits or drains any more. */
static void what_waits_gets_its_worker_later(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 0; i < n_most_counts; ++i) {
            const uint32_t most = most_counts[i];
            const hc_group_options options = elastic_options(kind, HC_NONE32, most + 1, &all);
            hc_group *g = group_with(&options);
            hold at;
            atomic_int ran = 0;
            hold_all(g, &at, most);
            for (int round = 0; round < 2; ++round) { /* the second time with one that is there: it has nothing to do with it */
                threads_fail(0, 1);
                CHECK_OK(hc_submit(g, count_task, &ran));
                UNTIL(ran == round + 1);
            }
            threads_fail(-1, 0);
            hold_release(&at);
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(all.starts, most + 1);
            crew_check_gone(&all);
        }
}

static void the_least_number_is_there_later(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        const hc_group_options options = elastic_options(kind, 1, 8, &all);
        hc_group *g = group_with(&options);
        threads_fail(2, 1);
        CHECK_OK(hc_group_resize(g, 6, 8));
        UNTIL(stats_of(g).workers == 6);
        threads_fail(-1, 0);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(all.starts, 6);
        crew_check_gone(&all);
    }
}

static latch fork_ran;
static void forked(hc_worker *w, void *arg) {
    (void)w;
    count_task(arg);
    latch_down(&fork_ran);
}

static void a_fork_gets_its_worker_later(void) {
    const hc_group_options options = elastic_options(HC_KIND_STEALING, HC_NONE32, 1, &all);
    hc_group *g = group_with(&options);
    hc_worker *w = NULL;
    hc_fork f;
    atomic_int ran = 0;
    fork_ran = (latch)LATCH(1);
    CHECK_OK(hc_worker_enter(g, &w));
    threads_fail(0, 1);
    w = hc_fork_push(w, &f, forked, &ran);
    latch_wait(&fork_ran); /* its owner does nothing for it */
    w = hc_fork_join(w, &f);
    threads_fail(-1, 0);
    CHECK_EQ(ran, 1);
    hc_worker_leave(w);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Idle groups ----------------------------------------------------------------------------------------------------- */

static void idle_groups_cost_no_thread_and_little_memory(void) {
    enum { n = 1000 };
    static hc_group *groups[n];
    const int threads = threads_now();
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int tried = 0; tried < 2; ++tried) {
            const int64_t before = counting_read(&memory, &memory.bytes);
            atomic_int ran = 0;
            for (int i = 0; i < n; ++i) {
                hc_group_options options = HC_GROUP_OPTIONS_INIT;
                options.kind = kind;
                options.min_workers = HC_NONE32;
                options.keep_alive = 1000;
                groups[i] = group_with(&options);
                if (tried != 0) CHECK_OK(hc_submit(groups[i], count_task, &ran)); /* it has had a worker, which has gone */
            }
            for (int i = 0; i < n; ++i) UNTIL(stats_of(groups[i]).workers == 0);
            UNTIL(threads_now() <= threads + 1); /* one may look after those that are stuck */
            const int64_t each = (counting_read(&memory, &memory.bytes) - before) / n;
            printf("  kind %u, %s: %" PRId64 " bytes for each group\n", kind, tried != 0 ? "used" : "never used", each);
            CHECK(each < 32768);
            for (int i = 0; i < n; ++i) CHECK_OK(hc_group_destroy(groups[i]));
            CHECK_EQ(ran, tried * n);
        }
}

int main(int argc, char **argv) {
    check_deadline(90);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real_create, &symbol, sizeof real_create); /* ISO C has no cast for this */
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    CHECK_OK(hc_group_destroy(group_of(3)));
    CHECK_EQ(asked_for, 3); /* it does pass through here: otherwise nothing below is tested */
#define CASE(name) \
    if (argc < 2 || strstr(#name, argv[1]) != NULL) RUN(name)
    /* First: the one who looks after that must be there, or be had. */
    CASE(what_waits_gets_its_worker_later);
    CASE(the_least_number_is_there_later);
    CASE(a_fork_gets_its_worker_later);
    CASE(growth_goes_on_with_those_that_are_there);
    CASE(the_argument_stays_the_callers_where_no_thread_can_be_had);
    CASE(who_relied_on_one_that_did_not_come_is_not_forgotten);
    CASE(without_memory_for_another_worker_it_goes_on);
    CASE(blocking_without_threads_goes_on);
    CASE(idle_groups_cost_no_thread_and_little_memory);
    return 0;
}
