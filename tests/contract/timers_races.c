/* Guards against: a timer that is lost or has two ends when a shutdown meets those who set, arm, cancel and fire; a ledger
 * that does not add up after handles have been thrown about by many threads. */
#include "timed.h"

enum { n_setters = 3, most = 3000 };

/* One end each: run, or handed back, or (nothing) refused. */
typedef struct end {
    atomic_int ran, back;
} end;

static void end_run(void *arg) { ((end *)arg)->ran += 1; }
static void end_drop(void *arg, int32_t why) {
    CHECK(why == HC_OK || why == HC_ESHUTDOWN || why == HC_ECANCELED);
    ((end *)arg)->back += why == HC_OK ? 0 : 1;
    ((end *)arg)->back += 1000; /* how many drops */
}
static void end_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user;
    CHECK(fn == end_run);
    CHECK_RC(why, HC_ESHUTDOWN);
    ((end *)arg)->back += 1;
}

typedef struct setter {
    hc_group *g;
    unsigned seed;
    int n;
    end ends[most];
    hc_timer *timers[most];
    bool accepted[most];
} setter;

static unsigned next_random(unsigned *seed) { return (*seed = *seed * 1103515245u + 12345u) >> 8; }

/* Until the group refuses: detached ones, some with handles, of which some are cancelled, armed, or let go. */
static void *sets_until_shut(void *arg) {
    setter *s = arg;
    for (s->n = 0; s->n < most; ++s->n) {
        const int i = s->n;
        const unsigned r = next_random(&s->seed);
        const uint64_t delay = r % 8 == 0 ? HOUR : r % 8 == 1 ? 0 : (r >> 4) % 200 * us;
        int rc;
        if (r % 3 != 0) {
            rc = hc_schedule(s->g, end_run, &s->ends[i], delay);
        } else {
            hc_task_options task = options_of(end_run, &s->ends[i]);
            task.drop = end_drop;
            const hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, delay, 0);
            rc = hc_timer_create(s->g, &options, &s->timers[i]);
            CHECK((s->timers[i] != NULL) == (rc == HC_OK));
        }
        if (rc == HC_ESHUTDOWN) break;
        CHECK_OK(rc);
        s->accepted[i] = true;
        hc_timer *t = s->timers[i];
        if (t == NULL) continue;
        if (r >> 16 & 1) CHECK(hc_timer_cancel(t) >= HC_REMOVED);
        if ((r >> 17 & 3) == 1) { /* with what was, it is known how often it fires: not asked here */
            rc = hc_timer_arm(t, (r >> 4) % 50 * us, 0);
            CHECK(rc >= HC_REMOVED || rc == HC_ECANCELED || rc == HC_ESHUTDOWN);
        }
        if (r >> 19 & 1) {
            hc_timer_unref(t);
            s->timers[i] = (hc_timer *)s; /* noted: it had one */
        }
    }
    return NULL;
}

static void shutdown_meets_setters(uint32_t kind, uint32_t workers, uint32_t how) {
    static setter setters[n_setters];
    pthread_t threads[n_setters];
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.on_unrun = end_unrun;
    hc_group *g = fixed_with(&options);
    memset(setters, 0, sizeof setters);
    for (int i = 0; i < n_setters; ++i) {
        setters[i].g = g;
        setters[i].seed = (unsigned)(i * 31 + (int)workers);
        threads[i] = thread_start(sets_until_shut, &setters[i]);
    }
    UNTIL(stats_of(g).timers_fired > 50);
    CHECK_OK(hc_group_shutdown(g, how));
    if (how == HC_SHUTDOWN_RUN_TIMERS) { /* the far ones, too, must go */
        CHECK_RC(hc_schedule(g, end_run, NULL, 0), HC_ESHUTDOWN);
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    }
    CHECK_OK(hc_group_await(g, HC_NEVER));
    for (int i = 0; i < n_setters; ++i) thread_join(threads[i]);
    for (int i = 0; i < n_setters; ++i)
        for (int k = 0; k < most; ++k) {
            setter *s = &setters[i];
            hc_timer *t = s->timers[k];
            if (t != NULL && t != (hc_timer *)s) hc_timer_unref(t);
            const int ran = s->ends[k].ran, back = s->ends[k].back % 1000, drops = s->ends[k].back / 1000;
            if (!s->accepted[k]) CHECK_EQ(ran + back + drops, 0);
            if (s->accepted[k] && t == NULL) CHECK_EQ(ran + back, 1);
            if (t != NULL) {
                CHECK_EQ(drops, 1); /* the series of each ends once */
                CHECK(ran + back <= 2);
            }
        }
    CHECK_EQ(stats_of(g).timers_pending, 0);
    CHECK_EQ(stats_of(g).queued, 0);
    CHECK_OK(hc_group_destroy(g));
}

static void a_shutdown_meets_those_who_set(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_many_counts; ++i)
            for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_RUN_TIMERS; ++how)
                shutdown_meets_setters(kind, many_counts[i], how);
}

/* Bodies that set what comes next, until it is refused. */
typedef struct chain {
    _Atomic int64_t alive; /* links that have no end yet */
    atomic_int ran, back;
} chain;

static void next_link(void *arg) {
    chain *c = arg;
    c->ran += 1;
    for (int i = 0; i < 1 + (c->ran % 16 == 0); ++i) {
        c->alive += 1;
        const int rc = hc_schedule(hc_group_current(), next_link, c, (uint64_t)(c->ran % 5) * 10 * us);
        if (rc == HC_OK) continue;
        CHECK_RC(rc, HC_ESHUTDOWN);
        c->alive -= 1;
    }
    c->alive -= 1;
}

static void link_back(void *user, hc_fn fn, void *arg, int32_t why) {
    chain *c = arg;
    (void)user;
    CHECK(fn == next_link);
    CHECK_RC(why, HC_ESHUTDOWN);
    c->back += 1;
    c->alive -= 1;
}

static void a_shutdown_meets_bodies_that_set(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_many_counts; ++i)
            for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_RUN_TIMERS; ++how) {
                hc_group_options options = HC_GROUP_OPTIONS_INIT;
                options.kind = kind;
                options.max_workers = many_counts[i];
                options.on_unrun = link_back;
                hc_group *g = fixed_with(&options);
                chain c = {0, 0, 0};
                for (int k = 0; k < 8; ++k) {
                    c.alive += 1;
                    CHECK_OK(hc_schedule(g, next_link, &c, (uint64_t)k * us));
                }
                UNTIL(c.ran >= 60);
                CHECK_OK(hc_group_shutdown(g, how));
                CHECK_OK(hc_group_await(g, HC_NEVER));
                CHECK_EQ(c.alive, 0);
                if (how == HC_SHUTDOWN_RUN_TIMERS) CHECK_EQ(c.back, 0);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* Handles are shared and let go by whoever comes; bodies, cancels and arms meet. One drop each, and no leak. */
enum { n_shared = 8, n_users = 4 };
typedef struct shared {
    hc_timer *t;
    atomic_int dropped, inside;
    bool repeats;
} shared;
typedef struct users {
    shared all[n_shared];
    atomic_uint seed;
    pthread_barrier_t start;
} users;

static void shared_run(void *arg) {
    shared *s = arg;
    CHECK_EQ(atomic_fetch_add(&s->inside, 1), 0);
    CHECK_EQ(s->dropped, 0);
    atomic_fetch_sub(&s->inside, 1);
}
static void shared_drop(void *arg, int32_t why) {
    shared *s = arg;
    CHECK(why == HC_OK || why == HC_ECANCELED || why == HC_ESHUTDOWN);
    CHECK_EQ(s->inside, 0);
    s->dropped += 1;
}

static void *uses(void *arg) {
    users *u = arg;
    unsigned seed = atomic_fetch_add(&u->seed, 104729);
    pthread_barrier_wait(&u->start);
    for (int i = 0; i < 60; ++i) {
        shared *s = &u->all[next_random(&seed) % n_shared];
        const unsigned r = next_random(&seed);
        hc_timer_ref(s->t);
        if (r % 8 < 5) CHECK(hc_timer_arm(s->t, r / 8 % 40 * us, s->repeats ? 1 + r / 8 % 40 * us : 0) != HC_EINVAL);
        if (r % 32 == 30) CHECK(hc_timer_cancel(s->t) >= HC_REMOVED);
        if (r % 32 == 31) CHECK(hc_timer_cancel_wait(s->t, HC_NEVER) >= HC_REMOVED);
        CHECK(missed_of(s->t) < UINT64_MAX);
        (void)remaining_of(s->t);
        hc_timer_unref(s->t);
    }
    for (int i = 0; i < n_shared; ++i) hc_timer_unref(u->all[i].t); /* its own reference to each */
    return NULL;
}

static void share(hc_group *g, uint32_t workers) {
    (void)workers;
    for (unsigned round = 0; round < 24 / CHECK_SLOWER; ++round) {
        static users u;
        pthread_t threads[n_users];
        memset(&u, 0, sizeof u);
        u.seed = round;
        CHECK_EQ(pthread_barrier_init(&u.start, NULL, n_users), 0);
        for (int i = 0; i < n_shared; ++i) {
            const uint32_t mode = (uint32_t)i % 3;
            u.all[i].repeats = mode != HC_TIMER_ONCE;
            u.all[i].t = repeating(g, shared_run, shared_drop, &u.all[i], mode, (uint64_t)i * 20 * us,
                                   mode == HC_TIMER_ONCE ? 0 : 20 * us);
            for (int k = 1; k < n_users; ++k) hc_timer_ref(u.all[i].t);
        }
        for (int i = 0; i < n_users; ++i) threads[i] = thread_start(uses, &u);
        for (int i = 0; i < n_users; ++i) thread_join(threads[i]);
        for (int i = 0; i < n_shared; ++i) UNTIL(u.all[i].dropped == 1);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        for (int i = 0; i < n_shared; ++i) CHECK_EQ(u.all[i].dropped, 1);
        CHECK_EQ(stats_of(g).timers_pending, 0);
        CHECK_EQ(pthread_barrier_destroy(&u.start), 0);
    }
}

static void shared_handles_end_once(void) { in_all_groups(share); }

int main(void) {
    check_deadline(90);
    RUN(a_shutdown_meets_those_who_set);
    RUN(a_shutdown_meets_bodies_that_set);
    RUN(shared_handles_end_once);
    return 0;
}
