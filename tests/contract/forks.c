/* Guards against: a fork that runs twice or never, a join that returns early, hangs, or runs a stranger's, and places that
 * are not where they were. */
#include "held.h"

static hc_worker *enter(hc_group *g) {
    hc_worker *w = NULL;
    CHECK_OK(hc_worker_enter(g, &w));
    CHECK(w != NULL);
    return w;
}

/* From everywhere with a place: outside between enter and leave, in tasks with their own. */
typedef void (*fork_body)(hc_group *g, hc_worker *w);
static fork_body body_now;

static void with_a_place(hc_group *g) {
    hc_worker *own = hc_worker_self();
    if (hc_group_current() == NULL) CHECK(own == NULL); /* elsewhere there is none */
    hc_worker *w = own != NULL ? own : enter(g);
    CHECK(hc_worker_self() == w);
    body_now(g, w);
    CHECK(hc_worker_self() == w);
    if (own == NULL) hc_worker_leave(w);
    CHECK(hc_worker_self() == own);
}

static void from_each_place(fork_body body) {
    body_now = body;
    everywhere(with_a_place);
}

/* ---- Trees against serial results --------------------------------------------------------------------------------- */

typedef struct call {
    long n, result;
} call;

static long serial_fib(long n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

static long fib(hc_worker *w, long n);
static void fib_forked(hc_worker *w, void *arg) {
    call *c = arg;
    c->result = fib(w, c->n);
}

/* Each level another way: plain or fast, join or take. */
static long fib(hc_worker *w, long n) {
    if (n < 2) return n;
    call c = {n - 1, 0};
    hc_fork f;
    hc_worker *in = n % 2 == 0 ? hc_fork_push_fast(w, &f, fib_forked, &c) : hc_fork_push(w, &f, fib_forked, &c);
    long b = fib(in, n - 2);
    switch (n % 8) {
        case 0:
        case 1: return b + (hc_fork_take_fast(in, &f) ? fib(w, n - 1) : c.result);
        case 2:
        case 3: return b + (hc_fork_take(in, &f) ? fib(w, n - 1) : c.result);
        case 4:
        case 5: CHECK(hc_fork_join_fast(in, &f) == w); break;
        default: CHECK(hc_fork_join(in, &f) == w);
    }
    return b + c.result;
}

static void fibs(hc_group *g, hc_worker *w) {
    (void)g;
    for (long n = 0; n <= 18; n += n < 10 ? 1 : 4) CHECK_EQ(fib(w, n), serial_fib(n));
}

static void fib_is_fib(void) { from_each_place(fibs); }

/* Trees whose nodes have up to six forks open at once, and where a node does something in between. */
static uint64_t mix(uint64_t x) {
    x ^= x >> 33, x *= 0xff51afd7ed558ccdu, x ^= x >> 33, x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

typedef struct node {
    uint64_t seed, sum;
    int depth;
} node;

static uint64_t serial_tree(uint64_t seed, int depth) {
    uint64_t sum = seed;
    if (depth == 0) return sum;
    int children = (int)(mix(seed) % 6);
    for (int i = 0; i < children; ++i) sum += 3 * serial_tree(mix(seed + (uint64_t)i + 1), depth - 1);
    return sum;
}

static void tree(hc_worker *w, void *arg) {
    node *n = arg;
    n->sum = n->seed;
    if (n->depth == 0) return;
    int children = (int)(mix(n->seed) % 6);
    node parts[6];
    hc_fork forks[6];
    hc_worker *at[7];
    at[0] = w;
    for (int i = 0; i < children; ++i) {
        parts[i] = (node){mix(n->seed + (uint64_t)i + 1), 0, n->depth - 1};
        at[i + 1] = i % 2 == 0 ? hc_fork_push(at[i], &forks[i], tree, &parts[i])
                               : hc_fork_push_fast(at[i], &forks[i], tree, &parts[i]);
    }
    for (int i = children; i-- > 0;) {
        if (n->seed % 3 == 0)
            CHECK(hc_fork_join(at[i + 1], &forks[i]) == at[i]);
        else if (n->seed % 3 == 1)
            CHECK(hc_fork_join_fast(at[i + 1], &forks[i]) == at[i]);
        else if (hc_fork_take_fast(at[i + 1], &forks[i]))
            tree(at[i], &parts[i]);
        n->sum += 3 * parts[i].sum;
    }
}

static void trees(hc_group *g, hc_worker *w) {
    (void)g;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        node n = {mix(seed), 0, 5};
        tree(w, &n);
        CHECK(n.sum == serial_tree(mix(seed), 5));
    }
}

static void random_trees(void) { from_each_place(trees); }

/* Larger ones, from several threads at once. */
static void *grow_large(void *arg) {
    hc_worker *w = enter(arg);
    for (uint64_t seed = 1; seed <= 12 / CHECK_SLOWER; ++seed) {
        node n = {mix(seed * 77), 0, 9};
        tree(w, &n);
        CHECK(n.sum == serial_tree(mix(seed * 77), 9));
        CHECK_EQ(fib(w, 20), 6765);
    }
    hc_worker_leave(w);
    return NULL;
}

static void large_trees_from_many_threads(void) {
    for (int i = 0; i < n_worker_counts; ++i) {
        hc_group *g = group_of(worker_counts[i]);
        pthread_t threads[3];
        for (int t = 0; t < 3; ++t) threads[t] = thread_start(grow_large, g);
        for (int t = 0; t < 3; ++t) thread_join(threads[t]);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Many open at once -------------------------------------------------------------------------------------------- */

static void mark(hc_worker *w, void *arg) {
    CHECK(w != NULL);
    *(int *)arg += 1; /* plainly: the join makes it visible */
}

static void open_many(hc_group *g, hc_worker *w) {
    (void)g;
    const int counts[] = {1, 2, 1000, 1023, 1024, 1025, 5000};
    hc_fork *forks = calloc(5000, sizeof *forks);
    hc_worker **at = calloc(5001, sizeof *at);
    int *seen = calloc(5000, sizeof *seen);
    for (int round = 0; round < 2; ++round)
        for (int c = 0; c < 7; ++c)
            for (int way = 0; way < 3; ++way) {
                memset(seen, 0, 5000 * sizeof *seen);
                at[0] = w;
                for (int i = 0; i < counts[c]; ++i)
                    at[i + 1] = way == 0 || (way == 2 && i % 3 == 0) ? hc_fork_push(at[i], &forks[i], mark, &seen[i])
                                                                     : hc_fork_push_fast(at[i], &forks[i], mark, &seen[i]);
                for (int i = counts[c]; i-- > 0;) {
                    if (way == 0)
                        CHECK(hc_fork_join(at[i + 1], &forks[i]) == at[i]);
                    else if (way == 1)
                        CHECK(hc_fork_join_fast(at[i + 1], &forks[i]) == at[i]);
                    else if (hc_fork_take_fast(at[i + 1], &forks[i]))
                        mark(at[i], &seen[i]);
                    CHECK_EQ(seen[i], 1);
                }
            }
    free(seen);
    free(at);
    free(forks);
}

static void many_forks_are_joined_in_reverse(void) { from_each_place(open_many); }

/* Back and forth over the end of a chunk of places. */
static void swing(hc_group *g, hc_worker *w) {
    (void)g;
    enum { open = 1015, more = 20 };
    static _Thread_local hc_fork forks[open + more];
    hc_worker *at[open + more + 1];
    int seen[open + more] = {0};
    at[0] = w;
    for (int i = 0; i < open; ++i) at[i + 1] = hc_fork_push_fast(at[i], &forks[i], mark, &seen[i]);
    for (int round = 0; round < 200; ++round) {
        for (int i = open; i < open + more; ++i) at[i + 1] = hc_fork_push_fast(at[i], &forks[i], mark, &seen[i]);
        for (int i = open + more; i-- > open;) CHECK(hc_fork_join_fast(at[i + 1], &forks[i]) == at[i]);
        for (int i = open; i < open + more; ++i) CHECK_EQ(seen[i], round + 1);
    }
    for (int i = open; i-- > 0;) CHECK(hc_fork_join_fast(at[i + 1], &forks[i]) == at[i]);
}

static void swing_over_the_end(void) { from_each_place(swing); }

/* Nested, to a depth that no ordinary stack has. */
static void nests(hc_worker *w, void *arg) {
    int64_t *left = arg;
    if ((*left)-- == 0) return;
    int side = 0;
    hc_fork f;
    hc_worker *in = hc_fork_push_fast(w, &f, mark, &side);
    nests(in, arg);
    hc_fork_join_fast(in, &f);
    CHECK_EQ(side, 1);
}

static void *nest_deeply(void *arg) {
    hc_worker *w = enter(arg);
    int64_t left = CHECK_TSAN ? 20000 : 1000000 / CHECK_SLOWER; /* the race detector cannot look deeper */
    nests(w, &left);
    CHECK_EQ(left, -1);
    CHECK(hc_worker_self() == w);
    hc_worker_leave(w);
    return NULL;
}

static void a_million_may_be_open(void) {
    for (int i = 0; i < n_worker_counts; ++i) {
        hc_group *g = group_of(worker_counts[i]);
        pthread_attr_t attr;
        pthread_t thread;
        CHECK_EQ(pthread_attr_init(&attr), 0);
        CHECK_EQ(pthread_attr_setstacksize(&attr, (size_t)1 << 30), 0);
        CHECK_EQ(pthread_create(&thread, &attr, nest_deeply, g), 0);
        thread_join(thread);
        pthread_attr_destroy(&attr);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Taken by others ---------------------------------------------------------------------------------------------- */

typedef struct meeting {
    atomic_int ran;
    pthread_t by;
    hc_group *group;
} meeting;

static void comes(hc_worker *w, void *arg) {
    meeting *m = arg;
    CHECK(w != NULL && hc_worker_self() == w);
    m->by = pthread_self();
    m->group = hc_group_current();
    m->ran += 1;
}

static void fork_and_block(hc_group *g, hc_worker *w) {
    for (int i = 0; i < 100; ++i) {
        meeting m = {0, pthread_self(), NULL};
        hc_fork f;
        hc_worker *in = i % 2 == 0 ? hc_fork_push(w, &f, comes, &m) : hc_fork_push_fast(w, &f, comes, &m);
        UNTIL(m.ran == 1); /* nobody else can: so another must */
        CHECK(!pthread_equal(m.by, pthread_self()));
        CHECK(m.group == g);
        if (i % 3 == 0)
            CHECK_EQ(hc_fork_take(in, &f), 0);
        else
            CHECK((i % 3 == 1 ? hc_fork_join(in, &f) : hc_fork_join_fast(in, &f)) == w);
        CHECK_EQ(m.ran, 1);
    }
}

static void fork_and_block_outside(hc_group *g) {
    hc_worker *w = enter(g);
    fork_and_block(g, w);
    hc_worker_leave(w);
}

static void fork_and_block_inside(void *arg) {
    fork_and_block(hc_group_current(), hc_worker_self());
    latch_down(arg);
}

static void an_idle_worker_takes_a_fork(void) {
    for (int i = 0; i < n_worker_counts; ++i) {
        hc_group *g = group_of(worker_counts[i]);
        fork_and_block_outside(g);
        if (worker_counts[i] > 1) {
            latch done = LATCH(1);
            CHECK_OK(hc_submit(g, fork_and_block_inside, &done));
            latch_wait(&done);
        }
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Many forks of a thread that blocks: all are run by others. */
static void block_with_many(hc_group *g) {
    enum { many = 3000 };
    static hc_fork forks[many];
    static meeting m[many];
    hc_worker *at = enter(g), *first = at;
    for (int i = 0; i < many; ++i) {
        m[i].ran = 0;
        at = i % 2 == 0 ? hc_fork_push(at, &forks[i], comes, &m[i]) : hc_fork_push_fast(at, &forks[i], comes, &m[i]);
    }
    for (int i = 0; i < many; ++i) UNTIL(m[i].ran == 1);
    for (int i = many; i-- > 0;) at = i % 2 == 0 ? hc_fork_join(at, &forks[i]) : hc_fork_join_fast(at, &forks[i]);
    CHECK(at == first);
    for (int i = 0; i < many; ++i) CHECK_EQ(m[i].ran, 1);
    hc_worker_leave(first);
}

static void forks_of_a_blocked_thread_are_run_by_others(void) {
    for (int i = 0; i < n_worker_counts; ++i) {
        hc_group *g = group_of(worker_counts[i]);
        for (int round = 0; round < 3; ++round) block_with_many(g);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* A frame, and what it works on, are gone at once after the join. */
static __attribute__((noinline)) int on_the_stack(hc_worker *w, int n) {
    hc_fork f;
    int seen[16] = {0};
    hc_worker *in = hc_fork_push_fast(w, &f, mark, &seen[n]);
    for (int spin = n * 20; spin > 0; --spin) __asm__ volatile("" ::: "memory");
    if (n % 3 == 0)
        hc_fork_join(in, &f);
    else if (n % 3 == 1)
        hc_fork_join_fast(in, &f);
    else if (hc_fork_take_fast(in, &f))
        mark(w, &seen[n]);
    return seen[n];
}

static __attribute__((noinline)) void wipe_the_stack(void) {
    char rubbish[1024];
    memset(rubbish, 0xA5, sizeof rubbish);
    __asm__ volatile("" ::"r"(rubbish) : "memory");
}

static void return_at_once(hc_group *g, hc_worker *w) {
    (void)g;
    for (int i = 0; i < 1000; ++i) {
        CHECK_EQ(on_the_stack(w, i % 16), 1);
        wipe_the_stack();
    }
}

static void a_frame_may_go_after_its_join(void) { from_each_place(return_at_once); }

/* ---- Locks: a join runs what its fork has forked, and no stranger's ------------------------------------------------ */

typedef struct locking {
    hc_group *g;
    pthread_mutex_t mutex;
    atomic_int strangers, forks, begun, inner;
    pthread_t owner, inner_by;
} locking;

static void wants_the_lock(void *arg) {
    locking *l = arg;
    pthread_mutex_lock(&l->mutex);
    pthread_mutex_unlock(&l->mutex);
    l->strangers += 1;
}

static void fork_wants_the_lock(hc_worker *w, void *arg) {
    (void)w;
    wants_the_lock(arg);
}

static void inner_fork(hc_worker *w, void *arg) {
    locking *l = arg;
    (void)w;
    l->inner_by = pthread_self();
    l->inner += 1;
}

/* Runs on the other worker, and blocks until somebody has taken what it forks: only the owner, in its join, is left. */
static void taken_fork(hc_worker *w, void *arg) {
    locking *l = arg;
    l->begun = 1;
    hc_fork f;
    hc_worker *in = hc_fork_push(w, &f, inner_fork, l);
    UNTIL(l->inner == 1);
    hc_fork_join(in, &f);
    l->forks += 1;
}

static void joins_with_a_lock(void *arg) {
    locking *l = arg;
    hc_worker *w = hc_worker_self();
    l->owner = pthread_self();
    hc_fork f;
    hc_worker *in = hc_fork_push(w, &f, taken_fork, l);
    UNTIL(l->begun == 1);
    pthread_mutex_lock(&l->mutex);
    for (int i = 0; i < 3; ++i) {
        CHECK_OK(hc_submit(l->g, wants_the_lock, l));
        hc_task_unref(held(l->g, wants_the_lock, l));
    }
    CHECK(hc_fork_join(in, &f) == w);
    CHECK_EQ(l->strangers, 0);
    pthread_mutex_unlock(&l->mutex);
}

static void a_join_may_hold_a_lock(void) {
    for (int outside = 0; outside < 2; ++outside) {
        hc_group *g = group_of(outside ? 1 : 2);
        for (int round = 0; round < 50; ++round) {
            locking l = {g, PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, pthread_self(), pthread_self()};
            hc_worker *w = outside ? enter(g) : NULL;
            if (outside)
                joins_with_a_lock(&l);
            else
                CHECK_OK(hc_submit(g, joins_with_a_lock, &l));
            hc_worker_leave(w);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK(pthread_equal(l.inner_by, l.owner));
            CHECK_EQ(l.forks, 1);
            CHECK_EQ(l.strangers, 6);
        }
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Strangers' forks lie about, too. */
typedef struct other {
    locking *l;
    latch pushed, go;
} elsewhere;

static void *forks_elsewhere(void *arg) {
    elsewhere *o = arg;
    hc_worker *w = enter(o->l->g);
    hc_fork f[4];
    hc_worker *at[5] = {w};
    for (int i = 0; i < 4; ++i) at[i + 1] = hc_fork_push(at[i], &f[i], fork_wants_the_lock, o->l);
    latch_down(&o->pushed);
    latch_wait(&o->go);
    for (int i = 4; i-- > 0;) hc_fork_join(at[i + 1], &f[i]);
    hc_worker_leave(w);
    return NULL;
}

static void nor_does_it_take_the_forks_of_strangers(void) {
    hc_group *g = group_of(1);
    for (int round = 0; round < 50; ++round) {
        locking l = {g, PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, pthread_self(), pthread_self()};
        elsewhere o = {&l, LATCH(1), LATCH(1)};
        hc_worker *w = enter(g);
        hc_fork f;
        hc_worker *in = hc_fork_push(w, &f, taken_fork, &l);
        UNTIL(l.begun == 1);
        pthread_mutex_lock(&l.mutex);
        l.owner = pthread_self();
        pthread_t thread = thread_start(forks_elsewhere, &o);
        latch_wait(&o.pushed);
        CHECK(hc_fork_join(in, &f) == w);
        CHECK_EQ(l.strangers, 0);
        pthread_mutex_unlock(&l.mutex);
        latch_down(&o.go);
        thread_join(thread);
        CHECK_EQ(l.strangers, 4);
        hc_worker_leave(w);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Places -------------------------------------------------------------------------------------------------------- */

static void one_fork(hc_worker *w) {
    int seen = 0;
    hc_fork f;
    hc_worker *in = hc_fork_push_fast(w, &f, mark, &seen);
    CHECK(hc_fork_join_fast(in, &f) == w);
    CHECK_EQ(seen, 1);
}

static void places_of_one_group(hc_group *g) {
    hc_worker *outer = hc_worker_self(), *w[10];
    for (int i = 0; i < 10; ++i) {
        w[i] = enter(g);
        CHECK(hc_worker_self() == w[i]);
        one_fork(w[i]);
    }
    for (int i = 10; i-- > 0;) {
        one_fork(w[i]);
        CHECK(hc_worker_self() == w[i]);
        hc_worker_leave(w[i]);
    }
    CHECK(hc_worker_self() == outer);
}

static void enter_nests(void) { everywhere(places_of_one_group); }

/* A fork is open while its thread enters again, and also another group, and the first once more. */
static void places_of_two_groups(hc_group *g) {
    hc_group *other = group_of_kind(HC_KIND_STEALING, 2);
    hc_worker *outer = hc_worker_self(), *a = enter(g);
    int seen = 0, seen2 = 0;
    hc_fork f, f2;
    hc_worker *in = hc_fork_push(a, &f, mark, &seen);
    hc_worker *b = enter(other);
    CHECK(hc_worker_self() == b);
    hc_worker *in2 = hc_fork_push_fast(b, &f2, mark, &seen2);
    CHECK(hc_worker_self() == in2);
    CHECK_EQ(fib(in2, 10), 55);
    CHECK(hc_fork_join_fast(in2, &f2) == b);
    hc_worker_leave(b);
    CHECK(hc_worker_self() == in);
    CHECK(hc_fork_join(in, &f) == a);
    CHECK(seen == 1 && seen2 == 1);
    hc_worker_leave(a);
    CHECK(hc_worker_self() == outer);
    CHECK_OK(hc_group_destroy(other));
}

static void a_thread_may_enter_two_groups(void) { everywhere(places_of_two_groups); }

static void wrong_arguments_are_refused(void) {
    hc_group *g = group_of(1);
    hc_worker *w = (hc_worker *)g;
    CHECK(hc_worker_self() == NULL);
    CHECK_RC(hc_worker_enter(NULL, &w), HC_EINVAL);
    CHECK(w == NULL);
    CHECK_RC(hc_worker_enter(g, NULL), HC_EINVAL);
    hc_worker_leave(NULL);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    w = (hc_worker *)g;
    CHECK_RC(hc_worker_enter(g, &w), HC_ESHUTDOWN);
    CHECK(w == NULL && hc_worker_self() == NULL);
    CHECK_OK(hc_group_destroy(g));
}

/* The group is shut down meanwhile: forks go on. */
static void forks_outlive_a_shutdown(void) {
    for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_NOW; ++how) {
        hc_group *g = group_of(2);
        hc_worker *w = enter(g);
        int seen = 0;
        hc_fork f;
        hc_worker *in = hc_fork_push(w, &f, mark, &seen);
        CHECK_OK(hc_group_shutdown(g, how));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        CHECK_EQ(fib(in, 15), 610);
        CHECK(hc_fork_join(in, &f) == w);
        CHECK_EQ(seen, 1);
        hc_worker_leave(w);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Threads come and go, and each enters and leaves. */
static void *enter_and_leave(void *arg) {
    hc_worker *w = enter(arg);
    CHECK_EQ(fib(w, 12), 144);
    hc_worker_leave(w);
    CHECK(hc_worker_self() == NULL);
    return NULL;
}

static void threads_come_and_go(void) {
    hc_group *g = group_of(2);
    for (unsigned round = 0; round < 300 / CHECK_SLOWER; ++round) {
        pthread_t threads[3];
        for (int i = 0; i < 3; ++i) threads[i] = thread_start(enter_and_leave, g);
        for (int i = 0; i < 3; ++i) thread_join(threads[i]);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Together with tasks ------------------------------------------------------------------------------------------ */

/* Tasks and scopes are awaited amid forks, and forks are made in what is awaited. */
static void mixed(hc_worker *w, void *arg);

typedef struct mixture {
    hc_group *g;
    int depth;
    atomic_int *leaves;
} mixture;

static void mixed_task(void *arg) {
    hc_worker *w = hc_worker_self();
    hc_worker *own = w == NULL ? enter(((mixture *)arg)->g) : NULL;
    mixed(w == NULL ? own : w, arg);
    hc_worker_leave(own);
}

static void mixed(hc_worker *w, void *arg) {
    mixture *m = arg;
    if (m->depth == 0) {
        atomic_fetch_add(m->leaves, 1);
        return;
    }
    mixture inner = {m->g, m->depth - 1, m->leaves};
    hc_fork f;
    hc_worker *in = hc_fork_push_fast(w, &f, mixed, &inner);
    if (m->depth % 2 == 0) {
        hc_task *t = held(m->g, mixed_task, &inner);
        CHECK_RC(end_of(t), HC_OK);
    } else {
        hc_scope *s = NULL;
        CHECK_OK(hc_scope_create(m->g, &s));
        CHECK_OK(hc_scope_submit(s, mixed_task, &inner, NULL));
        CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(s));
    }
    CHECK(hc_fork_join_fast(in, &f) == w);
}

static void mix_all(hc_group *g, hc_worker *w) {
    for (int round = 0; round < 3; ++round) {
        atomic_int leaves = 0;
        mixture m = {g, 7, &leaves};
        mixed(w, &m);
        CHECK_EQ(leaves, 128);
    }
}

static void forks_tasks_and_scopes_mix(void) { from_each_place(mix_all); }

/* A thread of another group takes the fork of a task that it waits for, and is gone, with its group, at once. */
typedef struct visit {
    hc_group *a;
    latch inside;
    atomic_int ran;
    atomic_bool blocks;
} visit;

static void visited_fork(hc_worker *w, void *arg) {
    (void)w;
    ((visit *)arg)->ran += 1;
}

static void forks_for_a_visitor(void *arg) {
    visit *v = arg;
    hc_worker *w = hc_worker_self();
    hc_fork f;
    hc_worker *in = hc_fork_push(w, &f, visited_fork, v);
    latch_down(&v->inside);
    if (v->blocks) UNTIL(v->ran == 1);
    hc_fork_join(in, &f);
}

static void first_fork(void *arg) {
    (void)arg;
    one_fork(hc_worker_self());
}

static void *visits(void *arg) {
    visit *v = arg;
    hc_group *b = group_of(1);
    hc_worker *w = enter(b);
    hc_task *t = held(v->a, forks_for_a_visitor, v);
    latch_wait(&v->inside);
    int rc = hc_task_wait(t, v->blocks ? HC_NEVER : 1, 0, NULL);
    CHECK(rc == HC_OK || (!v->blocks && rc == HC_ETIMEDOUT));
    hc_task_unref(t);
    hc_worker_leave(w);
    CHECK_OK(hc_group_destroy(b));
    return NULL;
}

static void a_visitor_may_go_at_once(void) {
    hc_group *a = group_of(1);
    CHECK_OK(hc_submit(a, first_fork, NULL));
    CHECK_OK(hc_group_drain(a, HC_NEVER));
    for (unsigned round = 0; round < 1000 / CHECK_SLOWER; ++round) {
        visit v = {a, LATCH(1), 0, round % 2 == 0};
        thread_join(thread_start(visits, &v));
        CHECK_OK(hc_group_drain(a, HC_NEVER));
        CHECK_EQ(v.ran, 1);
    }
    CHECK_OK(hc_group_destroy(a));
}

/* A waiter that runs a fork of the task that it waits for does not fail in its place. */
typedef struct blame {
    hc_group *g;
    latch inside;
    atomic_int ran;
    hc_task *first;
} blame;

static void blamed_fork(hc_worker *w, void *arg) {
    blame *b = arg;
    (void)w;
    hc_task *current = hc_task_current();
    CHECK(current == NULL || current == b->first); /* never the thief's own */
    hc_task_fail(1, NULL, NULL);
    b->ran += 1;
}

static void forks_and_waits(void *arg) {
    blame *b = arg;
    hc_worker *w = hc_worker_self();
    hc_fork f;
    hc_worker *in = hc_fork_push(w, &f, blamed_fork, b);
    latch_down(&b->inside);
    UNTIL(b->ran == 1);
    hc_fork_join(in, &f);
}

static void waits_for_the_first(void *arg) {
    blame *b = arg;
    latch_wait(&b->inside);
    (void)outcome_of(b->first);
}

static void a_thief_is_not_blamed(void) {
    hc_group *g = group_of(2);
    for (int round = 0; round < 100; ++round) {
        blame b = {g, LATCH(1), 0, NULL};
        hold at;
        hold_all(g, &at, 2);
        b.first = held(g, forks_and_waits, &b);
        hc_task *second = held(g, waits_for_the_first, &b);
        hold_release(&at);
        int32_t outcome = 7;
        CHECK_OK(hc_task_wait(second, HC_NEVER, HC_WAIT_NO_HELP, &outcome));
        CHECK_RC(outcome, HC_OK);
        hc_task_unref(second);
        CHECK_OK(hc_task_wait(b.first, HC_NEVER, HC_WAIT_NO_HELP, NULL));
        hc_task_unref(b.first);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    }
    CHECK_OK(hc_group_destroy(g));
}

/* Who takes a fork is in the task, and in the group, of the one that forked it. */
typedef struct owned {
    hc_group *g;
    hc_task *t;
    latch inside;
    atomic_int ran;
    pthread_t owner;
} owned;

static void sees_its_owner(hc_worker *w, void *arg) {
    owned *o = arg;
    CHECK(w != NULL);
    CHECK(!pthread_equal(o->owner, pthread_self()));
    CHECK(hc_group_current() == o->g);
    CHECK(hc_task_current() == o->t);
    CHECK_RC(hc_group_drain(o->g, 1000000), HC_EDEADLK);
    CHECK_RC(hc_task_wait(o->t, 1000000, 0, NULL), HC_EDEADLK);
    o->ran += 1;
}

static void forks_for_others(void *arg) {
    owned *o = arg;
    o->owner = pthread_self();
    hc_worker *w = hc_worker_self();
    hc_fork f;
    hc_worker *in = hc_fork_push(w, &f, sees_its_owner, o);
    latch_down(&o->inside);
    UNTIL(o->ran == 1);
    CHECK(hc_fork_join(in, &f) == w);
    CHECK(hc_group_current() == o->g && hc_task_current() == o->t);
}

static void a_taken_fork_sees_the_group_of_its_owner(void) {
    for (uint32_t workers = 1; workers <= 2; ++workers) /* it is taken by the waiter; by a worker, or by the waiter */
        for (int outside = 0; outside < 2; ++outside) {
            if (outside && workers == 1) continue;
            for (int round = 0; round < 20; ++round) {
                hc_group *g = group_of(workers);
                owned o = {g, NULL, LATCH(1), 0, pthread_self()};
                hold at;
                hold_all(g, &at, workers);
                o.t = held(g, forks_for_others, &o);
                hold_release(&at);
                latch_wait(&o.inside);
                hc_worker *w = NULL;
                if (!outside) w = enter(g);
                CHECK_OK(hc_task_wait(o.t, HC_NEVER, outside ? HC_WAIT_NO_HELP : 0, NULL));
                CHECK(hc_group_current() == NULL && hc_task_current() == NULL);
                if (!outside) hc_worker_leave(w);
                hc_task_unref(o.t);
                CHECK_OK(hc_group_destroy(g));
            }
        }
}

int main(void) {
    check_deadline(60);
    RUN(fib_is_fib);
    RUN(random_trees);
    RUN(large_trees_from_many_threads);
    RUN(many_forks_are_joined_in_reverse);
    RUN(swing_over_the_end);
    RUN(a_million_may_be_open);
    RUN(an_idle_worker_takes_a_fork);
    RUN(forks_of_a_blocked_thread_are_run_by_others);
    RUN(a_frame_may_go_after_its_join);
    RUN(a_join_may_hold_a_lock);
    RUN(nor_does_it_take_the_forks_of_strangers);
    RUN(enter_nests);
    RUN(a_thread_may_enter_two_groups);
    RUN(wrong_arguments_are_refused);
    RUN(forks_outlive_a_shutdown);
    RUN(threads_come_and_go);
    RUN(forks_tasks_and_scopes_mix);
    RUN(a_visitor_may_go_at_once);
    RUN(a_thief_is_not_blamed);
    RUN(a_taken_fork_sees_the_group_of_its_owner);
    return 0;
}
