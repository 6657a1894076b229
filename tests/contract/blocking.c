/* Guards against: tasks that wait behind such as only sleep; workers beyond the cap, or that are never sent back; a count of the
 * blocked that does not come back; a sleep that no cancellation ends. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include "elastic.h"
#include "timed.h"

static crew all;
/* As many spare ones as there are workers, but some where there are few. */
static uint32_t spares_for(uint32_t most) { return most < 8 ? 8 : most; }

/* Nobody is found out in these: what helps is what was said. */
static hc_group_options spared(uint32_t kind, uint32_t most, uint32_t spares) {
    hc_group_options options = elastic_options(kind, 1, most, &all);
    options.spare_workers = spares;
    options.stuck_after = spares == HC_NONE32 ? 0 : HC_NONE64;
    return options;
}

/* The worker takes its word back when it looks for the next task, after the end of the last. */
static void nobody_is_blocked(hc_group *g) {
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    UNTIL(stats_of(g).workers_blocked == 0);
}

/* ---- Declared -------------------------------------------------------------------------------------------------------- */

typedef struct declared {
    gate at;
    int wanted, depth;
    bool unbalanced;
} declared;

static void declared_task(void *arg) {
    declared *d = arg;
    for (int i = 0; i < d->depth; ++i) CHECK_EQ(hc_blocking_begin(), d->wanted);
    gate_task(&d->at);
    if (!d->unbalanced)
        for (int i = 0; i < d->depth; ++i) hc_blocking_end();
}

static void block_all(hc_group *g, declared *d, uint32_t n, int depth, bool unbalanced, int wanted) {
    for (uint32_t i = 0; i < n; ++i) {
        d[i] = (declared){GATE, wanted, depth, unbalanced};
        CHECK_OK(hc_submit(g, declared_task, &d[i]));
        latch_wait(&d[i].at.inside);
    }
}

static void let_all_go(declared *d, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) gate_open(&d[i].at);
}

static void another_runs_while_all_are_blocked(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 0; i < n_most_counts; ++i)
            for (int depth = 1; depth <= 3; ++depth)
                for (int unbalanced = 0; unbalanced < 2; ++unbalanced) {
                    const uint32_t most = most_counts[i];
                    const hc_group_options options = spared(kind, most, spares_for(most));
                    hc_group *g = group_with(&options);
                    CHECK_EQ(hc_group_slots(g), most + spares_for(most));
                    declared d[64];
                    atomic_int ran = 0;
                    for (int round = 0; round < 3; ++round) {
                        block_all(g, d, most, depth, unbalanced != 0, HC_HELPED);
                        CHECK_EQ(stats_of(g).workers_blocked, most);
                        for (int k = 0; k < 50; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
                        UNTIL(ran == 50 * (round + 1));
                        let_all_go(d, most);
                        nobody_is_blocked(g);
                    }
                    CHECK_OK(hc_group_destroy(g));
                    CHECK(all.most <= (int)(most + spares_for(most)));
                    crew_check_gone(&all);
                }
}

/* It waits already when the last one blocks. */
static void blocks_when_told(void *arg) {
    declared *d = arg;
    gate_task(&d->at);
    CHECK_EQ(hc_blocking_begin(), HC_HELPED);
    latch_down(&d[1].at.inside);
    latch_wait(&d[1].at.go);
    hc_blocking_end();
}

static void what_waits_already_runs_then(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int round = 0; round < 100; ++round) {
            const hc_group_options options = spared(kind, 1, 2);
            hc_group *g = group_with(&options);
            declared d[2] = {{GATE, 0, 0, false}, {GATE, 0, 0, false}};
            atomic_int ran = 0;
            CHECK_OK(hc_submit(g, blocks_when_told, d));
            latch_wait(&d[0].at.inside);
            for (int i = 0; i < 20; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
            CHECK_EQ(ran, 0);
            gate_open(&d[0].at);
            UNTIL(ran == 20);
            gate_open(&d[1].at);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void at_the_cap_it_goes_on_all_the_same(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t spares = 0; spares <= 2; ++spares) {
            if (kind == HC_KIND_PINNED && spares != 0) continue;
            hc_group_options options = spared(kind, 2, spares == 0 ? HC_NONE32 : spares);
            if (kind == HC_KIND_PINNED) options.min_workers = 0, options.spare_workers = 0;
            hc_group *g = group_with(&options);
            declared d[8];
            CHECK_EQ(hc_group_slots(g), 2 + spares);
            block_all(g, d, spares, 1, false, HC_HELPED);
            block_all(g, d + spares, 2, 2, false, HC_NOT_HELPED);
            CHECK_EQ(stats_of(g).workers_blocked, spares);
            atomic_int ran = 0;
            for (int i = 0; i < 50; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
            for (int i = 0; i < 20; ++i) sched_yield();
            CHECK_EQ(ran, 0);
            let_all_go(d, spares + 2);
            UNTIL(ran == 50);
            nobody_is_blocked(g);
            CHECK_OK(hc_group_destroy(g));
            CHECK(all.most <= 2 + (int)spares);
        }
}

static void ends_too_often(void *arg) {
    hc_blocking_end();
    hc_blocking_end();
    CHECK_EQ(hc_blocking_begin(), HC_HELPED);
    hc_blocking_end();
    hc_blocking_end();
    CHECK_EQ(hc_blocking_begin(), HC_HELPED);
    count_task(arg);
}

static void unbalanced_ends_are_nothing(void) {
    const hc_group_options options = spared(HC_KIND_STEALING, 2, 500); /* never reached */
    hc_group *g = group_with(&options);
    atomic_int ran = 0;
    for (int i = 0; i < 1000; ++i) CHECK_OK(hc_submit(g, ends_too_often, &ran));
    nobody_is_blocked(g);
    CHECK_EQ(ran, 1000);
    CHECK_OK(hc_group_destroy(g));
}

/* "What a task has begun and not ended, ends with it": also if another task follows in the same batch. */
static atomic_int begun_now;
static void begins_only(void *arg) {
    begun_now += 1;
    (void)hc_blocking_begin(); /* the cap may be reached: three may be here at once */
    count_task(arg);
    begun_now -= 1;
}
static void outlives_the_blocked(void *arg) {
    UNTIL((int)stats_of(hc_group_current()).workers_blocked <= begun_now); /* never, if this worker counts as one */
    count_task(arg);
}

static void what_was_begun_ends_with_its_task(void) {
    const hc_group_options options = spared(HC_KIND_STEALING, 1, 2);
    hc_group *g = group_with(&options);
    atomic_int ran = 0;
    gate at = GATE;
    gate_hold(g, &at);
    for (int i = 0; i < 50; ++i) {
        CHECK_OK(hc_submit(g, begins_only, &ran));
        CHECK_OK(hc_submit(g, outlives_the_blocked, &ran));
    }
    gate_open(&at);
    nobody_is_blocked(g);
    CHECK_EQ(ran, 100);
    CHECK_OK(hc_group_destroy(g));
}

static void outside_of_tasks_nobody_helps(void) {
    CHECK_EQ(hc_blocking_begin(), HC_NOT_HELPED);
    CHECK_EQ(hc_blocking_begin(), HC_NOT_HELPED);
    hc_blocking_end();
    hc_blocking_end();
    hc_blocking_end();
    const hc_group_options options = spared(HC_KIND_STEALING, 1, 2);
    hc_group *g = group_with(&options);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(hc_blocking_begin(), HC_NOT_HELPED);
    hc_blocking_end();
    CHECK_EQ(stats_of(g).workers_blocked, 0);
    CHECK_OK(hc_group_destroy(g));
}

static void hook_begins(void *user, uint32_t index) {
    (void)user, (void)index;
    (void)hc_blocking_begin();
}

static void a_hook_leaves_nothing_behind(void) {
    hc_group_options options = spared(HC_KIND_STEALING, 2, 2);
    options.min_workers = HC_NONE32;
    options.keep_alive = 10 * us;
    options.on_thread_start = options.on_thread_stop = hook_begins;
    hc_group *g = group_with(&options);
    for (int i = 0; i < 20; ++i) {
        atomic_int ran = 0;
        CHECK_OK(hc_submit(g, count_task, &ran));
        UNTIL(ran == 1);
        UNTIL(stats_of(g).workers == 0);
        CHECK_EQ(stats_of(g).workers_blocked, 0);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- How many -------------------------------------------------------------------------------------------------------- */

static meter at_once;
static atomic_int cycles;

static void cycle(void *arg) {
    (void)arg;
    (void)hc_blocking_begin();
    sched_yield();
    hc_blocking_end();
    cycles += 1;
}

static void many_cycles_need_few_threads(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 0; i < n_most_counts; ++i) {
            enum { n = 20000, spares = 4 };
            const uint32_t most = most_counts[i];
            const hc_group_options options = spared(kind, most, spares);
            hc_group *g = group_with(&options);
            cycles = 0;
            for (int k = 0; k < n / (int)CHECK_SLOWER; ++k) CHECK_OK(hc_submit(g, cycle, NULL));
            nobody_is_blocked(g);
            CHECK_EQ(cycles, n / (int)CHECK_SLOWER);
            CHECK(all.starts <= (int)most + spares); /* keep_alive is a minute: nobody came twice */
            /* All have come back, and their tasks have ended: from now on at most `most` run at once. */
            at_once = (meter){0, 0, 0};
            for (int k = 0; k < 300; ++k) CHECK_OK(hc_submit(g, meter_task, &at_once));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(at_once.ran, 300);
            CHECK(at_once.most <= (int)most);
            CHECK_OK(hc_group_destroy(g));
            crew_check_gone(&all);
        }
}

static void the_spare_ones_end(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
        hc_group_options options = spared(kind, 2, 6);
        options.keep_alive = 1 * ms;
        hc_group *g = group_with(&options);
        for (int round = 0; round < 10; ++round) {
            declared d[8];
            block_all(g, d, 6, 1, false, HC_HELPED);
            block_all(g, d + 6, 2, 1, false, HC_NOT_HELPED);
            CHECK_EQ(stats_of(g).workers, 8);
            let_all_go(d, 8);
            UNTIL(stats_of(g).workers == 1);
            UNTIL(stats_of(g).workers_blocked == 0); /* the sentinel may have been quicker than one that went on */
        }
        CHECK_OK(hc_group_destroy(g));
        crew_check_gone(&all);
    }
}

/* A storm of begins and ends from tasks of all lengths, with short lives, and resizes. */
typedef struct storm {
    hc_group *g;
    atomic_int *ran;
    atomic_bool *over;
    unsigned seed;
    int accepted;
} storm;

static void storm_task(void *arg) {
    unsigned seed = (unsigned)hc_now();
    const unsigned way = next_random(&seed) % 8;
    if (way < 5) (void)hc_blocking_begin();
    if (way == 0) CHECK_OK(hc_sleep(20 * us));
    if (way == 1) sched_yield();
    if (way < 4) hc_blocking_end();
    dawdle(next_random(&seed) % 2000);
    count_task(arg);
}

static void *storm_submits(void *arg) {
    storm *s = arg;
    for (int i = 0; i < 3000 / (int)CHECK_SLOWER; ++i) {
        CHECK_OK(hc_submit(s->g, storm_task, s->ran));
        ++s->accepted;
        if (i % 32 == 0) dawdle(next_random(&s->seed) % 100000);
    }
    return NULL;
}

static void *storm_resizes(void *arg) {
    storm *s = arg;
    while (!*s->over) {
        CHECK_OK(hc_group_resize(s->g, HC_NONE32, next_random(&s->seed) % 4 + 1));
        dawdle(next_random(&s->seed) % 50000);
    }
    return NULL;
}

static void nothing_is_lost_in_a_storm(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int way = 0; way < 4; ++way) {
            hc_group_options options = spared(kind, 4, 4);
            options.keep_alive = way % 2 == 0 ? 10 * us : 0;
            options.min_workers = HC_NONE32;
            options.stuck_after = way < 2 ? HC_NONE64 : 50 * us;
            hc_group *g = group_with(&options);
            atomic_int ran = 0;
            atomic_bool stop = false;
            storm s[3];
            pthread_t ids[3];
            for (int i = 0; i < 3; ++i) {
                s[i] = (storm){g, &ran, &stop, (unsigned)(i + way + 1), 0};
                ids[i] = thread_start(i == 0 ? storm_resizes : storm_submits, &s[i]);
            }
            thread_join(ids[1]);
            thread_join(ids[2]);
            UNTIL(ran == s[1].accepted + s[2].accepted); /* nobody drains: it does so by itself */
            stop = true;
            thread_join(ids[0]);
            CHECK_OK(hc_group_resize(g, HC_NONE32, 4));
            nobody_is_blocked(g);
            at_once = (meter){0, 0, 0};
            if (way < 2) { /* nobody is found out: what waits for a CPU is not taken for blocked either */
                for (int k = 0; k < 300; ++k) CHECK_OK(hc_submit(g, meter_task, &at_once));
                CHECK_OK(hc_group_drain(g, HC_NEVER));
                CHECK(at_once.most <= 4);
            }
            CHECK_OK(hc_group_destroy(g));
            crew_check_gone(&all);
        }
}

/* ---- Waits of the library say so themselves -------------------------------------------------------------------------- */

typedef struct wait_case {
    hc_group *g, *other;
    hc_task *promise;
    hc_scope *scope;
    hc_timer *timer;
    latch inside;
    int way;
    gate held_up;
} wait_case;

static atomic_int counted_by_full;

enum { by_task, by_scope, by_sleep, by_poll, by_full, by_drain, by_await, by_timer, by_task_cancel, n_wait_ways };

static void waits_somehow(void *arg) {
    wait_case *w = arg;
    latch_down(&w->inside);
    switch (w->way) {
        case by_task: CHECK_OK(hc_task_wait(w->promise, HC_NEVER, 0, NULL)); break;
        case by_scope: CHECK_OK(hc_scope_wait(w->scope, HC_NEVER, 0, NULL)); break;
        case by_sleep: /* until its task is cancelled */ CHECK_RC(hc_sleep(HC_NEVER), HC_ECANCELED); break;
        case by_poll: CHECK_RC(hc_poll(NULL, 0, HC_NEVER), HC_ECANCELED); break;
        case by_full: CHECK_OK(hc_submit_timed(w->other, count_task, &counted_by_full, HC_NEVER)); break;
        case by_drain: CHECK_OK(hc_group_drain(w->other, HC_NEVER)); break;
        case by_await: CHECK_OK(hc_group_await(w->other, HC_NEVER)); break;
        case by_timer: CHECK_EQ(hc_timer_cancel_wait(w->timer, HC_NEVER), HC_DONE); break;
        default: CHECK_EQ(hc_task_cancel_wait(w->promise, HC_NEVER), HC_DONE); break;
    }
}

static void waits_in_full(void *arg) {
    wait_case *w = arg;
    latch_down(&w->inside);
    CHECK_OK(hc_submit_timed(w->other, count_task, &counted_by_full, HC_NEVER));
}

static void a_strangers_task_runs_while_all_wait_in_way(int way, uint32_t most) {
    const hc_group_options options = spared(HC_KIND_STEALING, most, 8);
    static gate elsewhere;
    wait_case w = {.inside = LATCH(most), .way = way};
    hc_group_options other = HC_GROUP_OPTIONS_INIT;
    other.max_workers = 1;
    if (way == by_full) other.capacity = 1;
    elsewhere = (gate)GATE;
    w.g = group_with(&options);
    w.other = fixed_with(&other);
    if (way == by_timer) {
        w.timer = timer_of(w.other, gate_task, NULL, &elsewhere, 0);
        latch_wait(&elsewhere.inside);
    } else if (way == by_task_cancel) {
        w.promise = held(w.other, gate_task, &elsewhere);
        latch_wait(&elsewhere.inside);
    } else {
        gate_hold(w.other, &elsewhere);
        w.promise = promise_in(w.g);
    }
    if (way == by_await) CHECK_OK(hc_group_shutdown(w.other, HC_SHUTDOWN_DRAIN));
    if (way == by_full) CHECK_OK(hc_submit(w.other, count_task, &counted_by_full));
    static gate in_scope;
    if (way == by_scope) { /* of the other group, so that its task runs there */
        CHECK_OK(hc_scope_create(w.other, &w.scope));
        in_scope = (gate)GATE;
        gate_open(&elsewhere);
        CHECK_OK(hc_scope_submit(w.scope, gate_task, &in_scope, NULL));
        latch_wait(&in_scope.inside);
    }
    hc_task *waiters[64];
    for (uint32_t i = 0; i < most; ++i) waiters[i] = held(w.g, way == by_full ? waits_in_full : waits_somehow, &w);
    latch_wait(&w.inside);
    atomic_int ran = 0;
    for (int i = 0; i < 20; ++i) CHECK_OK(hc_submit(w.g, count_task, &ran));
    UNTIL(ran == 20); /* and nothing has ended meanwhile */
    for (uint32_t i = 0; i < most; ++i) CHECK(!has_ended(waiters[i]));
    if (way == by_task) CHECK_OK(hc_task_complete(w.promise, 0, NULL, NULL));
    if (way == by_scope)
        gate_open(&in_scope);
    else
        gate_open(&elsewhere);
    for (uint32_t i = 0; i < most; ++i) {
        if (way == by_sleep || way == by_poll) CHECK_EQ(hc_task_cancel(waiters[i]), HC_RUNNING);
        CHECK_RC(end_of(waiters[i]), HC_OK);
    }
    nobody_is_blocked(w.g);
    hc_task_unref(w.promise);
    hc_timer_unref(w.timer);
    if (way == by_scope) {
        CHECK_OK(hc_scope_wait(w.scope, HC_NEVER, 0, NULL));
        CHECK_OK(hc_scope_destroy(w.scope));
    }
    CHECK_OK(hc_group_destroy(w.other));
    CHECK_OK(hc_group_destroy(w.g));
}

static void a_strangers_task_runs_while_all_wait(void) {
    for (int way = 0; way < n_wait_ways; ++way)
        for (int i = 0; i < n_most_counts; ++i) {
            static char name[80];
            snprintf(name, sizeof name, "all wait, way %d, %u workers", way, most_counts[i]);
            check_case = name;
            a_strangers_task_runs_while_all_wait_in_way(way, most_counts[i]);
        }
}

/* A join whose fork another runs, which waits for a stranger's task. */
static gate in_fork;
static void fork_waits(hc_worker *w, void *arg) {
    (void)w, (void)arg;
    gate_task(&in_fork);
}
static void joins_a_stolen_one(void *arg) {
    (void)arg;
    hc_fork f;
    hc_worker *w = hc_fork_push_fast(hc_worker_self(), &f, fork_waits, NULL);
    latch_wait(&in_fork.inside);
    hc_fork_join_fast(w, &f);
}

static void a_strangers_task_runs_while_a_join_waits(void) {
    for (int i = 1; i < n_most_counts; ++i) {
        const uint32_t most = most_counts[i];
        const hc_group_options options = spared(HC_KIND_STEALING, most, 4);
        hc_group *g = group_with(&options);
        hold at = {LATCH(0), LATCH(1)};
        if (most > 2) hold_all(g, &at, most - 2);
        in_fork = (gate)GATE;
        CHECK_OK(hc_submit(g, joins_a_stolen_one, NULL));
        latch_wait(&in_fork.inside);
        atomic_int ran = 0;
        CHECK_OK(hc_submit(g, count_task, &ran)); /* the fork does not say that it blocks; the join does */
        UNTIL(ran == 1);
        gate_open(&in_fork);
        hold_release(&at);
        nobody_is_blocked(g);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Found out ------------------------------------------------------------------------------------------------------- */

static hc_group_options found_out(uint32_t kind, uint32_t most, uint64_t after) {
    hc_group_options options = elastic_options(kind, 1, most, &all);
    options.spare_workers = 8;
    options.stuck_after = after;
    return options;
}

static int pipes[2];
static void reads_a_byte(void *arg) {
    char byte;
    latch_down(arg);
    ssize_t n;
    do n = read(pipes[0], &byte, 1);
    while (n < 0 && errno == EINTR);
    CHECK_EQ(n, 1);
}

static void who_sleeps_is_found_out(void) {
    CHECK_EQ(pipe(pipes), 0);
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind)
        for (int i = 0; i < n_most_counts; ++i)
            for (int way = 0; way < 2; ++way) {
                const uint32_t most = most_counts[i];
                const hc_group_options options = found_out(kind, most, 1 * ms);
                hc_group *g = group_with(&options);
                for (int round = 0; round < 5; ++round) {
                    hold at;
                    atomic_int ran = 0;
                    if (way == 0) {
                        hold_all(g, &at, most);
                    } else {
                        at = (hold){LATCH(most), LATCH(1)};
                        for (uint32_t k = 0; k < most; ++k) CHECK_OK(hc_submit(g, reads_a_byte, &at.inside));
                        latch_wait(&at.inside);
                    }
                    for (int k = 0; k < 20; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
                    UNTIL(ran == 20);
                    if (way == 0) hold_release(&at);
                    for (uint32_t k = 0; way == 1 && k < most; ++k) CHECK_EQ(write(pipes[1], "x", 1), 1);
                    nobody_is_blocked(g);
                }
                CHECK_OK(hc_group_destroy(g));
                CHECK(all.most <= (int)most + 8);
                crew_check_gone(&all);
            }
    close(pipes[0]);
    close(pipes[1]);
}

static void nobody_is_found_out_where_none_is_looked_for(void) {
    const hc_group_options options = found_out(HC_KIND_STEALING, 2, HC_NONE64);
    hc_group *g = group_with(&options);
    hold at;
    atomic_int ran = 0;
    hold_all(g, &at, 2);
    CHECK_OK(hc_submit(g, count_task, &ran));
    const uint64_t until = hc_now() + 300 * ms;
    while (hc_now() < until) poll(NULL, 0, 1);
    CHECK_EQ(ran, 0);
    CHECK_EQ(stats_of(g).workers_blocked, 0);
    hold_release(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
}

/* One that computes is at work, however long. */
static atomic_bool enough;
static void spins(void *arg) {
    latch_down(arg);
    while (!enough) {
    }
}

static void who_computes_is_not_taken_for_blocked(void) {
    for (uint32_t most = 1; most <= 3; ++most) {
        const hc_group_options options = found_out(HC_KIND_STEALING, most, 1 * ms);
        hc_group *g = group_with(&options);
        latch in = LATCH(most);
        atomic_int ran = 0;
        enough = false;
        for (uint32_t i = 0; i < most; ++i) CHECK_OK(hc_submit(g, spins, &in));
        latch_wait(&in);
        CHECK_OK(hc_submit(g, count_task, &ran));
        const uint64_t until = hc_now() + 100 * ms;
        while (hc_now() < until) {
            CHECK_EQ(stats_of(g).workers_blocked, 0);
            poll(NULL, 0, 1);
        }
        CHECK_EQ(ran, 0);
        enough = true;
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, 1);
        CHECK_EQ(all.starts, most);
    }
}

/* The room that is gone was there when the last task began: a resize took it, or one that has come back from blocking. */
static void found_out_after_a_resize(void) {
    const hc_group_options options = found_out(HC_KIND_STEALING, 2, 1 * ms);
    hc_group *g = group_with(&options);
    gate at = GATE;
    atomic_int ran = 0;
    gate_hold(g, &at);
    CHECK_OK(hc_group_resize(g, 1, 1));
    CHECK_OK(hc_submit(g, count_task, &ran));
    UNTIL(ran == 1);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
}

static void blocks_and_comes_back(void *arg) {
    declared *d = arg;
    CHECK_EQ(hc_blocking_begin(), HC_HELPED);
    gate_task(&d[0].at);
    hc_blocking_end();
    gate_task(&d[1].at);
}

static void found_out_after_one_has_come_back(void) {
    const hc_group_options options = found_out(HC_KIND_STEALING, 2, 1 * ms);
    hc_group *g = group_with(&options);
    declared d[2] = {{GATE, 0, 0, false}, {GATE, 0, 0, false}};
    gate at = GATE;
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, blocks_and_comes_back, d));
    latch_wait(&d[0].at.inside);
    gate_hold(g, &at); /* there is room for one more */
    gate_open(&d[0].at);
    latch_wait(&d[1].at.inside); /* and now there is none */
    CHECK_OK(hc_submit(g, count_task, &ran));
    UNTIL(ran == 1);
    gate_open(&at);
    gate_open(&d[1].at);
    CHECK_OK(hc_group_destroy(g));
}

/* Forks are in none of the queues: but a task that waits behind them is. */
static void found_out_in_a_fork(void) {
    const hc_group_options options = found_out(HC_KIND_STEALING, 2, 1 * ms);
    hc_group *g = group_with(&options);
    in_fork = (gate)GATE;
    CHECK_OK(hc_submit(g, joins_a_stolen_one, NULL));
    latch_wait(&in_fork.inside);
    atomic_int ran = 0;
    for (int i = 0; i < 5; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
    UNTIL(ran == 5);
    gate_open(&in_fork);
    CHECK_OK(hc_group_destroy(g));
}

/* All workers are in forks of a thread that is none, and have no batch. With a task before that, or without. */
static hold in_forks;
static void fork_holds(hc_worker *w, void *arg) {
    (void)w;
    hold_task(arg);
}

static void found_out_in_stolen_forks(void) {
    for (int i = 0; i < n_most_counts; ++i)
        for (int before = 0; before < 2; ++before) {
            const uint32_t most = most_counts[i];
            const hc_group_options options = found_out(HC_KIND_STEALING, most, 1 * ms);
            hc_group *g = group_with(&options);
            hc_worker *w = NULL;
            hc_fork f[64];
            atomic_int ran = 0;
            for (int k = 0; before != 0 && k < 100; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_OK(hc_worker_enter(g, &w));
            for (int round = 0; round < 3; ++round) {
                in_forks = (hold){LATCH(most), LATCH(1)};
                for (uint32_t k = 0; k < most; ++k) w = hc_fork_push_fast(w, &f[k], fork_holds, &in_forks);
                latch_wait(&in_forks.inside);
                ran = 0;
                for (int k = 0; k < 5; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
                UNTIL(ran == 5);
                hold_release(&in_forks);
                for (uint32_t k = most; k-- > 0;) w = hc_fork_join_fast(w, &f[k]);
                nobody_is_blocked(g);
            }
            hc_worker_leave(w);
            CHECK_OK(hc_group_destroy(g));
            CHECK(all.most <= (int)most + 8);
            crew_check_gone(&all);
        }
}

/* A fork that computes is at work; so is a worker that runs many, and sleeps in none for long. */
static void fork_spins(hc_worker *w, void *arg) {
    (void)w;
    spins(arg);
}

static void who_computes_in_a_fork_is_not_taken_for_blocked(void) {
    const hc_group_options options = found_out(HC_KIND_STEALING, 1, 1 * ms);
    hc_group *g = group_with(&options);
    hc_worker *w = NULL;
    hc_fork f;
    latch in = LATCH(1);
    atomic_int ran = 0;
    enough = false;
    CHECK_OK(hc_worker_enter(g, &w));
    w = hc_fork_push_fast(w, &f, fork_spins, &in);
    latch_wait(&in);
    CHECK_OK(hc_submit(g, count_task, &ran));
    const uint64_t until = hc_now() + 100 * ms;
    while (hc_now() < until) {
        CHECK_EQ(stats_of(g).workers_blocked, 0);
        poll(NULL, 0, 1);
    }
    CHECK_EQ(ran, 0);
    enough = true;
    w = hc_fork_join_fast(w, &f);
    hc_worker_leave(w);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
}

/* ---- fork(2) --------------------------------------------------------------------------------------------------------- */

static void in_a_blocked_child(void) {
    CHECK_EQ(hc_blocking_begin(), HC_NOT_HELPED); /* it is in no group, and has nobody */
    hc_blocking_end();
    hc_blocking_end(); /* what its parent has begun */
    hc_blocking_end();
    CHECK_OK(hc_sleep(1 * us));
    CHECK_EQ(hc_poll(NULL, 0, 1 * us), 0);
#if CHECK_CHILD_GOES_ON
    const hc_group_options options = spared(HC_KIND_STEALING, 1, 2);
    hc_group *g = group_with(&options);
    declared d[1];
    atomic_int ran = 0;
    block_all(g, d, 1, 1, false, HC_HELPED);
    CHECK_OK(hc_submit(g, count_task, &ran));
    UNTIL(ran == 1);
    let_all_go(d, 1);
    nobody_is_blocked(g);
    CHECK_OK(hc_group_destroy(g));
#endif
}

static void forks_while_blocked(void *arg) {
    CHECK_EQ(hc_blocking_begin(), HC_HELPED);
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(30);
        in_a_blocked_child();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    hc_blocking_end();
    count_task(arg);
}

static void a_fork_between_begin_and_end(void) {
    for (int i = 0; i < n_most_counts; ++i) {
        const uint32_t most = most_counts[i];
        const hc_group_options options = spared(HC_KIND_STEALING, most, 8);
        hc_group *g = group_with(&options);
        atomic_int ran = 0;
        for (int round = 0; round < 4; ++round) {
            CHECK_OK(hc_submit(g, forks_while_blocked, &ran));
            UNTIL(ran == round + 1);
        }
        nobody_is_blocked(g);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Sleep and poll -------------------------------------------------------------------------------------------------- */

typedef struct nap {
    latch inside;
    uint64_t ns;
    int rc, fd;
    bool polls;
} nap;

static int take_a_nap(nap *n) {
    struct pollfd fd = {n->fd, POLLIN, 0};
    return n->polls ? hc_poll(&fd, n->fd < 0 ? 0 : 1, n->ns) : hc_sleep(n->ns);
}

static void nap_task(void *arg) {
    nap *n = arg;
    latch_down(&n->inside);
    n->rc = take_a_nap(n);
}

/* Cancelled before it begins to sleep: it need not begin. */
static void nap_when_cancelled(void *arg) {
    nap *n = arg;
    latch_down(&n->inside);
    UNTIL(hc_task_cancelled());
    n->rc = take_a_nap(n);
    CHECK_RC(take_a_nap(n), HC_ECANCELED);
}

static void a_sleep_lasts_its_time(void) {
    const uint64_t times[] = {0, 1, 50 * us, 3 * ms};
    const hc_group_options options = spared(HC_KIND_STEALING, 2, 2);
    hc_group *g = group_with(&options);
    for (int i = 0; i < 4; ++i)
        for (int polls = 0; polls < 2; ++polls) {
            uint64_t before = hc_now();
            nap n = {LATCH(1), times[i], 1, -1, polls != 0};
            CHECK_OK(take_a_nap(&n)); /* outside */
            CHECK(hc_now() - before >= times[i]);
            before = hc_now();
            CHECK_RC(end_of(held(g, nap_task, &n)), HC_OK);
            CHECK_OK(n.rc);
            CHECK(hc_now() - before >= times[i]);
            n.rc = 1;
            CHECK_OK(hc_submit(g, nap_task, &n)); /* detached */
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_OK(n.rc);
        }
    nobody_is_blocked(g);
    CHECK_OK(hc_group_destroy(g));
}

static void cancel_ends_it(bool polls, int fd, int round) {
    const hc_group_options options = spared(HC_KIND_STEALING, 1, 2);
    hc_group *g = group_with(&options);
    for (int i = 0; i < 3; ++i) { /* by its task, in time and before */
        nap n = {LATCH(1), i == 0 ? HC_NEVER : HC_NEVER - 1, 1, fd, polls};
        hc_task *t = held(g, i == 2 ? nap_when_cancelled : nap_task, &n);
        latch_wait(&n.inside);
        dawdle((unsigned)round * 3000);
        if (round % 2 == 0)
            CHECK_EQ(hc_task_cancel(t), HC_RUNNING);
        else
            CHECK_EQ(hc_task_cancel_wait(t, HC_NEVER), HC_DONE);
        CHECK_RC(end_of(t), HC_OK);
        CHECK_RC(n.rc, HC_ECANCELED);
    }
    for (int i = 0; i < 2; ++i) { /* by its scope */
        nap n[2] = {{LATCH(1), HC_NEVER, 1, fd, polls}, {LATCH(1), HC_NEVER, 1, fd, polls}};
        hc_scope *s = NULL;
        CHECK_OK(hc_scope_create(g, &s));
        for (int k = 0; k < 2; ++k) CHECK_OK(hc_scope_submit(s, i == 1 ? nap_when_cancelled : nap_task, &n[k], NULL));
        latch_wait(&n[0].inside);
        if (i == 0) latch_wait(&n[1].inside); /* the first says that it blocks */
        dawdle((unsigned)round * 3000);
        CHECK_OK(hc_scope_cancel(s));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_RC(n[0].rc, HC_ECANCELED);
        if (i == 0) CHECK_RC(n[1].rc, HC_ECANCELED);
        CHECK_OK(hc_scope_destroy(s));
    }
    for (int i = 0; i < 4; ++i) { /* by its timer */
        nap n = {LATCH(1), HC_NEVER, 1, fd, polls};
        hc_timer *t = timer_of(g, i == 1 ? nap_when_cancelled : nap_task, NULL, &n, 0);
        latch_wait(&n.inside);
        dawdle((unsigned)round * 3000);
        if (i == 2)
            hc_timer_unref(t); /* the last handle */
        else if (i == 3)
            CHECK_EQ(hc_timer_cancel_wait(t, HC_NEVER), HC_DONE);
        else
            CHECK_EQ(hc_timer_cancel(t), HC_RUNNING);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_RC(n.rc, HC_ECANCELED);
        if (i != 2) hc_timer_unref(t);
    }
    nobody_is_blocked(g);
    CHECK_OK(hc_group_destroy(g));
}

static void a_cancellation_ends_a_sleep(void) {
    for (int round = 0; round < 40; ++round) cancel_ends_it(false, -1, round);
}

static void a_cancellation_ends_a_poll(void) {
    int p[2];
    CHECK_EQ(pipe(p), 0);
    for (int round = 0; round < 20; ++round) {
        cancel_ends_it(true, p[0], round);
        cancel_ends_it(true, -1, round); /* of nothing */
    }
    close(p[0]);
    close(p[1]);
}

/* The pipe as such: from outside, in a detached and in a held task. */
static int ready[2], empty_pipe[2];

static void *write_one(void *arg) {
    (void)arg;
    CHECK_EQ(write(empty_pipe[1], "x", 1), 1);
    return NULL;
}

static void polls_everything(void *arg) {
    struct pollfd fds[100];
    struct pollfd one = {ready[0], POLLIN, 7};
    CHECK_EQ(hc_poll(&one, 1, HC_NEVER), 1);
    CHECK_EQ(one.revents, POLLIN);
    one = (struct pollfd){empty_pipe[0], POLLIN, 7};
    CHECK_EQ(hc_poll(&one, 1, 0), 0);
    CHECK_EQ(one.revents, 0);
    CHECK_EQ(hc_poll(&one, 1, 1 * ms), 0);
    CHECK_EQ(hc_poll(NULL, 0, 0), 0);
    CHECK_EQ(hc_poll(NULL, 0, 1), 0);
    CHECK_EQ(hc_poll(&one, 0, 0), 0);
    CHECK_RC(hc_poll(NULL, 1, 0), HC_EINVAL);
    one.fd = 1000; /* not open */
    CHECK_EQ(hc_poll(&one, 1, HC_NEVER), 1);
    CHECK_EQ(one.revents, POLLNVAL);
    one = (struct pollfd){-5, POLLIN, 7}; /* to be left out */
    CHECK_EQ(hc_poll(&one, 1, 1), 0);
    CHECK_EQ(one.revents, 0);
    for (uint32_t n = 30; n <= 100; n += n < 34 ? 1 : 33) { /* around the number for which memory is needed */
        for (uint32_t i = 0; i < n; ++i) fds[i] = (struct pollfd){i % 3 == 0 ? ready[0] : empty_pipe[0], POLLIN, 7};
        CHECK_EQ(hc_poll(fds, n, HC_NEVER), (n + 2) / 3);
        for (uint32_t i = 0; i < n; ++i) CHECK_EQ(fds[i].revents, i % 3 == 0 ? POLLIN : 0);
    }
    for (uint32_t i = 0; i < 100; ++i) fds[i] = (struct pollfd){empty_pipe[0], POLLIN, 7};
    pthread_t writer = thread_start(write_one, NULL);
    int told = hc_poll(fds, 100, HC_NEVER); /* it may come while the kernel goes through them */
    CHECK(told >= 1 && told <= 100);
    thread_join(writer);
    CHECK_EQ(hc_poll(fds, 100, HC_NEVER), 100);
    char byte;
    CHECK_EQ(read(empty_pipe[0], &byte, 1), 1);
    count_task(arg);
}

static void a_poll_is_a_poll(void) {
    CHECK_EQ(pipe(ready), 0);
    CHECK_EQ(pipe(empty_pipe), 0);
    CHECK_EQ(write(ready[1], "x", 1), 1);
    atomic_int done = 0;
    polls_everything(&done);
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = spared(kind, 1, 2);
        if (kind == HC_KIND_PINNED) options.spare_workers = options.min_workers = 0, options.stuck_after = 0;
        hc_group *g = group_with(&options);
        CHECK_OK(hc_submit(g, polls_everything, &done));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_RC(end_of(held(g, polls_everything, &done)), HC_OK);
        nobody_is_blocked(g);
        CHECK_OK(hc_group_destroy(g));
    }
    CHECK_EQ(done, 7);
    for (int i = 0; i < 2; ++i) close(ready[i]), close(empty_pipe[i]);
}

/* A poll that can be cancelled needs a descriptor of its own; another does not. */
static struct pollfd polled_fd;
static void polls_without_a_descriptor(void *arg) {
    CHECK_RC(hc_poll(NULL, 0, HC_NEVER), HC_ENOMEM);
    CHECK_RC(hc_poll(&polled_fd, 1, HC_NEVER), HC_ENOMEM);
    CHECK_RC(hc_poll(NULL, 0, 0), HC_ENOMEM);
    CHECK_OK(hc_sleep(1));
    count_task(arg);
}
static void polls_in_a_detached_task(void *arg) {
    CHECK_EQ(hc_poll(&polled_fd, 1, HC_NEVER), 1);
    CHECK_EQ(hc_poll(NULL, 0, 1), 0);
    count_task(arg);
}

static void a_poll_without_a_descriptor(void) {
    const hc_group_options options = spared(HC_KIND_STEALING, 1, 2);
    hc_group *g = group_with(&options);
    struct rlimit before, none;
    atomic_int ran = 0;
    int p[2];
    CHECK_EQ(pipe(p), 0);
    CHECK_EQ(write(p[1], "x", 1), 1);
    polled_fd = (struct pollfd){p[0], POLLIN, 0};
    CHECK_OK(hc_submit(g, count_task, &ran)); /* whatever is opened once is open */
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const int first = dup(p[0]);
    CHECK(first >= 0);
    close(first);
    none = before;
    none.rlim_cur = (rlim_t)first;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_RC(end_of(held(g, polls_without_a_descriptor, &ran)), HC_OK);
    CHECK_OK(hc_submit(g, polls_in_a_detached_task, &ran));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    polls_in_a_detached_task(&ran); /* outside */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_EQ(ran, 4);
    nobody_is_blocked(g);
    CHECK_OK(hc_group_destroy(g));
    close(p[0]);
    close(p[1]);
}

static void on_signal(int number) { (void)number; }
static atomic_bool interrupted_now;
static void *send_signals(void *arg) {
    while (!interrupted_now) {
        pthread_kill(*(pthread_t *)arg, SIGUSR1);
        poll(NULL, 0, 1);
    }
    return NULL;
}

static void a_signal_ends_a_poll_and_not_a_sleep(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    pthread_t self = pthread_self();
    interrupted_now = false;
    pthread_t sender = thread_start(send_signals, &self);
    CHECK_RC(hc_poll(NULL, 0, HC_NEVER), HC_EINTR);
    const uint64_t before = hc_now();
    CHECK_OK(hc_sleep(20 * ms));
    CHECK(hc_now() - before >= 20 * ms);
    interrupted_now = true;
    thread_join(sender);
}

static void sleeps_and_polls_in_pinned_tasks(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = HC_KIND_PINNED;
    options.max_workers = 2;
    hc_group *g = group_with(&options);
    nap n = {LATCH(1), HC_NEVER, 1, -1, false};
    hc_task *t = held(g, nap_task, &n);
    latch_wait(&n.inside);
    CHECK_EQ(stats_of(g).workers_blocked, 0);
    CHECK_EQ(hc_task_cancel(t), HC_RUNNING);
    CHECK_RC(end_of(t), HC_OK);
    CHECK_RC(n.rc, HC_ECANCELED);
    CHECK_OK(hc_group_destroy(g));
}

int main(int argc, char **argv) {
    check_deadline(120);
#define CASE(name) \
    if (argc < 2 || strstr(#name, argv[1]) != NULL) RUN(name)
    CASE(another_runs_while_all_are_blocked);
    CASE(what_waits_already_runs_then);
    CASE(at_the_cap_it_goes_on_all_the_same);
    CASE(unbalanced_ends_are_nothing);
    CASE(what_was_begun_ends_with_its_task);
    CASE(outside_of_tasks_nobody_helps);
    CASE(a_hook_leaves_nothing_behind);
    CASE(many_cycles_need_few_threads);
    CASE(the_spare_ones_end);
    CASE(nothing_is_lost_in_a_storm);
    CASE(a_strangers_task_runs_while_all_wait);
    CASE(a_strangers_task_runs_while_a_join_waits);
    CASE(who_sleeps_is_found_out);
    CASE(nobody_is_found_out_where_none_is_looked_for);
    CASE(who_computes_is_not_taken_for_blocked);
    CASE(found_out_after_a_resize);
    CASE(found_out_after_one_has_come_back);
    CASE(found_out_in_a_fork);
    CASE(found_out_in_stolen_forks);
    CASE(who_computes_in_a_fork_is_not_taken_for_blocked);
    CASE(a_fork_between_begin_and_end);
    CASE(a_sleep_lasts_its_time);
    CASE(a_cancellation_ends_a_sleep);
    CASE(a_cancellation_ends_a_poll);
    CASE(a_poll_is_a_poll);
    CASE(a_poll_without_a_descriptor);
    CASE(a_signal_ends_a_poll_and_not_a_sleep);
    CASE(sleeps_and_polls_in_pinned_tasks);
    return 0;
}
