/* Guards against: options that are half read - a field that is silently dead, a struct of another release misread. */
#include "check.h"

static void refused(const hc_group_options *options) {
    int threads = threads_now();
    hc_group *g = (hc_group *)options; /* not NULL: the error must reset it */
    CHECK_RC(hc_group_create(&g, options), HC_EINVAL);
    CHECK(g == NULL);
    CHECK(threads_now() <= threads);
}

static void taken(const hc_group_options *options) {
    hc_group *g = group_with(options);
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, count_task, &ran));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
}

static void no_options_are_the_defaults(void) {
    taken(NULL);
    const hc_group_options defaults = HC_GROUP_OPTIONS_INIT;
    taken(&defaults);

    cpu_set_t usable;
    CHECK(sched_getaffinity(0, sizeof usable, &usable) == 0);
    hc_group *g = group_with(NULL);
    const uint32_t most = stats_of(g).workers_max;
    CHECK(most >= 1);
    CHECK(most <= (uint32_t)CPU_COUNT(&usable)); /* fewer where a quota grants less */
    CHECK_EQ(hc_group_slots(g), most + 64);
    CHECK_EQ(stats_of(g).workers, 1);
    CHECK_EQ(stats_of(g).cpus, most);
    CHECK(stats_of(g).cpus_from >= HC_CPUS_FROM_AFFINITY);
    CHECK(stats_of(g).cpus_from <= HC_CPUS_FROM_ENVIRONMENT);
    CHECK_OK(hc_group_destroy(g));
}

/* Sized to what the caller may use, not to what the machine has. */
static void the_default_size_follows_the_affinity_mask(void) {
    cpu_set_t before, one;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &before)) {
            CPU_SET(cpu, &one);
            break;
        }
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    hc_group *g = group_with(NULL);
    CHECK_EQ(stats_of(g).workers_max, 1);
    CHECK_OK(hc_group_destroy(g));
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void nowhere_to_put_the_group_is_an_error(void) {
    CHECK_RC(hc_group_create(NULL, NULL), HC_EINVAL);
    const hc_group_options defaults = HC_GROUP_OPTIONS_INIT;
    CHECK_RC(hc_group_create(NULL, &defaults), HC_EINVAL);
}

static void a_size_below_the_first_release_is_refused(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    const uint32_t sizes[] = {0, 1, 4, 8, (uint32_t)offsetof(hc_group_options, run_limit) - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        options.size = sizes[i];
        refused(&options);
    }
}

/* What a newer program hands to this library. */
static void a_larger_struct_is_taken_while_its_tail_is_zero(void) {
    union {
        hc_group_options options;
        unsigned char bytes[sizeof(hc_group_options) + 64];
    } newer;
    memset(&newer, 0, sizeof newer);
    newer.options = (hc_group_options)HC_GROUP_OPTIONS_INIT;
    newer.options.max_workers = 1;
    newer.options.size = (uint32_t)sizeof newer;
    taken(&newer.options);
    for (size_t at = sizeof(hc_group_options); at < sizeof newer; ++at) {
        newer.bytes[at] = 1;
        refused(&newer.options);
        newer.bytes[at] = 0;
    }
    newer.options.size = (uint32_t)sizeof(hc_group_options) + 1; /* one byte is a tail too */
    taken(&newer.options);
    newer.bytes[sizeof(hc_group_options)] = 0x80;
    refused(&newer.options);
    newer.options.size = (uint32_t)sizeof(hc_group_options); /* and what lies behind the size is not looked at */
    taken(&newer.options);
}

#define REFUSED(...)                                      \
    do {                                                  \
        hc_group_options options = HC_GROUP_OPTIONS_INIT; \
        options.max_workers = 1;                          \
        __VA_ARGS__;                                      \
        refused(&options);                                \
    } while (0)

#define TAKEN(...)                                        \
    do {                                                  \
        hc_group_options options = HC_GROUP_OPTIONS_INIT; \
        options.max_workers = 1;                          \
        __VA_ARGS__;                                      \
        taken(&options);                                  \
    } while (0)

static void unknown_values_are_refused(void) {
    for (unsigned bit = 0; bit < 32; ++bit) REFUSED(options.flags = 1u << bit);
    REFUSED(options.kind = 3);
    REFUSED(options.kind = HC_NONE32);
    REFUSED(options.capacity = 10; options.full_policy = 5);
    REFUSED(options.reserved = 1);
    REFUSED(options.min_workers = 2);
    REFUSED(options.max_workers = 4; options.min_workers = 5);
    REFUSED(options.spare_workers = HC_MAX_WORKERS + 1);
    REFUSED(options.cpu_count = 1);
    REFUSED(options.cpus = (const uint32_t[]){0});
    REFUSED(options.cpus = (const uint32_t[]){100000}; options.cpu_count = 1);
    REFUSED(options.kind = HC_KIND_PINNED; options.max_workers = 3; options.min_workers = 2);
    REFUSED(options.kind = HC_KIND_PINNED; options.max_workers = 3; options.spare_workers = 1);
    REFUSED(options.capacity = 10; options.full_policy = HC_NONE32);
    REFUSED(options.max_workers = HC_MAX_WORKERS + 1);
    REFUSED(options.max_workers = HC_NONE32);
    REFUSED(options.stack_size = 1);
    REFUSED(options.stack_size = 65535);
}

/* A policy for a fullness that never comes would be a dead field. */
static void a_field_that_would_be_dead_is_refused(void) {
    REFUSED(options.full_policy = HC_FULL_WAIT);
    REFUSED(options.full_policy = HC_FULL_DROP_OLDEST);
    REFUSED(options.full_timeout = 1);
    REFUSED(options.capacity = 1; options.full_timeout = 1);
    REFUSED(options.stuck_after = 1); /* one worker, no spare ones */
    REFUSED(options.max_workers = 3; options.spare_workers = HC_NONE32; options.stuck_after = 1);
    TAKEN(options.stuck_after = HC_NONE64);
    TAKEN(options.max_workers = 3; options.stuck_after = 1);
    TAKEN(options.capacity = 1; options.full_policy = HC_FULL_WAIT; options.full_timeout = 1);
    REFUSED(options.full_policy = HC_FULL_RUN);
    TAKEN(options.capacity = 1; options.full_policy = HC_FULL_RUN);
}

static void known_values_are_taken(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        TAKEN(options.kind = kind);
        TAKEN(options.kind = kind; options.max_workers = 3);
        TAKEN(options.kind = kind; options.capacity = 1);
        TAKEN(options.kind = kind; options.capacity = 1000; options.full_policy = HC_FULL_RUN);
        TAKEN(options.kind = kind; options.spin = HC_NONE32);
        TAKEN(options.kind = kind; options.spin = 1);
    }
    TAKEN(options.stack_size = 256 * 1024);
    TAKEN(options.stack_size = 1024 * 1024 + 4095); /* no multiple of a page */
    TAKEN(options.name = "");
}

/* The stack is there to its end, not only in the attribute. */
static void deep_task(void *arg) {
    volatile char deep[900 * 1024];
    deep[0] = 1;
    deep[sizeof deep - 1] = 1;
    *(atomic_int *)arg = deep[0] + deep[sizeof deep - 1];
}

static void the_stack_is_as_large_as_asked(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1;
    options.stack_size = 2 * 1024 * 1024;
    hc_group *g = fixed_with(&options);
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, deep_task, &ran));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 2);
#if CHECK_SLOWER == 1 /* a sanitizer wants stack of its own */
    options.stack_size = 65536;
    taken(&options);
#endif
}

int main(void) {
    unsetenv("HOMECOOKING_CPUS");
    check_deadline(60);
    RUN(no_options_are_the_defaults);
    RUN(the_default_size_follows_the_affinity_mask);
    RUN(nowhere_to_put_the_group_is_an_error);
    RUN(a_size_below_the_first_release_is_refused);
    RUN(a_larger_struct_is_taken_while_its_tail_is_zero);
    RUN(unknown_values_are_refused);
    RUN(a_field_that_would_be_dead_is_refused);
    RUN(known_values_are_taken);
    RUN(the_stack_is_as_large_as_asked);
    return 0;
}
