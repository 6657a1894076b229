/* Guards against: a full queue that does not do what was agreed: a task that is neither run nor told, a wait that is forgotten, or
 * overtaken, or lasts beyond the end of its group; a bound that does not hold. */
#include "counting.h"
#include "elastic.h"

enum { ms = 1000000 };

static counting memory = COUNTING;

static hc_group *bounded(uint32_t kind, uint32_t workers, uint64_t capacity, uint32_t policy, uint64_t timeout) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.capacity = capacity;
    options.full_policy = policy;
    options.full_timeout = timeout;
    return fixed_with(&options);
}

/* Until a submit_timed with no time to wait is refused. */
static int fill_timed(hc_group *g, atomic_int *ran) {
    int n = 0, rc;
    while ((rc = hc_submit_timed(g, count_task, ran, 0)) == HC_OK) ++n;
    CHECK_RC(rc, HC_ETIMEDOUT);
    return n;
}

static void in_all_kinds(void (*body)(uint32_t kind, uint32_t workers)) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_most_counts; ++i) body(kind, most_counts[i]);
}

/* ---- HC_FULL_WAIT ---------------------------------------------------------------------------------------------------- */

typedef struct waiter {
    hc_group *g;
    hc_fn fn;
    void *arg;
    uint64_t timeout; /* 0: by hc_submit() */
    int rc;
    atomic_int done;
    int32_t tid;
} waiter;

static void *wait_for_room(void *arg) {
    waiter *w = arg;
    w->rc = w->timeout == 0 ? hc_submit(w->g, w->fn, w->arg) : hc_submit_timed(w->g, w->fn, w->arg, w->timeout);
    w->done = 1;
    return NULL;
}

static const uint64_t capacities[] = {1, 2, 7, 100, 1000};

static void waits_for_room(uint32_t kind, uint32_t workers) {
    for (int c = 0; c < 5; ++c) {
        hc_group *g = bounded(kind, workers, capacities[c], HC_FULL_WAIT, 0);
        atomic_int ran = 0;
        hold at;
        hold_all(g, &at, workers);
        const int queued = fill_timed(g, &ran);
        CHECK(queued <= (int)capacities[c] && queued >= 1);
        CHECK_EQ(stats_of(g).queued, queued);
        waiter w[4];
        pthread_t ids[4];
        for (int i = 0; i < 4; ++i) {
            w[i] = (waiter){g, count_task, &ran, i % 2 == 0 ? 0 : HC_NEVER, 1, 0, 0};
            ids[i] = thread_start(wait_for_room, &w[i]);
        }
        for (int i = 0; i < 50; ++i) sched_yield();
        for (int i = 0; i < 4; ++i) CHECK_EQ(w[i].done, 0);
        CHECK_EQ(stats_of(g).queued, queued);
        hold_release(&at);
        for (int i = 0; i < 4; ++i) {
            thread_join(ids[i]);
            CHECK_OK(w[i].rc);
        }
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(ran, queued + 4);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void submits_wait_for_room(void) { in_all_kinds(waits_for_room); }

static void a_wait_for_room_ends_in_time(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = bounded(kind, 2, 10, HC_FULL_WAIT, 3 * ms);
        atomic_int ran = 0, never = 0;
        hold at;
        hold_all(g, &at, 2);
        const int queued = fill_timed(g, &ran);
        uint64_t before = hc_now();
        CHECK_RC(hc_submit(g, count_task, &never), HC_ETIMEDOUT);
        CHECK(hc_now() - before >= 3 * ms);
        before = hc_now();
        CHECK_RC(hc_submit_timed(g, count_task, &never, 5 * ms), HC_ETIMEDOUT);
        CHECK(hc_now() - before >= 5 * ms);
        CHECK_RC(hc_submit_timed(g, count_task, &never, 1), HC_ETIMEDOUT);
        hc_task *t = (hc_task *)&memory;
        hc_task_options options = options_of(count_task, &never);
        CHECK_RC(hc_task_submit(g, &options, &t), HC_ETIMEDOUT);
        CHECK(t == NULL);
        CHECK_RC(hc_task_submit(g, &options, NULL), HC_ETIMEDOUT);
        hc_scope *s = NULL;
        CHECK_OK(hc_scope_create(g, &s));
        CHECK_RC(hc_scope_submit(s, count_task, &never, NULL), HC_ETIMEDOUT);
        CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(s));
        if (kind == HC_KIND_PINNED) CHECK_RC(hc_submit_to(g, 0, count_task, &never), HC_ETIMEDOUT);
        hc_call calls[5] = {{count_task, &never}, {count_task, &never}, {count_task, &never}};
        calls[3] = calls[4] = calls[0];
        size_t accepted = 9;
        CHECK_RC(hc_submit_batch(g, calls, 5, &accepted), HC_ETIMEDOUT);
        CHECK_EQ(accepted, 0);
        CHECK_EQ(stats_of(g).queued, queued);
        hold_release(&at);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, queued);
        CHECK_EQ(never, 0);
    }
}

/* A batch that does not fit: a prefix, exactly. */
typedef struct numbered {
    atomic_int ran, dropped;
} numbered;
static void numbered_run(void *arg) { ((numbered *)arg)->ran += 1; }

static void a_batch_that_waits_in_vain_has_a_prefix(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int c = 0; c < 4; ++c) {
            hc_group *g = bounded(kind, 1, capacities[c], HC_FULL_WAIT, 1 * ms);
            enum { n = 300 };
            static numbered all[n];
            hc_call calls[n];
            memset((void *)all, 0, sizeof all);
            for (int i = 0; i < n; ++i) calls[i] = (hc_call){numbered_run, &all[i]};
            hold at;
            hold_all(g, &at, 1);
            size_t accepted = 0;
            CHECK_RC(hc_submit_batch(g, calls, n, &accepted), HC_ETIMEDOUT);
            CHECK(accepted >= 1 && accepted <= capacities[c]);
            CHECK_EQ(stats_of(g).queued, accepted);
            hold_release(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            for (int i = 0; i < n; ++i) CHECK_EQ(all[i].ran, i < (int)accepted);
            size_t second = 0; /* and with a worker: all, in the end */
            hc_group *h = bounded(kind, 1, capacities[c], HC_FULL_WAIT, 0);
            CHECK_OK(hc_submit_batch(h, calls, n, &second));
            CHECK_EQ(second, n);
            CHECK_OK(hc_group_destroy(h));
            for (int i = 0; i < n; ++i) CHECK_EQ(all[i].ran, 1 + (i < (int)accepted));
            CHECK_OK(hc_group_destroy(g));
        }
}

static void a_shutdown_sends_who_waits_away(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_RUN_TIMERS; ++how)
            for (int round = 0; round < 10; ++round) {
                hc_group *g = bounded(kind, 2, 4, HC_FULL_WAIT, 0);
                atomic_int ran = 0, never = 0;
                hold at;
                hold_all(g, &at, 2);
                const int queued = fill_timed(g, &ran);
                waiter w[3];
                pthread_t ids[3];
                for (int i = 0; i < 3; ++i) {
                    w[i] = (waiter){g, count_task, &never, 0, 1, 0, 0};
                    ids[i] = thread_start(wait_for_room, &w[i]);
                }
                dawdle((unsigned)round * 20000);
                CHECK_OK(hc_group_shutdown(g, how));
                for (int i = 0; i < 3; ++i) {
                    thread_join(ids[i]);
                    CHECK_RC(w[i].rc, HC_ESHUTDOWN);
                }
                CHECK_RC(hc_submit_timed(g, count_task, &never, HC_NEVER), HC_ESHUTDOWN);
                hold_release(&at);
                CHECK_OK(hc_group_destroy(g));
                CHECK_EQ(ran, how == HC_SHUTDOWN_NOW ? 0 : queued);
                CHECK_EQ(never, 0);
            }
}

/* First come, first served: they come one after the other, and each goes in one after the other. */
static atomic_int next_number;
static atomic_int order_of[8];
static void takes_a_number(void *arg) { *(atomic_int *)arg = next_number++; }

static bool sleeps(int32_t tid) {
    char name[64], text[256];
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", tid);
    FILE *f = fopen(name, "r");
    if (f == NULL) return false;
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    const char *end = strrchr(text, ')');
    return end != NULL && end[2] == 'S';
}

static void *wait_with_a_name(void *arg) {
    waiter *w = arg;
    __atomic_store_n(&w->tid, (int32_t)gettid(), __ATOMIC_RELEASE);
    return wait_for_room(arg);
}

static void who_came_first_is_first(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = bounded(kind, 1, 1, HC_FULL_WAIT, 0); /* one at a time */
        atomic_int ran = 0;
        gate at = GATE;
        waiter w[8];
        pthread_t ids[8];
        gate_hold(g, &at);
        CHECK_OK(hc_submit(g, count_task, &ran));
        next_number = 0;
        for (int i = 0; i < 8; ++i) {
            w[i] = (waiter){g, takes_a_number, &order_of[i], i % 2 == 0 ? 0 : HC_NEVER, 1, 0, 0};
            ids[i] = thread_start(wait_with_a_name, &w[i]);
            UNTIL(__atomic_load_n(&w[i].tid, __ATOMIC_ACQUIRE) != 0 && sleeps(w[i].tid));
            for (int k = 0; k < 100; ++k) sched_yield();
            UNTIL(sleeps(w[i].tid));
        }
        gate_open(&at);
        for (int i = 0; i < 8; ++i) thread_join(ids[i]);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        for (int i = 0; i < 8; ++i) CHECK_EQ(order_of[i], i);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void submits_to_its_own_full_group(void *arg) {
    hc_group *g = hc_group_current();
    atomic_int *never = arg;
    int rc;
    atomic_int *mine = (atomic_int *)arg + 1;
    while ((rc = hc_submit(g, count_task, mine)) == HC_OK) mine[1] += 1;
    CHECK_RC(rc, HC_EDEADLK);
    CHECK_RC(hc_submit_timed(g, count_task, never, HC_NEVER), HC_EDEADLK);
    CHECK_RC(hc_submit_timed(g, count_task, never, 0), HC_EDEADLK);
    hc_task *t = NULL;
    hc_task_options options = options_of(count_task, never);
    CHECK_RC(hc_task_submit(g, &options, &t), HC_EDEADLK);
    CHECK(t == NULL);
}

static void a_task_of_the_group_does_not_wait(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = bounded(kind, 1, 5, HC_FULL_WAIT, 0);
        atomic_int counts[3] = {0, 0, 0};
        CHECK_OK(hc_submit(g, submits_to_its_own_full_group, counts));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(counts[0], 0);
        CHECK_EQ(counts[1], counts[2]);
        CHECK(counts[2] >= 1);
        CHECK_OK(hc_group_destroy(g));
    }
}

typedef struct across {
    hc_group *to;
    atomic_int *ran;
    latch inside;
} across;
static void submits_to_another(void *arg) {
    across *a = arg;
    latch_down(&a->inside);
    CHECK_OK(hc_submit(a->to, count_task, a->ran));
}

static void a_task_of_another_group_waits(void) {
    hc_group *g = bounded(HC_KIND_STEALING, 1, 1, HC_FULL_WAIT, 0);
    hc_group_options options = elastic_options(HC_KIND_STEALING, 1, 1, NULL);
    options.spare_workers = 2;
    options.stuck_after = HC_NONE64;
    hc_group *other = group_with(&options);
    atomic_int ran = 0, ran_there = 0;
    gate at = GATE;
    across a = {g, &ran, LATCH(1)};
    gate_hold(g, &at);
    CHECK_OK(hc_submit(g, count_task, &ran));
    CHECK_OK(hc_submit(other, submits_to_another, &a));
    latch_wait(&a.inside);
    CHECK_OK(hc_submit(other, count_task, &ran_there)); /* it says that it blocks */
    UNTIL(ran_there == 1);
    CHECK_EQ(ran, 0);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(other));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 2);
}

/* ---- hc_submit_timed() ----------------------------------------------------------------------------------------------- */

static void submit_timed_waits_under_every_policy(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t policy = HC_FULL_FAIL; policy <= HC_FULL_DROP_OLDEST; ++policy) {
            hc_group *g = bounded(kind, 2, 20, policy, 0);
            atomic_int ran = 0;
            hold at;
            hold_all(g, &at, 2);
            const int queued = fill_timed(g, &ran);
            CHECK(queued >= 15 && queued <= 20);
            CHECK_EQ(ran, 0);
            CHECK_RC(hc_submit_timed(g, count_task, &ran, 1 * ms), HC_ETIMEDOUT);
            CHECK_EQ(stats_of(g).queued, queued); /* nothing was dropped, and nothing run */
            CHECK_EQ(ran, 0);
            waiter w = {g, count_task, &ran, HC_NEVER, 1, 0, 0};
            pthread_t id = thread_start(wait_for_room, &w);
            for (int i = 0; i < 20; ++i) sched_yield();
            CHECK_EQ(w.done, 0);
            hold_release(&at);
            thread_join(id);
            CHECK_OK(w.rc);
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, queued + 1);
        }
    hc_group *g = group_of(1); /* unbounded */
    atomic_int ran = 0;
    gate at = GATE;
    gate_hold(g, &at);
    for (int i = 0; i < 1000; ++i) CHECK_OK(hc_submit_timed(g, count_task, &ran, i % 2 == 0 ? 0 : HC_NEVER));
    CHECK_RC(hc_submit_timed(NULL, count_task, &ran, 0), HC_EINVAL);
    CHECK_RC(hc_submit_timed(g, NULL, &ran, 0), HC_EINVAL);
    gate_open(&at);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_RC(hc_submit_timed(g, count_task, &ran, 0), HC_ESHUTDOWN);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1000);
}

/* ---- Dropping -------------------------------------------------------------------------------------------------------- */

static pthread_t dropper;
static hc_group *dropping;
static atomic_int drops, unruns, again;

static void numbered_drop(void *arg, int32_t why) {
    CHECK_RC(why, HC_EDROPPED);
    CHECK(pthread_equal(pthread_self(), dropper));
    CHECK(hc_group_current() == dropping);
    ((numbered *)arg)->dropped += 1;
    drops += 1;
    /* No lock is held: what the drop asks, and submits, is answered. */
    CHECK(stats_of(dropping).queued <= 1000);
    if (again > 0) {
        again -= 1;
        hc_task_options options = options_of(numbered_run, arg);
        options.drop = numbered_drop;
        CHECK_OK(hc_task_submit(dropping, &options, NULL));
    }
}

static void numbered_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user;
    CHECK(fn == numbered_run);
    CHECK_RC(why, HC_EDROPPED);
    CHECK(pthread_equal(pthread_self(), dropper));
    ((numbered *)arg)->dropped += 1;
    unruns += 1;
}

static hc_group *dropping_group(uint32_t kind, uint32_t workers, uint64_t capacity, uint32_t policy) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.capacity = capacity;
    options.full_policy = policy;
    options.on_unrun = numbered_unrun;
    dropper = pthread_self();
    drops = unruns = again = 0;
    return dropping = fixed_with(&options);
}

enum { n_numbered = 2000 };
static numbered tasks[n_numbered];

/* Each in another way: detached without a drop, with one, held, in a batch. */
static void submit_numbered(hc_group *g, int i, hc_task **handles) {
    numbered *task = &tasks[i];
    hc_task_options options = options_of(numbered_run, task);
    options.drop = numbered_drop;
    size_t accepted = 0;
    const hc_call call = {numbered_run, task};
    handles[i] = NULL;
    switch (i % 5) {
        case 0: CHECK_OK(hc_submit(g, numbered_run, task)); break;
        case 1: CHECK_OK(hc_task_submit(g, &options, NULL)); break;
        case 2:
            CHECK_OK(hc_task_submit(g, &options, &handles[i]));
            CHECK(handles[i] != NULL);
            break;
        case 3:
            CHECK_OK(hc_submit_batch(g, &call, 1, &accepted));
            CHECK_EQ(accepted, 1);
            break;
        default:
            if (hc_group_slots(g) > 0 && hc_submit_to(g, 0, numbered_run, task) == HC_OK) break;
            CHECK_OK(hc_submit(g, numbered_run, task));
            break;
    }
}

static void drops_all_but_what_fits(uint32_t kind, uint32_t workers) {
    for (uint32_t policy = HC_FULL_DROP_NEWEST; policy <= HC_FULL_DROP_OLDEST; ++policy)
        for (int c = 0; c < 4; ++c)
            for (int stuck = 0; stuck < 2; ++stuck) {
                static hc_task *handles[n_numbered];
                const int n = stuck ? 300 : n_numbered;
                hc_group *g = dropping_group(kind, workers, capacities[c], policy);
                hold at;
                memset((void *)tasks, 0, sizeof tasks);
                if (stuck) hold_all(g, &at, workers);
                for (int i = 0; i < n; ++i) {
                    submit_numbered(g, i, handles);
                    CHECK(stats_of(g).queued <= capacities[c]);
                }
                if (stuck) {
                    CHECK_EQ(drops + unruns + (int)stats_of(g).queued, n);
                    CHECK(drops + unruns >= n - (int)capacities[c]);
                    hold_release(&at);
                }
                CHECK_OK(hc_group_drain(g, HC_NEVER)); /* not fooled by those that were dropped */
                int ran = 0, dropped = 0;
                for (int i = 0; i < n; ++i) {
                    CHECK_EQ(tasks[i].ran + tasks[i].dropped, 1); /* exactly one of the two */
                    ran += tasks[i].ran;
                    dropped += tasks[i].dropped;
                    if (handles[i] != NULL) CHECK_RC(end_of(handles[i]), tasks[i].dropped != 0 ? HC_EDROPPED : HC_OK);
                }
                CHECK_EQ(dropped, drops + unruns);
                if (stuck && kind == HC_KIND_SHARED) /* one queue, and no portions of room: which ones is known */
                    for (int i = 0; i < n; ++i) CHECK_EQ(tasks[i].ran, policy == HC_FULL_DROP_NEWEST ? i < ran : i >= n - ran);
                const hc_group_stats_data s = stats_of(g);
                CHECK_EQ(s.queued, 0);
                CHECK_OK(hc_group_destroy(g));
            }
}

static void each_is_run_or_told(void) { in_all_kinds(drops_all_but_what_fits); }

/* Of this submitter, who has some queued, though others have older ones. */
static void *submit_five(void *arg) {
    for (int i = 0; i < 5; ++i) CHECK_OK(hc_submit(arg, numbered_run, &tasks[1000 + i]));
    return NULL;
}

static void the_oldest_of_the_submitter_goes(void) {
    hc_group *g = dropping_group(HC_KIND_STEALING, 1, 20, HC_FULL_DROP_OLDEST);
    gate at = GATE;
    memset((void *)tasks, 0, sizeof tasks);
    gate_hold(g, &at);
    thread_join(thread_start(submit_five, g));
    int accepted = 0;
    while (unruns == 0) CHECK_OK(hc_submit(g, numbered_run, &tasks[accepted++]));
    for (int i = 0; i < 5; ++i) CHECK_OK(hc_submit(g, numbered_run, &tasks[accepted++]));
    CHECK_EQ(unruns, 6);
    for (int i = 0; i < accepted; ++i) CHECK_EQ(tasks[i].dropped, i < 6);
    for (int i = 0; i < 5; ++i) CHECK_EQ(tasks[1000 + i].dropped, 0);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    for (int i = 6; i < accepted; ++i) CHECK_EQ(tasks[i].ran, 1);
    for (int i = 0; i < 5; ++i) CHECK_EQ(tasks[1000 + i].ran, 1);
}

/* Who has none queued takes another's. */
static void *submit_one_more(void *arg) {
    dropper = pthread_self();
    CHECK_OK(hc_submit(arg, numbered_run, &tasks[1000]));
    return NULL;
}

static void where_it_has_none_anothers_goes(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        hc_group *g = dropping_group(kind, 1, 4, HC_FULL_DROP_OLDEST);
        gate at = GATE;
        memset((void *)tasks, 0, sizeof tasks);
        gate_hold(g, &at);
        for (int i = 0; i < 4; ++i) CHECK_OK(hc_submit(g, numbered_run, &tasks[i]));
        CHECK_EQ(unruns, 0);
        thread_join(thread_start(submit_one_more, g));
        CHECK_EQ(unruns, 1);
        CHECK_EQ(tasks[0].dropped, 1);
        gate_open(&at);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(tasks[1000].ran, 1);
        for (int i = 1; i < 4; ++i) CHECK_EQ(tasks[i].ran, 1);
    }
}

/* The tasks of a scope. */
static void tasks_of_a_scope_are_dropped(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (uint32_t policy = HC_FULL_DROP_NEWEST; policy <= HC_FULL_DROP_OLDEST; ++policy) {
            hc_group *g = dropping_group(kind, 1, 4, policy);
            gate at = GATE;
            hc_scope *s = NULL;
            int32_t failure = 1;
            memset((void *)tasks, 0, sizeof tasks);
            gate_hold(g, &at);
            CHECK_OK(hc_scope_create(g, &s));
            for (int i = 0; i < 20; ++i) CHECK_OK(hc_scope_submit(s, numbered_run, &tasks[i], numbered_drop));
            CHECK_EQ(drops, 16);
            gate_open(&at);
            CHECK_OK(hc_scope_wait(s, HC_NEVER, HC_WAIT_NO_HELP, &failure));
            CHECK_RC(failure, HC_EDROPPED);
            for (int i = 0; i < 20; ++i) CHECK_EQ(tasks[i].ran + tasks[i].dropped, 1);
            CHECK_OK(hc_scope_destroy(s));
            CHECK_OK(hc_group_destroy(g));
        }
}

/* "The task comes back": the one that was submitted, also if it is one of a scope. */
static void of_a_scope_the_newest_goes(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        hc_group *g = dropping_group(kind, 1, 4, HC_FULL_DROP_NEWEST);
        gate at = GATE;
        hc_scope *s = NULL;
        memset((void *)tasks, 0, sizeof tasks);
        gate_hold(g, &at);
        CHECK_OK(hc_scope_create(g, &s));
        for (int i = 0; i < 20; ++i) CHECK_OK(hc_scope_submit(s, numbered_run, &tasks[i], numbered_drop));
        for (int i = 0; i < 20; ++i) CHECK_EQ(tasks[i].dropped, i >= 4);
        gate_open(&at);
        CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(s));
        CHECK_OK(hc_group_destroy(g));
    }
}

static void a_drop_may_submit_again(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t policy = HC_FULL_DROP_NEWEST; policy <= HC_FULL_DROP_OLDEST; ++policy) {
            hc_group *g = dropping_group(kind, 1, 8, policy);
            gate at = GATE;
            memset((void *)tasks, 0, sizeof tasks);
            gate_hold(g, &at);
            for (int i = 0; i < 200; ++i) {
                hc_task_options options = options_of(numbered_run, &tasks[i]);
                options.drop = numbered_drop;
                again = i % 4;
                CHECK_OK(hc_task_submit(g, &options, NULL));
                CHECK(stats_of(g).queued <= 8);
            }
            gate_open(&at);
            again = 0;
            CHECK_OK(hc_group_destroy(g));
            int ran = 0, dropped = 0;
            for (int i = 0; i < 200; ++i) {
                CHECK(tasks[i].ran <= 1);
                ran += tasks[i].ran;
                dropped += tasks[i].dropped;
            }
            CHECK_EQ(dropped, drops);
            CHECK(ran >= 1 && ran <= 8);
        }
}

/* However many are submitted while nothing runs: no more memory than for those that fit. */
static void memory_is_bounded_while_a_worker_is_stuck(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t policy = HC_FULL_DROP_NEWEST; policy <= HC_FULL_DROP_OLDEST; ++policy) {
            enum { n = 100000 };
            hc_group *g = dropping_group(kind, 1, 100, policy);
            gate at = GATE;
            static numbered one;
            gate_hold(g, &at);
            int64_t early = 0;
            one.dropped = 0;
            for (int i = 0; i < n / (int)CHECK_SLOWER; ++i) {
                hc_task_options options = options_of(numbered_run, &one);
                hc_task *t = NULL;
                if (i % 2 == 0)
                    CHECK_OK(hc_submit(g, numbered_run, &one));
                else
                    CHECK_OK(hc_task_submit(g, &options, i % 4 == 1 ? NULL : &t));
                hc_task_unref(t);
                if (i == 10000) early = counting_read(&memory, &memory.bytes);
            }
            const int64_t late = counting_read(&memory, &memory.bytes);
            printf("  kind %u, policy %u: %" PRId64 " bytes, %" PRId64 " after %d\n", kind, policy, early, late,
                   n / (int)CHECK_SLOWER);
            CHECK(late <= early + 65536);
            gate_open(&at);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- fork(2) inside of a drop ---------------------------------------------------------------------------------------- */

static atomic_int forked_drops;
static pid_t the_child;
static void forks_in_its_drop(void *arg, int32_t why) {
    (void)arg;
    CHECK_RC(why, HC_EDROPPED);
    if (forked_drops++ == 0) the_child = fork();
    CHECK(the_child >= 0);
}

static void a_drop_may_fork(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t policy = HC_FULL_DROP_NEWEST; policy <= HC_FULL_DROP_OLDEST; ++policy) {
            hc_group *g = dropping_group(kind, 1, 2, policy);
            gate at = GATE;
            gate_hold(g, &at);
            forked_drops = 0;
            the_child = 1;
            atomic_int none = 0;
            hc_task_options options = options_of(count_task, &none);
            options.drop = forks_in_its_drop;
            int rc = HC_OK;
            while (rc == HC_OK && forked_drops == 0) rc = hc_task_submit(g, &options, NULL);
            if (the_child == 0) {
                check_deadline(20);
                CHECK(rc == HC_EFORKED || rc == HC_OK);
                CHECK_RC(hc_submit(g, count_task, NULL), HC_EFORKED);
#if CHECK_CHILD_GOES_ON
                atomic_int ran = 0;
                hc_group *mine = group_of(1);
                CHECK_OK(hc_submit(mine, count_task, &ran));
                CHECK_OK(hc_group_destroy(mine));
                CHECK_EQ(ran, 1);
#endif
                _exit(0);
            }
            CHECK_OK(rc);
            int status = 0;
            CHECK(waitpid(the_child, &status, 0) == the_child);
            CHECK_EQ(status, 0);
            CHECK_OK(hc_task_submit(g, &options, NULL)); /* and here it goes on */
            gate_open(&at);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- All at once ----------------------------------------------------------------------------------------------------- */

typedef struct hammer {
    hc_group *g;
    atomic_int *ran, *dropped;
    int accepted, refused;
    unsigned seed;
    uint64_t capacity;
} hammer;

static atomic_int hammered_ran, hammered_dropped;
static void hammered(void *arg) {
    (void)arg;
    hammered_ran += 1;
}
static void hammered_drop(void *arg, int32_t why) {
    (void)arg;
    CHECK_RC(why, HC_EDROPPED);
    hammered_dropped += 1;
}
static void hammered_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user, (void)fn;
    hammered_drop(arg, why);
}

static void *hammers(void *arg) {
    hammer *h = arg;
    for (int i = 0; i < 400; ++i) {
        hc_task_options options = options_of(hammered, h);
        options.drop = hammered_drop;
        const hc_call calls[7] = {{hammered, h}, {hammered, h}, {hammered, h}, {hammered, h}, {hammered, h}, {hammered, h}, {hammered, h}};
        size_t accepted = 0;
        int rc = HC_OK;
        switch (next_random(&h->seed) % 5) {
            case 0: rc = hc_submit(h->g, hammered, h); break;
            case 1: rc = hc_task_submit(h->g, &options, NULL); break;
            case 2: {
                hc_task *t = NULL;
                rc = hc_task_submit(h->g, &options, &t);
                hc_task_unref(t);
                break;
            }
            case 3:
                rc = hc_submit_batch(h->g, calls, 7, &accepted);
                h->accepted += (int)accepted - (rc == HC_OK);
                break;
            default: rc = hc_submit_timed(h->g, hammered, h, next_random(&h->seed) % 50000); break;
        }
        CHECK(rc == HC_OK || rc == HC_EFULL || rc == HC_ETIMEDOUT);
        h->accepted += rc == HC_OK;
        h->refused += rc != HC_OK;
    }
    return NULL;
}

static void many_threads_press(uint32_t kind, uint32_t workers) {
    if (workers > 8) return;
    for (uint32_t policy = HC_FULL_FAIL; policy <= HC_FULL_DROP_OLDEST; ++policy)
        for (int c = 0; c < 4; ++c) {
            if (CHECK_TSAN && (workers + policy + kind) % 4 != (uint32_t)c) continue;
            enum { n = 4 };
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.max_workers = workers;
            options.capacity = capacities[c];
            options.full_policy = policy;
            options.on_unrun = hammered_unrun;
            if (c % 2 == 0 && kind != HC_KIND_PINNED) {
                options.min_workers = HC_NONE32;
                options.keep_alive = 1000;
            }
            static char name[80];
            snprintf(name, sizeof name, "press: kind %u, workers %u, policy %u, capacity %d", kind, workers, policy,
                     (int)capacities[c]);
            check_case = name;
            hc_group *g = group_with(&options);
            hammer h[n];
            pthread_t ids[n];
            hammered_ran = hammered_dropped = 0;
            int accepted = 0;
            for (int i = 0; i < n; ++i) {
                h[i] = (hammer){g, NULL, NULL, 0, 0, (unsigned)i + 1, capacities[c]};
                ids[i] = thread_start(hammers, &h[i]);
            }
            for (int i = 0; i < n; ++i) {
                thread_join(ids[i]);
                accepted += h[i].accepted;
                if (policy != HC_FULL_FAIL && policy != HC_FULL_WAIT) continue;
            }
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(hammered_ran + hammered_dropped, accepted);
            if (policy < HC_FULL_DROP_NEWEST) CHECK_EQ(hammered_dropped, 0);
            /* All the room is back. */
            hold at;
            if (policy == HC_FULL_FAIL && workers == 1) {
                static atomic_int ran; /* what fills the group runs at its end */
                hold_all(g, &at, 1);
                CHECK(fill_timed(g, &ran) >= (int)(capacities[c] - capacities[c] / 5));
                hold_release(&at);
            }
            CHECK_OK(hc_group_destroy(g));
        }
}

static void many_threads_press_against_the_bound(void) { in_all_kinds(many_threads_press); }

int main(int argc, char **argv) {
    check_deadline(120);
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
#define CASE(name) \
    if (argc < 2 || strstr(#name, argv[1]) != NULL) RUN(name)
    CASE(submits_wait_for_room);
    CASE(a_wait_for_room_ends_in_time);
    CASE(a_batch_that_waits_in_vain_has_a_prefix);
    CASE(a_shutdown_sends_who_waits_away);
    CASE(who_came_first_is_first);
    CASE(a_task_of_the_group_does_not_wait);
    CASE(a_task_of_another_group_waits);
    CASE(submit_timed_waits_under_every_policy);
    CASE(each_is_run_or_told);
    CASE(the_oldest_of_the_submitter_goes);
    CASE(where_it_has_none_anothers_goes);
    CASE(tasks_of_a_scope_are_dropped);
    CASE(of_a_scope_the_newest_goes);
    CASE(a_drop_may_submit_again);
    CASE(memory_is_bounded_while_a_worker_is_stuck);
    CASE(a_drop_may_fork);
    CASE(many_threads_press_against_the_bound);
    return 0;
}
