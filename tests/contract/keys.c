/* Guards against: tasks of one key that overlap, or overtake each other; one that is lost; a key that holds up others, or costs memory
 * when its work is done. */
#include "counting.h"
#include "turns.h"

enum { n_keys = 50, n_each = 40 };

static const uint32_t all_counts[] = {1, 2, 3, 8, 64};
enum { n_all_counts = sizeof all_counts / sizeof all_counts[0] };

static counting memory = COUNTING;

static void in_all_ways(void (*body)(uint32_t kind, uint32_t mode, uint32_t workers)) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t mode = HC_KEY_PLAIN; mode <= HC_KEY_BOUND; ++mode)
            for (int i = 0; i < n_all_counts; ++i)
                if (mode != HC_KEY_BOUND || kind == HC_KIND_PINNED) body(kind, mode, all_counts[i]);
}

static uint64_t key_of(int k) { return k % 2 ? (uint64_t)k << 40 : (uint64_t)k; }

/* ---- Order ----------------------------------------------------------------------------------------------------------- */

typedef struct submitter {
    hc_group *g;
    uint32_t mode;
    int number;
    track *tracks;
    turn *turns; /* n_keys * n_each */
    atomic_int accepted;
} submitter;

static void *submits(void *arg) {
    submitter *s = arg;
    for (int i = 0; i < n_keys * n_each; ++i) {
        const int k = i % n_keys;
        s->turns[i] = (turn){&s->tracks[k], s->number, i + 1};
        hc_task_options options = options_of(take_turn, &s->turns[i]);
        hc_task *t = NULL;
        int rc;
        options.key = key_of(k);
        options.key_mode = s->mode;
        options.drop = turn_drop;
        switch (i / n_keys % 4) { /* bare, with a drop, held, for workers */
            case 0: rc = hc_submit_keyed(s->g, key_of(k), s->mode, take_turn, &s->turns[i]); break;
            case 1: rc = hc_task_submit(s->g, &options, NULL); break;
            case 2: rc = hc_task_submit(s->g, &options, &t); break;
            default: options.flags = HC_TASK_WORKER_ONLY; rc = hc_task_submit(s->g, &options, NULL); break;
        }
        if (rc != HC_OK) {
            CHECK(rc == HC_ESHUTDOWN);
            break;
        }
        hc_task_unref(t);
        ++s->accepted;
    }
    return NULL;
}

static void unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user;
    CHECK(fn == take_turn);
    turn_drop(arg, why);
}

/* Several submit at once; `how` < 0: nobody shuts the group down before they are done. */
static void many(uint32_t kind, uint32_t mode, uint32_t workers, uint64_t capacity, uint32_t policy, int how) {
    static track tracks[n_keys];
    static turn turns[submitters][n_keys * n_each];
    memset(tracks, 0, sizeof tracks);
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.capacity = capacity;
    options.full_policy = policy;
    options.on_unrun = unrun;
    hc_group *g = fixed_with(&options);
    submitter all[submitters];
    pthread_t threads[submitters];
    for (int i = 0; i < submitters; ++i) {
        all[i] = (submitter){g, mode, i, tracks, turns[i], 0};
        threads[i] = thread_start(submits, &all[i]);
    }
    if (how >= 0) {
        UNTIL(all[0].accepted > 200);
        CHECK_OK(hc_group_shutdown(g, (uint32_t)how));
        CHECK_OK(hc_group_await(g, HC_NEVER));
    }
    int64_t accepted = 0, ran = 0, dropped = 0;
    for (int i = 0; i < submitters; ++i) {
        thread_join(threads[i]);
        accepted += all[i].accepted;
    }
    if (how < 0) CHECK_OK(hc_group_drain(g, HC_NEVER));
    for (int k = 0; k < n_keys; ++k) {
        ran += tracks[k].count;
        dropped += tracks[k].dropped;
    }
    const hc_group_stats_data data = stats_of(g);
    CHECK_EQ(ran + dropped, accepted);
    CHECK_EQ(data.queued, 0);
    if (policy < HC_FULL_DROP_NEWEST) CHECK_EQ(data.submitted, accepted);
    CHECK_EQ(data.started, ran);
    CHECK_EQ(data.finished, ran);
    if (how < 0 && policy < HC_FULL_DROP_NEWEST) CHECK_EQ(ran, submitters * n_keys * n_each);
    if (how == HC_SHUTDOWN_DRAIN && policy < HC_FULL_DROP_NEWEST) CHECK_EQ(dropped, 0);
    CHECK_OK(hc_group_destroy(g));
}

static void keep_their_order(uint32_t kind, uint32_t mode, uint32_t workers) { many(kind, mode, workers, 0, 0, -1); }
static void tasks_keep_their_order(void) { in_all_ways(keep_their_order); }

static void are_shut_down(uint32_t kind, uint32_t mode, uint32_t workers) {
    many(kind, mode, workers, 0, 0, HC_SHUTDOWN_DRAIN);
    many(kind, mode, workers, 0, 0, HC_SHUTDOWN_NOW);
    many(kind, mode, workers, 0, 0, HC_SHUTDOWN_RUN_TIMERS);
}
static void a_shutdown_loses_none(void) { in_all_ways(are_shut_down); }

static void are_bounded(uint32_t kind, uint32_t mode, uint32_t workers) {
    if (workers > 8) return;
    static const uint64_t capacities[] = {1, 7, 100};
    static const int ends[] = {-1, HC_SHUTDOWN_DRAIN, HC_SHUTDOWN_NOW};
    for (uint32_t policy = HC_FULL_WAIT; policy <= HC_FULL_DROP_OLDEST; ++policy)
        for (uint32_t i = 0; i < 3; ++i) /* each capacity with each end, but not in each of the ways */
            if (!CHECK_TSAN || (workers + mode + policy) % 3 == i) many(kind, mode, workers, capacities[i], policy, ends[(i + workers + mode) % 3]);
}
static void every_policy_keeps_the_order(void) { in_all_ways(are_bounded); }

/* Each queued task counts, and each that has begun gives its room back. */
static void capacity_counts_each(uint32_t kind, uint32_t mode, uint32_t workers) {
    if (workers > 2) return;
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.capacity = 10;
    hc_group *g = fixed_with(&options);
    atomic_int ran = 0;
    gate first = GATE, second = GATE;
    CHECK_OK(hc_submit_keyed(g, 1, mode, gate_task, &first));
    latch_wait(&first.inside);
    for (int round = 0; round < 2; ++round) {
        const int n = round == 0 ? 10 : 1;
        for (int i = 0; i < n; ++i)
            CHECK_OK(i == 0 && round == 0 ? hc_submit_keyed(g, 1, mode, gate_task, &second) : hc_submit_keyed(g, 1, mode, count_task, &ran));
        CHECK_RC(hc_submit_keyed(g, 1, mode, count_task, &ran), HC_EFULL);
        if (round != 0) break;
        gate_open(&first);
        latch_wait(&second.inside);
    }
    gate_open(&second);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 10);
}
static void each_task_takes_room(void) { in_all_ways(capacity_counts_each); }

/* ---- Others ---------------------------------------------------------------------------------------------------------- */

static void a_slow_key_holds_up_no_other(void) {
    for (uint32_t mode = HC_KEY_PLAIN; mode <= HC_KEY_STICKY; ++mode)
        for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) {
            hc_group *g = group_of_kind(kind, 2);
            atomic_int ran = 0;
            gate slow = GATE;
            for (int k = 0; k < 200; ++k) CHECK_OK(hc_submit_keyed(g, (uint64_t)k, mode, k == 0 ? gate_task : count_task, k == 0 ? (void *)&slow : &ran));
            CHECK_OK(hc_submit_keyed(g, 0, mode, count_task, &ran)); /* behind the slow one */
            latch_wait(&slow.inside);
            for (int round = 0; round < 20; ++round)
                for (int k = 1; k < 200; ++k) CHECK_OK(hc_submit_keyed(g, (uint64_t)k, mode, count_task, &ran));
            UNTIL(ran == 199 * 21);
            gate_open(&slow);
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, 199 * 21 + 1);
        }
}

/* One worker: a key that always has work leaves room for others. */
typedef struct flood {
    hc_group *g;
    uint32_t mode;
    atomic_int ended, rounds;
} flood;

static void goes_on(void *arg) {
    flood *f = arg;
    ++f->rounds;
    if (!f->ended) CHECK_OK(hc_submit_keyed(f->g, 1, f->mode, goes_on, f));
}
static void ends_it(void *arg) { ((flood *)arg)->ended = 1; }

static void a_busy_key_takes_turns(uint32_t kind, uint32_t mode, uint32_t workers) {
    if (workers != 1) return;
    hc_group *g = group_of_kind(kind, 1);
    flood f = {g, mode, 0, 0};
    for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit_keyed(g, 1, mode, goes_on, &f));
    UNTIL(f.rounds > 1000);
    CHECK_OK(hc_submit(g, ends_it, &f));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_OK(hc_group_destroy(g));
}
static void a_busy_key_leaves_room(void) { in_all_ways(a_busy_key_takes_turns); }

static atomic_int wrong_worker;
static void on_its_worker(void *arg) {
    const uint64_t key = (uint64_t)(uintptr_t)arg, x = (key ^ key >> 32) * 0x9e3779b97f4a7c15, h = x ^ x >> 32;
    if ((uint32_t)hc_worker_index() != h % hc_group_slots(hc_group_current())) ++wrong_worker;
}

static void a_bound_key_has_its_worker(void) {
    for (int i = 0; i < n_all_counts; ++i) {
        hc_group *g = group_of_kind(HC_KIND_PINNED, all_counts[i]);
        for (uint32_t mode = HC_KEY_STICKY; mode <= HC_KEY_BOUND; ++mode)
            for (uintptr_t k = 0; k < 3000; ++k) CHECK_OK(hc_submit_keyed(g, k << k % 3 * 20, mode, on_its_worker, (void *)(k << k % 3 * 20)));
        CHECK_OK(hc_group_destroy(g));
    }
    CHECK_EQ(wrong_worker, 0);
    hc_group *g = group_of(1);
    CHECK_RC(hc_submit_keyed(g, 1, HC_KEY_BOUND, take_turn, NULL), HC_ENOTSUP);
    CHECK_OK(hc_group_destroy(g));
}

/* As long as it has work, and nobody is held up, a sticky key moves hardly ever: a worker that the system keeps from its CPU seems held up. */
typedef struct mover {
    hc_group *g;
    uint64_t key;
    int64_t rounds, moves;
    int32_t at;
    atomic_int *ended;
} mover;

static void goes_round(void *arg) {
    mover *m = arg;
    if (m->at >= 0 && m->at != hc_worker_index()) ++m->moves;
    m->at = hc_worker_index();
    if (++m->rounds < 20000)
        CHECK_OK(hc_submit_keyed(m->g, m->key, HC_KEY_STICKY, goes_round, m));
    else
        ++*m->ended;
}

static void a_sticky_key_stays(void) {
    enum { n = 8 };
    for (int w = 1; w < 4; ++w) {
        hc_group *g = group_of(all_counts[w]);
        atomic_int ended = 0, ran = 0;
        mover all[n];
        for (int k = 0; k < n; ++k) {
            all[k] = (mover){g, (uint64_t)k, 0, 0, -1, &ended};
            CHECK_OK(hc_submit_keyed(g, (uint64_t)k, HC_KEY_STICKY, goes_round, &all[k]));
        }
        while (ended < n) CHECK_OK(hc_submit(g, count_task, &ran)); /* others have their turns too */
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        int64_t moves = 0;
        for (int k = 0; k < n; ++k) moves += all[k].moves;
        printf("%u workers: %" PRId64 " moves in %d\n", all_counts[w], moves, n * 20000);
        CHECK(moves < n * 20000 / 50);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Kept by a worker that is then stuck in another key's task: the others go on elsewhere. */
static void waits_in_turn(void *arg) { gate_task(arg); }

static void a_sticky_key_leaves_a_stuck_worker(void) {
    for (int way = 0; way < 2; ++way) { /* two workers; one, and a spare that comes when it is found out */
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.max_workers = way == 0 ? 2 : 1;
        if (way == 1) options.stuck_after = 1000000;
        options.spare_workers = way == 0 ? HC_NONE32 : 2;
        hc_group *g = group_with(&options);
        atomic_int ended = 0;
        mover all[6];
        gate slow = GATE;
        for (int k = 0; k < 6; ++k) {
            all[k] = (mover){g, (uint64_t)k, 0, 0, -1, &ended};
            CHECK_OK(hc_submit_keyed(g, (uint64_t)k, HC_KEY_STICKY, goes_round, &all[k]));
        }
        CHECK_OK(hc_submit_keyed(g, 99, HC_KEY_STICKY, waits_in_turn, &slow));
        latch_wait(&slow.inside);
        UNTIL(ended == 6);
        gate_open(&slow);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- One that is out ------------------------------------------------------------------------------------------------- */

static void cancelled_ones(uint32_t kind, uint32_t mode, uint32_t workers) {
    enum { n = 100 };
    static turn turns[n];
    track t = {0};
    hc_task *tasks[n];
    hc_group *g = group_of_kind(kind, workers);
    gate at = GATE;
    CHECK_OK(hc_submit_keyed(g, 5, mode, gate_task, &at));
    latch_wait(&at.inside);
    for (int i = 0; i < n; ++i) {
        turns[i] = (turn){&t, 0, i + 1};
        hc_task_options options = options_of(take_turn, &turns[i]);
        options.drop = turn_drop;
        options.key = 5;
        options.key_mode = mode;
        tasks[i] = held_with(g, &options);
    }
    for (int i = 0; i < n; i += 3) CHECK_RC(hc_task_cancel(tasks[i]), HC_REMOVED);
    gate_open(&at);
    for (int i = n; i-- > 0;) {
        int32_t outcome = 1;
        CHECK_OK(hc_task_wait(tasks[i], HC_NEVER, 0, &outcome));
        CHECK_RC(outcome, i % 3 == 0 ? HC_ECANCELED : HC_OK);
        hc_task_unref(tasks[i]);
    }
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(t.count, 66);
    CHECK_EQ(t.dropped, 34);
}
static void a_cancelled_one_is_left_out(void) { in_all_ways(cancelled_ones); }

static void fails_in_turn(void *arg) {
    take_turn(arg);
    CHECK_OK(hc_task_fail(3, NULL, NULL));
}
static void after_a_failure(uint32_t kind, uint32_t mode, uint32_t workers) {
    turn turns[4];
    track t = {0};
    hc_task *tasks[4];
    hc_group *g = group_of_kind(kind, workers);
    for (int i = 0; i < 4; ++i) {
        turns[i] = (turn){&t, 0, i + 1};
        hc_task_options options = options_of(i == 1 ? fails_in_turn : take_turn, &turns[i]);
        options.key = 5;
        options.key_mode = mode;
        tasks[i] = held_with(g, &options);
    }
    for (int i = 0; i < 4; ++i) {
        int32_t outcome = 1;
        CHECK_OK(hc_task_wait(tasks[i], HC_NEVER, 0, &outcome));
        CHECK_RC(outcome, i == 1 ? HC_EFAILED : HC_OK);
        hc_task_unref(tasks[i]);
    }
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(t.count, 4);
}
static void the_next_runs_after_a_failure(void) { in_all_ways(after_a_failure); }

/* ---- While the group changes ----------------------------------------------------------------------------------------- */

static void pauses(uint32_t kind, uint32_t mode, uint32_t workers) {
    if (workers > 8) return;
    static track tracks[n_keys];
    static turn turns[n_keys * n_each];
    memset(tracks, 0, sizeof tracks);
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    if (kind == HC_KIND_PINNED) options.min_workers = workers;
    hc_group *g = group_with(&options);
    submitter s = {g, mode, 0, tracks, turns, 0};
    pthread_t thread = thread_start(submits, &s);
    for (uint32_t i = 0; i < 50; ++i) {
        CHECK_OK(hc_group_pause(g));
        if (kind != HC_KIND_PINNED) CHECK_OK(hc_group_resize(g, HC_NONE32, 1 + i % workers));
        CHECK_OK(hc_group_resume(g));
    }
    thread_join(thread);
    CHECK_OK(hc_group_destroy(g));
    int64_t ran = 0;
    for (int k = 0; k < n_keys; ++k) ran += tracks[k].count;
    CHECK_EQ(ran, n_keys * n_each);
}
static void a_pause_and_a_resize_keep_the_order(void) { in_all_ways(pauses); }

static void a_paused_group_begins_none(uint32_t kind, uint32_t mode, uint32_t workers) {
    if (workers != 1) return;
    hc_group *g = group_of_kind(kind, 1);
    gate at = GATE;
    atomic_int ran = 0;
    CHECK_OK(hc_submit_keyed(g, 5, mode, gate_task, &at));
    latch_wait(&at.inside);
    for (int i = 0; i < 40; ++i) CHECK_OK(hc_submit_keyed(g, 5, mode, count_task, &ran));
    CHECK_OK(hc_group_pause(g));
    gate_open(&at);
    UNTIL(stats_of(g).workers_parked == 1);
    CHECK_EQ(ran, 0);
    CHECK_EQ(stats_of(g).queued, 40);
    CHECK_OK(hc_group_resume(g));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 40);
}
static void a_pause_stops_a_key(void) { in_all_ways(a_paused_group_begins_none); }

/* ---- Fork ------------------------------------------------------------------------------------------------------------ */

static void never(void *arg) {
    (void)arg;
    check_failed(__FILE__, __LINE__, "ran in the child");
}
static pid_t parent;
static atomic_int ran_behind;
static void only_in_the_parent(void *arg) {
    (void)arg;
    CHECK(getpid() == parent);
    ++ran_behind;
}
static void forks(void *arg) {
    hc_group *g = arg;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(20);
        CHECK_RC(hc_submit_keyed(g, 5, HC_KEY_PLAIN, never, NULL), HC_EFORKED);
        if (CHECK_ASAN) _exit(0); /* to that, what is forgotten, not freed, is a leak */
        return; /* and with it the worker's thread, the only one: nothing else may run */
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
static void a_child_runs_none(uint32_t kind, uint32_t mode, uint32_t workers) {
    if (workers > 2) return;
    parent = getpid();
    ran_behind = 0;
    hc_group *g = group_of_kind(kind, workers);
    gate at = GATE;
    CHECK_OK(hc_submit_keyed(g, 5, mode, gate_task, &at));
    latch_wait(&at.inside);
    CHECK_OK(hc_submit_keyed(g, 5, mode, forks, g));
    for (int i = 0; i < 10; ++i) CHECK_OK(hc_submit_keyed(g, 5, mode, only_in_the_parent, NULL));
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran_behind, 10);
}
static void a_forked_child_runs_none(void) { in_all_ways(a_child_runs_none); }

/* ---- Memory ---------------------------------------------------------------------------------------------------------- */

static void a_million_keys_give_their_memory_back(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    const int n = CHECK_SLOWER > 1 ? 100000 : 1000000;
    hc_group *g = group_of(1);
    atomic_int ran = 0;
    gate at = GATE;
    gate_hold(g, &at);
    CHECK_OK(hc_submit_keyed(g, 1, HC_KEY_PLAIN, count_task, &ran));
    for (int k = 0; k < n; ++k) CHECK_OK(hc_submit(g, count_task, &ran)); /* what a lane keeps of a burst is another matter */
    gate_open(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    at = (gate)GATE;
    gate_hold(g, &at);
    const int64_t before = counting_read(&memory, &memory.bytes);
    for (int k = 0; k < n; ++k) CHECK_OK(hc_submit_keyed(g, (uint64_t)k * 64, HC_KEY_PLAIN, count_task, &ran));
    const int64_t each = (counting_read(&memory, &memory.bytes) - before) / n;
    gate_open(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    const int64_t left = counting_read(&memory, &memory.bytes) - before;
    CHECK_OK(hc_group_trim(g));
    const int64_t trimmed = counting_read(&memory, &memory.bytes) - before;
    printf("%d keys: %" PRId64 " bytes each, %" PRId64 " left, %" PRId64 " after a trim\n", n, each, left, trimmed);
    CHECK(each < 200);
    CHECK(left < (1 << 20)); /* some slabs for each of the shards */
    CHECK(trimmed < 0);
    CHECK_EQ(ran, 2 * n + 1);
    CHECK_OK(hc_group_destroy(g));
}

static void no_memory_loses_none(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    for (int64_t fail = 0; fail < 12; ++fail) {
        hc_group *g = group_of(2);
        atomic_int ran = 0;
        int accepted = 0;
        gate at = GATE;
        if (fail % 2) gate_hold(g, &at);
        counting_fail_after(&memory, fail);
        for (int i = 0; i < 3000; ++i) {
            const int rc = hc_submit_keyed(g, (uint64_t)i % 700, HC_KEY_PLAIN, count_task, &ran);
            CHECK(rc == HC_OK || rc == HC_ENOMEM);
            accepted += rc == HC_OK;
        }
        counting_fail_after(&memory, -1);
        if (fail % 2) gate_open(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(ran, accepted);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* The group has never had an order before. */
static atomic_int followed;
static void is_followed(void *arg) {
    (void)arg;
    CHECK_OK(hc_group_shutdown(hc_group_current(), HC_SHUTDOWN_DRAIN));
    hc_task_options options = options_of(count_task, &followed);
    options.key_mode = HC_KEY_PLAIN;
    CHECK_OK(hc_task_then(hc_task_current(), &options, NULL));
}
static void a_continuation_gets_its_order_after_a_shutdown(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options group = HC_GROUP_OPTIONS_INIT;
        group.kind = kind;
        group.max_workers = 2;
        hc_group *g = fixed_with(&group);
        followed = 0;
        hc_task_options options = options_of(is_followed, NULL);
        hc_task *t;
        CHECK_OK(hc_task_submit(g, &options, &t));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        CHECK_EQ(followed, 1);
        hc_task_unref(t);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* Timers of the same key as tasks, those that repeat and those that fire once, also after a shutdown that keeps the latter. */
enum { n_fire_once = 50 };
static track fired_on;
static atomic_int fired, once_dropped;
static void fire(void *arg) {
    (void)arg;
    CHECK_EQ(fired_on.inside++, 0);
    ++fired_on.count;
    CHECK_EQ(--fired_on.inside, 0);
    atomic_fetch_add(&fired, 1);
}
static void fire_end(void *arg, int32_t why) {
    (void)arg;
    CHECK(why == HC_OK || why == HC_ECANCELED || why == HC_ESHUTDOWN);
    CHECK_EQ(fired_on.inside++, 0); /* nobody else is in the line any more */
    CHECK_EQ(--fired_on.inside, 0);
    atomic_fetch_add(&once_dropped, 1);
}
static void a_timer_takes_its_turn(uint32_t kind, uint32_t mode) {
    for (uint32_t workers = 1; workers <= 8; workers += 7) {
        memset(&fired_on, 0, sizeof fired_on);
        atomic_store(&fired, 0);
        atomic_store(&once_dropped, 0);
        hc_group_options group = HC_GROUP_OPTIONS_INIT;
        group.kind = kind;
        group.max_workers = workers;
        hc_group *g = fixed_with(&group);
        hc_task_options task = HC_TASK_OPTIONS_INIT;
        task.fn = fire;
        task.key = 7;
        task.key_mode = mode;
        hc_timer_options options = HC_TIMER_OPTIONS_INIT;
        options.task = &task;
        options.mode = HC_TIMER_RATE;
        options.period = 100000;
        hc_timer *repeats;
        CHECK_OK(hc_timer_create(g, &options, &repeats));
        for (int n = 0; atomic_load(&fired) < 300; ++n)
            if (n < 10000) CHECK_OK(hc_submit_keyed(g, 7, mode, fire, NULL));
        CHECK_EQ(hc_timer_cancel_wait(repeats, HC_NEVER) < 0, 0);
        hc_timer_unref(repeats);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        const int before = atomic_load(&fired);
        options.mode = HC_TIMER_ONCE;
        options.period = 0;
        options.delay = 1000000;
        task.drop = fire_end;
        for (int i = 0; i < n_fire_once; ++i) CHECK_OK(hc_timer_create(g, &options, NULL));
        CHECK_OK(hc_submit_keyed(g, 7, mode, fire, NULL));
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        CHECK_EQ(atomic_load(&fired), before + 1 + n_fire_once);
        CHECK_EQ(fired_on.count, atomic_load(&fired));
        CHECK_EQ(atomic_load(&once_dropped), n_fire_once);
        CHECK_OK(hc_group_destroy(g));
    }
}
static void timers_take_their_turn(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t mode = HC_KEY_PLAIN; mode <= HC_KEY_STICKY; ++mode) a_timer_takes_its_turn(kind, mode);
    hc_group *g = group_of(2);
    hc_task_options task = HC_TASK_OPTIONS_INIT;
    task.fn = fire;
    task.key_mode = HC_KEY_BOUND;
    hc_timer_options options = HC_TIMER_OPTIONS_INIT;
    options.task = &task;
    options.delay = 1;
    CHECK_RC(hc_timer_create(g, &options, NULL), HC_ENOTSUP);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(100);
    RUN_FORKED(a_million_keys_give_their_memory_back);
    RUN_FORKED(no_memory_loses_none);
    RUN(tasks_keep_their_order);
    RUN(a_shutdown_loses_none);
    RUN(every_policy_keeps_the_order);
    RUN(each_task_takes_room);
    RUN(a_slow_key_holds_up_no_other);
    RUN(a_busy_key_leaves_room);
    RUN(a_bound_key_has_its_worker);
    RUN(a_sticky_key_stays);
    RUN(a_sticky_key_leaves_a_stuck_worker);
    RUN(a_cancelled_one_is_left_out);
    RUN(the_next_runs_after_a_failure);
    RUN(a_pause_and_a_resize_keep_the_order);
    RUN(a_pause_stops_a_key);
    RUN(timers_take_their_turn);
    RUN(a_continuation_gets_its_order_after_a_shutdown);
#if !CHECK_TSAN /* that tool does not follow a fork of a process with threads */
    RUN(a_forked_child_runs_none);
#endif
    return 0;
}
