/* Guards against: a group that goes while it is used, one that never goes, a destroy that waits for itself. */
#include "check.h"

static void null_is_harmless(void) {
    hc_group_ref(NULL);
    hc_group_unref(NULL);
    CHECK_RC(hc_group_destroy(NULL), HC_EINVAL);
    CHECK_EQ(hc_group_slots(NULL), 0);
    CHECK(hc_group_current() == NULL);
    CHECK_EQ(hc_worker_index(), -1);
}

static void destroy_runs_what_is_queued(void) {
    for (uint32_t workers = 1; workers <= 3; ++workers) {
        hc_group *g = group_of(workers);
        atomic_int ran = 0;
        for (int i = 0; i < 5000; ++i) CHECK_OK(hc_submit(g, count_task, &ran));
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(ran, 5000);
    }
}

static void destroy_leaves_no_thread_behind(void) {
    int before = threads_now();
    for (int i = 0; i < 20; ++i) {
        hc_group *g = group_of(4);
        CHECK(threads_now() >= 5);
        CHECK_OK(hc_group_destroy(g));
        UNTIL(threads_now() <= before); /* the kernel may need a moment after the join */
    }
}

/* A handle stays valid, though shut down, until its last unref. */
static void a_reference_outlives_destroy(void) {
    hc_group *g = group_of(2);
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, count_task, &ran));
    hc_group_ref(g);
    hc_group_ref(g);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
    CHECK_RC(hc_submit(g, count_task, &ran), HC_ESHUTDOWN);
    CHECK_OK(hc_group_drain(g, 0));
    CHECK_OK(hc_group_await(g, 0));
    CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_NOW));
    CHECK_OK(hc_group_trim(g));
    CHECK_EQ(hc_group_slots(g), 2);
    CHECK_EQ(stats_of(g).finished, 1);
    CHECK_EQ(stats_of(g).workers, 0);
    hc_group_unref(g);
    CHECK_OK(hc_group_await(g, HC_NEVER)); /* the last one is still ours */
    hc_group_unref(g);
    CHECK_EQ(ran, 1);
}

/* The last unref does not wait, and what is queued runs all the same. */
static latch ran_after_unref = LATCH(1001);

static void down_task(void *arg) {
    (void)arg;
    latch_down(&ran_after_unref);
}

static void the_last_unref_drains_without_waiting(void) {
    int before = threads_now();
    hc_group *g = group_of(2);
    static hold at;
    hold_all(g, &at, 2);
    for (int i = 0; i < 1000; ++i) CHECK_OK(hc_submit(g, down_task, NULL));
    hc_group_unref(g); /* would hang here if it waited: nobody has opened the gates */
    hold_release(&at);
    latch_down(&ran_after_unref);
    latch_wait(&ran_after_unref);
    UNTIL(threads_now() <= before);
}

static void an_idle_group_goes_with_its_last_unref(void) {
    int before = threads_now();
    for (int i = 0; i < 50; ++i) {
        hc_group_unref(group_of(3));
        if (i % 10 == 9) UNTIL(threads_now() <= before);
    }
}

/* ---- From inside ----------------------------------------------------------------------------------------------- */

static latch destroyed = LATCH(1);

static void destroy_from_task(void *arg) {
    hc_group *g = arg;
    CHECK_OK(hc_group_destroy(g));
    /* Asynchronous: this task is still in it, and may go on using it until it ends. */
    CHECK(hc_group_current() == g);
    CHECK_RC(hc_submit(g, count_task, NULL), HC_ESHUTDOWN);
    CHECK_EQ(hc_group_slots(g), 2);
    CHECK(stats_of(g).workers >= 1); /* the other may be gone already */
    latch_down(&destroyed);
}

static void a_task_may_destroy_its_own_group(void) {
    int before = threads_now();
    static hold a_round[50]; /* a thread that is gone has not been joined: what it read is not written again */
    for (int i = 0; i < 50; ++i) {
        latch_reset(&destroyed, 1);
        hc_group *g = group_of(2);
        hold *at = &a_round[i]; /* until the submit has returned: the handle must be good for as long as it is used */
        hold_all(g, at, 2);
        CHECK_OK(hc_submit(g, destroy_from_task, g));
        hold_release(at);
        latch_wait(&destroyed);
        UNTIL(threads_now() <= before);
    }
}

static latch queued_ran = LATCH(1);

static void queued_task(void *arg) {
    (void)arg;
    latch_down(&queued_ran);
}

static void what_is_queued_runs_after_a_task_destroyed_the_group(void) {
    int before = threads_now();
    latch_reset(&destroyed, 1);
    latch_reset(&queued_ran, 100);
    hc_group *g = group_of(2);
    static hold at;
    hold_all(g, &at, 2);
    CHECK_OK(hc_submit(g, destroy_from_task, g));
    for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(g, queued_task, NULL));
    hold_release(&at);
    latch_wait(&queued_ran);
    latch_wait(&destroyed);
    UNTIL(threads_now() <= before);
}

static void unref_task(void *arg) { hc_group_unref(arg); }

static void a_task_may_drop_the_last_reference(void) {
    int before = threads_now();
    static hold a_round[50];
    for (int i = 0; i < 50; ++i) {
        hc_group *g = group_of(2);
        hold *at = &a_round[i];
        hold_all(g, at, 2);
        CHECK_OK(hc_submit(g, unref_task, g));
        hold_release(at);
        UNTIL(threads_now() <= before);
    }
}

/* A task of one group destroys another: it waits, as from outside. */
static void destroy_other(void *arg) {
    CHECK_OK(hc_group_drain(arg, HC_NEVER));
    CHECK_OK(hc_group_destroy(arg));
}

static void a_task_may_destroy_another_group(void) {
    hc_group *mine = group_of(1), *other = group_of(1);
    atomic_int ran = 0;
    for (int i = 0; i < 100; ++i) CHECK_OK(hc_submit(other, count_task, &ran));
    CHECK_OK(hc_submit(mine, destroy_other, other));
    CHECK_OK(hc_group_destroy(mine));
    CHECK_EQ(ran, 100);
}

int main(void) {
    check_deadline(60);
    RUN(null_is_harmless);
    RUN(destroy_runs_what_is_queued);
    RUN(destroy_leaves_no_thread_behind);
    RUN(a_reference_outlives_destroy);
    RUN(the_last_unref_drains_without_waiting);
    RUN(an_idle_group_goes_with_its_last_unref);
    RUN(a_task_may_destroy_its_own_group);
    RUN(what_is_queued_runs_after_a_task_destroyed_the_group);
    RUN(a_task_may_drop_the_last_reference);
    RUN(a_task_may_destroy_another_group);
    return 0;
}
