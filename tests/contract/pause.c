/* Guards against: a group that begins something though it is paused, that does not go on, that waits in vain at its end, that
 * burns the CPU meanwhile; and a pause that reaches further than its group. */
#include "elastic.h"
#include "timed.h"

static const uint32_t pause_counts[] = {1, 2, 3, 8, 64};

typedef void (*paused_body)(hc_group *g, uint32_t workers);

static void in_all_paused(paused_body body) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < 5; ++i) {
            static char name[80];
            snprintf(name, sizeof name, "%s, kind %u, %u workers", check_case, kind, pause_counts[i]);
            const char *before = check_case;
            check_case = name;
            hc_group *g = group_of_kind(kind, pause_counts[i]);
            body(g, pause_counts[i]);
            CHECK_OK(hc_group_destroy(g));
            check_case = before;
        }
}

/* A worker may be just about to begin one: none is, once all sleep. */
static void all_sleep(hc_group *g) { UNTIL(stats_of(g).workers_parked == stats_of(g).workers); }

static void nothing_starts(hc_group *g, uint32_t workers) {
    atomic_int ran = 0;
    for (int round = 0; round < 5; ++round) {
        all_sleep(g);
        CHECK_OK(hc_group_pause(g));
        CHECK_OK(hc_group_pause(g)); /* twice is once */
        const int before = ran;
        for (int i = 0; i < 300; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
        hc_call calls[100];
        size_t accepted;
        for (int i = 0; i < 100; ++i) calls[i] = (hc_call){count_task, &ran};
        CHECK_OK(hc_submit_batch(g, calls, 100, &accepted));
        for (int i = 0; i < 20; ++i) sched_yield();
        CHECK_EQ(ran, before);
        CHECK_EQ(stats_of(g).queued, 400);
        CHECK_RC(hc_group_drain(g, 1), HC_ETIMEDOUT);
        CHECK_EQ(ran, before);
        CHECK_OK(hc_group_resume(g));
        UNTIL(ran == before + 400); /* with no help from a drain */
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    }
    CHECK_OK(hc_group_resume(g)); /* of one that is not paused */
    CHECK_OK(hc_submit(g, count_task, &ran));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(ran, 2001);
    (void)workers;
}

static void a_paused_group_begins_nothing(void) { in_all_paused(nothing_starts); }

/* Each worker of HC_KIND_PINNED has its own to wake up for. */
static void each_pinned_worker_goes_on(void) {
    hc_group *g = group_of_kind(HC_KIND_PINNED, 8);
    for (int round = 0; round < 300; ++round) {
        atomic_int ran = 0;
        CHECK_OK(hc_group_pause(g));
        const uint32_t to = (uint32_t)round % 8;
        CHECK_OK(hc_submit_to(g, to, count_task, &ran));
        CHECK_OK(hc_submit_to(g, 7 - to, count_task, &ran));
        CHECK_OK(hc_group_resume(g));
        UNTIL(ran == 2);
    }
    CHECK_OK(hc_group_destroy(g));
}

static void what_runs_goes_on(hc_group *g, uint32_t workers) {
    hold at;
    hold_all(g, &at, workers);
    atomic_int ran = 0;
    CHECK_OK(hc_group_pause(g));
    for (int i = 0; i < 50; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
    hold_release(&at);
    UNTIL(stats_of(g).workers_parked == workers);
    CHECK_EQ(ran, 0);
    CHECK_EQ(stats_of(g).finished, workers);
    CHECK_OK(hc_group_resume(g));
    UNTIL(ran == 50);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
}

static void tasks_that_run_go_on(void) { in_all_paused(what_runs_goes_on); }

/* One worker has taken them all; the first pauses its own group. */
static atomic_int after_pause;
static void pauses_its_group(void *arg) {
    (void)arg;
    CHECK_OK(hc_group_pause(hc_group_current()));
}

static void a_batch_stops_after_its_task(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t workers = 1; workers <= 8; workers *= 2) {
            hc_group *g = group_of_kind(kind, workers);
            for (int round = 0; round < 20; ++round) {
                hold at;
                hc_call calls[200];
                size_t accepted;
                after_pause = 0;
                hold_all(g, &at, workers);
                calls[0] = (hc_call){pauses_its_group, NULL};
                for (int i = 1; i < 200; ++i) calls[i] = (hc_call){count_task, &after_pause};
                CHECK_OK(hc_submit_batch(g, calls, 200, &accepted));
                hold_release(&at);
                UNTIL(stats_of(g).workers_parked == workers);
                if (workers == 1) CHECK_EQ(after_pause, 0);
                const int before = after_pause;
                for (int i = 0; i < 20; ++i) sched_yield();
                CHECK_EQ(after_pause, before);
                CHECK_RC(hc_group_drain(g, 1), before < 199 ? HC_ETIMEDOUT : HC_OK);
                if (round % 2 == 0) { /* the others come after the rest of the batch */
                    atomic_int more = 0;
                    CHECK_OK(hc_submit(g, count_task, &more));
                    CHECK_OK(hc_group_resume(g));
                    UNTIL(more == 1);
                } else {
                    CHECK_OK(hc_group_resume(g));
                }
                UNTIL(after_pause == 199);
                CHECK_OK(hc_group_drain(g, HC_NEVER));
            }
            CHECK_OK(hc_group_destroy(g));
        }
}

static void the_pause_of_one_group_leaves_others(void) {
    hc_group *a = group_of(2), *b = group_of(2);
    atomic_int ran_a = 0, ran_b = 0;
    all_sleep(a);
    CHECK_OK(hc_group_pause(a));
    for (int i = 0; i < 100; ++i) {
        CHECK_OK(hc_submit(a, count_task, &ran_a));
        CHECK_OK(hc_submit(b, count_task, &ran_b));
    }
    CHECK_OK(hc_group_drain(b, HC_NEVER));
    CHECK_EQ(ran_b, 100);
    CHECK_EQ(ran_a, 0);
    CHECK_OK(hc_group_destroy(b));
    CHECK_OK(hc_group_destroy(a)); /* which resumes */
    CHECK_EQ(ran_a, 100);
}

/* ---- Who waits helps ------------------------------------------------------------------------------------------------- */

static void one_piece(void *arg, uint64_t begin, uint64_t end) { atomic_fetch_add((atomic_int *)arg, (int)(end - begin)); }

static void forked_count(hc_worker *w, void *arg) {
    (void)w;
    count_task(arg);
}

static void helps_with_its_own(hc_group *g, uint32_t workers) {
    (void)workers;
    atomic_int ran = 0, strangers = 0;
    hc_scope *s = NULL;
    all_sleep(g);
    CHECK_OK(hc_group_pause(g));
    CHECK_OK(hc_submit(g, count_task, &strangers));
    CHECK_RC(end_of(held(g, count_task, &ran)), HC_OK);
    CHECK_EQ(ran, 1);
    CHECK_OK(hc_scope_create(g, &s));
    for (int i = 0; i < 50; ++i) CHECK_OK(hc_scope_submit(s, count_task, &ran, NULL));
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
    CHECK_EQ(ran, 51);
    CHECK_OK(hc_scope_destroy(s));
    CHECK_OK(hc_group_for(g, 0, 1000, 1, one_piece, &ran));
    CHECK_EQ(ran, 1051);
    hc_worker *w;
    hc_fork f;
    CHECK_OK(hc_worker_enter(g, &w));
    CHECK(hc_fork_join_fast(hc_fork_push_fast(w, &f, forked_count, &ran), &f) == w);
    hc_worker_leave(w);
    CHECK_EQ(ran, 1052);
    hc_task *t = held(g, count_task, &ran);
    CHECK_RC(hc_task_wait(t, 1, HC_WAIT_NO_HELP, NULL), HC_ETIMEDOUT);
    CHECK_EQ(ran, 1052);
    CHECK_EQ(strangers, 0);
    CHECK_OK(hc_group_resume(g));
    CHECK_OK(hc_task_wait(t, HC_NEVER, HC_WAIT_NO_HELP, NULL));
    hc_task_unref(t);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    CHECK_EQ(ran, 1053);
    CHECK_EQ(strangers, 1);
}

static void who_waits_helps_while_it_is_paused(void) { in_all_paused(helps_with_its_own); }

/* ---- Timers ---------------------------------------------------------------------------------------------------------- */

static void fire_afterwards(hc_group *g, uint32_t workers) {
    (void)workers;
    shot shots[20];
    memset((void *)shots, 0, sizeof shots);
    all_sleep(g);
    CHECK_OK(hc_group_pause(g));
    for (int i = 0; i < 20; ++i) shoot(g, &shots[i], (uint64_t)i * 50 * us);
    hc_timer *t = timer_shot(g, &(shot){.ran = 0}, HC_NEVER);
    shot with_handle = {.ran = 0};
    hc_timer *u = timer_shot(g, &with_handle, 200 * us);
    while (hc_now() < shots[19].due + 2 * ms) sched_yield();
    for (int i = 0; i < 20; ++i) CHECK_EQ(shots[i].ran, 0);
    CHECK_EQ(with_handle.ran, 0);
    CHECK_EQ(remaining_of(u), 0);
    CHECK_OK(hc_group_resume(g));
    for (int i = 0; i < 20; ++i) UNTIL(shots[i].ran == 1);
    UNTIL(with_handle.ran == 1);
    hc_timer_unref(t);
    hc_timer_unref(u);
    CHECK_OK(hc_group_drain(g, HC_NEVER));
}

static void timers_fire_afterwards(void) { in_all_paused(fire_afterwards); }

/* Nobody looks around while nothing may begin: neither for tasks, nor for timers that are due, nor because it might leave. */
static void a_paused_group_is_quiet(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int with = 1; with <= 3; ++with) {
            hc_group_options options = HC_GROUP_OPTIONS_INIT;
            options.kind = kind;
            options.max_workers = 8;
            options.keep_alive = 20 * us;
            options.min_workers = kind == HC_KIND_PINNED ? 0 : HC_NONE32;
            hc_group *g = group_with(&options);
            hold at;
            atomic_int ran = 0, fired = 0;
            if (kind != HC_KIND_PINNED)
                hold_all(g, &at, 8);
            else
                all_sleep(g);
            CHECK_OK(hc_group_pause(g));
            if ((with & 1) != 0)
                for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
            if ((with & 2) != 0)
                for (int i = 0; i < 100; ++i) CHECK_OK(hc_schedule(g, count_task, &fired, (uint64_t)i * 50 * us + 1));
            if (kind != HC_KIND_PINNED) hold_release(&at);
            UNTIL(stats_of(g).workers_parked == stats_of(g).workers);
            const uint64_t before = stats_of(g).parks, until = hc_now() + 60 * ms;
            while (hc_now() < until) sched_yield();
            CHECK_EQ(ran + fired, 0);
            const uint64_t parks = stats_of(g).parks - before;
            CHECK(parks <= 100);
            CHECK_OK(hc_group_resume(g));
            UNTIL(ran == ((with & 1) != 0 ? 100 : 0) && fired == ((with & 2) != 0 ? 100 : 0));
            CHECK_OK(hc_group_destroy(g));
        }
}

/* ---- The end --------------------------------------------------------------------------------------------------------- */

static atomic_int unrun;
static void on_unrun(void *user, hc_fn fn, void *arg, int32_t why) {
    (void)user, (void)fn, (void)arg;
    CHECK_RC(why, HC_ESHUTDOWN);
    unrun += 1;
}

static void a_paused_group_ends(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int way = 0; way < 6; ++way)
            for (int i = 0; i < 4; ++i) {
                hc_group_options options = HC_GROUP_OPTIONS_INIT;
                options.kind = kind;
                options.max_workers = pause_counts[i];
                options.min_workers = way == 5 && kind != HC_KIND_PINNED ? HC_NONE32 : 0;
                options.on_unrun = on_unrun;
                static atomic_int ran;
                ran = unrun = 0;
                hc_group *g = group_with(&options);
                CHECK_OK(hc_group_pause(g));
                for (int k = 0; k < 100; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
                CHECK_OK(hc_schedule(g, count_task, &ran, way == 2 ? 1 * ms : HOUR));
                switch (way) {
                    case 0: CHECK_OK(hc_group_destroy(g)); break;
                    case 1:
                        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
                        CHECK_OK(hc_group_destroy(g));
                        break;
                    case 2:
                        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
                        CHECK_RC(hc_group_pause(g), HC_ESHUTDOWN);
                        CHECK_RC(hc_group_resume(g), HC_ESHUTDOWN);
                        CHECK_OK(hc_group_await(g, HC_NEVER));
                        CHECK_OK(hc_group_destroy(g));
                        break;
                    case 3: hc_group_unref(g); break;
                    default:
                        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
                        CHECK_OK(hc_group_await(g, HC_NEVER));
                        CHECK_OK(hc_group_destroy(g));
                        break;
                }
                UNTIL(ran + unrun == 101);
                if (way != 1) CHECK_EQ(ran, way == 2 ? 101 : 100);
            }
}

static void *drain_for_ever(void *arg) {
    CHECK_OK(hc_group_drain(arg, HC_NEVER));
    return NULL;
}

static void a_drain_ends_after_the_resume(hc_group *g, uint32_t workers) {
    (void)workers;
    atomic_int ran = 0;
    all_sleep(g);
    CHECK_OK(hc_group_pause(g));
    CHECK_OK(hc_group_drain(g, HC_NEVER)); /* there is nothing */
    for (int i = 0; i < 10; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
    pthread_t waiter = thread_start(drain_for_ever, g);
    CHECK_RC(hc_group_drain(g, 1000), HC_ETIMEDOUT);
    CHECK_EQ(ran, 0);
    CHECK_OK(hc_group_resume(g));
    thread_join(waiter);
    CHECK_EQ(ran, 10);
}

static void drains_wait_for_the_resume(void) { in_all_paused(a_drain_ends_after_the_resume); }

/* ---- All at once ----------------------------------------------------------------------------------------------------- */

typedef struct presser {
    hc_group *g;
    atomic_int *ran;
    atomic_bool *over;
    unsigned seed;
    int accepted;
} presser;

static void *pause_and_resume(void *arg) {
    presser *p = arg;
    while (!*p->over) {
        CHECK_OK(hc_group_pause(p->g));
        dawdle(next_random(&p->seed) % 3000);
        CHECK_OK(hc_group_resume(p->g));
        dawdle(next_random(&p->seed) % 3000);
    }
    return NULL;
}

static void *submit_a_lot(void *arg) {
    presser *p = arg;
    for (int i = 0; i < 4000 / (int)CHECK_SLOWER; ++i) {
        if (i % 16 == 0)
            CHECK_OK(hc_schedule(p->g, count_task, p->ran, next_random(&p->seed) % (50 * us)));
        else
            CHECK_OK(hc_submit(p->g, count_task, p->ran));
        ++p->accepted;
        if (i % 64 == 0) dawdle(next_random(&p->seed) % 20000);
    }
    return NULL;
}

static void pauses_from_many_threads(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int elastic = 0; elastic < (kind == HC_KIND_PINNED ? 1 : 2); ++elastic)
            for (uint32_t workers = 1; workers <= 3; ++workers) {
                hc_group_options options = HC_GROUP_OPTIONS_INIT;
                options.kind = kind;
                options.max_workers = workers;
                options.keep_alive = 10 * us;
                if (elastic != 0) options.min_workers = HC_NONE32;
                hc_group *g = group_with(&options);
                atomic_int ran = 0;
                atomic_bool stop = false;
                presser p[4];
                pthread_t ids[4];
                for (int i = 0; i < 4; ++i) {
                    p[i] = (presser){g, &ran, &stop, (unsigned)i + 1, 0};
                    ids[i] = thread_start(i < 2 ? pause_and_resume : submit_a_lot, &p[i]);
                }
                thread_join(ids[2]);
                thread_join(ids[3]);
                stop = true;
                thread_join(ids[0]);
                thread_join(ids[1]);
                CHECK_OK(hc_group_resume(g));
                UNTIL(ran == p[2].accepted + p[3].accepted);
                CHECK_OK(hc_group_destroy(g));
            }
}

/* A shutdown and a pause at once: it ends. */
static void *pause_until_refused(void *arg) {
    int rc;
    while ((rc = hc_group_pause(arg)) == HC_OK) {
    }
    CHECK_RC(rc, HC_ESHUTDOWN);
    return NULL;
}

static void a_shutdown_beats_a_pause(void) {
    for (int round = 0; round < 300 / (int)CHECK_SLOWER; ++round) {
        hc_group *g = group_of((uint32_t)round % 3 + 1);
        atomic_int ran = 0;
        pthread_t other = thread_start(pause_until_refused, g);
        for (int i = 0; i < 20; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
        CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_DRAIN));
        CHECK_OK(hc_group_await(g, HC_NEVER));
        thread_join(other);
        CHECK_EQ(ran, 20);
        CHECK_OK(hc_group_destroy(g));
    }
}

int main(int argc, char **argv) {
    check_deadline(90);
#define CASE(name) \
    if (argc < 2 || strstr(#name, argv[1]) != NULL) RUN(name)
    CASE(a_paused_group_begins_nothing);
    CASE(each_pinned_worker_goes_on);
    CASE(tasks_that_run_go_on);
    CASE(a_batch_stops_after_its_task);
    CASE(the_pause_of_one_group_leaves_others);
    CASE(who_waits_helps_while_it_is_paused);
    CASE(timers_fire_afterwards);
    CASE(a_paused_group_is_quiet);
    CASE(a_paused_group_ends);
    CASE(drains_wait_for_the_resume);
    CASE(pauses_from_many_threads);
    CASE(a_shutdown_beats_a_pause);
    return 0;
}
