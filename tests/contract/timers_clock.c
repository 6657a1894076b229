/* Guards against: timers that follow the wall clock. The program has a clock of its own in front of the system's: the wall
 * jumps by hours, back and forth, at every look; the monotonic one goes on. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "timed.h"

static atomic_uint looks, wall_looks;

static time_t jump(void) { return (time_t)(atomic_fetch_add(&wall_looks, 1) % 2 == 0 ? 5 * 3600 : -7 * 3600); }

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *at) {
    const int rc = (int)syscall(SYS_clock_gettime, clock, at);
    atomic_fetch_add(&looks, 1);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI))
        at->tv_sec += jump();
    return rc;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != NULL) *at = now.tv_sec;
    return now.tv_sec;
}

static uint64_t monotonic(void) {
    struct timespec now;
    CHECK_EQ(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void the_library_looks_at_this_clock(void) {
    const unsigned before = looks;
    const uint64_t least = monotonic(), now = hc_now(), most = monotonic();
    CHECK(looks > before); /* it really is in front of the system's */
    CHECK(now >= least && now <= most);
    CHECK(time(NULL) - time(NULL) != 0 || time(NULL) - time(NULL) != 0); /* and the wall jumps */
}

typedef struct beat {
    uint64_t start, period;
    _Atomic uint64_t ran;
} beat;

static void beats(void *arg) {
    beat *b = arg;
    CHECK(monotonic() >= b->start + b->ran * b->period);
    (void)time(NULL);
    b->ran += 1;
}

static void they_fire_by(hc_group *g, uint32_t workers) {
    (void)workers;
    shot s[10] = {0}, far_one = {0};
    hc_timer *hour = timer_shot(g, &far_one, HOUR);
    beat b = {0, 500 * us, 0};
    hc_task_options task = options_of(beats, &b);
    hc_timer_options options = timer_options_of(&task, HC_TIMER_RATE, 0, b.period);
    options.when = b.start = monotonic() + ms;
    hc_timer *rate = timer_with(g, &options);
    for (int i = 0; i < 10; ++i) {
        s[i].due = monotonic() + (uint64_t)i * 300 * us;
        CHECK_OK(hc_schedule_at(g, shot_run, &s[i], s[i].due));
    }
    for (int i = 0; i < 10; ++i) UNTIL(s[i].ran == 1);
    UNTIL(b.ran >= 10);
    (void)hc_timer_cancel_wait(rate, HC_NEVER);
    CHECK_EQ(far_one.ran, 0); /* five hours have not passed */
    CHECK(remaining_of(hour) > HOUR / 2 && remaining_of(hour) <= HOUR + 1024);
    CHECK_EQ(hc_timer_cancel(hour), HC_REMOVED);
    hc_timer_unref(hour);
    hc_timer_unref(rate);
}

static void steps_of_the_wall_clock_change_nothing(void) {
    const unsigned before = looks;
    in_all_groups(they_fire_by);
    CHECK(looks > before);
}

/* A wait with a timeout is no different. */
static void timeouts_do_not_jump_either(void) {
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    for (int i = 0; i < 10; ++i) {
        const uint64_t begin = monotonic();
        CHECK_RC(hc_group_drain(g, ms), HC_ETIMEDOUT);
        CHECK(monotonic() >= begin + ms);
    }
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
}

int main(void) {
    check_deadline(60);
    RUN(the_library_looks_at_this_clock);
    RUN(steps_of_the_wall_clock_change_nothing);
    RUN(timeouts_do_not_jump_either);
    return 0;
}
