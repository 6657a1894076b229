/* Guards against: a failing allocation that crashes, loses a task in silence, runs a refused one, or leaks. The n-th
 * request fails, for n = 0, 1, 2, ... until the call no longer asks that often. */
#include "counting.h"

static counting memory = COUNTING;

/* A worker that starts while memory is short is a whole worker all the same: it has its number and its group. */
static atomic_int hooks_seen;

static void on_start(void *user, uint32_t index) {
    (void)user;
    CHECK_EQ(hc_worker_index(), index);
    CHECK(hc_group_current() != NULL);
    CHECK_RC(hc_group_drain(hc_group_current(), 0), HC_EDEADLK);
    hooks_seen += 1;
}

static void create_survives_every_failure(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        int threads = threads_now(), n = 0;
        for (;; ++n) {
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.min_workers = options.max_workers = 3;
            options.name = "short of memory";
            options.on_thread_start = on_start;
            hooks_seen = 0;
            hc_group *g = (hc_group *)&options;
            counting_fail_after(&memory, n);
            int rc = hc_group_create(&g, &options);
            if (rc == HC_OK) UNTIL(hooks_seen == 3);
            int64_t failed = counting_read(&memory, &memory.failed);
            counting_fail_after(&memory, -1);
            if (rc == HC_OK) {
                CHECK_OK(hc_group_destroy(g));
                CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
                if (failed == 0) break;
                continue; /* it could do without: fine */
            }
            CHECK_RC(rc, HC_ENOMEM);
            CHECK(g == NULL);
            CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
            UNTIL(threads_now() <= threads);
        }
        CHECK(n > 0);
    }
}

/* ---- Submitting: a ledger of cells says what became of each task ----------------------------------------------- */

enum { most = 20000 };
static atomic_uchar runs[most];

static void mark(void *arg) { atomic_fetch_add((atomic_uchar *)arg, 1); }

enum way { singly, batched, with_options, pinned_to };

/* One go at `count` tasks; returns which were accepted. */
static size_t submit_many(hc_group *g, enum way way, size_t count, bool *accepted, int *first_error) {
    size_t taken = 0;
    *first_error = 0;
    memset(accepted, 0, most * sizeof *accepted);
    if (way == batched) {
        static hc_call calls[most];
        for (size_t i = 0; i < count; ++i) calls[i] = (hc_call){mark, &runs[i]};
        *first_error = hc_submit_batch(g, calls, count, &taken);
        CHECK(*first_error == 0 ? taken == count : taken < count);
        for (size_t i = 0; i < taken; ++i) accepted[i] = true;
        return taken;
    }
    for (size_t i = 0; i < count; ++i) {
        hc_task_options options = HC_TASK_OPTIONS_INIT;
        options.fn = mark;
        options.arg = &runs[i];
        int rc = way == singly         ? hc_submit(g, mark, &runs[i])
                 : way == with_options ? hc_task_submit(g, &options, NULL)
                                       : hc_submit_to(g, (uint32_t)(i % 2), mark, &runs[i]);
        accepted[i] = rc == HC_OK;
        taken += accepted[i];
        if (rc != HC_OK) *first_error = rc;
    }
    return taken;
}

static void submitting_survives(uint32_t kind, enum way way) {
    static bool accepted[most];
    for (int n = 0;; n = n < 40 ? n + 1 : n * 2) { /* the first ones each, then it need not be every one */
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        hc_group *g = fixed_with(&options);
        hold at;
        hold_all(g, &at, 2); /* so that the tasks must be stored */
        for (size_t i = 0; i < most; ++i) runs[i] = 0;

        int error = 0;
        counting_fail_after(&memory, n);
        size_t taken = submit_many(g, way, most / CHECK_SLOWER, accepted, &error);
        int64_t failed = counting_read(&memory, &memory.failed);
        counting_fail_after(&memory, -1);
        if (error != 0) CHECK_RC(error, HC_ENOMEM);
        CHECK(failed > 0 || error == 0); /* ENOMEM is not made up */

        hold_release(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        for (size_t i = 0; i < most; ++i) CHECK_EQ(runs[i], accepted[i]); /* accepted: once. Refused: never. */
        hc_group_stats_data stats = stats_of(g);
        CHECK_EQ(stats.submitted, taken + 2);
        CHECK_EQ(stats.finished, taken + 2);

        /* And it is as good as new: the shortage left nothing broken. */
        taken = submit_many(g, way, most / CHECK_SLOWER, accepted, &error);
        CHECK_EQ(error, 0);
        CHECK_OK(hc_group_destroy(g));
        if (failed == 0) return;
    }
}

static void submit_every_way(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        submitting_survives(kind, singly);
        submitting_survives(kind, batched);
        submitting_survives(kind, with_options);
    }
    submitting_survives(HC_KIND_PINNED, pinned_to);
}

static void submit_survives_every_failure(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(submit_every_way);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

/* One worker, one submitter: what was accepted before, amid and after a shortage still starts in order. */
static atomic_size_t next_in_order;

static void in_order(void *arg) {
    size_t mine = (size_t)(uintptr_t)arg;
    CHECK(mine >= atomic_load(&next_in_order)); /* refused ones leave gaps, nothing goes back */
    atomic_store(&next_in_order, mine + 1);
}

static void submit_through_shortages(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    size_t taken = 0;
    for (size_t i = 0; i < most; ++i) {
        if (i % 1000 == 0) counting_fail_after(&memory, i / 1000 % 2 ? -1 : 0); /* dry, wet, dry, ... */
        int rc = hc_submit(g, in_order, (void *)(uintptr_t)i);
        CHECK(rc == HC_OK || rc == HC_ENOMEM);
        taken += rc == HC_OK;
    }
    counting_fail_after(&memory, -1);
    CHECK(taken >= most / 2);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
}

static void a_shortage_does_not_turn_the_order_round(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(submit_through_shortages);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

/* A batch that fails halfway had taken room for all of it: what it did not use is there for others at once. */
enum { capacity = 4096 };

typedef struct batcher {
    hc_group *g;
    int fail_after;
    int error;
    size_t taken;
    int64_t failed;
    latch submitted, leave;
} batcher;

static void *submit_bounded_batch(void *arg) {
    batcher *b = arg;
    static hc_call calls[capacity];
    for (size_t i = 0; i < capacity; ++i) calls[i] = (hc_call){mark, &runs[i]};
    counting_fail_after(&memory, b->fail_after);
    b->error = hc_submit_batch(b->g, calls, capacity, &b->taken);
    b->failed = counting_read(&memory, &memory.failed);
    counting_fail_after(&memory, -1);
    latch_down(&b->submitted);
    latch_wait(&b->leave); /* it lives on, and so would keep what it holds */
    return NULL;
}

static void *fill_to_the_brim(void *arg) {
    hc_group *g = arg;
    atomic_int ran = 0;
    hold at;
    hold_all(g, &at, 1);
    size_t queued = 0;
    int rc;
    while ((rc = hc_submit(g, count_task, &ran)) == HC_OK) ++queued;
    CHECK_RC(rc, HC_EFULL);
    CHECK_EQ(queued, capacity);
    hold_release(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(ran, capacity);
    return NULL;
}

static void *hold_and_go(void *arg) { /* another one: it takes what it holds ahead along */
    hc_group *g = ((void **)arg)[0];
    hold_all(g, ((void **)arg)[1], 1);
    return NULL;
}

static void fill_after_failed_batches(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        int amid = 0; /* failures with a part accepted */
        for (int n = 0;; ++n) {
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.max_workers = 1;
            options.capacity = capacity;
            hc_group *g = fixed_with(&options);
            for (size_t i = 0; i < most; ++i) runs[i] = 0;
            hold at;
            void *both[2] = {g, &at};
            thread_join(thread_start(hold_and_go, both));
            batcher b = {g, n, 0, 0, 0, LATCH(1), LATCH(1)};
            pthread_t thread = thread_start(submit_bounded_batch, &b);
            latch_wait(&b.submitted);
            CHECK_RC(b.error, b.taken < capacity ? HC_ENOMEM : HC_OK);
            CHECK(b.failed > 0 || b.error == 0);
            amid += b.error != 0 && b.taken != 0;

            /* The queue has room for exactly the others, from this thread, while the batch is still queued ... */
            atomic_int ran = 0;
            size_t others = 0;
            int rc;
            while ((rc = hc_submit(g, count_task, &ran)) == HC_OK) ++others;
            CHECK_RC(rc, HC_EFULL);
            CHECK_EQ(b.taken + others, capacity);
            hold_release(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(ran, others);
            for (size_t i = 0; i < capacity; ++i) CHECK_EQ(runs[i], i < b.taken);

            /* ... and is whole again afterwards, for yet another. */
            thread_join(thread_start(fill_to_the_brim, g));
            latch_down(&b.leave);
            thread_join(thread);
            CHECK_OK(hc_group_destroy(g));
            if (b.failed == 0) break;
        }
        CHECK(amid > 0);
    }
}

static void a_failed_batch_gives_its_room_back(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(fill_after_failed_batches);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

int main(void) {
    check_deadline(120);
    RUN_FORKED(create_survives_every_failure);
    RUN_FORKED(submit_survives_every_failure);
    RUN_FORKED(a_shortage_does_not_turn_the_order_round);
    RUN_FORKED(a_failed_batch_gives_its_room_back);
    return 0;
}
