/* Guards against: a batch of which a task is lost, run twice or taken although refused; a prefix that is none. */
#include "check.h"

enum { most = (1 << 20) + 1 };
static atomic_uchar runs[most];
static hc_call calls[most];

static void mark(void *arg) { atomic_fetch_add((atomic_uchar *)arg, 1); }

static void fill(size_t n) {
    for (size_t i = 0; i < n; ++i) {
        runs[i] = 0;
        calls[i] = (hc_call){mark, &runs[i]};
    }
}

static void each_ran(size_t n, int times) {
    for (size_t i = 0; i < n; ++i) CHECK_EQ(runs[i], times);
}

static hc_group *group_of_kind(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    return fixed_with(&options);
}

static void bad_arguments_take_nothing(void) {
    hc_group *g = group_of(1);
    fill(3);
    size_t accepted = 99;
    CHECK_RC(hc_submit_batch(NULL, calls, 3, &accepted), HC_EINVAL);
    CHECK_RC(hc_submit_batch(g, calls, 3, NULL), HC_EINVAL);
    CHECK_RC(hc_submit_batch(g, NULL, 3, &accepted), HC_EINVAL);
    CHECK_EQ(accepted, 0);
    CHECK_RC(hc_submit_batch(NULL, NULL, 0, NULL), HC_EINVAL);
    CHECK_OK(hc_group_destroy(g));
    each_ran(3, 0);
}

static void a_null_fn_anywhere_takes_nothing(void) {
    const size_t sizes[] = {1, 2, 3, 256, 257, 5000};
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 2);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            const size_t n = sizes[s], places[] = {0, n / 2, n - 1};
            for (size_t p = 0; p < 3; ++p) {
                fill(n);
                calls[places[p]].fn = NULL;
                size_t accepted = 99;
                CHECK_RC(hc_submit_batch(g, calls, n, &accepted), HC_EINVAL);
                CHECK_EQ(accepted, 0);
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                each_ran(n, 0);
            }
        }
        CHECK_EQ(stats_of(g).submitted, 0);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void any_size_is_taken_whole(void) {
    const size_t sizes[] = {0, 1, 2, 127, 128, 129, 255, 256, 257, 1000, 4096, 65536, 65537, most};
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 2);
        size_t total = 0;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            fill(sizes[s]);
            size_t accepted = 99;
            CHECK_OK(hc_submit_batch(g, calls, sizes[s], &accepted));
            CHECK_EQ(accepted, sizes[s]);
            memset(calls, 0, sizes[s] * sizeof calls[0]); /* the array may be reused at once */
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            each_ran(sizes[s], 1);
            total += sizes[s];
        }
        CHECK_EQ(stats_of(g).finished, total);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void nothing_at_all_needs_no_array(void) {
    hc_group *g = group_of(1);
    size_t accepted = 99;
    CHECK_OK(hc_submit_batch(g, NULL, 0, &accepted));
    CHECK_EQ(accepted, 0);
    CHECK_OK(hc_group_destroy(g));
}

/* With a capacity, the prefix that fits is taken and the rest stays with the caller. */
static void what_does_not_fit_stays_with_the_caller(void) {
    enum { capacity = 1000 };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (size_t n = 600; n <= 6000; n *= 10) {
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.max_workers = 2;
            options.capacity = capacity;
            hc_group *g = fixed_with(&options);
            hold at;
            hold_all(g, &at, 2);
            fill(n);
            size_t accepted = 99;
            int rc = hc_submit_batch(g, calls, n, &accepted);
            CHECK_RC(rc, n <= capacity ? HC_OK : HC_EFULL);
            CHECK(rc == HC_OK ? accepted == n : accepted < n);
            CHECK(accepted <= capacity);
            CHECK(accepted >= n || accepted >= capacity - capacity / 6);
            CHECK_EQ(stats_of(g).queued, accepted);
            hold_release(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            for (size_t i = 0; i < n; ++i) CHECK_EQ(runs[i], i < accepted); /* a prefix, no more and no less */
            CHECK_OK(hc_group_destroy(g));
        }
}

/* One worker: calls[0] to calls[n-1] start in this order, also between what is submitted before and after. */
static size_t next_in_order;

static void in_order(void *arg) {
    CHECK_EQ((size_t)(uintptr_t)arg, next_in_order);
    next_in_order += 1;
}

static void a_batch_keeps_its_order_among_single_submits(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        gate_hold(g, &at);
        next_in_order = 0;
        size_t next = 0, accepted = 0;
        for (size_t n = 0; n < 60; ++n) {
            CHECK_OK(hc_submit(g, in_order, (void *)(uintptr_t)next++));
            for (size_t i = 0; i < n * 7; ++i) calls[i] = (hc_call){in_order, (void *)(uintptr_t)next++};
            CHECK_OK(hc_submit_batch(g, calls, n * 7, &accepted));
        }
        gate_open(&at);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(next_in_order, next);
    }
}

int main(void) {
    check_deadline(60);
    RUN(bad_arguments_take_nothing);
    RUN(a_null_fn_anywhere_takes_nothing);
    RUN(any_size_is_taken_whole);
    RUN(nothing_at_all_needs_no_array);
    RUN(what_does_not_fit_stays_with_the_caller);
    RUN(a_batch_keeps_its_order_among_single_submits);
    return 0;
}
