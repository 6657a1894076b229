/* Guards against: task options misread, a label or a drop that goes to another task, a refused task that is dropped. */
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

/* An error means that nothing happened: neither a run nor a drop. */
static void refused(const hc_task_options *options, hc_task **out, int error) {
    CHECK_RC(hc_task_submit(g, options, out), error);
}

static void everything_unknown_is_refused(void) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = run_task;
    options.drop = drop_task;
    g = group_of(2);

    refused(NULL, NULL, HC_EINVAL); /* the defaults have no fn */
    const uint32_t sizes[] = {0, 1, 4, 8, (uint32_t)sizeof options - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        options.size = sizes[i];
        refused(&options, NULL, HC_EINVAL);
    }
    options.size = (uint32_t)sizeof options;
    for (unsigned bit = 0; bit < 32; ++bit) {
        options.flags = 1u << bit;
        refused(&options, NULL, HC_EINVAL);
    }
    options.flags = 0;
    options.fn = NULL;
    refused(&options, NULL, HC_EINVAL);
    options.fn = run_task;
    hc_task *held = NULL;
    refused(&options, &held, HC_ENOTSUP);
    CHECK(held == NULL);

    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    refused(&options, NULL, HC_ESHUTDOWN);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 0);
    CHECK_EQ(dropped, 0);
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
    CHECK_OK(hc_task_submit(g, &newer.options, NULL));
    for (size_t at = sizeof(hc_task_options); at < sizeof newer; ++at) {
        newer.bytes[at] = 1;
        refused(&newer.options, NULL, HC_EINVAL);
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
    RUN(a_larger_struct_is_taken_while_its_tail_is_zero);
    RUN(a_label_belongs_to_its_task_alone);
    RUN(the_options_are_copied);
    return 0;
}
