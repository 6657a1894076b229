/* Guards against: a priority that is not kept, or kept so well that others starve; a queue of a priority that a wake, a drain, a
 * shutdown, a fork or a failing allocation does not know of. */
#include "counting.h"

enum { normal = HC_PRIORITY_NORMAL, high = HC_PRIORITY_HIGH, low = HC_PRIORITY_LOW };
enum { high_in_a_row = 128, low_waits = 768 }; /* as the header says */

static hc_group *group_of_kind(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    return fixed_with(&options);
}

static int submit_as(hc_group *g, hc_fn fn, void *arg, uint32_t priority) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = fn;
    options.arg = arg;
    options.priority = priority;
    return hc_task_submit(g, &options, NULL);
}

/* ---- One worker: the order is exact ----------------------------------------------------------------------------- */

enum { most_notes = 8192 };
static char notes[most_notes + 1]; /* plain: there is one worker at work */
static int noted;

static void forget(void) {
    memset(notes, 0, sizeof notes);
    noted = 0;
}
static void note(void *arg) {
    CHECK(noted < most_notes);
    notes[noted++] = *(const char *)arg;
}

/* Detached with and without a label, and held: the same queue. */
static void submit_each_way(hc_group *g, const char *what, uint32_t priority) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    hc_task *t = NULL;
    options.fn = note;
    options.priority = priority;
    options.arg = (void *)&what[0];
    CHECK_OK(hc_task_submit(g, &options, NULL));
    options.arg = (void *)&what[1];
    options.label = "a label";
    CHECK_OK(hc_task_submit(g, &options, NULL));
    options.arg = (void *)&what[2];
    options.label = NULL;
    CHECK_OK(hc_task_submit(g, &options, &t));
    hc_task_unref(t);
    options.arg = (void *)&what[3];
    options.flags = HC_TASK_WORKER_ONLY;
    CHECK_OK(hc_task_submit(g, &options, NULL));
}

static void high_comes_first_and_low_last(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        forget();
        gate_hold(g, &at);
        submit_each_way(g, "wxyz", low);
        submit_each_way(g, "mnop", normal);
        submit_each_way(g, "abcd", high);
        submit_each_way(g, "efgh", high);
        gate_open(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_STR(notes, "abcdefghmnopwxyz");
        CHECK_OK(hc_group_destroy(g));
    }
}

static void submit_high(void *arg) {
    note("n");
    CHECK_OK(submit_as(hc_group_current(), note, arg, high));
}

static void high_comes_before_what_a_worker_has_taken_up(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        forget();
        gate_hold(g, &at);
        for (int i = 0; i < 20; ++i) CHECK_OK(hc_submit(g, i % 5 == 0 ? submit_high : note, i % 5 == 0 ? "h" : "n"));
        gate_open(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_STR(notes, "nhnnnnnhnnnnnhnnnnnhnnnn");
        CHECK_OK(hc_group_destroy(g));
    }
}

static void pause_and_submit_high(void *arg) {
    note("n");
    CHECK_OK(hc_group_pause(hc_group_current()));
    CHECK_OK(submit_as(hc_group_current(), note, arg, high));
}

static void high_comes_before_what_a_pause_has_interrupted(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        forget();
        gate_hold(g, &at);
        CHECK_OK(hc_submit(g, pause_and_submit_high, "h"));
        for (int i = 0; i < 5; ++i) CHECK_OK(hc_submit(g, note, "n"));
        gate_open(&at);
        UNTIL(stats_of(g).finished == 2 && stats_of(g).workers_parked == 1);
        CHECK_OK(submit_as(g, note, "l", low));
        CHECK_OK(submit_as(g, note, "h", high));
        CHECK_STR(notes, "n");
        CHECK_OK(hc_group_resume(g));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_STR(notes, "nhhnnnnnl");
        CHECK_OK(hc_group_destroy(g));
    }
}

static void of_129_one_is_another(void) {
    enum { highs = 3000 };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        forget();
        gate_hold(g, &at);
        for (int i = 0; i < 10; ++i) CHECK_OK(hc_submit(g, note, "n"));
        for (int i = 0; i < highs; ++i) CHECK_OK(submit_as(g, note, "h", high));
        for (int i = 0; i < 5; ++i) CHECK_OK(submit_as(g, note, "l", low));
        gate_open(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(noted, highs + 15);
        int row = 0, normals_left = 10, lows_left = 5;
        for (int i = 0; i < noted; ++i) {
            row = notes[i] == 'h' ? row + 1 : 0;
            normals_left -= notes[i] == 'n';
            lows_left -= notes[i] == 'l';
            CHECK(normals_left == 0 || row <= high_in_a_row);
        }
        CHECK(normals_left == 0 && lows_left == 0);
        CHECK_EQ(notes[high_in_a_row], 'n'); /* and not sooner */
        CHECK_EQ(notes[2 * high_in_a_row + 1], 'n');
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Floods: how many others each worker begins while LOW is not empty ------------------------------------------- */

enum { most_workers = 64 };
static struct {
    int64_t others; /* since its last of LOW; the worker's own */
    char pad[56];
} of_worker[most_workers];
static atomic_int floods, lows, normals, highs;
static hc_task *promise;
static int rounds; /* of LOW, for each worker */
enum { in_one_turn = 16 };
static bool in_order; /* the normal ones have a key, of a few */

static bool flood_goes_on(void) { return atomic_load(&floods) != 0; }

static void flood(void *arg) {
    const uint32_t priority = (uint32_t)(uintptr_t)arg;
    int64_t *others = &of_worker[hc_worker_index()].others;
    if (!flood_goes_on()) return;
    atomic_fetch_add(priority == high ? &highs : &normals, 1);
    CHECK(++*others <= low_waits * (in_order ? in_one_turn : 1));
    if (priority == high || !in_order) {
        CHECK_OK(submit_as(hc_group_current(), flood, arg, priority));
        return;
    }
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = flood;
    options.arg = arg;
    options.key_mode = HC_KEY_PLAIN;
    options.key = (uint64_t)*others % 7;
    CHECK_OK(hc_task_submit(hc_group_current(), &options, NULL));
}

static void trickle(void *arg) {
    of_worker[hc_worker_index()].others = 0;
    if (atomic_fetch_add(&lows, 1) + 1 >= rounds) atomic_store(&floods, 0);
    if (flood_goes_on()) CHECK_OK(submit_as(hc_group_current(), trickle, arg, low));
}

/* Inside of a task that helps for all the time. */
static void help_until_the_end(void *arg) {
    hold_task(arg);
    CHECK_OK(hc_task_wait(promise, HC_NEVER, HC_WAIT_HELP_ANY, NULL));
}

enum way { high_alone, with_normal, ordered, bounded, paused, helping, ways };

/* There are always more of LOW than workers, so that it is never empty. */
static void low_waits_for_so_many(uint32_t kind, uint32_t workers, enum way way) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    if (way == bounded) options.capacity = 1000 * workers;
    hc_group *g = fixed_with(&options);
    hold at;
    memset(of_worker, 0, sizeof of_worker);
    highs = normals = lows = 0;
    floods = 1;
    rounds = (int)((CHECK_TSAN ? 3 : 10) * workers);
    in_order = way == ordered;
    CHECK_OK(hc_task_promise(g, &promise));
    hold_all(g, &at, workers);
    hold helpers = {LATCH(workers), LATCH(1)};
    if (way == helping) {
        for (uint32_t i = 0; i < workers; ++i)
            CHECK_OK(kind == HC_KIND_PINNED ? hc_submit_to(g, i, help_until_the_end, &helpers)
                                            : hc_submit(g, help_until_the_end, &helpers));
        hold_release(&at);
        latch_wait(&helpers.inside);
    }
    for (uint32_t i = 0; i < 2 * workers + 2; ++i) CHECK_OK(submit_as(g, trickle, NULL, low));
    for (uint32_t i = 0; i < 3 * workers; ++i) CHECK_OK(submit_as(g, flood, (void *)(uintptr_t)high, high));
    for (uint32_t i = 0; way != high_alone && i < 300 * workers; ++i) CHECK_OK(submit_as(g, flood, (void *)normal, normal));
    hold_release(way == helping ? &helpers : &at);
    while (way == paused && flood_goes_on()) {
        CHECK_OK(hc_group_pause(g));
        CHECK_OK(hc_group_resume(g));
        sched_yield();
    }
    UNTIL(!flood_goes_on());
    CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    hc_task_unref(promise);
    CHECK_OK(hc_group_destroy(g));
    CHECK(lows >= rounds);
    CHECK(way == high_alone || normals > 0);
}

static void a_flood_above_it_leaves_low_its_share(void) {
    const uint32_t workers[] = {1, 2, 3, 8, CHECK_TSAN ? 16 : most_workers};
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; ++i)
        for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
            for (enum way way = high_alone; way < ways; ++way) low_waits_for_so_many(kind, workers[i], way);
        }
}

/* The others under a flood of HIGH: each of them runs, time after time. */
static atomic_int turns[300];
static atomic_int to_come;

static void takes_turns(void *arg) {
    atomic_int *mine = arg;
    if (atomic_fetch_add(mine, 1) + 1 == 3 && atomic_fetch_sub(&to_come, 1) == 1) atomic_store(&floods, 0);
    if (flood_goes_on()) CHECK_OK(hc_submit(hc_group_current(), takes_turns, arg));
}
static void flood_alone(void *arg) {
    if (flood_goes_on()) CHECK_OK(submit_as(hc_group_current(), flood_alone, arg, high));
}
static void a_timer(void *arg) { latch_down(arg); }

static void a_flood_of_high_leaves_the_others_their_share(void) {
    const uint32_t workers[] = {1, 2, 3, 8, CHECK_TSAN ? 16 : most_workers};
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; ++i)
        for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
            hc_group *g = group_of_kind(kind, workers[i]);
            latch timer = LATCH(1);
            memset(turns, 0, sizeof turns);
            to_come = 301; /* and the timer */
            floods = 1;
            for (uint32_t n = 0; n < 2 * workers[i]; ++n) CHECK_OK(submit_as(g, flood_alone, NULL, high));
            for (int n = 0; n < 300; ++n) CHECK_OK(hc_submit(g, takes_turns, &turns[n]));
            CHECK_OK(hc_schedule(g, a_timer, &timer, 1000000));
            latch_wait(&timer);
            if (atomic_fetch_sub(&to_come, 1) == 1) floods = 0;
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_OK(hc_group_destroy(g));
            for (int n = 0; n < 300; ++n) CHECK(turns[n] >= 3);
        }
}

/* ---- Any worker, any group ---------------------------------------------------------------------------------------- */

static void high_and_low_wake_whoever_sleeps(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t priority = high; priority <= low; ++priority) {
            hc_group *g = group_of_kind(kind, 3);
            gate at[3] = {GATE, GATE, GATE};
            for (int i = 0; i < 3; ++i) { /* each blocks its worker: it needs another */
                CHECK_OK(submit_as(g, gate_task, &at[i], priority));
                latch_wait(&at[i].inside);
            }
            for (int i = 0; i < 3; ++i) gate_open(&at[i]);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void a_group_without_workers_gets_one(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.min_workers = HC_NONE32;
    options.max_workers = 2;
    for (uint32_t priority = high; priority <= low; ++priority) {
        hc_group *g = group_with(&options);
        atomic_int n = 0;
        for (int i = 0; i < 100; ++i) CHECK_OK(submit_as(g, count_task, &n, priority));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(n, 100);
        CHECK_OK(hc_group_trim(g));
        CHECK_OK(submit_as(g, count_task, &n, priority));
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(n, 101);
    }
}

typedef struct sender {
    hc_group *g;
    atomic_int *ran;
    int n;
} sender;
static void *send_all_levels(void *arg) {
    sender *s = arg;
    for (int i = 0; i < s->n; ++i) CHECK_OK(submit_as(s->g, count_task, s->ran, (uint32_t)i % 3));
    return NULL;
}

static void many_submit_at_once(void) {
    enum { senders = 8, each = 3000 };
    const uint32_t workers[] = {1, 2, 3, 8, most_workers};
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; ++i)
        for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
            atomic_int ran = 0;
            hc_group *g = group_of_kind(kind, workers[i]);
            sender s = {g, &ran, each / (int)CHECK_SLOWER};
            pthread_t threads[senders];
            for (int k = 0; k < senders; ++k) threads[k] = thread_start(send_all_levels, &s);
            for (int k = 0; k < senders; ++k) thread_join(threads[k]);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(ran, senders * s.n);
            CHECK_EQ(stats_of(g).queued, 0);
            CHECK_EQ(stats_of(g).submitted, ran);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- Who waits, and what follows ----------------------------------------------------------------------------------- */

static void keep_promise(void *arg) {
    note(arg);
    CHECK_OK(hc_task_complete(promise, HC_OK, NULL, NULL));
}
static void helps(void *arg) {
    (void)arg;
    hc_group *g = hc_group_current();
    CHECK_OK(submit_as(g, keep_promise, "l", low));
    for (int i = 0; i < 3; ++i) CHECK_OK(hc_submit(g, note, "n"));
    for (int i = 0; i < 3; ++i) CHECK_OK(submit_as(g, note, "h", high));
    CHECK_OK(hc_task_wait(promise, HC_NEVER, HC_WAIT_HELP_ANY, NULL));
}

static void who_helps_keeps_the_order(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        CHECK_OK(hc_task_promise(g, &promise));
        forget();
        CHECK_OK(hc_submit(g, helps, NULL));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_STR(notes, "hhhnnnl");
        hc_task_unref(promise);
        CHECK_OK(hc_group_destroy(g));
    }
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_SHARED; ++kind) { /* a thread from outside */
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        CHECK_OK(hc_task_promise(g, &promise));
        forget();
        gate_hold(g, &at);
        CHECK_OK(submit_as(g, keep_promise, "l", low));
        CHECK_OK(hc_submit(g, note, "n"));
        CHECK_OK(submit_as(g, note, "h", high));
        CHECK_OK(hc_task_wait(promise, HC_NEVER, HC_WAIT_HELP_ANY, NULL));
        CHECK_STR(notes, "hnl");
        gate_open(&at);
        hc_task_unref(promise);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void a_continuation_has_a_priority(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        hc_task_options options = HC_TASK_OPTIONS_INIT;
        hc_task *first = NULL;
        forget();
        gate_hold(g, &at);
        options.fn = note;
        options.arg = "1";
        CHECK_OK(hc_task_submit(g, &options, &first));
        options.arg = "l";
        options.priority = low;
        CHECK_OK(hc_task_then(first, &options, NULL));
        options.arg = "n";
        options.priority = normal;
        CHECK_OK(hc_task_then(first, &options, NULL));
        options.arg = "h";
        options.priority = high;
        CHECK_OK(hc_task_then(first, &options, NULL));
        CHECK_OK(hc_submit(g, note, "2"));
        gate_open(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_STR(notes, "1h2nl");
        hc_task_unref(first);
        CHECK_OK(hc_group_destroy(g));
    }
}

static void a_cancelled_task_of_a_level_does_not_run(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    atomic_int n = 0;
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    hc_task *t = NULL;
    options.fn = count_task;
    options.arg = &n;
    options.priority = high;
    CHECK_OK(hc_task_submit(g, &options, &t));
    CHECK_RC(hc_task_cancel(t), HC_REMOVED);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(n, 0);
    hc_task_unref(t);
}

static void drop_expired(void *arg, int32_t why) {
    CHECK_RC(why, HC_EEXPIRED);
    latch_down(arg);
}

static void a_task_of_a_level_expires(void) {
    for (uint32_t p = high; p <= low; ++p)
        for (int label = 0; label < 2; ++label) { /* found in a lane's records, or in an inbox's */
            hc_group *g = group_of_kind(label ? HC_KIND_SHARED : HC_KIND_STEALING, 1);
            gate at = GATE;
            latch gone = LATCH(1);
            hc_task_options options = HC_TASK_OPTIONS_INIT;
            gate_hold(g, &at);
            options.fn = note;
            options.arg = &gone;
            options.drop = drop_expired;
            options.label = label ? "a label" : NULL;
            options.priority = p;
            options.queue_expiry = 1000000;
            CHECK_OK(hc_task_submit(g, &options, NULL));
            latch_wait(&gone); /* though the only worker is busy */
            gate_open(&at);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- A full group -------------------------------------------------------------------------------------------------- */

static hc_group *full_group(uint32_t kind, uint32_t policy, gate *at) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = 1;
    options.capacity = 3;
    options.full_policy = policy;
    hc_group *g = fixed_with(&options);
    forget();
    gate_hold(g, at);
    return g;
}

static void the_levels_share_the_capacity(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        gate at = GATE;
        hc_group *g = full_group(kind, HC_FULL_FAIL, &at);
        for (uint32_t p = normal; p <= low; ++p) CHECK_OK(submit_as(g, note, &"nhl"[p], p)); /* by its number */
        for (uint32_t p = normal; p <= low; ++p) CHECK_RC(submit_as(g, note, "x", p), HC_EFULL);
        gate_open(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_STR(notes, "hnl");
        for (int i = 0; i < 1000; ++i) { /* and give it back, one by one */
            int rc;
            UNTIL((rc = submit_as(g, note, "x", (uint32_t)i % 3)) != HC_EFULL);
            CHECK_OK(rc);
        }
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(noted, 1003);
    }
}

static void run_here(void *arg) {
    CHECK_EQ(hc_worker_index(), -1);
    note(arg);
}

static void a_full_group_runs_a_level_here(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t p = high; p <= low; ++p) {
            gate at = GATE;
            hc_group *g = full_group(kind, HC_FULL_RUN, &at);
            for (int i = 0; i < 3; ++i) CHECK_OK(submit_as(g, note, "q", p));
            CHECK_OK(submit_as(g, run_here, "r", p));
            CHECK_STR(notes, "r");
            gate_open(&at);
            CHECK_OK(hc_group_destroy(g));
            CHECK_STR(notes, "rqqq");
        }
}

static void drop(void *arg, int32_t why) {
    CHECK_RC(why, HC_EDROPPED);
    note(arg);
}
static void submit_or_drop(hc_group *g, const char *arg, uint32_t priority) {
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = note;
    options.arg = (void *)arg;
    options.drop = drop;
    options.priority = priority;
    CHECK_OK(hc_task_submit(g, &options, NULL));
}

static void none_pushes_out_what_is_above_it(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        gate at = GATE;
        hc_group *g = full_group(kind, HC_FULL_DROP_OLDEST, &at);
        submit_or_drop(g, "1", low);
        submit_or_drop(g, "2", normal);
        submit_or_drop(g, "3", low);
        submit_or_drop(g, "4", low); /* its own oldest: 1 */
        submit_or_drop(g, "5", normal); /* LOW's oldest: 3 */
        submit_or_drop(g, "6", high);  /* and the last of it: 4 */
        submit_or_drop(g, "7", low);   /* itself */
        submit_or_drop(g, "8", high);  /* the oldest of the normal ones: 2 */
        submit_or_drop(g, "9", normal); /* its own: 5 */
        submit_or_drop(g, "a", high);  /* 9 */
        submit_or_drop(g, "b", normal); /* itself: only HIGH is queued */
        submit_or_drop(g, "c", high);  /* its own oldest: 6 */
        CHECK_STR(notes, "1347259b6");
        gate_open(&at);
        CHECK_OK(hc_group_destroy(g));
        CHECK_STR(notes, "1347259b68ac");
    }
}

static void *wait_for_room(void *arg) {
    CHECK_OK(submit_as(arg, note, "w", high));
    return NULL;
}

static void who_waits_for_room_gets_it(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        gate at = GATE;
        hc_group *g = full_group(kind, HC_FULL_WAIT, &at);
        for (int i = 0; i < 3; ++i) CHECK_OK(submit_as(g, note, "q", low));
        pthread_t waiter = thread_start(wait_for_room, g);
        gate_open(&at);
        thread_join(waiter);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(noted, 4);
    }
}

/* ---- The end ------------------------------------------------------------------------------------------------------- */

static void count_drop(void *arg, int32_t why) { /* by the worker and by who awaits */
    CHECK_RC(why, HC_ESHUTDOWN);
    count_task(arg);
}

static void a_shutdown_knows_the_levels(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int now = 0; now < 2; ++now) {
            hc_group *g = group_of_kind(kind, 1);
            gate at = GATE;
            hc_task_options options = HC_TASK_OPTIONS_INIT;
            atomic_int n = 0;
            gate_hold(g, &at);
            options.fn = count_task;
            options.arg = &n;
            options.drop = count_drop;
            for (int i = 0; i < 300; ++i) {
                options.priority = i % 2 ? high : low;
                CHECK_OK(hc_task_submit(g, &options, NULL));
            }
            CHECK_EQ(stats_of(g).queued, 300);
            CHECK_OK(hc_group_shutdown(g, now ? HC_SHUTDOWN_NOW : HC_SHUTDOWN_DRAIN));
            CHECK_RC(hc_task_submit(g, &options, NULL), HC_ESHUTDOWN);
            gate_open(&at);
            CHECK_OK(hc_group_await(g, HC_NEVER));
            CHECK_EQ(n, 300);
            CHECK_EQ(stats_of(g).unrun, now ? 300 : 0);
            CHECK_OK(hc_group_destroy(g));
        }
    /* Its queue was not made, and is not made any more. */
    hc_group *g = group_of(1);
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
    CHECK_RC(submit_as(g, note, "x", high), HC_ESHUTDOWN);
    CHECK_RC(submit_as(g, note, "x", low), HC_ESHUTDOWN);
    CHECK_OK(hc_group_destroy(g));
}

static void await_hands_back_behind_a_stuck_worker(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    atomic_int n = 0;
    gate_hold(g, &at);
    options.fn = count_task;
    options.arg = &n;
    options.drop = count_drop;
    for (uint32_t i = 0; i < 10; ++i) {
        options.priority = i % 3;
        CHECK_OK(hc_task_submit(g, &options, NULL));
    }
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_RC(hc_group_await(g, 1), HC_ETIMEDOUT);
    CHECK_EQ(n, 10);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
}

/* The child of a task comes back out of it, into a worker that has a batch, and HIGH is queued. */
static atomic_int parents_ran;

static void fork_and_go_on(void *arg) {
    (void)arg;
    CHECK_OK(submit_as(hc_group_current(), count_task, &parents_ran, high));
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(20);
        CHECK_RC(submit_as(hc_group_current(), note, "x", high), HC_EINVAL); /* no group is current any more */
        return;
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
}

static void a_forked_child_runs_nothing_of_the_parent(void) {
    if (CHECK_SLOWER > 1) return; /* a sanitizer takes the end of such a child amiss: it finds leaks, or locks of its own */
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    CHECK_OK(hc_submit(g, fork_and_go_on, NULL));
    for (int i = 0; i < 10; ++i) CHECK_OK(hc_submit(g, count_task, &parents_ran));
    gate_open(&at);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(parents_ran, 11);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- What is refused ----------------------------------------------------------------------------------------------- */

static void what_does_not_go_together_is_refused(void) {
    hc_group *g = group_of(1);
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = note;
    options.arg = "x";
    for (unsigned i = 3; i < 40; ++i) {
        options.priority = i < 32 ? i : UINT32_MAX - i + 32;
        CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
    }
    for (uint32_t p = high; p <= low; ++p) {
        options.priority = p;
        hc_timer_options timer = HC_TIMER_OPTIONS_INIT;
        timer.task = &options;
        CHECK_RC(hc_timer_create(g, &timer, NULL), HC_EINVAL);
        options.key_mode = 1;
        CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
        options.key_mode = 0;
        options.serial = (hc_serial *)&options;
        CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
        options.serial = NULL;
        options.scope = (hc_scope *)&options;
        CHECK_RC(hc_task_submit(g, &options, NULL), HC_EINVAL);
        options.scope = NULL;
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Memory: process-wide, and so in a child ------------------------------------------------------------------------ */

static counting memory = COUNTING;

static void use_first(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t p = high; p <= low; ++p)
            for (int way = 0; way < 3; ++way) { /* plain, with a label, held */
                bool short_of = true;
                for (int n = 0; short_of; ++n) {
                    hc_group *g = group_of_kind(kind, 1);
                    hc_task_options options = HC_TASK_OPTIONS_INIT;
                    hc_task *t = NULL, **out = way == 2 ? &t : NULL;
                    atomic_int ran = 0;
                    options.fn = count_task;
                    options.arg = &ran;
                    options.priority = p;
                    if (way == 1) options.label = "a label";
                    counting_fail_after(&memory, n);
                    int rc = hc_task_submit(g, &options, out);
                    short_of = counting_read(&memory, &memory.failed) != 0;
                    counting_fail_after(&memory, -1);
                    if (short_of) CHECK_RC(rc, HC_ENOMEM);
                    if (rc == HC_ENOMEM) CHECK_OK(hc_task_submit(g, &options, out));
                    hc_task_unref(t);
                    CHECK_OK(hc_group_destroy(g));
                    CHECK_EQ(ran, 1);
                }
            }
}

static void a_first_use_may_find_no_memory(void) {
    CHECK_OK(hc_allocator_set(counting_alloc, counting_free, &memory));
    on_own_thread(use_first);
    CHECK_EQ(counting_read(&memory, &memory.blocks), 0);
}

int main(void) {
    check_deadline(100);
    RUN_FORKED(a_first_use_may_find_no_memory);
    RUN(what_does_not_go_together_is_refused);
    RUN(high_comes_first_and_low_last);
    RUN(high_comes_before_what_a_worker_has_taken_up);
    RUN(high_comes_before_what_a_pause_has_interrupted);
    RUN(of_129_one_is_another);
    RUN(a_flood_above_it_leaves_low_its_share);
    RUN(a_flood_of_high_leaves_the_others_their_share);
    RUN(high_and_low_wake_whoever_sleeps);
    RUN(a_group_without_workers_gets_one);
    RUN(many_submit_at_once);
    RUN(who_helps_keeps_the_order);
    RUN(a_continuation_has_a_priority);
    RUN(a_cancelled_task_of_a_level_does_not_run);
    RUN(a_task_of_a_level_expires);
    RUN(the_levels_share_the_capacity);
    RUN(a_full_group_runs_a_level_here);
    RUN(none_pushes_out_what_is_above_it);
    RUN(who_waits_for_room_gets_it);
    RUN(a_shutdown_knows_the_levels);
    RUN(await_hands_back_behind_a_stuck_worker);
    RUN(a_forked_child_runs_nothing_of_the_parent);
    return 0;
}
