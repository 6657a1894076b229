/* Guards against: an order that is promised and not kept. */
#include "check.h"

static hc_group *group_of_kind(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    return fixed_with(&options);
}

/* ---- One worker: the order of each submitter ------------------------------------------------------------------- */

enum { submitters = 4 };
static size_t next_of[submitters]; /* plain: there is one worker */

static void next_of_submitter(void *arg) {
    uintptr_t who = (uintptr_t)arg % submitters, number = (uintptr_t)arg / submitters;
    CHECK_EQ(next_of[who], number);
    next_of[who] = number + 1;
}

typedef struct sender {
    hc_group *g;
    uintptr_t who;
} sender;

static const uintptr_t per_submitter = 30000 / CHECK_SLOWER;

/* Mixed: single, with options, batches. All of it is one order. */
static void *send_in_order(void *arg) {
    sender *s = arg;
    hc_task_options options = HC_TASK_OPTIONS_INIT;
    options.fn = next_of_submitter;
    options.label = "in order";
    for (uintptr_t i = 0; i < per_submitter;) {
        CHECK_OK(hc_submit(s->g, next_of_submitter, (void *)(i++ * submitters + s->who)));
        options.arg = (void *)(i++ * submitters + s->who);
        CHECK_OK(hc_task_submit(s->g, &options, NULL));
        hc_call calls[37];
        for (int k = 0; k < 37; ++k) calls[k] = (hc_call){next_of_submitter, (void *)(i++ * submitters + s->who)};
        size_t accepted = 0;
        CHECK_OK(hc_submit_batch(s->g, calls, 37, &accepted));
    }
    return NULL;
}

static void one_worker_keeps_the_order_of_each_submitter(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        memset(next_of, 0, sizeof next_of);
        hc_group *g = group_of_kind(kind, 1);
        sender senders[submitters];
        pthread_t threads[submitters];
        for (uintptr_t i = 0; i < submitters; ++i) {
            senders[i] = (sender){g, i};
            threads[i] = thread_start(send_in_order, &senders[i]);
        }
        for (int i = 0; i < submitters; ++i) thread_join(threads[i]);
        CHECK_OK(hc_group_destroy(g));
        for (int i = 0; i < submitters; ++i) CHECK(next_of[i] >= per_submitter);
    }
}

/* A worker is a submitter too: what its tasks submit starts in that order. */
static size_t next_child;

static void child(void *arg) {
    CHECK_EQ(next_child, (uintptr_t)arg);
    next_child += 1;
}

static uintptr_t children;

static void parent(void *arg) {
    (void)arg;
    for (int i = 0; i < 10; ++i) CHECK_OK(hc_submit(hc_group_current(), child, (void *)children++));
}

static void one_worker_keeps_the_order_of_its_own_submits(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        next_child = children = 0;
        hc_group *g = group_of_kind(kind, 1);
        for (int i = 0; i < 2000; ++i) CHECK_OK(hc_submit(g, parent, NULL));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(next_child, 20000);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- Shared: one order, whoever submits ------------------------------------------------------------------------ */

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t ticket;
static size_t next_ticket;

static void next_in_line(void *arg) {
    CHECK_EQ(next_ticket, (uintptr_t)arg);
    next_ticket += 1;
}

/* The mutex says which submit came first; the queue must agree. */
static void *take_tickets(void *arg) {
    for (int i = 0; i < 5000; ++i) {
        pthread_mutex_lock(&one_at_a_time);
        CHECK_OK(hc_submit(arg, next_in_line, (void *)ticket++));
        pthread_mutex_unlock(&one_at_a_time);
    }
    return NULL;
}

static void shared_is_first_come_first_served(void) {
    hc_group *g = group_of_kind(HC_KIND_SHARED, 1);
    pthread_t threads[submitters];
    for (int i = 0; i < submitters; ++i) threads[i] = thread_start(take_tickets, g);
    for (int i = 0; i < submitters; ++i) thread_join(threads[i]);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(next_ticket, submitters * 5000);
}

/* With W workers: when task k starts, all before it have been taken, and at most W-1 of those have not begun yet. */
enum { workers = 3, in_line = 20000 };
static atomic_int begun;

static void takes_its_place(void *arg) {
    int place = atomic_fetch_add(&begun, 1);
    CHECK(place >= (int)(uintptr_t)arg - (workers - 1));
}

static void shared_is_strict_with_several_workers(void) {
    hc_group *g = group_of_kind(HC_KIND_SHARED, workers);
    for (int round = 0; round < 5; ++round) {
        begun = 0;
        hold at;
        hold_all(g, &at, workers);
        for (uintptr_t i = 0; i < in_line; ++i) CHECK_OK(hc_submit(g, takes_its_place, (void *)i));
        hold_release(&at);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(begun, in_line);
    }
    CHECK_OK(hc_group_destroy(g));
}

static void down_task(void *arg) { latch_down(arg); }

/* A worker stuck in the first task has not taken the second along. */
static void shared_leaves_nothing_with_a_stuck_worker(void) {
    hc_group *g = group_of_kind(HC_KIND_SHARED, 2);
    hold both;
    hold_all(g, &both, 2);
    static gate stuck = GATE;
    static latch rest = LATCH(1000);
    CHECK_OK(hc_submit(g, gate_task, &stuck));
    for (int i = 0; i < 1000; ++i) CHECK_OK(hc_submit(g, down_task, &rest));
    hold_release(&both);
    latch_wait(&rest);
    gate_open(&stuck);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(60);
    RUN(one_worker_keeps_the_order_of_each_submitter);
    RUN(one_worker_keeps_the_order_of_its_own_submits);
    RUN(shared_is_first_come_first_served);
    RUN(shared_is_strict_with_several_workers);
    RUN(shared_leaves_nothing_with_a_stuck_worker);
    return 0;
}
