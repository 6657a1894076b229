/* Guards against: half a group. The n-th thread cannot be started, for every n: create says so and leaves no thread, no
 * memory and no handle behind. */
#include "counting.h"
#include "scarce_threads.h"

static counting memory = COUNTING;
static atomic_int starts, stops;

static void on_start(void *user, uint32_t index) {
    (void)user, (void)index;
    starts += 1;
}

static void on_stop(void *user, uint32_t index) {
    (void)user, (void)index;
    stops += 1;
}

enum { workers = 6 };

static hc_group_options six_workers(uint32_t kind) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.min_workers = options.max_workers = workers;
    options.on_thread_start = on_start;
    options.on_thread_stop = on_stop;
    return options;
}

static void create_is_all_or_nothing(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int n = 0; n < workers; ++n) {
            starts = stops = 0;
            const hc_group_options options = six_workers(kind);
            int threads = threads_now();
            hc_group *g = (hc_group *)&memory;
            threads_fail(n, 1000000);
            CHECK_RC(hc_group_create(&g, &options), HC_ETHREAD);
            threads_fail(-1, 0);
            CHECK(g == NULL);
            CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
            UNTIL(threads_now() <= threads);
            CHECK_EQ(starts, stops); /* whoever had started said good-bye */
            CHECK(starts <= n);
        }
}

/* Short of threads for a moment only: retried with success, or told. In between there is nothing. */
static void a_passing_shortage_is_survived_or_told(void) {
    for (int n = 0; n < workers; ++n) {
        starts = stops = 0;
        const hc_group_options options = six_workers(HC_KIND_STEALING);
        int threads = threads_now();
        hc_group *g = NULL;
        threads_fail(n, 1);
        int rc = hc_group_create(&g, &options);
        threads_fail(-1, 0);
        if (rc == HC_OK) {
            CHECK_EQ(stats_of(g).workers, workers);
            atomic_int ran = 0;
            for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, 100);
            CHECK_EQ(starts, workers);
        } else {
            CHECK_RC(rc, HC_ETHREAD);
            CHECK(g == NULL);
        }
        CHECK_EQ(starts, stops);
        CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
        UNTIL(threads_now() <= threads);
    }
}

/* The one that asks may go on: the next try, with threads to be had, is like the first. */
static void the_next_create_works(void) {
    for (int i = 0; i < 20; ++i) {
        hc_group *g = NULL;
        const hc_group_options options = six_workers(HC_KIND_STEALING);
        threads_fail(i % workers, 1000000);
        CHECK_RC(hc_group_create(&g, &options), HC_ETHREAD);
        threads_fail(-1, 0);
        g = fixed_with(&options);
        atomic_int ran = 0;
        for (int k = 0; k < 100; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, 100);
    }
}

static void the_signal_mask_of_the_creator_survives(void) {
    sigset_t before, after;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    hc_group *g = NULL;
    threads_fail(0, 1000000);
    CHECK_RC(hc_group_create(&g, NULL), HC_ETHREAD);
    threads_fail(-1, 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    for (int s = 1; s < NSIG; ++s) CHECK_EQ(sigismember(&after, s), sigismember(&before, s));
}

int main(void) {
    check_deadline(60);
    threads_fail(-1, 0);
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    threads_asked_for = 0;
    CHECK_OK(hc_group_destroy(group_of(3)));
    CHECK_EQ(threads_asked_for, 3); /* it does pass through here: otherwise nothing below is tested */
    RUN(create_is_all_or_nothing);
    RUN(a_passing_shortage_is_survived_or_told);
    RUN(the_next_create_works);
    RUN(the_signal_mask_of_the_creator_survives);
    return 0;
}
