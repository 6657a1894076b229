/* Guards against: memory that the library takes elsewhere than from the hooks, keeps, gives back with another size, or
 * gives back twice. Each case is a process of its own, for the hooks are process-wide. */
#include "counting.h"

static counting memory = COUNTING;

static void only_one_of_the_two_is_refused(void) {
    CHECK_RC(hc_allocator_set(counting_alloc, NULL, &memory), HC_EINVAL);
    CHECK_RC(hc_allocator_set(NULL, counting_free, &memory), HC_EINVAL);
    CHECK_OK(hc_group_destroy(group_of(1))); /* neither was kept */
    CHECK_EQ(memory.requests, 0);
}

static void after_the_first_group_it_is_too_late(void) {
    hc_group *g = group_of(1);
    CHECK_RC(hc_allocator_set(counting_alloc, counting_free, &memory), HC_EBUSY);
    CHECK_RC(hc_allocator_set(NULL, NULL, NULL), HC_EBUSY);
    CHECK_OK(hc_group_destroy(g));
    CHECK_RC(hc_allocator_set(counting_alloc, counting_free, &memory), HC_EBUSY); /* destroyed or not */
    CHECK_EQ(memory.requests, 0);
}

static void two_nulls_restore_the_default(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    CHECK_OK(hc_allocator_set(NULL, NULL, NULL));
    CHECK_OK(hc_group_destroy(group_of(1)));
    CHECK_EQ(memory.requests, 0);
}

static void *submit_some(void *arg) {
    hc_group *g = arg;
    static atomic_int ran;
    for (int i = 0; i < 3000; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
    hc_call mine[600];
    for (int i = 0; i < 600; ++i) mine[i] = (hc_call){count_task, &ran};
    size_t accepted = 0;
    CHECK_OK(hc_submit_batch(g, mine, 600, &accepted));
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = count_task;
    options.arg = &ran;
    options.label = "labelled";
    for (int i = 0; i < 300; ++i) CHECK_OK(hc_task_submit(g, &options, NULL));
    return NULL;
}

static uint32_t kind_of_group;
static bool end_now;

static void make_use_destroy(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind_of_group;
    options.max_workers = 3;
    hc_group *g = fixed_with(&options);
    CHECK(counting_read(&memory, &memory.bytes) > 0); /* it is the hooks that are asked */
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) threads[i] = thread_start(submit_some, g);
    for (int i = 0; i < 3; ++i) thread_join(threads[i]);
    if (end_now) CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_OK(hc_group_destroy(g));
    CHECK(counting_read(&memory, &memory.bytes) <= 1024); /* all but the note of this thread, which hands tasks back */
}

static void everything_comes_back(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    for (kind_of_group = HC_KIND_STEALING; kind_of_group <= HC_KIND_PINNED; ++kind_of_group)
        for (int now = 0; now < 2; ++now) {
            end_now = now;
            on_own_thread(make_use_destroy);
            CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
            CHECK_EQ(counting_read(&memory, &memory.bytes), 0);
        }
}

/* The submitter lives on, the group does not. The library's note of the thread may stay (it goes with the thread), but
 * not one for each group that was. */
static int64_t note;

static void submit_to_groups_that_go(void) {
    for (int round = 0; round < 20; ++round) {
        hc_group *g = group_of(2), *other = group_of(1);
        submit_some(g);
        submit_some(other);
        CHECK_OK(hc_group_destroy(g));
        CHECK_OK(hc_group_destroy(other));
        if (round == 0) note = counting_read(&memory, &memory.bytes);
        CHECK(note <= 1024);
        CHECK_EQ(counting_read(&memory, &memory.bytes), note);
    }
}

static void a_living_submitter_keeps_nothing_of_a_dead_group(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(submit_to_groups_that_go);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

static void refused_options_cost_nothing(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = 9;
    hc_group *g = NULL;
    CHECK_RC(hc_group_create(&g, &options), HC_EINVAL);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

int main(void) {
    check_deadline(60);
    RUN_FORKED(only_one_of_the_two_is_refused);
    RUN_FORKED(after_the_first_group_it_is_too_late);
    RUN_FORKED(two_nulls_restore_the_default);
    RUN_FORKED(everything_comes_back);
    RUN_FORKED(a_living_submitter_keeps_nothing_of_a_dead_group);
    RUN_FORKED(refused_options_cost_nothing);
    return 0;
}
