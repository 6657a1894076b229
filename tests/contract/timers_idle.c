/* Guards against: an idle group that wakes up although no timer is due; one that sleeps on when an earlier one is set, or
 * until a time that was put off. */
#include <poll.h>

#include "timed.h"

/* ---- Nothing wakes up ------------------------------------------------------------------------------------------------------ */

/* Context switches of the threads of the group, which is called "idle": those of a sanitizer's threads do not count. */
static uint64_t switches(void) {
    uint64_t sum = 0;
    DIR *dir = opendir("/proc/self/task");
    CHECK(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[300], line[200];
        bool ours = false;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file == NULL) continue; /* it has just ended */
        while (fgets(line, sizeof line, file) != NULL) {
            uint64_t n;
            if (strncmp(line, "Name:\tidle-", 11) == 0) ours = true;
            if (ours && sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &n) == 1) sum += n;
        }
        fclose(file);
    }
    closedir(dir);
    return sum;
}

static hc_group *idle_group(uint32_t kind, uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.kind = kind;
    options.max_workers = workers;
    options.name = "idle";
    return fixed_with(&options);
}

/* Who has just gone to sleep may still be on its way: until it has stood still for so long, which it must some time. */
static void stands_still(hc_group *g, uint32_t workers) {
    for (;;) {
        UNTIL(stats_of(g).workers_parked == workers);
        const uint64_t parks = stats_of(g).parks, wakes = stats_of(g).wakes, before = switches();
        CHECK(before > 0);
        poll(NULL, 0, 300);
        if (stats_of(g).parks == parks && stats_of(g).wakes == wakes && switches() == before) return;
    }
}

static void an_idle_group_sleeps_until_its_timer(void) {
    const uint64_t far_delays[] = {HOUR, UINT64_MAX / 2, HC_NEVER};
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (int i = 0; i < 3; ++i) {
            hc_group *g = idle_group(kind, 4);
            atomic_int ran = 0;
            CHECK_OK(hc_schedule(g, count_task, &ran, 1 * ms));
            CHECK_OK(hc_schedule(g, count_task, &ran, far_delays[i]));
            UNTIL(ran == 1);
            stands_still(g, 4);
            CHECK_EQ(stats_of(g).timers_pending, 1);
            CHECK_OK(hc_group_destroy(g));
            CHECK_EQ(ran, 1);
        }
}

/* One that was cancelled, or put off, is at most looked for once. */
static void what_is_gone_wakes_nobody_again(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind) {
        hc_group *g = idle_group(kind, 4);
        shot s[3] = {0};
        hc_timer *t[3];
        for (int i = 0; i < 3; ++i) t[i] = timer_shot(g, &s[i], 20 * ms);
        CHECK_EQ(hc_timer_cancel(t[0]), HC_REMOVED);
        CHECK_EQ(arm_shot(t[1], &s[1], HOUR), HC_REMOVED);
        CHECK_EQ(hc_timer_arm(t[2], HC_NEVER, 0), HC_REMOVED);
        UNTIL(hc_now() > s[0].due);
        stands_still(g, 4);
        for (int i = 0; i < 3; ++i) CHECK_EQ(s[i].ran, 0);
        for (int i = 0; i < 3; ++i) hc_timer_unref(t[i]);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* A closed group that keeps a far timer sleeps as well, and getting there takes each worker a few turns at most. */
static void a_group_that_keeps_timers_sleeps(void) {
    for (uint32_t kind = HC_KIND_STEALING; kind <= HC_KIND_PINNED; ++kind)
        for (uint32_t workers = 4; workers <= 64; workers *= 4) {
            hc_group *g = idle_group(kind, workers);
            shot s = {0};
            hc_timer *t = timer_shot(g, &s, HOUR);
            UNTIL(stats_of(g).workers_parked == workers);
            const uint64_t parks = stats_of(g).parks;
            CHECK_OK(hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS));
            stands_still(g, workers);
            CHECK(stats_of(g).parks - parks <= 16 * workers);
            CHECK_EQ(hc_timer_cancel(t), HC_REMOVED);
            CHECK_OK(hc_group_await(g, HC_NEVER));
            hc_timer_unref(t);
            CHECK_OK(hc_group_destroy(g));
            shot_check(&s, 0, 1, HC_ECANCELED);
        }
}

/* ---- An earlier one wakes up --------------------------------------------------------------------------------------------- */

static void an_earlier_one_wakes_a_sleeping_group(hc_group *g, uint32_t workers) {
    shot far_one = {0}, s = {0}, brought = {0};
    hc_timer *t = timer_shot(g, &far_one, 2 * HOUR), *near = timer_shot(g, &brought, HOUR);
    for (int i = 1; i <= 10; ++i) {
        UNTIL(stats_of(g).workers_parked == workers);
        shoot(g, &s, (uint64_t)i * 50 * us);
        UNTIL(s.ran == i);
        UNTIL(stats_of(g).workers_parked == workers);
        CHECK_EQ(arm_shot(near, &brought, (uint64_t)i * 50 * us), i == 1 ? HC_REMOVED : HC_DONE);
        UNTIL(brought.ran == i);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
    }
    CHECK_EQ(far_one.ran, 0);
    hc_timer_unref(t);
    hc_timer_unref(near);
}

static void an_earlier_one_wakes_all_kinds(void) { in_all_groups(an_earlier_one_wakes_a_sleeping_group); }

/* Set by several threads at once, each the earliest at some moment, while workers go to sleep and get up. */
enum { n_racing = 4 };
typedef struct racer {
    hc_group *g;
    pthread_barrier_t *start;
    shot s;
    int rounds;
} racer;

static void *sets_at_once(void *arg) {
    racer *r = arg;
    for (int i = 0; i < r->rounds; ++i) {
        pthread_barrier_wait(r->start);
        shoot(r->g, &r->s, (uint64_t)(1 + i * 37 % 90) * us);
        UNTIL(r->s.ran == i + 1);
    }
    return NULL;
}

static void earliest_races(hc_group *g, uint32_t workers) {
    racer racers[n_racing];
    pthread_t threads[n_racing];
    pthread_barrier_t start;
    (void)workers;
    memset(racers, 0, sizeof racers);
    CHECK_EQ(pthread_barrier_init(&start, NULL, n_racing), 0);
    for (int i = 0; i < n_racing; ++i) {
        racers[i].g = g;
        racers[i].start = &start;
        racers[i].rounds = (int)(600 / CHECK_SLOWER);
        threads[i] = thread_start(sets_at_once, &racers[i]);
    }
    for (int i = 0; i < n_racing; ++i) thread_join(threads[i]);
    CHECK_EQ(pthread_barrier_destroy(&start), 0);
}

static void no_wake_up_is_lost(void) { in_all_groups(earliest_races); }

int main(void) {
    check_deadline(90);
    RUN(an_earlier_one_wakes_all_kinds);
    RUN(no_wake_up_is_lost);
    RUN(an_idle_group_sleeps_until_its_timer);
    RUN(what_is_gone_wakes_nobody_again);
    RUN(a_group_that_keeps_timers_sleeps);
    return 0;
}
