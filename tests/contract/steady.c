/* Guards against: an allocation in the steady state. After a round to warm up, the same round again asks for nothing. */
#include "counting.h"
#include "held.h"

static counting memory = COUNTING;

enum { at_once = 200 };

static void nothing(void *arg) { (void)arg; }

static void held_round(hc_group *g) {
    hc_task *tasks[at_once];
    for (int i = 0; i < at_once; ++i) tasks[i] = held(g, nothing, NULL);
    for (int i = 0; i < at_once; ++i) CHECK_RC(end_of(tasks[i]), HC_OK);
}

static void then_round(hc_group *g) {
    hc_task *promise = promise_in(g), *t = promise;
    hc_task_ref(promise);
    for (int i = 0; i < at_once; ++i) {
        hc_task *next = then(t, nothing, NULL);
        hc_task_unref(t);
        t = next;
    }
    CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
    hc_task_unref(promise);
    CHECK_RC(end_of(t), HC_OK);
    t = held(g, nothing, NULL);
    for (int i = 0; i < 20; ++i) CHECK_RC(end_of(then(t, nothing, NULL)), HC_OK);
    hc_task *one = NULL;
    CHECK_OK(hc_task_all(&t, 1, &one));
    CHECK_RC(end_of(one), HC_OK);
    CHECK_OK(hc_task_any(&t, 1, &one));
    CHECK_RC(end_of(one), HC_OK);
    CHECK_RC(end_of(t), HC_OK);
}

static hc_scope *scope;

static void scope_round(hc_group *g) {
    (void)g;
    for (int i = 0; i < at_once; ++i) CHECK_OK(hc_scope_submit(scope, nothing, NULL, NULL));
    CHECK_OK(hc_scope_wait(scope, HC_NEVER, 0, NULL));
}

typedef struct call {
    long n, result;
} call;

static long fib(hc_worker *w, long n);
static void fib_forked(hc_worker *w, void *arg) {
    call *c = arg;
    c->result = fib(w, c->n);
}

static long fib(hc_worker *w, long n) {
    if (n < 2) return n;
    call c = {n - 1, 0};
    hc_fork f;
    hc_worker *in = hc_fork_push_fast(w, &f, fib_forked, &c);
    long b = fib(in, n - 2);
    return b + (hc_fork_take_fast(in, &f) ? fib(w, n - 1) : c.result);
}

static void mark(hc_worker *w, void *arg) {
    (void)w;
    *(int *)arg += 1;
}

static void fork_round(hc_group *g) {
    static hc_fork forks[3000];
    static int seen[3000];
    hc_worker *w = NULL, *at;
    CHECK_OK(hc_worker_enter(g, &w));
    CHECK_EQ(fib(w, 15), 610);
    at = w;
    for (int i = 0; i < 3000; ++i) at = hc_fork_push(at, &forks[i], mark, &seen[i]);
    for (int i = 3000; i-- > 0;) at = hc_fork_join(at, &forks[i]);
    CHECK(at == w);
    hc_worker_leave(w);
}

static void cover(void *arg, uint64_t begin, uint64_t end) { atomic_fetch_add((atomic_int *)arg, (int)(end - begin)); }

static void sum_body(void *arg, void *value, uint64_t begin, uint64_t end) {
    (void)arg;
    *(uint64_t *)value += end - begin;
}
static void sum_combine(void *arg, void *left, const void *right) {
    (void)arg;
    *(uint64_t *)left += *(const uint64_t *)right;
}

static void range_round(hc_group *g) {
    atomic_int n = 0;
    CHECK_OK(hc_group_for(g, 0, 5000, 1, cover, &n));
    CHECK_EQ(n, 5000);
    uint64_t sum = 0;
    CHECK_OK(hc_group_reduce(g, 0, 5000, 1, &sum, sizeof sum, sum_body, sum_combine, NULL));
    CHECK_EQ(sum, 5000);
}

/* Each worker forks once, so that it has its places, and submits, so that it has a lane. */
typedef struct warm {
    latch all;
} warm;

static void warm_worker(void *arg) {
    warm *w = arg;
    CHECK_EQ(fib(hc_worker_self(), 5), 5);
    CHECK_OK(hc_submit(hc_group_current(), nothing, NULL));
    latch_down(&w->all);
    latch_wait(&w->all);
}

static void warm_up(hc_group *g, uint32_t kind, uint32_t workers) {
    warm w = {LATCH((int64_t)workers)};
    for (uint32_t i = 0; i < workers; ++i)
        CHECK_OK(kind == HC_KIND_PINNED ? hc_submit_to(g, i, warm_worker, &w) : hc_submit(g, warm_worker, &w));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
}

static void check_steady(uint32_t kind, uint32_t workers, group_body round) {
    hc_group *g = group_of_kind(kind, workers);
    CHECK_OK(hc_scope_create(g, &scope));
    hold at;
    hold_all(g, &at, workers); /* with nobody else to help, the most records that a round can need are in use at once */
    round(g);
    hold_release(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    warm_up(g, kind, workers);
    round(g);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    /* Who takes what from where is chance, and with it which lane keeps which of its rings: some turns, until all have enough. */
    int64_t asked = 1;
    for (int turn = 0; asked != 0 && turn < 20; ++turn) {
        int64_t before = counting_read(&memory, &memory.requests);
        for (int i = 0; i < 50; ++i) {
            round(g);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
        }
        asked = counting_read(&memory, &memory.requests) - before;
    }
    if (asked != 0) fprintf(stderr, "kind %u, %u workers: %d requests\n", kind, workers, (int)asked);
    CHECK_EQ(asked, 0);
    CHECK_OK(hc_scope_destroy(scope));
    CHECK_OK(hc_group_destroy(g));
}

static void check_round(group_body round) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_worker_counts; ++i) check_steady(kind, worker_counts[i], round);
}

static void held_tasks_allocate_nothing(void) { check_round(held_round); }
static void continuations_allocate_nothing(void) { check_round(then_round); }
static void scopes_allocate_nothing(void) { check_round(scope_round); }
static void forks_allocate_nothing(void) { check_round(fork_round); }
static void ranges_allocate_nothing(void) { check_round(range_round); }

int main(void) {
    check_deadline(60);
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    RUN(forks_allocate_nothing);
    RUN(ranges_allocate_nothing);
    RUN(held_tasks_allocate_nothing);
    RUN(scopes_allocate_nothing);
    RUN(continuations_allocate_nothing);
    return 0;
}
