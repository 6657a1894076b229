/* Guards against: a timer that fires early, twice or never, wherever it is set and whatever its time; one that overtakes
 * what was submitted before, is refused for want of room, or makes a drain wait for what is not due. */
#include "timed.h"

/* ---- Once, and not early --------------------------------------------------------------------------------------------- */

static const uint64_t delays[] = {0,       1,        999, 1023,   1024,        1025,   20 * us,
                                  64 * us, 300 * us, ms,  2 * ms, 5 * ms + 17, 10 * ms};
enum { n_delays = sizeof delays / sizeof delays[0] };

static void fire_once(hc_group *g, uint32_t workers) {
    static shot shots[4][n_delays];
    (void)workers;
    memset(shots, 0, sizeof shots);
    hc_timer *timers[n_delays];
    for (int i = 0; i < n_delays; ++i) {
        shoot(g, &shots[0][i], delays[i]);
        shots[1][i].due = hc_now() + delays[i];
        CHECK_OK(hc_schedule_at(g, shot_run, &shots[1][i], shots[1][i].due));
        timers[i] = timer_shot(g, &shots[2][i], delays[i]);
        hc_task_options task = options_of(shot_run, &shots[3][i]);
        task.drop = shot_drop;
        hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, 0, 0);
        shots[3][i].due = options.when = hc_now() + delays[i];
        CHECK_OK(hc_timer_create(g, &options, NULL));
        memset(&options, 0xAA, sizeof options); /* copied */
        memset(&task, 0xAA, sizeof task);
    }
    for (int i = 0; i < n_delays; ++i) {
        for (int way = 0; way < 4; ++way) UNTIL(shots[way][i].ran == 1);
        UNTIL(shots[3][i].dropped == 1); /* without a handle its series ends with its last */
        CHECK_RC(shots[3][i].why, HC_OK);
        CHECK_EQ(shots[2][i].dropped, 0);
        CHECK_EQ(hc_timer_cancel_wait(timers[i], HC_NEVER), HC_DONE);
        CHECK_EQ(shots[2][i].dropped, 1);
        hc_timer_unref(timers[i]);
    }
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    for (int way = 0; way < 4; ++way)
        for (int i = 0; i < n_delays; ++i) shot_check(&shots[way][i], 1, way >= 2, HC_OK);
    CHECK_EQ(stats_of(g).timers_pending, 0);
}

static void each_fires_once_and_not_early(void) { in_all_groups(fire_once); }

/* From a task, the ledgers must outlive it. */
enum { inside = 20 };
static shot inner[inside];

static void schedules(void *arg) {
    (void)arg;
    for (int i = 0; i < inside; ++i) shoot(hc_group_current(), &inner[i], (uint64_t)i * 40 * us);
}

static void schedules_in_a_drop(void *arg, int32_t why) {
    CHECK_RC(why, HC_ECANCELED);
    schedules(arg);
}

static void fire_from_inside(hc_group *g, uint32_t workers) {
    (void)workers;
    for (int way = 0; way < 3; ++way) {
        memset(inner, 0, sizeof inner);
        if (way == 0) CHECK_OK(hc_submit(g, schedules, NULL));
        if (way == 1) CHECK_OK(hc_schedule(g, schedules, NULL, 100 * us));
        if (way == 2) {
            hc_timer *t = timer_of(g, schedules, schedules_in_a_drop, NULL, HOUR);
            CHECK_EQ(hc_timer_cancel(t), HC_REMOVED);
            hc_timer_unref(t);
        }
        for (int i = 0; i < inside; ++i) UNTIL(inner[i].ran == 1);
    }
}

static void they_are_set_from_everywhere(void) { in_all_groups(fire_from_inside); }

/* Many threads that come and go, each with timers of its own. */
enum { n_threads = 8, each_sets = 200 };
typedef struct setter {
    hc_group *g;
    shot shots[each_sets];
} setter;

static void *sets_many(void *arg) {
    setter *s = arg;
    for (int i = 0; i < each_sets; ++i) shoot(s->g, &s->shots[i], (uint64_t)(i * 7919 % 3000) * us);
    return NULL;
}

static void set_by_many(hc_group *g, uint32_t workers) {
    static setter setters[n_threads];
    pthread_t threads[n_threads];
    (void)workers;
    memset(setters, 0, sizeof setters);
    for (int i = 0; i < n_threads; ++i) {
        setters[i].g = g;
        threads[i] = thread_start(sets_many, &setters[i]);
    }
    for (int i = 0; i < n_threads; ++i) thread_join(threads[i]);
    for (int i = 0; i < n_threads; ++i)
        for (int k = 0; k < each_sets; ++k) UNTIL(setters[i].shots[k].ran == 1);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    for (int i = 0; i < n_threads; ++i)
        for (int k = 0; k < each_sets; ++k) shot_check(&setters[i].shots[k], 1, 0, 0);
    CHECK_EQ(stats_of(g).submitted, stats_of(g).finished);
}

static void many_threads_set_them(void) { in_all_groups(set_by_many); }

static void many_at_once(hc_group *g, uint32_t workers) {
    enum { many = 3000 };
    static shot shots[many];
    (void)workers;
    memset(shots, 0, sizeof shots);
    const uint64_t when = hc_now() + 2 * ms;
    for (int i = 0; i < many; ++i) {
        shots[i].due = when;
        CHECK_OK(hc_schedule_at(g, shot_run, &shots[i], when));
    }
    for (int i = 0; i < many; ++i) UNTIL(shots[i].ran == 1);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    for (int i = 0; i < many; ++i) CHECK_EQ(shots[i].ran, 1);
}

static void many_have_the_same_time(void) { in_all_groups(many_at_once); }

/* ---- What has come is queued ------------------------------------------------------------------------------------------ */

static int order[6], n_in_order;
static void notes(void *arg) { order[n_in_order++] = (int)(intptr_t)arg; }

static void what_is_past_queues_in_order(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int round = 0; round < 50; ++round) {
            hc_group *g = group_of_kind(kind, 1);
            gate at = GATE;
            gate_hold(g, &at);
            n_in_order = 0;
            CHECK_OK(hc_submit(g, notes, (void *)0));
            CHECK_OK(hc_schedule(g, notes, (void *)1, 0));
            CHECK_OK(hc_schedule_at(g, notes, (void *)2, 0));
            CHECK_OK(hc_submit(g, notes, (void *)3));
            CHECK_OK(hc_schedule_at(g, notes, (void *)4, hc_now()));
            CHECK_OK(hc_submit(g, notes, (void *)5));
            CHECK_EQ(n_in_order, 0); /* through the queue: not at once */
            gate_open(&at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(n_in_order, 6);
            for (int i = 0; i < 6; ++i) CHECK_EQ(order[i], i);
            CHECK_OK(hc_group_destroy(g));
        }
}

/* Full is for those who submit. */
static void no_timer_is_refused_for_want_of_room(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t policy = HC_FULL_FAIL; policy <= HC_FULL_RUN; policy += HC_FULL_RUN) {
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.max_workers = 1;
            options.capacity = 2;
            options.full_policy = policy;
            hc_group *g = fixed_with(&options);
            gate at = GATE;
            gate_hold(g, &at);
            atomic_int ran = 0;
            for (int i = 0; i < 2; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
            if (policy == HC_FULL_FAIL) CHECK_RC(hc_submit(g, count_task, &ran), HC_EFULL);
            CHECK_EQ(ran, 0);
            static shot shots[200];
            memset(shots, 0, sizeof shots);
            for (int i = 0; i < 100; ++i) shoot(g, &shots[i], 0);
            for (int i = 100; i < 200; ++i) shoot(g, &shots[i], (uint64_t)i * us);
            for (int i = 0; i < 200; ++i) CHECK_EQ(shots[i].ran, 0); /* nor does its submitter run it */
            gate_open(&at);
            for (int i = 0; i < 200; ++i) UNTIL(shots[i].ran == 1);
            UNTIL(ran == 2);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_OK(hc_submit(g, count_task, &ran)); /* and its room is free again */
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, 3);
        }
}

/* ---- What has not --------------------------------------------------------------------------------------------------- */

static atomic_int came_back;
static void on_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    CHECK(user == &came_back && fn == shot_run);
    CHECK_RC(why, HC_ESHUTDOWN);
    CHECK_EQ(((shot *)arg)->ran, 0);
    came_back += 1;
}

static void far_times_do_not_come(void) {
    const uint64_t far[] = {HOUR, 100 * 365 * 24 * HOUR, UINT64_MAX / 2, UINT64_MAX - 1, HC_NEVER};
    enum { n = sizeof far / sizeof far[0] };
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kind;
        options.max_workers = 2;
        options.user = &came_back;
        options.on_unrun = on_unrun;
        hc_group *g = fixed_with(&options);
        shot shots[4][n] = {0}, near = {0};
        hc_timer *timers[n];
        came_back = 0;
        for (int i = 0; i < n; ++i) {
            shoot(g, &shots[0][i], far[i]);
            shots[1][i].due = far[i];
            CHECK_OK(hc_schedule_at(g, shot_run, &shots[1][i], i == 0 ? hc_now() + far[i] : far[i]));
            timers[i] = timer_shot(g, &shots[2][i], far[i]);
            const uint64_t left = remaining_of(timers[i]);
            if (far[i] >= UINT64_MAX - 1) /* beyond the end of time */
                CHECK(left == HC_NEVER);
            else
                CHECK(left > far[i] / 2);
        }
        shoot(g, &near, ms);
        UNTIL(near.ran == 1);
        CHECK_OK(hc_group_drain(g, HC_NEVER));               /* which does not wait for what is not due */
        CHECK_EQ(stats_of(g).timers_pending, 2 * n + n - 2); /* two with a handle rest */
        CHECK_EQ(stats_of(g).timers_fired, 1);
        CHECK_EQ(came_back, 0);
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(came_back, 2 * n);
        for (int i = 0; i < n; ++i) {
            hc_timer_unref(timers[i]);
            shot_check(&shots[0][i], 0, 0, 0);
            shot_check(&shots[1][i], 0, 0, 0);
            shot_check(&shots[2][i], 0, 1, far[i] >= UINT64_MAX - 1 ? HC_OK : HC_ESHUTDOWN);
        }
    }
}

/* From the moment that a worker takes it up it counts. */
static void a_drain_waits_for_a_body(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t workers = 1; workers <= 3; ++workers) {
            hc_group *g = group_of_kind(kind, workers);
            held_shot h = {GATE, 0, 0, 0};
            CHECK_OK(hc_schedule(g, held_shot_run, &h, 100 * us));
            latch_wait(&h.at.inside);
            CHECK_RC(hc_group_drain(g, 0), HC_ETIMEDOUT);
            CHECK_RC(hc_group_drain(g, ms), HC_ETIMEDOUT);
            gate_open(&h.at);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            CHECK_EQ(h.ran, 1);
            CHECK_OK(hc_group_destroy(g));
        }
}

static void remaining_goes_down_to_zero(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        gate_hold(g, &at);
        shot s = {0};
        hc_timer *t = timer_shot(g, &s, 3 * ms);
        CHECK(remaining_of(t) <= 3 * ms + 1024);
        UNTIL(remaining_of(t) == 0); /* due, and nobody is there */
        CHECK(hc_now() >= s.due);
        CHECK_EQ(s.ran, 0);
        CHECK_EQ(missed_of(t), 0);
        gate_open(&at);
        UNTIL(s.ran == 1);
        CHECK_EQ(hc_timer_cancel_wait(t, HC_NEVER), HC_DONE);
        CHECK(remaining_of(t) == HC_NEVER);
        hc_timer_unref(t);
        CHECK_OK(hc_group_destroy(g));
        shot_check(&s, 1, 1, HC_OK);
    }
}

/* ---- What a body sees ----------------------------------------------------------------------------------------------- */

static const char a_label[] = "a timer";
typedef struct sight {
    hc_group *g;
    const char *label;
    atomic_int ran;
} sight;

static void looks_around(void *arg) {
    sight *s = arg;
    CHECK(hc_group_current() == s->g);
    CHECK(hc_worker_index() >= 0 && (uint32_t)hc_worker_index() < hc_group_slots(s->g));
    CHECK(hc_task_label() == s->label);
    CHECK(hc_task_current() == NULL);
    CHECK_EQ(hc_task_cancelled(), 0);
    CHECK(hc_worker_self() != NULL);
    CHECK_RC(hc_group_drain(s->g, HC_NEVER), HC_EDEADLK);
    CHECK_RC(hc_task_fail(1, NULL, NULL), HC_EINVAL);
    s->ran += 1;
}

static void body_sees(hc_group *g, uint32_t workers) {
    (void)workers;
    sight plain = {g, NULL, 0}, labelled = {g, a_label, 0};
    for (int i = 0; i < 20; ++i) {
        hc_task_options task = options_of(looks_around, &labelled);
        task.label = a_label;
        const hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, 50 * us, 0);
        CHECK_OK(hc_timer_create(g, &options, NULL));
        CHECK_OK(hc_schedule(g, looks_around, &plain, 50 * us));
    }
    UNTIL(plain.ran == 20 && labelled.ran == 20);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
}

static void a_body_is_in_a_task_of_its_group(void) { in_all_groups(body_sees); }

int main(void) {
    check_deadline(90);
    RUN(each_fires_once_and_not_early);
    RUN(they_are_set_from_everywhere);
    RUN(many_threads_set_them);
    RUN(many_have_the_same_time);
    RUN(what_is_past_queues_in_order);
    RUN(no_timer_is_refused_for_want_of_room);
    RUN(far_times_do_not_come);
    RUN(a_drain_waits_for_a_body);
    RUN(remaining_goes_down_to_zero);
    RUN(a_body_is_in_a_task_of_its_group);
    return 0;
}
