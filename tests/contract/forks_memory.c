/* Guards against: forks, tasks and scopes that crash, are lost, or leave their places wrong when there is no memory. */
#include "counting.h"
#include "held.h"

static counting memory = COUNTING;

static void mark(hc_worker *w, void *arg) {
    CHECK(w != NULL);
    *(int *)arg += 1;
}

/* Nested as far as it may be, each with a fork that forks itself. */
static void forks_again(hc_worker *w, void *arg) {
    int seen = 0;
    hc_fork f;
    hc_worker *in = hc_fork_push_fast(w, &f, mark, &seen);
    CHECK(hc_fork_join_fast(in, &f) == w);
    CHECK_EQ(seen, 1);
    *(int *)arg += 1;
}

static void open_and_close(hc_worker *w, int count, int way) {
    hc_fork *forks = calloc((size_t)count, sizeof *forks);
    hc_worker **at = calloc((size_t)count + 1, sizeof *at);
    int *seen = calloc((size_t)count, sizeof *seen);
    at[0] = w;
    for (int i = 0; i < count; ++i)
        at[i + 1] = (i + way) % 2 == 0 ? hc_fork_push(at[i], &forks[i], forks_again, &seen[i])
                                       : hc_fork_push_fast(at[i], &forks[i], forks_again, &seen[i]);
    for (int i = count; i-- > 0;) {
        if (way == 0)
            CHECK(hc_fork_join(at[i + 1], &forks[i]) == at[i]);
        else if (way == 1)
            CHECK(hc_fork_join_fast(at[i + 1], &forks[i]) == at[i]);
        else if (hc_fork_take_fast(at[i + 1], &forks[i]))
            forks_again(at[i], &seen[i]);
        CHECK_EQ(seen[i], 1);
    }
    free(seen);
    free(at);
    free(forks);
}

typedef struct shortage {
    hc_group *g;
    latch done;
} shortage;

static void short_of_places(hc_worker *w) {
    for (int way = 0; way < 3; ++way)
        for (int chunks = 0; chunks < 3; ++chunks) {
            counting_fail_after(&memory, chunks);
            open_and_close(w, 4000, way);
            counting_fail_after(&memory, -1);
            CHECK(hc_worker_self() == w);
            open_and_close(w, 100, way);
        }
    open_and_close(w, 6000, 0); /* and now there is memory */
    CHECK(hc_worker_self() == w);
}

static void short_in_a_task(void *arg) {
    shortage *s = arg;
    hc_worker *w = hc_worker_self();
    CHECK(w != NULL);
    short_of_places(w);
    latch_down(&s->done);
}

static void without_memory_forks_run_at_once_alone(void) {
    for (int i = 0; i < n_worker_counts; ++i) {
        hc_group *g = group_of(worker_counts[i]);
        hc_worker *w = NULL;
        for (int64_t n = 0;; ++n) { /* enter may fail, and says so */
            counting_fail_after(&memory, n);
            int rc = hc_worker_enter(g, &w);
            counting_fail_after(&memory, -1);
            if (rc == HC_OK) break;
            CHECK_RC(rc, HC_ENOMEM);
            CHECK(w == NULL);
        }
        short_of_places(w);
        hc_worker_leave(w);
        shortage s = {g, LATCH(1)};
        CHECK_OK(hc_submit(g, short_in_a_task, &s));
        latch_wait(&s.done);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void without_memory_forks_run_at_once(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(without_memory_forks_run_at_once_alone);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

/* A fork that must run at once waits for a task, which its thread runs: places and forks stay right. */
typedef struct waiting {
    hc_group *g;
    int ran;
} waiting;

static void forks_inside(void *arg) {
    waiting *wt = arg;
    hc_worker *w = hc_worker_self();
    if (w != NULL) open_and_close(w, 30, 1);
    wt->ran += 1;
}

static void waits_in_a_fork(hc_worker *w, void *arg) {
    waiting *wt = arg;
    (void)w;
    hc_task_options options = options_of(forks_inside, wt);
    hc_task *t = NULL;
    int rc = hc_task_submit(wt->g, &options, &t);
    if (rc == HC_OK) rc = end_of(t);
    else CHECK_RC(rc, HC_ENOMEM);
}

static void a_fork_without_memory_may_wait_alone(void) {
    enum { count = 3000 };
    hc_group *g = group_of(1);
    hc_worker *w = NULL;
    CHECK_OK(hc_worker_enter(g, &w));
    static hc_fork forks[count];
    static hc_worker *at[count + 1];
    waiting wt = {g, 0};
    waits_in_a_fork(w, &wt); /* so that records are there */
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    gate stuck = GATE;
    gate_hold(g, &stuck); /* the thread is alone */
    wt.ran = 0;
    at[0] = w;
    counting_fail_after(&memory, 1);
    for (int i = 0; i < count; ++i) at[i + 1] = hc_fork_push(at[i], &forks[i], waits_in_a_fork, &wt);
    for (int i = count; i-- > 0;) CHECK(hc_fork_join(at[i + 1], &forks[i]) == at[i]);
    counting_fail_after(&memory, -1);
    CHECK(hc_worker_self() == w);
    CHECK(wt.ran > 0);
    open_and_close(w, 2000, 0);
    hc_worker_leave(w);
    gate_open(&stuck);
    CHECK_OK(hc_group_destroy(g));
}

static void a_fork_without_memory_may_wait(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(a_fork_without_memory_may_wait_alone);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

/* ---- Held tasks and scopes ---------------------------------------------------------------------------------------- */

static ledger all[4000];

static void tasks_survive_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int64_t n = 0;; n = n < 20 ? n + 1 : n * 2) {
            memset(all, 0, sizeof all);
            hc_group *g = group_of_kind(kind, 1);
            gate stuck = GATE;
            gate_hold(g, &stuck);
            hc_task *tasks[1000], *joined[1000];
            int refused = 0;
            counting_fail_after(&memory, n);
            for (int i = 0; i < 1000; ++i) {
                hc_task_options options = options_of_ledger(&all[2 * i]), more = options_of_ledger(&all[2 * i + 1]);
                int rc = hc_task_submit(g, &options, &tasks[i]);
                CHECK(rc == HC_OK || rc == HC_ENOMEM);
                CHECK((rc == HC_OK) == (tasks[i] != NULL));
                refused += rc != HC_OK;
                joined[i] = NULL;
                if (rc != HC_OK) continue;
                rc = hc_task_then(tasks[i], &more, NULL);
                CHECK(rc == HC_OK || rc == HC_ENOMEM);
                all[2 * i + 1].result_dropped = rc == HC_OK; /* our note: it was accepted */
                refused += rc != HC_OK;
                hc_task *pair[2] = {tasks[i], tasks[i]};
                rc = i % 2 == 0 ? hc_task_all(pair, 2, &joined[i]) : hc_task_any(pair, 2, &joined[i]);
                CHECK(rc == HC_OK || rc == HC_ENOMEM);
                CHECK((rc == HC_OK) == (joined[i] != NULL));
                refused += rc != HC_OK;
            }
            int64_t failed = counting_read(&memory, &memory.failed);
            counting_fail_after(&memory, -1);
            CHECK(failed > 0 || refused == 0); /* HC_ENOMEM is not made up */
            gate_open(&stuck);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            for (int i = 0; i < 1000; ++i) {
                ledger_check(&all[2 * i], tasks[i] != NULL, 0, 0);
                ledger_check(&all[2 * i + 1], all[2 * i + 1].result_dropped, 0, 0);
                if (joined[i] != NULL) CHECK_RC(end_of(joined[i]), HC_OK);
                if (tasks[i] != NULL) CHECK_RC(end_of(tasks[i]), HC_OK);
            }
            CHECK_OK(hc_group_destroy(g));
            if (failed == 0) break;
        }
}

static void held_tasks_survive_every_failure(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(tasks_survive_alone);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

static void scopes_survive_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int64_t n = 0;; n = n < 20 ? n + 1 : n * 2) {
            memset(all, 0, sizeof all);
            hc_group *g = group_of_kind(kind, 1);
            gate stuck = GATE;
            gate_hold(g, &stuck);
            hc_scope *s = NULL;
            bool accepted[1000] = {false};
            counting_fail_after(&memory, n);
            int rc = hc_scope_create(g, &s);
            CHECK((rc == HC_OK) == (s != NULL));
            for (int i = 0; s != NULL && i < 1000; ++i) {
                rc = hc_scope_submit(s, ledger_run, &all[i], ledger_drop);
                CHECK(rc == HC_OK || rc == HC_ENOMEM);
                accepted[i] = rc == HC_OK;
            }
            int64_t failed = counting_read(&memory, &memory.failed);
            counting_fail_after(&memory, -1);
            if (n % 2 == 0) gate_open(&stuck);
            if (s != NULL) CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
            if (n % 2 != 0) gate_open(&stuck);
            for (int i = 0; i < 1000; ++i) ledger_check(&all[i], accepted[i], 0, 0);
            CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_destroy(g));
            if (failed == 0) break;
        }
}

static void scopes_survive_every_failure(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(scopes_survive_alone);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

/* A range needs a place once; afterwards nothing. */
static void cover(void *arg, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) atomic_fetch_add(&((atomic_uchar *)arg)[i], 1);
}

static void ranges_survive_alone(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 2);
        for (int64_t n = 0;; ++n) {
            static atomic_uchar seen[5000];
            memset(seen, 0, sizeof seen);
            counting_fail_after(&memory, n);
            int rc = hc_group_for(g, 0, 5000, 1, cover, seen);
            int64_t failed = counting_read(&memory, &memory.failed);
            counting_fail_after(&memory, -1);
            CHECK(rc == HC_OK || rc == HC_ENOMEM);
            for (int i = 0; i < 5000; ++i) CHECK_EQ(seen[i], rc == HC_OK);
            if (failed == 0) break;
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

static void ranges_survive_every_failure(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(ranges_survive_alone);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

int main(void) {
    check_deadline(60);
    RUN_FORKED(without_memory_forks_run_at_once);
    RUN_FORKED(held_tasks_survive_every_failure);
    RUN_FORKED(scopes_survive_every_failure);
    RUN_FORKED(ranges_survive_every_failure);
    RUN_FORKED(a_fork_without_memory_may_wait);
    return 0;
}
