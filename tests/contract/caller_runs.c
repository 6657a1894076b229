/* Guards against: a task that its submitter runs itself (HC_FULL_RUN) and that ends, empties or awaits groups under the
 * submit that is still to return: its own group, or one further out on the same stack. */
#include "check.h"

/* A group whose only worker is inside a gate and whose queue is full: the next submit runs its task itself. */
typedef struct full {
    hc_group *g;
    gate at;
    atomic_int queued_ran, stops;
} full;

static void count_stop(void *user, uint32_t index) {
    CHECK_EQ(index, 0);
    ((full *)user)->stops += 1;
}

static void fill(full *f, uint32_t kind) {
    *f = (full){NULL, GATE, 0, 0};
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = 1;
    options.capacity = 2;
    options.full_policy = HC_FULL_RUN;
    options.user = f;
    options.on_thread_stop = count_stop;
    f->g = fixed_with(&options);
    gate_hold(f->g, &f->at);
    for (int i = 0; i < 2; ++i) CHECK_OK(hc_submit(f->g, count_task, &f->queued_ran));
    CHECK_EQ(f->queued_ran, 0);
    CHECK_EQ(stats_of(f->g).queued, 2);
}

static full a, b;

/* ---- A task that destroys its own group under its submitter ----------------------------------------------------- */

enum way { singly, batched, with_label, pinned_to, ways };
static pthread_t submitter;
static atomic_int destroyed_here, after_it;

static void destroys_its_group(void *arg) {
    hc_group *g = arg;
    CHECK(pthread_equal(pthread_self(), submitter));
    CHECK_OK(hc_group_destroy(g)); /* which does not wait */
    CHECK(hc_group_current() == g);
    CHECK_RC(hc_submit(g, count_task, &after_it), HC_ESHUTDOWN);
    CHECK_RC(hc_group_await(g, 0), HC_EDEADLK);
    CHECK_EQ(hc_group_slots(g), 1);
    CHECK_EQ(stats_of(g).queued, 2);
    CHECK_EQ(a.stops, 0);
    destroyed_here += 1;
}

static void destroy_while_submitting(uint32_t kind, enum way way, bool and_await) {
    fill(&a, kind);
    destroyed_here = after_it = 0;
    hc_group_ref(a.g); /* the submitter's own */
    const hc_call calls[3] = {{destroys_its_group, a.g}, {count_task, &after_it}, {count_task, &after_it}};
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = destroys_its_group;
    options.arg = a.g;
    options.label = "destroys";
    size_t accepted = 99;
    switch (way) {
        case singly: CHECK_OK(hc_submit(a.g, destroys_its_group, a.g)); break;
        case batched: /* the rest of it comes too late */
            CHECK_RC(hc_submit_batch(a.g, calls, 3, &accepted), HC_ESHUTDOWN);
            CHECK_EQ(accepted, 1);
            break;
        case with_label: CHECK_OK(hc_task_submit(a.g, &options, NULL)); break;
        case pinned_to: CHECK_OK(hc_submit_to(a.g, 0, destroys_its_group, a.g)); break;
        case ways: break;
    }
    CHECK_EQ(destroyed_here, 1);
    CHECK_EQ(a.stops, 0);
    CHECK(hc_group_current() == NULL);
    CHECK_RC(hc_submit(a.g, count_task, &after_it), HC_ESHUTDOWN);
    CHECK_EQ(stats_of(a.g).queued, 2);
    CHECK_EQ(stats_of(a.g).workers, 1);
    if (and_await) {
        gate_open(&a.at);
        CHECK_OK(hc_group_await(a.g, HC_NEVER));
        CHECK_EQ(stats_of(a.g).queued, 0);
        CHECK_EQ(stats_of(a.g).finished, 3);
        hc_group_unref(a.g);
    } else {
        hc_group_unref(a.g); /* the last one, but for the worker's */
        CHECK_EQ(a.stops, 0);
        gate_open(&a.at);
        UNTIL(a.stops == 1);
    }
    CHECK_EQ(a.stops, 1);
    CHECK_EQ(a.queued_ran, 2);
    CHECK_EQ(destroyed_here, 1);
    CHECK_EQ(after_it, 0);
}

static void a_task_may_destroy_the_group_of_its_submitter(void) {
    submitter = pthread_self();
    int before = threads_now();
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (enum way way = singly; way < ways; ++way)
            if (way != pinned_to || kind == HC_KIND_PINNED)
                for (int and_await = 0; and_await < 2; ++and_await) {
                    destroy_while_submitting(kind, way, and_await);
                    UNTIL(threads_now() <= before); /* it is over before the next one begins */
                }
}

/* ---- References that are dropped inside, of groups inside groups ------------------------------------------------ */

/* What a task does, one letter each: a and b drop a reference of that group; A and B submit to it the task that reaches
 * to the next ')'. All of it happens on one thread, so that one cursor will do. */
static const char *cursor;

static void follow(void *arg) {
    pthread_t here = pthread_self();
    for (cursor = arg;;) {
        char letter = *cursor++;
        if (letter == 'a') hc_group_unref(a.g);
        if (letter == 'b') hc_group_unref(b.g);
        if (letter == 'A' || letter == 'B') {
            hc_group *outer = hc_group_current();
            const char *inner = cursor;
            CHECK_OK(hc_submit(letter == 'A' ? a.g : b.g, follow, (void *)inner));
            CHECK(cursor > inner); /* it ran, and here */
            CHECK(hc_group_current() == outer);
            CHECK(pthread_equal(pthread_self(), here));
        }
        if (letter == ')' || letter == '\0') return;
    }
}

/* Both groups are alive, and end with the last of `left` references each, not before. */
static void has_references(full *f, int left) {
    CHECK_EQ(f->stops, 0);
    CHECK_EQ(stats_of(f->g).queued, 2);
    atomic_int ran = 0;
    CHECK_OK(hc_submit(f->g, count_task, &ran)); /* open, and full */
    CHECK_EQ(ran, 1);
    gate_open(&f->at);
    CHECK_OK(hc_group_drain(f->g, HC_NEVER));
    CHECK_EQ(f->queued_ran, 2);
    for (; left > 1; --left) {
        hc_group_unref(f->g);
        CHECK_OK(hc_submit(f->g, count_task, &ran)); /* without a reference it would be shut */
        CHECK_OK(hc_group_drain(f->g, HC_NEVER));
        CHECK_EQ(f->stops, 0);
        CHECK_EQ(stats_of(f->g).workers, 1);
    }
    hc_group_unref(f->g);
    UNTIL(f->stops == 1);
}

static void own_what_it_drops(const char *script) {
    for (; *script != '\0'; ++script) {
        if (*script == 'a') hc_group_ref(a.g);
        if (*script == 'b') hc_group_ref(b.g);
    }
}

enum { most_calls = 3 };
static const char *const batches[][most_calls] = {
    {"aa", "Bbb)"},       {"Bbb)", "aa"},     {"a", "Bb)", "a"},          {"aBb)a", "Bb)"},   {"aBbAab)b)a", "a"},
    {"Bab)", "Bab)"},     {"AAABb)a)a)a)"},   {"BABAab)ab)ab)ab)", "ab"}, {"aaaaaaaa", "Bb)"}, {"Ba)", "b"},
};

static void submit_scripts(void *arg) {
    const char *const *scripts = arg;
    hc_call calls[most_calls];
    size_t n = 0, accepted = 0;
    for (; n < most_calls && scripts[n] != NULL; ++n) calls[n] = (hc_call){follow, (void *)scripts[n]};
    CHECK_OK(hc_submit_batch(a.g, calls, n, &accepted));
    CHECK_EQ(accepted, n);
}

static void references_dropped_inside_are_paid_once_and_by_their_group(void) {
    int before = threads_now();
    for (uint32_t kinds = 0; kinds < 9; ++kinds)
        for (int on_worker = 0; on_worker < 2; ++on_worker) /* of a third group */
            for (size_t i = 0; i < sizeof batches / sizeof batches[0]; ++i) {
                fill(&a, kinds / 3);
                fill(&b, kinds % 3);
                for (int call = 0; call < most_calls; ++call)
                    if (batches[i][call] != NULL) own_what_it_drops(batches[i][call]);
                hc_group_ref(a.g);
                if (on_worker) {
                    hc_group *third = group_of(1);
                    CHECK_OK(hc_submit(third, submit_scripts, (void *)batches[i]));
                    CHECK_OK(hc_group_destroy(third));
                } else {
                    submit_scripts((void *)batches[i]);
                }
                has_references(&a, 2);
                has_references(&b, 1);
                UNTIL(threads_now() <= before);
            }
}

/* The same from drops, whose callers are inside shutdown or await. */
static void follow_drop(void *arg, int32_t why) {
    CHECK_RC(why, HC_ESHUTDOWN);
    follow(arg);
}

static void references_dropped_in_drops_are_paid_too(void) {
    static const char *const scripts[] = {"aa", "Bbb)", "aBb)a", "Bab)", "BBab)a)b", "bBa)"};
    int before = threads_now();
    for (uint32_t kinds = 0; kinds < 9; ++kinds) {
        fill(&b, kinds % 3);
        a = (full){NULL, GATE, 0, 0};
        hc_group_options group = HC_GROUP_OPTIONS_INIT;
        group.kind = kinds / 3;
        group.max_workers = 1;
        group.user = &a;
        group.on_thread_stop = count_stop;
        a.g = fixed_with(&group);
        gate_hold(a.g, &a.at);
        hc_task_options options = HC_TASK_OPTIONS_INIT;
        options.fn = follow;
        options.drop = follow_drop;
        for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; ++i) {
            own_what_it_drops(scripts[i]);
            options.arg = (void *)scripts[i];
            CHECK_OK(hc_task_submit(a.g, &options, NULL));
        }
        CHECK_OK(hc_group_shutdown(a.g, HC_SHUTDOWN_NOW));
        CHECK_RC(hc_group_await(a.g, 1), HC_ETIMEDOUT);
        CHECK_EQ(stats_of(a.g).unrun, sizeof scripts / sizeof scripts[0]);
        CHECK_EQ(a.stops, 0);
        gate_open(&a.at);
        CHECK_OK(hc_group_await(a.g, HC_NEVER));
        CHECK_EQ(a.stops, 1);
        CHECK_EQ(stats_of(a.g).workers, 0);
        hc_group_unref(a.g);
        has_references(&b, 1);
        UNTIL(threads_now() <= before);
    }
}

/* ---- Waiting inside --------------------------------------------------------------------------------------------- */

enum { tasks = 50 };
static hc_group *awaited;
static gate awaited_at;
static atomic_bool waiting;
static atomic_int awaited_ran, waited;

static void drains_another(void *arg) {
    (void)arg;
    CHECK(hc_group_current() == b.g);
    CHECK_EQ(hc_worker_index(), -1);
    CHECK_RC(hc_group_drain(awaited, 0), HC_ETIMEDOUT);
    CHECK_RC(hc_group_drain(awaited, 1000), HC_ETIMEDOUT);
    CHECK_EQ(awaited_ran, 0);
    waiting = true;
    CHECK_OK(hc_group_drain(awaited, HC_NEVER));
    CHECK_EQ(awaited_ran, tasks);
    CHECK_RC(hc_group_drain(b.g, 0), HC_EDEADLK); /* but its own it is not to wait for */
    waited += 1;
}

static void *opens_when_waited_for(void *arg) {
    (void)arg;
    UNTIL(waiting);
    for (int i = 0; i < 200; ++i) sched_yield(); /* time to return too early, if it does */
    CHECK_EQ(waited, 0);
    gate_open(&awaited_at);
    return NULL;
}

static void a_task_on_its_submitter_can_drain_another_group(void) {
    for (uint32_t kinds = 0; kinds < 9; ++kinds) {
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.kind = kinds / 3;
        options.max_workers = 1;
        awaited = fixed_with(&options);
        awaited_at = (gate)GATE;
        waiting = false;
        awaited_ran = waited = 0;
        gate_hold(awaited, &awaited_at);
        for (int i = 0; i < tasks; ++i) CHECK_OK(hc_submit(awaited, count_task, &awaited_ran));
        fill(&b, kinds % 3);
        pthread_t opener = thread_start(opens_when_waited_for, NULL);
        CHECK_OK(hc_submit(b.g, drains_another, NULL));
        CHECK_EQ(waited, 1);
        thread_join(opener);
        gate_open(&b.at);
        CHECK_OK(hc_group_destroy(b.g));
        CHECK_EQ(b.queued_ran, 2);
        CHECK_OK(hc_group_destroy(awaited));
    }
}

/* The task of one group waits for what it submits to the next: neither may wait for the first. */
static void drains_in_vain(void *arg) {
    (void)arg;
    CHECK(hc_group_current() == b.g);
    hc_group *const both[2] = {awaited, b.g};
    const uint64_t timeouts[] = {0, 1, HC_NEVER};
    for (int i = 0; i < 6; ++i) {
        CHECK_RC(hc_group_drain(both[i % 2], timeouts[i / 2]), HC_EDEADLK);
        CHECK_RC(hc_group_await(both[i % 2], timeouts[i / 2]), HC_EDEADLK);
    }
    waited += 1;
}

static void submits_what_drains(void *arg) {
    (void)arg;
    CHECK(hc_group_current() == awaited);
    int before = waited;
    CHECK_OK(hc_submit(b.g, drains_in_vain, NULL));
    CHECK_EQ(waited, before + 1);
}

static void a_task_on_its_submitter_cannot_drain_the_group_of_that(void) {
    for (uint32_t kinds = 0; kinds < 9; ++kinds) {
        fill(&b, kinds % 3);
        waited = 0;
        hc_group_options options = HC_GROUP_OPTIONS_INIT; /* on the other's worker */
        options.kind = kinds / 3;
        options.max_workers = 1;
        awaited = fixed_with(&options);
        CHECK_OK(hc_submit(awaited, submits_what_drains, NULL));
        CHECK_OK(hc_group_drain(awaited, HC_NEVER));
        CHECK_EQ(waited, 1);
        CHECK_OK(hc_group_destroy(awaited));

        fill(&a, kinds / 3); /* and on a thread that is no worker at all */
        awaited = a.g;
        CHECK_OK(hc_submit(a.g, submits_what_drains, NULL));
        CHECK_EQ(waited, 2);
        gate_open(&a.at);
        CHECK_OK(hc_group_drain(a.g, HC_NEVER)); /* outside it may */
        CHECK_OK(hc_group_destroy(a.g));
        gate_open(&b.at);
        CHECK_OK(hc_group_destroy(b.g));
    }
}

int main(void) {
    check_deadline(60);
    CHECK_OK(hc_group_destroy(group_of(1))); /* a sanitizer's own thread is among those to be counted from now on */
    RUN(a_task_may_destroy_the_group_of_its_submitter);
    RUN(references_dropped_inside_are_paid_once_and_by_their_group);
    RUN(references_dropped_in_drops_are_paid_too);
    RUN(a_task_on_its_submitter_can_drain_another_group);
    RUN(a_task_on_its_submitter_cannot_drain_the_group_of_that);
    return 0;
}
