/* Guards against: a task that waits behind a busy worker though there is room for another, more workers than allowed, workers
 * that do not go, that go while there is something to do, or that share an index; a resize that is not one. */
#include <sched.h>

#include "elastic.h"
#include "timed.h"

static crew all;

/* ---- They come ------------------------------------------------------------------------------------------------------- */

static void one_by_one(uint32_t kind, uint32_t least, uint32_t most) {
    const hc_group_options options = elastic_options(kind, least, most, &all);
    hc_group *g = group_with(&options);
    uint32_t there = least == HC_NONE32 ? 0 : 1;
    CHECK_EQ(stats_of(g).workers, there);
    CHECK_EQ(stats_of(g).workers_max, most);
    CHECK_EQ(hc_group_slots(g), most);
    hold at = {LATCH(0), LATCH(1)};
    for (uint32_t k = 1; k <= most; ++k) {
        latch_reset(&at.inside, 1);
        CHECK_OK(hc_submit(g, hold_task, &at));
        latch_wait(&at.inside);
        CHECK_EQ(stats_of(g).workers, k);
    }
    atomic_int ran = 0;
    for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
    CHECK_EQ(stats_of(g).workers, most); /* never more */
    CHECK_EQ(stats_of(g).queued, 100);
    CHECK_EQ(ran, 0);
    hold_release(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(ran, 100);
    CHECK_EQ(stats_of(g).workers, most); /* nobody leaves before keep_alive */
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(all.starts, most);
    crew_check_gone(&all);
}

static void a_task_starts_a_worker_before_it_waits_behind_a_busy_one(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 0; i < n_most_counts; ++i) {
            one_by_one(kind, HC_NONE32, most_counts[i]);
            one_by_one(kind, 0, most_counts[i]);
        }
}

/* A task that ends is followed by another on the same worker: nobody comes for that. */
static void who_is_idle_is_taken_before_another_comes(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        const hc_group_options options = elastic_options(kind, HC_NONE32, 8, &all);
        hc_group *g = group_with(&options);
        atomic_int ran = 0;
        for (int i = 0; i < 200; ++i) {
            CHECK_OK(hc_submit(g, count_task, &ran));
            UNTIL(stats_of(g).workers_parked == stats_of(g).workers && ran == i + 1);
        }
        CHECK_EQ(stats_of(g).workers, 1);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(all.starts, 1);
    }
}

/* ---- Whatever the way of the task ------------------------------------------------------------------------------------ */

static hold inside_all;
static uint32_t inside_most;

static void way_batch(hc_group *g) {
    hc_call calls[64];
    size_t accepted = 0;
    for (uint32_t i = 0; i < inside_most; ++i) calls[i] = (hc_call){hold_task, &inside_all};
    CHECK_OK(hc_submit_batch(g, calls, inside_most, &accepted));
    CHECK_EQ(accepted, inside_most);
}

static hc_scope *way_scope_made;
static void way_scope(hc_group *g) {
    CHECK_OK(hc_scope_create(g, &way_scope_made));
    for (uint32_t i = 0; i < inside_most; ++i) CHECK_OK(hc_scope_submit(way_scope_made, hold_task, &inside_all, NULL));
}

static void submits_the_others(void *arg) {
    (void)arg;
    for (uint32_t i = 1; i < inside_most; ++i) CHECK_OK(hc_submit(hc_group_current(), hold_task, &inside_all));
    hold_task(&inside_all);
}
static void way_own_submits(hc_group *g) { CHECK_OK(hc_submit(g, submits_the_others, NULL)); }

static void batches_the_others(void *arg) {
    (void)arg;
    --inside_most;
    way_batch(hc_group_current());
    ++inside_most;
    hold_task(&inside_all);
}
static void way_own_batch(hc_group *g) {
    if (inside_most == 1) return way_own_submits(g);
    CHECK_OK(hc_submit(g, batches_the_others, NULL));
}

static void way_held(hc_group *g) {
    for (uint32_t i = 0; i < inside_most; ++i) hc_task_unref(held(g, hold_task, &inside_all));
}

static void way_timers(hc_group *g) {
    for (uint32_t i = 0; i < inside_most; ++i) CHECK_OK(hc_schedule(g, hold_task, &inside_all, 1 * ms));
}

static void way_continuations(hc_group *g) {
    hc_task *p = promise_in(g);
    for (uint32_t i = 0; i < inside_most; ++i) hc_task_unref(then(p, hold_task, &inside_all));
    CHECK_OK(hc_task_complete(p, 0, NULL, NULL));
    hc_task_unref(p);
}

static void forked(hc_worker *w, void *arg) {
    (void)w;
    hold_task(arg);
}
static void forks_the_others(void *arg) {
    hc_fork forks[64];
    hc_worker *w = hc_worker_self();
    CHECK(w != NULL);
    for (uint32_t i = 1; i < inside_most; ++i) w = hc_fork_push_fast(w, &forks[i], forked, arg);
    hold_task(arg); /* only others can be in the forks now */
    for (uint32_t i = inside_most - 1; i >= 1; --i) w = hc_fork_join_fast(w, &forks[i]);
}
static void way_forks(hc_group *g) { CHECK_OK(hc_submit(g, forks_the_others, &inside_all)); }

static void in_every_way_as_many_come_as_there_is_room_for(void) {
    static const group_body ways[] = {way_batch, way_own_submits, way_own_batch, way_held,
                                      way_scope, way_timers,      way_continuations, way_forks};
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; ++w)
            for (int i = 0; i < n_most_counts; ++i)
                for (int least = 0; least < 2; ++least) {
                    if (kind == HC_KIND_SHARED && ways[w] == way_forks) continue;
                    const uint32_t most = inside_most = most_counts[i];
                    static char name[80];
                    snprintf(name, sizeof name, "kind %u, way %zu, most %u, least %d", kind, w, most, least);
                    check_case = name;
                    const hc_group_options options = elastic_options(kind, least ? 1 : HC_NONE32, most, &all);
                    hc_group *g = group_with(&options);
                    inside_all = (hold){LATCH(most), LATCH(1)};
                    ways[w](g);
                    latch_wait(&inside_all.inside);
                    CHECK_EQ(stats_of(g).workers, most);
                    hold_release(&inside_all);
                    CHECK_OK(hc_group_drain(g, HC_NEVER));
                    if (ways[w] == way_scope) CHECK_OK(hc_scope_destroy(way_scope_made));
                    CHECK_OK(hc_group_destroy(g));
                    CHECK_EQ(all.most, most);
                    crew_check_gone(&all);
                }
}

static void the_defaults_are_one_and_the_cpus(void) {
    hc_group *g = group_with(NULL);
    hc_group_stats_data s = stats_of(g);
    CHECK_EQ(s.workers, 1);
    CHECK(s.cpus >= 1);
    CHECK_EQ(s.workers_max, s.cpus);
    CHECK_EQ(hc_group_slots(g), s.workers_max + 64);
    CHECK_OK(hc_group_destroy(g));
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1; /* who asks for a single one gets a single one */
    g = group_with(&options);
    CHECK_EQ(hc_group_slots(g), 1);
    CHECK_OK(hc_group_destroy(g));
    options = (hc_group_options)HC_GROUP_OPTIONS_INIT;
    options.kind = HC_KIND_PINNED;
    options.max_workers = 3;
    g = group_with(&options);
    CHECK_EQ(stats_of(g).workers, 3);
    CHECK_EQ(hc_group_slots(g), 3);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- They go --------------------------------------------------------------------------------------------------------- */

static void a_group_breathes(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 0; i < n_most_counts; ++i)
            for (uint32_t least = 0; least <= 2 && least <= most_counts[i]; least += 2) {
                const uint32_t most = most_counts[i];
                hc_group_options options = elastic_options(kind, least == 0 ? HC_NONE32 : least, most, &all);
                options.keep_alive = 1 * ms;
                const int before = threads_now();
                hc_group *g = group_with(&options);
                if (least == 0) CHECK_EQ(threads_now(), before); /* none */
                CHECK_EQ(stats_of(g).workers, least);
                for (int round = 0; round < 10; ++round) {
                    hold at;
                    hold_all(g, &at, most);
                    CHECK_EQ(stats_of(g).workers, most);
                    hold_release(&at);
                    UNTIL(stats_of(g).workers == least);
                    CHECK_EQ(stats_of(g).queued, 0);
                    CHECK_OK(hc_group_drain(g, HC_NEVER));
                }
                UNTIL(all.now == (int)least);
                CHECK_OK(hc_group_destroy(g));
                CHECK(all.most <= (int)most + 1); /* one may be at its last instructions while its successor begins */
                crew_check_gone(&all);
            }
}

/* Each is submitted just when the worker goes, or may: what is lost there is never run. */
static const uint64_t moments[] = {1, 1000, 5 * us, 20 * us, 60 * us, 100 * us, 1 * ms};
enum { n_moments = sizeof moments / sizeof moments[0] };

typedef struct breath {
    hc_group *g;
    int rounds;
    unsigned seed;
} breath;

static void *submit_and_wait(void *arg) {
    breath *b = arg;
    for (int i = 0; i < b->rounds; ++i) {
        atomic_int ran = 0;
        CHECK_OK(hc_submit(b->g, count_task, &ran));
        UNTIL(ran == 1);
        dawdle(next_random(&b->seed) % 60000);
    }
    return NULL;
}

static void nothing_is_lost_in_the_moment_of_leaving(void) {
    enum { submitters = 3 };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int m = 0; m < n_moments; ++m)
            for (int n = 1; n <= submitters; n += 2)
                for (uint32_t most = 1; most <= 3; most += 2) {
                    hc_group_options options = elastic_options(kind, HC_NONE32, most, &all);
                    options.keep_alive = moments[m];
                    static char name[80];
                    snprintf(name, sizeof name, "leaving: kind %u, keep_alive %" PRIu64 ", %d submitters, most %u", kind,
                             moments[m], n, most);
                    check_case = name;
                    breath b[submitters];
                    pthread_t ids[submitters];
                    hc_group *g = group_with(&options);
                    for (int i = 0; i < n; ++i) {
                        b[i] = (breath){g, 300 / (int)CHECK_SLOWER, (unsigned)(i + m * 7 + 1)};
                        ids[i] = thread_start(submit_and_wait, &b[i]);
                    }
                    for (int i = 0; i < n; ++i) thread_join(ids[i]);
                    UNTIL(stats_of(g).workers == 0);
                    CHECK_OK(hc_group_destroy(g));
                    crew_check_gone(&all);
                }
}

/* The same for what comes by a timer, by a promise, and by a scope. */
static void nothing_that_comes_in_other_ways_is_lost_then(void) {
    for (int m = 0; m < n_moments; ++m) {
        hc_group_options options = elastic_options(HC_KIND_STEALING, HC_NONE32, 2, &all);
        options.keep_alive = moments[m];
        hc_group *g = group_with(&options);
        hc_scope *s = NULL;
        unsigned seed = (unsigned)m;
        CHECK_OK(hc_scope_create(g, &s));
        for (int i = 0; i < 300; ++i) {
            shot one = {.ran = 0};
            atomic_int ran = 0;
            shoot(g, &one, next_random(&seed) % (200 * us));
            UNTIL(one.ran == 1);
            dawdle(next_random(&seed) % 60000);
            hc_task *p = promise_in(g), *t = then(p, count_task, &ran);
            CHECK_OK(hc_task_complete(p, 0, NULL, NULL));
            UNTIL(ran == 1);
            hc_task_unref(p);
            hc_task_unref(t);
            dawdle(next_random(&seed) % 60000);
            CHECK_OK(hc_scope_submit(s, count_task, &ran, NULL));
            UNTIL(ran == 2);
            dawdle(next_random(&seed) % 60000);
        }
        CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(s));
        CHECK_OK(hc_group_destroy(g));
        crew_check_gone(&all);
    }
}

static void a_timer_keeps_one_worker(void) {
    static atomic_int never_fires;
    hc_group_options options = elastic_options(HC_KIND_STEALING, HC_NONE32, 8, &all);
    options.keep_alive = 1 * us;
    hc_group *g = group_with(&options);
    hc_timer *t = timer_of(g, count_task, NULL, &never_fires, HOUR);
    hold at;
    hold_all(g, &at, 8);
    hold_release(&at);
    UNTIL(stats_of(g).workers == 1);
    for (int i = 0; i < 2000; ++i) {
        CHECK_EQ(stats_of(g).workers, 1);
        sched_yield();
    }
    CHECK_EQ(hc_timer_cancel(t), HC_REMOVED);
    hc_timer_unref(t);
    shot shots[50];
    memset((void *)shots, 0, sizeof shots);
    for (int i = 0; i < 50; ++i) shoot(g, &shots[i], (uint64_t)(50 - i) * 400 * us);
    for (int i = 0; i < 50; ++i) UNTIL(shots[i].ran == 1);
    UNTIL(stats_of(g).workers == 0);
    CHECK_OK(hc_group_destroy(g));
    crew_check_gone(&all);
}

/* A fork that was stolen is work like a task: who ran it has its whole keep_alive before it, unless the next came later than that. */
typedef struct stolen_forks {
    uint64_t keep_alive, longest_pause;
    latch last;
} stolen_forks;

static void forked_down(hc_worker *w, void *arg) {
    (void)w;
    latch_down(arg);
}

static void forks_now_and_then(void *arg) {
    stolen_forks *s = arg;
    hc_worker *w = hc_worker_self();
    const uint64_t begin = hc_now();
    for (uint64_t last = begin; last < begin + 4 * s->keep_alive;) {
        hc_fork f;
        latch stolen = LATCH(1);
        w = hc_fork_push_fast(w, &f, forked_down, &stolen);
        latch_wait(&stolen); /* only another can be in it */
        w = hc_fork_join_fast(w, &f);
        const uint64_t done = hc_now();
        if (done - last > s->longest_pause) s->longest_pause = done - last;
        last = done;
        const struct timespec pause = {0, (long)(s->keep_alive / 8)};
        nanosleep(&pause, NULL);
    }
    latch_down(&s->last);
}

static void who_runs_stolen_forks_stays(void) {
    hc_group_options options = elastic_options(HC_KIND_STEALING, 1, 2, &all);
    options.keep_alive = 200 * ms;
    hc_group *g = group_with(&options);
    stolen_forks s = {options.keep_alive, 0, LATCH(1)};
    CHECK_OK(hc_submit(g, forks_now_and_then, &s));
    latch_wait(&s.last);
    CHECK(all.stops == 0 || s.longest_pause >= s.keep_alive);
    CHECK_OK(hc_group_destroy(g));
    crew_check_gone(&all);
}

static void a_fixed_number_stays(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < n_most_counts; ++i) {
            hc_group_options options = elastic_options(kind, most_counts[i], most_counts[i], &all);
            options.spare_workers = 0;
            if (kind != HC_KIND_PINNED) options.spare_workers = HC_NONE32;
            options.keep_alive = 1;
            hc_group *g = group_with(&options);
            atomic_int ran = 0;
            for (int k = 0; k < 300; ++k) {
                CHECK_EQ(stats_of(g).workers, most_counts[i]);
                CHECK_OK(hc_submit(g, count_task, &ran));
                if (k % 10 == 0) CHECK_OK(hc_group_drain(g, HC_NEVER));
            }
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(all.stops, 0);
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, 300);
            CHECK_EQ(all.starts, most_counts[i]);
            crew_check_gone(&all);
        }
}

/* ---- Resize ---------------------------------------------------------------------------------------------------------- */

static void resize_refuses(void) {
    hc_group_options options = elastic_options(HC_KIND_STEALING, 1, 4, NULL);
    options.spare_workers = 3;
    hc_group *g = group_with(&options);
    CHECK_EQ(hc_group_slots(g), 7);
    CHECK_RC(hc_group_resize(NULL, 1, 1), HC_EINVAL);
    CHECK_RC(hc_group_resize(g, 3, 2), HC_EINVAL);
    CHECK_RC(hc_group_resize(g, 1, 8), HC_EINVAL);
    CHECK_RC(hc_group_resize(g, HC_NONE32, HC_NONE32), HC_EINVAL);
    CHECK_EQ(stats_of(g).workers_max, 4); /* nothing has changed */
    CHECK_OK(hc_group_resize(g, 7, 7));
    CHECK_EQ(stats_of(g).workers_max, 7);
    CHECK_EQ(hc_group_slots(g), 7);
    CHECK_OK(hc_group_resize(g, 0, 0));
    CHECK_OK(hc_group_resize(g, HC_NONE32, 1));
    CHECK_EQ(stats_of(g).workers_max, 1);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_RC(hc_group_resize(g, 1, 2), HC_ESHUTDOWN);
    CHECK_RC(hc_group_resize(g, 3, 2), HC_EINVAL);
    CHECK_OK(hc_group_destroy(g));
    options = (hc_group_options)HC_GROUP_OPTIONS_INIT;
    options.kind = HC_KIND_PINNED;
    options.max_workers = 2;
    g = group_with(&options);
    CHECK_RC(hc_group_resize(g, 1, 2), HC_ENOTSUP);
    CHECK_OK(hc_group_destroy(g));
}

static hc_group_options resizable(uint32_t kind, uint32_t least, uint32_t slots) {
    hc_group_options options = elastic_options(kind, least, slots, &all);
    options.keep_alive = 1 * ms;
    return options;
}

static void what_waits_gets_workers_when_there_is_room_for_them(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 1; i < n_most_counts; ++i) {
            const uint32_t most = most_counts[i];
            const hc_group_options options = resizable(kind, HC_NONE32, most);
            hc_group *g = group_with(&options);
            CHECK_OK(hc_group_resize(g, HC_NONE32, 1));
            hold at;
            hold_all(g, &at, 1);
            latch_reset(&at.inside, most - 1);
            for (uint32_t k = 1; k < most; ++k) CHECK_OK(hc_submit(g, hold_task, &at));
            CHECK_EQ(stats_of(g).workers, 1);
            CHECK_OK(hc_group_resize(g, HC_NONE32, most));
            latch_wait(&at.inside); /* with no submit, and nothing that ends */
            hold_release(&at);
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(all.starts, most);
            crew_check_gone(&all);
        }
}

static void no_more_than_the_new_number_run_at_once(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (uint32_t fewer = 1; fewer <= 3; ++fewer) {
            const hc_group_options options = resizable(kind, HC_NONE32, 8);
            hc_group *g = group_with(&options);
            for (int round = 0; round < 20; ++round) {
                CHECK_OK(hc_group_resize(g, HC_NONE32, 8));
                hold at;
                hold_all(g, &at, 8);
                CHECK_OK(hc_group_resize(g, 1, fewer));
                meter m = {0, 0, 0};
                for (int i = 0; i < 200; ++i) CHECK_OK(hc_submit(g, meter_task, &m));
                hold_release(&at);
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                CHECK_EQ(m.ran, 200);
                CHECK(m.most <= (int)fewer);
            }
            UNTIL(stats_of(g).workers == 1);
            CHECK_OK(hc_group_destroy(g));
            crew_check_gone(&all);
        }
}

/* All are in the middle of what they have taken. Who is one too many rests "after its task", not after all that. */
typedef struct step {
    latch inside, go;
    atomic_int *now, *most, *ran;
} step;

static void step_task(void *arg) {
    step *s = arg;
    at_most(s->most, atomic_fetch_add(s->now, 1) + 1);
    latch_down(&s->inside);
    latch_wait(&s->go);
    atomic_fetch_sub(s->now, 1);
    atomic_fetch_add(s->ran, 1);
}

static bool step_is_inside(step *s) {
    pthread_mutex_lock(&s->inside.mutex);
    const bool in = s->inside.count <= 0;
    pthread_mutex_unlock(&s->inside.mutex);
    return in;
}

enum { n_steps = 256 };
static step steps[n_steps];
static atomic_int steps_now, steps_most, steps_ran;

static void count_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)fn, (void)arg;
    CHECK_RC(why, HC_ESHUTDOWN);
    atomic_fetch_add((atomic_int *)user, 1);
}

static atomic_int steps_unrun;

/* Returns when all workers but one have gone to rest, and none has begun what it had taken besides. *last is what that one is in. */
static hc_group *group_of_one_left(uint32_t kind, uint32_t most, uint64_t keep_alive, int *last) {
    hc_group_options options = resizable(kind, most, most);
    options.keep_alive = keep_alive;
    options.on_unrun = count_unrun;
    options.user = &steps_unrun;
    options.on_thread_start = options.on_thread_stop = NULL;
    hc_group *g = group_with(&options);
    hc_call calls[n_steps];
    size_t accepted;
    steps_now = steps_most = steps_ran = steps_unrun = 0;
    for (int i = 0; i < n_steps; ++i) {
        steps[i] = (step){LATCH(1), LATCH(1), &steps_now, &steps_most, &steps_ran};
        calls[i] = (hc_call){step_task, &steps[i]};
    }
    CHECK_OK(hc_submit_batch(g, calls, n_steps, &accepted));
    bool in[n_steps];
    for (uint32_t inside = 0; inside != most;) {
        inside = 0;
        for (int i = 0; i < n_steps; ++i)
            if ((in[i] = step_is_inside(&steps[i]))) *last = i, ++inside;
    }
    CHECK_OK(hc_group_resize(g, 1, 1));
    for (int i = 0; i < n_steps; ++i)
        if (in[i] && i != *last) latch_down(&steps[i].go);
    UNTIL(steps_ran == (int)most - 1);
    return g;
}

static void who_is_too_many_rests_after_its_task(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 1; i < n_most_counts; ++i) {
            int last = 0;
            hc_group *g = group_of_one_left(kind, most_counts[i], 1 * ms, &last);
            UNTIL(stats_of(g).workers == 1); /* keep_alive is over, and nothing was begun */
            CHECK_EQ(steps_now, 1);
            CHECK_EQ(steps_ran, most_counts[i] - 1);
            CHECK_EQ(stats_of(g).queued, n_steps - most_counts[i]);
            steps_most = 0;
            for (int k = 0; k < n_steps; ++k) latch_down(&steps[k].go);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(steps_most, 1);
            CHECK_EQ(steps_ran, n_steps);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* What it leaves, in the middle of a batch, is run by others, or by itself when it is needed again; or handed back. */
static void what_it_leaves_is_run_once(void) {
    enum { others, shut_down, now, more, paused, n_ways };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 1; i < n_most_counts; ++i)
            for (int way = 0; way < n_ways; ++way)
                for (int gone = 0; gone < 2; ++gone) { /* they rest, or their threads have ended */
                    const uint32_t most = most_counts[i];
                    static char name[80];
                    snprintf(name, sizeof name, "what it leaves: kind %u, %u workers, way %d, gone %d", kind, most, way, gone);
                    check_case = name;
                    int last = 0;
                    hc_group *g = group_of_one_left(kind, most, gone != 0 ? 1 * us : HC_NONE64, &last);
                    if (gone != 0) UNTIL(stats_of(g).workers == 1);
                    if (way == more) { /* the one is in its task all the time */
                        CHECK_OK(hc_group_resize(g, 1, most));
                        for (int k = 0; k < n_steps; ++k)
                            if (k != last) latch_down(&steps[k].go);
                        UNTIL(steps_ran == n_steps - 1);
                    }
                    if (way == paused) {
                        CHECK_OK(hc_group_pause(g));
                        CHECK_OK(hc_group_resize(g, 1, most));
                        CHECK_OK(hc_group_resume(g));
                    }
                    if (way == shut_down) CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
                    if (way == now) CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
                    for (int k = 0; k < n_steps; ++k) latch_down(&steps[k].go);
                    if (way == others || way == more) CHECK_OK(hc_group_drain(g, HC_NEVER));
                    CHECK_OK(hc_group_destroy(g));
                    CHECK_EQ(steps_ran + steps_unrun, n_steps);
                    CHECK(way == now || steps_unrun == 0);
                }
}

static void the_least_number_comes_and_goes(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        const hc_group_options options = resizable(kind, HC_NONE32, 8);
        hc_group *g = group_with(&options);
        for (int round = 0; round < 20; ++round) {
            CHECK_OK(hc_group_resize(g, 5, 8));
            CHECK_EQ(stats_of(g).workers, 5);
            CHECK_OK(hc_group_resize(g, 8, 8));
            CHECK_EQ(stats_of(g).workers, 8);
            CHECK_OK(hc_group_resize(g, 2, 3));
            UNTIL(stats_of(g).workers == 2);
            CHECK_OK(hc_group_resize(g, HC_NONE32, 8));
            UNTIL(stats_of(g).workers == 0);
        }
        CHECK_OK(hc_group_destroy(g));
        crew_check_gone(&all);
    }
}

/* From many threads, while tasks come and go. */
static atomic_bool over;

static void *resize_at_random(void *arg) {
    breath *b = arg;
    while (!over) {
        const uint32_t most = next_random(&b->seed) % 8 + 1, least = next_random(&b->seed) % (most + 1);
        CHECK_OK(hc_group_resize(b->g, least == 0 ? HC_NONE32 : least, most));
        dawdle(next_random(&b->seed) % 20000);
    }
    return NULL;
}

static void resizes_and_tasks_bear_each_other(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int m = 0; m < n_moments; m += 3) {
            hc_group_options options = resizable(kind, HC_NONE32, 8);
            options.keep_alive = moments[m];
            hc_group *g = group_with(&options);
            breath b[4];
            pthread_t ids[4];
            over = false;
            for (int i = 0; i < 4; ++i) {
                b[i] = (breath){g, 500 / (int)CHECK_SLOWER, (unsigned)i + 1};
                ids[i] = thread_start(i < 2 ? resize_at_random : submit_and_wait, &b[i]);
            }
            thread_join(ids[2]);
            thread_join(ids[3]);
            over = true;
            thread_join(ids[0]);
            thread_join(ids[1]);
            CHECK_OK(hc_group_resize(g, HC_NONE32, 2));
            meter mt = {0, 0, 0};
            UNTIL(stats_of(g).workers == 0);
            for (int i = 0; i < 200; ++i) CHECK_OK(hc_submit(g, meter_task, &mt));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(mt.ran, 200);
            CHECK(mt.most <= 2);
            CHECK_OK(hc_group_destroy(g));
            crew_check_gone(&all);
        }
}

/* ---- The end --------------------------------------------------------------------------------------------------------- */

static void count_dropped(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user, (void)fn, (void)why;
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void a_group_without_a_worker_ends(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (uint32_t how = HC_SHUTDOWN_DRAIN; how <= HC_SHUTDOWN_RUN_TIMERS + 2; ++how)
            for (int timers = 0; timers < 2; ++timers) {
                hc_group_options options = elastic_options(kind, HC_NONE32, 3, NULL);
                options.on_unrun = count_dropped;
                hc_group *g = group_with(&options);
                atomic_int ran = 0;
                hc_timer *t = NULL;
                if (timers != 0) { /* made when there is a worker, or making one; it rests, so nobody is kept for it */
                    t = timer_of(g, count_task, NULL, &ran, HC_NEVER);
                    CHECK_OK(hc_schedule(g, count_task, &ran, how == HC_SHUTDOWN_RUN_TIMERS ? 1 * ms : HOUR));
                }
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                if (how <= HC_SHUTDOWN_RUN_TIMERS) {
                    CHECK_OK(hc_group_shutdown(g, how));
                    CHECK_OK(hc_group_await(g, HC_NEVER));
                    CHECK_OK(hc_group_destroy(g));
                    CHECK_EQ(ran, timers);
                } else if (how == HC_SHUTDOWN_RUN_TIMERS + 1) {
                    CHECK_OK(hc_group_destroy(g));
                    CHECK_EQ(ran, timers);
                } else {
                    hc_group_unref(g); /* nobody waits */
                    UNTIL(ran == timers);
                }
                hc_timer_unref(t);
            }
}

static void a_group_ends_while_it_grows_or_shrinks(void) {
    unsigned seed = 1;
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int m = 0; m < n_moments; ++m)
            for (int round = 0; round < 100 / (int)CHECK_SLOWER; ++round) {
                hc_group_options options = elastic_options(kind, HC_NONE32, 3, &all);
                options.keep_alive = moments[m];
                options.on_unrun = count_dropped;
                const unsigned way = next_random(&seed) % 4;
                if (way == 3) options.on_thread_start = options.on_thread_stop = NULL; /* nobody knows when they are gone */
                hc_group *g = group_with(&options);
                static atomic_int ran;
                ran = 0;
                const int n = (int)(next_random(&seed) % 6);
                for (int i = 0; i < n; ++i) {
                    CHECK_OK(hc_submit(g, count_task, &ran));
                    dawdle(next_random(&seed) % 30000);
                }
                dawdle(next_random(&seed) % 60000);
                switch (way) {
                    case 0: CHECK_OK(hc_group_destroy(g)); break;
                    case 1:
                        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
                        CHECK_OK(hc_group_destroy(g));
                        break;
                    case 2:
                        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
                        CHECK_OK(hc_group_await(g, HC_NEVER));
                        CHECK_OK(hc_group_destroy(g));
                        break;
                    default:
                        hc_group_unref(g);
                        UNTIL(ran == n);
                        break;
                }
                CHECK_EQ(ran, n);
                crew_check_gone(&all);
            }
}

/* Those that are not needed ask no clock, and look around for nothing, while a group that is shut down waits for a timer. */
static void who_is_left_over_waits_quietly_for_the_last_timer(void) {
    hc_group_options options = elastic_options(HC_KIND_STEALING, 1, 8, &all);
    options.keep_alive = 1 * ms;
    hc_group *g = group_with(&options);
    atomic_int ran = 0;
    hold at;
    CHECK_OK(hc_schedule(g, count_task, &ran, 100 * ms * CHECK_SLOWER));
    hold_all(g, &at, 8);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
    hold_release(&at);
    CHECK_OK(hc_group_await(g, HC_NEVER));
    CHECK_EQ(ran, 1);
    const uint64_t parks = stats_of(g).parks;
    printf("  %" PRIu64 " parks\n", parks);
    CHECK(parks < 200);
    CHECK_OK(hc_group_destroy(g));
}

static void in_the_child(hc_group *g) {
    atomic_int ran = 0;
    CHECK_RC(hc_submit(g, count_task, &ran), HC_EFORKED);
    CHECK_RC(hc_group_resize(g, 1, 2), HC_EFORKED);
    CHECK_RC(hc_group_drain(g, HC_NEVER), HC_EFORKED);
#if CHECK_CHILD_GOES_ON
    hc_group_options options = elastic_options(HC_KIND_STEALING, HC_NONE32, 2, NULL);
    options.keep_alive = 1;
    hc_group *mine = group_with(&options);
    for (int i = 0; i < 20; ++i) {
        CHECK_OK(hc_submit(mine, count_task, &ran));
        UNTIL(ran == i + 1);
    }
    CHECK_OK(hc_group_destroy(mine));
#endif
}

static void forks_a_child(void *arg) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(30);
        in_the_child(arg);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
}

static void *fork_a_child_here(void *arg) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(30);
        in_the_child(arg);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    return NULL;
}

static void a_fork_at_any_moment(void) {
    for (int m = 0; m < n_moments; m += 2) {
        hc_group_options options = elastic_options(HC_KIND_STEALING, HC_NONE32, 3, NULL);
        options.keep_alive = moments[m];
        hc_group *g = group_with(&options);
        fork_a_child_here(g); /* with none */
        breath b = {g, 100 / (int)CHECK_SLOWER, 1};
        pthread_t busy = thread_start(submit_and_wait, &b);
        for (int i = 0; i < 10; ++i) {
            fork_a_child_here(g);
            CHECK_OK(hc_submit(g, forks_a_child, g));
        }
        thread_join(busy);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Hooks ----------------------------------------------------------------------------------------------------------- */

static atomic_int from_hooks;
static void submits_from_its_hook(void *user, uint32_t index) {
    (void)user, (void)index;
    for (int i = 0; i < 8; ++i) {
        const int rc = hc_submit(hc_group_current(), count_task, &from_hooks);
        CHECK(rc == HC_OK || rc == HC_ESHUTDOWN); /* the hook may be later than the destroy */
    }
}

/* The first worker may have brought the others by the time that create wants to: that is no failure. */
static void a_start_hook_may_submit(void) {
    for (int round = 0; round < 200 / (int)CHECK_SLOWER; ++round)
        for (uint32_t least = 1; least <= 8; least *= 2) {
            hc_group_options options = elastic_options(HC_KIND_STEALING, least, 8, NULL);
            options.on_thread_start = submits_from_its_hook;
            from_hooks = 0;
            hc_group *g = group_with(&options);
            UNTIL(stats_of(g).workers >= least); /* the last may be on its way, brought by a hook */
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- CPUs ------------------------------------------------------------------------------------------------------------ */

typedef struct where {
    latch inside, go;
    cpu_set_t set;
} where;

static void where_task(void *arg) {
    where *w = arg;
    CHECK_EQ(sched_getaffinity(0, sizeof w->set, &w->set), 0);
    latch_down(&w->inside);
    latch_wait(&w->go);
}

static void workers_run_where_they_should(void) {
    cpu_set_t mine, wanted;
    uint32_t cpus[CPU_SETSIZE], n = 0;
    CHECK_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    for (uint32_t i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &mine)) cpus[n++] = i;
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t count = 0; count <= n; ++count) {
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.max_workers = 5;
            options.min_workers = kind == HC_KIND_PINNED ? 0 : HC_NONE32;
            options.cpus = count == 0 ? NULL : cpus;
            options.cpu_count = count;
            hc_group *g = group_with(&options);
            static where w[5];
            for (uint32_t i = 0; i < 5; ++i) { /* those that come later, too */
                w[i] = (where){.inside = LATCH(1), .go = LATCH(1)};
                CHECK_OK(kind == HC_KIND_PINNED ? hc_submit_to(g, i, where_task, &w[i]) : hc_submit(g, where_task, &w[i]));
            }
            for (uint32_t i = 0; i < 5; ++i) {
                latch_wait(&w[i].inside);
                CPU_ZERO(&wanted);
                for (uint32_t k = 0; k < count; ++k)
                    if (kind != HC_KIND_PINNED || k == i % count) CPU_SET(cpus[k], &wanted);
                CHECK(CPU_EQUAL(&w[i].set, count == 0 ? &mine : &wanted));
            }
            for (uint32_t i = 0; i < 5; ++i) latch_down(&w[i].go);
            CHECK_OK(hc_group_destroy(g));
        }
    /* The default number is how many were named; what the caller may not use is refused. */
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.cpus = cpus;
    options.cpu_count = 1;
    hc_group *g = group_with(&options);
    CHECK_EQ(stats_of(g).workers_max, 1);
    CHECK_OK(hc_group_destroy(g));
    const uint32_t bad[] = {cpus[0], 1000000};
    options.cpus = bad;
    options.cpu_count = 2;
    CHECK_RC(hc_group_create(&g, &options), HC_EINVAL);
    options.cpus = NULL;
    CHECK_RC(hc_group_create(&g, &options), HC_EINVAL);
    options.cpus = bad;
    options.cpu_count = 0;
    CHECK_RC(hc_group_create(&g, &options), HC_EINVAL);
}

int main(int argc, char **argv) {
    check_deadline(120);
#define CASE(name) \
    if (argc < 2 || strstr(#name, argv[1]) != NULL) RUN(name)
    CASE(a_task_starts_a_worker_before_it_waits_behind_a_busy_one);
    CASE(who_is_idle_is_taken_before_another_comes);
    CASE(in_every_way_as_many_come_as_there_is_room_for);
    CASE(the_defaults_are_one_and_the_cpus);
    CASE(a_group_breathes);
    CASE(nothing_is_lost_in_the_moment_of_leaving);
    CASE(nothing_that_comes_in_other_ways_is_lost_then);
    CASE(a_timer_keeps_one_worker);
    CASE(who_runs_stolen_forks_stays);
    CASE(a_fixed_number_stays);
    CASE(resize_refuses);
    CASE(what_waits_gets_workers_when_there_is_room_for_them);
    CASE(no_more_than_the_new_number_run_at_once);
    CASE(who_is_too_many_rests_after_its_task);
    CASE(what_it_leaves_is_run_once);
    CASE(the_least_number_comes_and_goes);
    CASE(resizes_and_tasks_bear_each_other);
    CASE(a_group_without_a_worker_ends);
    CASE(a_group_ends_while_it_grows_or_shrinks);
    CASE(who_is_left_over_waits_quietly_for_the_last_timer);
    CASE(a_fork_at_any_moment);
    CASE(a_start_hook_may_submit);
    CASE(workers_run_where_they_should);
    return 0;
}
