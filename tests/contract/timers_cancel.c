/* Guards against: a cancelled timer that fires nevertheless, an answer that does not say what it was, a cancel_wait that
 * returns while the body runs or waits for itself, a body that is not told. */
#include "timed.h"

/* ---- Before it fires ---------------------------------------------------------------------------------------------------- */

static void ended_for_good(hc_timer *t) {
    CHECK_EQ(hc_timer_cancel(t), HC_DONE);
    CHECK_EQ(hc_timer_cancel_wait(t, 0), HC_DONE);
    CHECK_EQ(hc_timer_cancel_wait(t, HC_NEVER), HC_DONE);
    CHECK_RC(hc_timer_arm(t, 0, 0), HC_ECANCELED);
    CHECK_RC(hc_timer_arm_at(t, hc_now(), 0), HC_ECANCELED);
    CHECK(remaining_of(t) == HC_NEVER);
}

static void cancel_pending(hc_group *g, uint32_t workers) {
    (void)workers;
    for (int wait = 0; wait < 2; ++wait)
        for (uint32_t mode = HC_TIMER_ONCE; mode <= HC_TIMER_DELAY; ++mode) {
            shot s = {0};
            hc_timer *t = repeating(g, shot_run, shot_drop, &s, mode, HOUR, mode == HC_TIMER_ONCE ? 0 : ms);
            CHECK_EQ(wait ? hc_timer_cancel_wait(t, HC_NEVER) : hc_timer_cancel(t), HC_REMOVED);
            shot_check(&s, 0, 1, HC_ECANCELED); /* before it returns */
            ended_for_good(t);
            shot_check(&s, 0, 1, HC_ECANCELED);
            hc_timer_unref(t);
        }
    CHECK_EQ(stats_of(g).timers_pending, 0);
    CHECK_EQ(stats_of(g).timers_fired, 0);
}

static void a_pending_timer_is_removed(void) { in_all_groups(cancel_pending); }

/* Due, and nobody has come for it. */
static void a_due_timer_is_removed(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = group_of_kind(kind, 1);
        gate at = GATE;
        gate_hold(g, &at);
        shot s[4] = {0};
        hc_timer *t[4];
        for (int i = 0; i < 4; ++i) t[i] = timer_shot(g, &s[i], 1);
        for (int i = 0; i < 4; ++i) UNTIL(remaining_of(t[i]) == 0);
        CHECK_EQ(hc_timer_cancel(t[0]), HC_REMOVED);
        shot_check(&s[0], 0, 1, HC_ECANCELED);
        CHECK_EQ(arm_shot(t[1], &s[1], HOUR), HC_REMOVED); /* put off */
        CHECK_EQ(arm_shot(t[2], &s[2], 200 * us), HC_REMOVED);
        CHECK_EQ(hc_timer_arm(t[3], HC_NEVER, 0), HC_REMOVED);
        CHECK_EQ(hc_timer_arm(t[3], HC_NEVER, 0), HC_DONE);
        gate_open(&at);
        UNTIL(s[2].ran == 1);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        shot_check(&s[0], 0, 1, HC_ECANCELED);
        shot_check(&s[1], 0, 0, 0);
        shot_check(&s[2], 1, 0, 0);
        shot_check(&s[3], 0, 0, 0);
        CHECK(remaining_of(t[3]) == HC_NEVER);
        for (int i = 0; i < 4; ++i) hc_timer_unref(t[i]);
        CHECK_OK(hc_group_destroy(g));
        shot_check(&s[1], 0, 1, HC_ECANCELED);
        shot_check(&s[2], 1, 1, HC_OK);
        shot_check(&s[3], 0, 1, HC_OK);
    }
}

/* Due, and perhaps already in the hands of a worker that is stuck in another of the same time. */
enum { herd = 24 };
typedef struct sheep {
    struct flock *of;
    hc_timer *t;
    shot s;
} sheep;
typedef struct flock {
    sheep all[herd];
    latch inside, go;
    atomic_int first; /* + 1 */
} flock;

static void first_blocks(void *arg) {
    sheep *one = arg;
    int none = 0;
    if (atomic_compare_exchange_strong(&one->of->first, &none, (int)(one - one->of->all) + 1)) {
        latch_down(&one->of->inside);
        latch_wait(&one->of->go);
    }
    shot_run(&one->s);
}

static void sheep_drop(void *arg, int32_t why) { shot_drop(&((sheep *)arg)->s, why); }

static void what_is_taken_can_be_removed(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int round = 0; round < 10; ++round) {
            hc_group *g = group_of_kind(kind, 1);
            static flock f;
            memset(&f, 0, sizeof f);
            f.inside = (latch)LATCH(1);
            f.go = (latch)LATCH(1);
            const uint64_t when = hc_now() + 2 * ms;
            for (int i = 0; i < herd; ++i) {
                f.all[i].of = &f;
                f.all[i].s.due = when;
                hc_task_options task = options_of(first_blocks, &f.all[i]);
                task.drop = sheep_drop;
                hc_timer_options options = timer_options_of(&task, HC_TIMER_ONCE, 0, 0);
                options.when = when;
                f.all[i].t = timer_with(g, &options);
            }
            latch_wait(&f.inside);
            for (int i = 0; i < herd; ++i) {
                sheep *one = &f.all[i];
                UNTIL(hc_now() >= when + 1024);
                if (i == f.first - 1) continue;
                CHECK_EQ(remaining_of(one->t), 0);
                switch (i % 5) {
                    case 0: CHECK_EQ(hc_timer_cancel(one->t), HC_REMOVED); break;
                    case 1: CHECK_EQ(arm_shot(one->t, &one->s, HOUR), HC_REMOVED); break;
                    case 2: /* gone, and to come again at once */
                        CHECK_EQ(hc_timer_arm(one->t, HC_NEVER, 0), HC_REMOVED);
                        CHECK_EQ(arm_shot(one->t, &one->s, i % 2 == 0 ? 1 : 300 * us), HC_DONE);
                        break;
                    case 3: hc_timer_unref(one->t); break;
                    default: break;
                }
            }
            latch_down(&f.go);
            for (int i = 0; i < herd; ++i)
                if (i == f.first - 1 || i % 5 == 2 || i % 5 == 4) UNTIL(f.all[i].s.ran == 1);
            CHECK_OK(hc_group_drain(g, HC_NEVER));
            for (int i = 0; i < herd; ++i) {
                shot *s = &f.all[i].s;
                const bool was_first = i == f.first - 1;
                if (was_first || i % 5 == 2 || i % 5 == 4)
                    shot_check(s, 1, 0, 0);
                else
                    shot_check(s, 0, i % 5 != 1, HC_ECANCELED);
                if (was_first || i % 5 != 3) hc_timer_unref(f.all[i].t);
                CHECK_EQ(s->dropped, 1);
            }
            CHECK_OK(hc_group_destroy(g));
            for (int i = 0; i < herd; ++i) CHECK_EQ(f.all[i].s.dropped, 1);
        }
}

/* ---- While it runs ---------------------------------------------------------------------------------------------------- */

typedef struct polite {
    latch inside;
    atomic_bool told, go;
    atomic_int ended, dropped, why;
} polite;

static void runs_until_told(void *arg) {
    polite *p = arg;
    CHECK_EQ(hc_task_cancelled(), 0);
    latch_down(&p->inside);
    UNTIL(hc_task_cancelled() == 1);
    p->told = true;
    UNTIL(p->go);
    p->ended += 1;
}

static void polite_drop(void *arg, int32_t why) {
    polite *p = arg;
    CHECK_EQ(p->ended, 1); /* not while it runs */
    p->why = why;
    p->dropped += 1;
}

static void cancel_running(hc_group *g, uint32_t workers) {
    (void)workers;
    for (uint32_t mode = HC_TIMER_ONCE; mode <= HC_TIMER_DELAY; ++mode) {
        polite p = {LATCH(1), false, false, 0, 0, 0};
        hc_timer *t =
            repeating(g, runs_until_told, polite_drop, &p, mode, 10 * us, mode == HC_TIMER_ONCE ? 0 : 10 * us);
        latch_wait(&p.inside);
        CHECK(remaining_of(t) == HC_NEVER);
        CHECK_EQ(hc_timer_arm(t, HOUR, 0), HC_RUNNING);
        CHECK_RC(hc_timer_cancel_wait(t, 0), HC_ETIMEDOUT);
        CHECK_EQ(hc_timer_cancel(t), HC_RUNNING);
        CHECK_RC(hc_timer_cancel_wait(t, 100 * us), HC_ETIMEDOUT);
        CHECK_RC(hc_timer_arm(t, 0, 0), HC_ECANCELED);
        UNTIL(p.told);
        CHECK_EQ(hc_timer_cancel(t), HC_RUNNING);
        CHECK_EQ(p.dropped, 0);
        p.go = true;
        CHECK_EQ(hc_timer_cancel_wait(t, HC_NEVER), HC_DONE);
        CHECK_EQ(p.ended, 1);
        ended_for_good(t);
        hc_timer_unref(t);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(p.ended, 1);
        CHECK_EQ(p.dropped, 1);
        CHECK_RC(p.why, HC_ECANCELED); /* the firing that was set while it ran */
    }
}

static void a_running_body_is_told_and_waited_for(void) { in_all_groups(cancel_running); }

/* After cancel_wait nothing of the timer does anything: its argument may go. */
static void touches_its_argument(void *arg) {
    for (int i = 0; i < 20; ++i) ((volatile char *)arg)[i] += 1;
}
static void drop_touches_too(void *arg, int32_t why) {
    (void)why;
    touches_its_argument(arg);
}

static void free_after_cancel_wait(hc_group *g, uint32_t workers) {
    (void)workers;
    for (unsigned i = 0; i < 600 / CHECK_SLOWER; ++i) {
        char *arg = calloc(20, 1);
        CHECK(arg != NULL);
        hc_timer *t = repeating(g, touches_its_argument, drop_touches_too, arg, HC_TIMER_RATE, i % 40 * us, us);
        for (unsigned spin = i % 64 * 40; spin > 0; --spin) __asm__ volatile("" ::: "memory");
        const int rc = hc_timer_cancel_wait(t, HC_NEVER);
        CHECK(rc == HC_REMOVED || rc == HC_DONE);
        memset(arg, 0, 20);
        free(arg);
        hc_timer_unref(t);
    }
}

static void after_cancel_wait_its_argument_may_go(void) { in_all_groups(free_after_cancel_wait); }

/* A drop belongs to the timer as well. */
typedef struct drop_gate {
    gate at;
    atomic_int dropped, in_body;
    atomic_bool body_go;
} drop_gate;

static void body_of_drop_gate(void *arg) {
    drop_gate *d = arg;
    d->in_body = 1;
    UNTIL(d->body_go);
}
static void slow_drop(void *arg, int32_t why) {
    drop_gate *d = arg;
    CHECK_RC(why, HC_OK);
    gate_task(&d->at);
    d->dropped += 1;
}
static void *opens_drop_gate(void *arg) {
    drop_gate *d = arg;
    latch_wait(&d->at.inside);
    for (int i = 0; i < 1000; ++i) sched_yield();
    gate_open(&d->at);
    return NULL;
}

static void cancel_wait_waits_for_the_drop(void) {
    for (int round = 0; round < 20; ++round) {
        hc_group *g = group_of(2);
        drop_gate d = {GATE, 0, 0, false};
        hc_timer *t = timer_of(g, body_of_drop_gate, slow_drop, &d, 0);
        UNTIL(d.in_body);
        CHECK_EQ(hc_timer_cancel(t), HC_RUNNING);
        pthread_t opener = thread_start(opens_drop_gate, &d);
        d.body_go = true;
        CHECK_EQ(hc_timer_cancel_wait(t, HC_NEVER), HC_DONE);
        CHECK_EQ(d.dropped, 1); /* afterwards nothing of the timer does anything */
        thread_join(opener);
        hc_timer_unref(t);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- From its own body -------------------------------------------------------------------------------------------------- */

typedef struct own {
    hc_timer *t;
    latch known;
    int how;
    atomic_int ran, dropped, why;
} own;

static void waits_for_its_end(void *arg) {
    own *o = arg;
    CHECK_RC(hc_timer_cancel_wait(o->t, HC_NEVER), HC_EDEADLK);
}

static void cancels_own(void *arg) {
    own *o = arg;
    latch_wait(&o->known);
    const uint64_t timeouts[] = {0, 1, ms, HC_NEVER};
    for (int i = 0; i < 4; ++i) CHECK_RC(hc_timer_cancel_wait(o->t, timeouts[i]), HC_EDEADLK);
    if (hc_group_slots(hc_group_current()) == 1) /* on top of the body: it would wait for what is below */
        CHECK_RC(end_of(held(hc_group_current(), waits_for_its_end, o)), HC_OK);
    CHECK_EQ(hc_task_cancelled(), 0); /* nothing has changed */
    o->ran += 1;
    if (o->ran < 3) return; /* so it fires again */
    CHECK_EQ(hc_timer_cancel(o->t), HC_RUNNING);
    CHECK_EQ(hc_task_cancelled(), 1);
    CHECK_EQ(hc_timer_cancel(o->t), HC_RUNNING);
    CHECK_RC(hc_timer_cancel_wait(o->t, HC_NEVER), HC_EDEADLK);
    CHECK_RC(hc_timer_arm(o->t, 0, 0), HC_ECANCELED);
    CHECK_EQ(o->dropped, 0);
}

static void own_drop(void *arg, int32_t why) {
    own *o = arg;
    o->why = why;
    o->dropped += 1;
}

static void cancel_own(hc_group *g, uint32_t workers) {
    (void)workers;
    for (uint32_t mode = HC_TIMER_RATE; mode <= HC_TIMER_DELAY; ++mode) {
        own o = {.known = LATCH(1)};
        o.t = repeating(g, cancels_own, own_drop, &o, mode, 0, 50 * us);
        latch_down(&o.known);
        UNTIL(o.dropped == 1);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        ended_for_good(o.t);
        hc_timer_unref(o.t);
        CHECK_EQ(o.ran, 3);
        CHECK_EQ(o.dropped, 1);
        CHECK_RC(o.why, HC_OK);
    }
}

static void a_body_may_cancel_itself(void) { in_all_groups(cancel_own); }

/* ---- The race ----------------------------------------------------------------------------------------------------------- */

static void cancel_races(hc_group *g, uint32_t workers) {
    (void)workers;
    for (unsigned i = 0; i < 1500 / CHECK_SLOWER; ++i) {
        shot s = {0};
        hc_timer *t = timer_shot(g, &s, i % 37 * us);
        for (unsigned spin = i % 101 * 50; spin > 0; --spin) __asm__ volatile("" ::: "memory");
        const int rc = i % 3 == 2 ? hc_timer_cancel_wait(t, HC_NEVER) : hc_timer_cancel(t);
        CHECK(rc >= HC_REMOVED && rc <= HC_DONE);
        if (rc == HC_REMOVED) shot_check(&s, 0, 1, HC_ECANCELED);
        UNTIL(s.dropped == 1);
        shot_check(&s, rc != HC_REMOVED, 1, rc == HC_REMOVED ? HC_ECANCELED : HC_OK);
        hc_timer_unref(t);
    }
}

static void cancel_races_with_firing(void) { in_all_groups(cancel_races); }

int main(void) {
    check_deadline(90);
    RUN(a_pending_timer_is_removed);
    RUN(a_due_timer_is_removed);
    RUN(what_is_taken_can_be_removed);
    RUN(a_running_body_is_told_and_waited_for);
    RUN(after_cancel_wait_its_argument_may_go);
    RUN(a_body_may_cancel_itself);
    RUN(cancel_races_with_firing);
    RUN(cancel_wait_waits_for_the_drop);
    return 0;
}
