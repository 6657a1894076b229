/* Guards against: task options misread, a label or a drop that goes to another task, a refused task that is dropped. */
#include <stddef.h>

#include "check.h"

static atomic_int ran, dropped;

static void run_task(void *arg) {
    (void)arg;
    atomic_fetch_add(&ran, 1);
}

static void drop_task(void *arg, int32_t why) {
    (void)arg;
    CHECK_RC(why, HC_ESHUTDOWN);
    atomic_fetch_add(&dropped, 1);
}

static hc_group *g;

enum { first_size = 40 }; /* of the struct, in the first release */

static atomic_int results_dropped;
static void drop_result(void *result) { atomic_fetch_add((atomic_int *)result, 1); }

/* An error means that nothing happened: neither a run nor a drop, and no handle. */
static hc_task *held;

static void refused(const hc_task_options *options, hc_task **out, int error) {
    held = (hc_task *)&held;
    CHECK_RC(hc_task_submit(g, options, out), error);
    CHECK(out == NULL || held == NULL);
}

static void refused_both_ways(const hc_task_options *options, int error) {
    refused(options, NULL, error);
    refused(options, &held, error);
}

static void everything_unknown_is_refused(void) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = run_task;
    options.drop = drop_task;
    g = group_of(2);

    refused_both_ways(NULL, HC_EINVAL); /* the defaults have no fn */
    const uint32_t sizes[] = {0, 1, 4, 8, first_size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        options.size = sizes[i];
        refused_both_ways(&options, HC_EINVAL);
    }
    options.size = (uint32_t)sizeof options;
    for (unsigned bit = 0; bit < 32; ++bit) {
        options.flags = 1u << bit;
        if (options.flags != HC_TASK_WORKER_ONLY && options.flags != HC_TASK_INTERRUPT) refused_both_ways(&options, HC_EINVAL);
    }
    options.flags = 0;
    options.fn = NULL;
    refused_both_ways(&options, HC_EINVAL);
    options.fn = run_task;

    /* A result needs somebody who could ask for it. */
    options.result = &ran;
    refused(&options, NULL, HC_EINVAL);
    options.result_drop = drop_result;
    refused(&options, NULL, HC_EINVAL);
    options.result = NULL;
    refused(&options, NULL, HC_EINVAL);

    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    options.result = &results_dropped;
    refused(&options, &held, HC_ESHUTDOWN);
    options.result = NULL;
    options.result_drop = NULL;
    refused_both_ways(&options, HC_ESHUTDOWN);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 0);
    CHECK_EQ(dropped, 0);
    CHECK_EQ(results_dropped, 0); /* what was refused stays the caller's */
}

/* A program of the first release: what follows its struct is something else, and is not read. */
static void the_struct_of_the_first_release_is_taken(void) {
    hc_task_options older;
    hc_task *t = NULL;
    void *result = &ran;
    ran = dropped = results_dropped = 0;
    memset(&older, 0xAA, sizeof older);
    hc_task_options_init(&older, first_size);
    older.fn = run_task;
    older.drop = drop_task;
    g = group_of(1);
    CHECK_OK(hc_task_submit(g, &older, NULL));
    CHECK_OK(hc_task_submit(g, &older, &t));
    CHECK_OK(hc_task_wait(t, HC_NEVER, 0, NULL));
    CHECK_OK(hc_task_result(t, &result));
    CHECK(result == NULL);
    hc_task_unref(t);

    /* Part of the way to the second: it has a result, but no result_drop. */
    older.size = (uint32_t)offsetof(hc_task_options, result_drop);
    older.result = &results_dropped;
    CHECK_OK(hc_task_submit(g, &older, &t));
    CHECK_OK(hc_task_wait(t, HC_NEVER, 0, NULL));
    CHECK_OK(hc_task_result(t, &result));
    CHECK(result == &results_dropped);
    hc_task_unref(t);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 3);
    CHECK_EQ(dropped, 0);
    CHECK_EQ(results_dropped, 0);
}

static void a_result_is_dropped_once_with_its_last_handle(void) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    hc_task *t = NULL;
    void *result = NULL;
    results_dropped = 0;
    options.flags = HC_TASK_WORKER_ONLY;
    options.fn = run_task;
    options.result = &results_dropped;
    options.result_drop = drop_result;
    g = group_of(1);
    CHECK_OK(hc_task_submit(g, &options, &t));
    memset(&options, 0xAA, sizeof options);
    CHECK_OK(hc_task_wait(t, HC_NEVER, 0, NULL));
    CHECK_OK(hc_task_result(t, &result));
    CHECK(result == &results_dropped);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(results_dropped, 0);
    hc_task_unref(t);
    CHECK_EQ(results_dropped, 1);
}

static void a_larger_struct_is_taken_while_its_tail_is_zero(void) {
    union {
        hc_task_options options;
        unsigned char bytes[sizeof(hc_task_options) + 48];
    } newer;
    memset(&newer, 0, sizeof newer);
    newer.options = (hc_task_options)HC_TASK_OPTIONS_INIT;
    newer.options.size = (uint32_t)sizeof newer;
    newer.options.fn = run_task;
    newer.options.drop = drop_task;
    g = group_of(1);
    ran = 0;
    CHECK_OK(hc_task_submit(g, &newer.options, NULL));
    for (size_t at = sizeof(hc_task_options); at < sizeof newer; ++at) {
        newer.bytes[at] = 1;
        refused_both_ways(&newer.options, HC_EINVAL);
        newer.bytes[at] = 0;
    }
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
    CHECK_EQ(dropped, 0);
}

static const char first[] = "first label", second[] = "second label";
static atomic_int labels_right;

static void wants_label(void *arg) {
    const char *wanted = arg;
    if (hc_task_label() == wanted) atomic_fetch_add(&labels_right, 1); /* not copied: the very pointer */
}

static void a_label_belongs_to_its_task_alone(void) {
    CHECK(hc_task_label() == NULL);
    g = group_of(2);
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = wants_label;
    for (int i = 0; i < 1000; ++i) {
        options.label = i % 2 ? first : second;
        options.arg = (void *)options.label;
        CHECK_OK(hc_task_submit(g, &options, NULL));
        options.label = NULL;
        options.arg = NULL;
        CHECK_OK(hc_task_submit(g, &options, NULL));
        CHECK_OK(hc_submit(g, wants_label, NULL)); /* must not see the label of the one before */
    }
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(labels_right, 3000);
    CHECK(hc_task_label() == NULL);
}

/* The struct may be reused at once: nothing of it is referred to. */
static void set_cell(void *arg) { atomic_store((atomic_int *)arg, 1); }

static void the_options_are_copied(void) {
    enum { n = 500 };
    static atomic_int cells[n];
    g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    hc_task_options options;
    for (int i = 0; i < n; ++i) {
        hc_task_options_init(&options, (uint32_t)sizeof options);
        options.fn = set_cell;
        options.arg = &cells[i];
        CHECK_OK(hc_task_submit(g, &options, NULL));
        memset(&options, 0xAA, sizeof options);
    }
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    for (int i = 0; i < n; ++i) CHECK_EQ(cells[i], 1);
}

int main(void) {
    check_deadline(30);
    RUN(everything_unknown_is_refused);
    RUN(the_struct_of_the_first_release_is_taken);
    RUN(a_result_is_dropped_once_with_its_last_handle);
    RUN(a_larger_struct_is_taken_while_its_tail_is_zero);
    RUN(a_label_belongs_to_its_task_alone);
    RUN(the_options_are_copied);
    return 0;
}
