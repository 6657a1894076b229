/* Guards against: numbers that do not add up, a snapshot that writes past the caller's struct. */
#include "check.h"

static void bad_arguments_are_refused(void) {
    hc_group *g = group_of(1);
    hc_group_stats_data data;
    memset(&data, 0xAA, sizeof data);
    hc_group_stats_data before = data;
    CHECK_RC(hc_group_stats(NULL, &data, (uint32_t)sizeof data), HC_EINVAL);
    CHECK_RC(hc_group_stats(g, NULL, (uint32_t)sizeof data), HC_EINVAL);
    CHECK_RC(hc_group_stats(g, &data, 0), HC_EINVAL);
    CHECK_RC(hc_group_stats(g, &data, 4), HC_EINVAL);
    CHECK_RC(hc_group_stats(g, &data, 119), HC_EINVAL);
    CHECK(memcmp(&data, &before, sizeof data) == 0); /* an error writes nothing */
    CHECK_OK(hc_group_destroy(g));
}

/* An older program gives less room, a newer one more. */
static void the_size_goes_both_ways(void) {
    hc_group *g = group_of(3);
    union {
        hc_group_stats_data data;
        unsigned char bytes[sizeof(hc_group_stats_data) + 104];
    } out;
    const uint32_t sizes[] = {120, 121, 128, (uint32_t)sizeof(hc_group_stats_data), (uint32_t)sizeof out, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        memset(&out, 0xAA, sizeof out);
        CHECK_OK(hc_group_stats(g, &out.data, sizes[i]));
        uint32_t known = (uint32_t)sizeof(hc_group_stats_data), wanted = sizes[i] < known ? sizes[i] : known;
        CHECK_EQ(out.data.size, wanted);
        CHECK_EQ(out.data.workers, 3);
        for (size_t at = wanted; at < sizeof out; ++at) CHECK_EQ(out.bytes[at], 0xAA); /* "at most size", "how many" */
    }
    CHECK_OK(hc_group_destroy(g));
}

static void submit_three_ways(hc_group *g, atomic_int *ran) {
    CHECK_OK(hc_submit(g, count_task, ran));
    hc_call calls[10];
    for (int i = 0; i < 10; ++i) calls[i] = (hc_call){count_task, ran};
    size_t accepted = 0;
    CHECK_OK(hc_submit_batch(g, calls, 10, &accepted));
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = count_task;
    options.arg = ran;
    CHECK_OK(hc_task_submit(g, &options, NULL));
}

static void quiet_group_has(const hc_group *g, uint64_t finished, uint64_t unrun) {
    hc_group_stats_data s = stats_of(g);
    CHECK_EQ(s.size, sizeof s);
    CHECK_EQ(s.submitted, finished + unrun);
    CHECK_EQ(s.started, finished);
    CHECK_EQ(s.finished, finished);
    CHECK_EQ(s.unrun, unrun);
    CHECK_EQ(s.queued, 0);
}

static void the_numbers_are_exact_when_it_is_quiet(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 3;
        hc_group *g = fixed_with(&options);
        quiet_group_has(g, 0, 0);
        atomic_int ran = 0;
        uint64_t total = 0;
        for (int round = 0; round < 100; ++round) {
            submit_three_ways(g, &ran);
            total += 12;
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            quiet_group_has(g, total, 0);
        }
        /* Refused ones do not count. */
        CHECK_RC(hc_submit(g, NULL, NULL), HC_EINVAL);
        quiet_group_has(g, total, 0);

        hold at;
        hold_all(g, &at, 3);
        submit_three_ways(g, &ran);
        hc_group_stats_data busy = stats_of(g);
        CHECK_EQ(busy.workers, 3);
        CHECK_EQ(busy.submitted, total + 3 + 12);
        CHECK_EQ(busy.started, total + 3);
        CHECK_EQ(busy.finished, total);
        CHECK_EQ(busy.queued, 12);
        CHECK_EQ(busy.workers_parked, 0);
        CHECK_EQ(busy.workers_searching, 0);
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
        hold_release(&at);
        CHECK_OK(hc_group_await(g, HC_NEVER));
        quiet_group_has(g, total + 3, 12);
        CHECK_EQ(stats_of(g).workers, 0);
        CHECK_RC(hc_submit(g, count_task, &ran), HC_ESHUTDOWN);
        quiet_group_has(g, total + 3, 12);
        hc_group_unref(g);
    }
}

/* A task that looks sees itself begun and not ended. */
static void looks(void *arg) {
    uint64_t before = *(uint64_t *)arg;
    hc_group_stats_data s = stats_of(hc_group_current());
    CHECK_EQ(s.started, before + 1);
    CHECK_EQ(s.finished, before);
    CHECK_EQ(s.workers, 1);
}

static void a_task_sees_itself(void) {
    hc_group *g = group_of(1);
    for (uint64_t i = 0; i < 100; ++i) {
        CHECK_OK(hc_submit(g, looks, &i));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    }
    CHECK_OK(hc_group_destroy(g));
}

/* An idle group goes to sleep and stays asleep: nobody is searching, no number moves. */
static void an_idle_group_is_asleep(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 4;
        hc_group *g = fixed_with(&options);
        atomic_int ran = 0;
        submit_three_ways(g, &ran);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        UNTIL(stats_of(g).workers_parked == 4);
        CHECK_EQ(stats_of(g).workers_searching, 0);
        uint64_t parks;
        do { /* the numbers are not of one instant: until they stand still, which they must some time */
            parks = stats_of(g).parks;
            for (int i = 0; i < 1000; ++i) sched_yield();
        } while (stats_of(g).parks != parks);
        CHECK(parks >= 4);
        CHECK_EQ(stats_of(g).workers_parked, 4);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Never more wakes than work: one at most for a task that is alone. */
static void wakes_do_not_outnumber_tasks(void) {
    hc_group *g = group_of(4);
    atomic_int ran = 0;
    for (int i = 0; i < 300; ++i) {
        CHECK_OK(hc_submit(g, count_task, &ran));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    }
    CHECK(stats_of(g).wakes <= 300);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(60);
    RUN(bad_arguments_are_refused);
    RUN(the_size_goes_both_ways);
    RUN(the_numbers_are_exact_when_it_is_quiet);
    RUN(a_task_sees_itself);
    RUN(an_idle_group_is_asleep);
    RUN(wakes_do_not_outnumber_tasks);
    return 0;
}
