/* Guards against: the signal of a task that has ended, or waits, and that what its thread does next gets. Also under strace, where it
 * is installed, which holds up the system calls that the hand-over is made of: each window is then wide open. */
#include <sys/wait.h>
#include <time.h>

#include "interrupt.h"

static int rounds = 3000;

static uint64_t next_random(void) {
    static uint64_t x = 88172645463325252u;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}

static void spins(uint64_t ns) {
    const uint64_t until = hc_now() + ns;
    while (hc_now() < until) continue;
}

/* None waits to be delivered, and a sleep goes on to its end. */
static void is_undisturbed(void) {
    sigset_t pending;
    CHECK_EQ(sigpending(&pending), 0);
    CHECK_EQ(sigismember(&pending, signo), 0);
    const struct timespec some = {0, 20 * us};
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &some, NULL), 0);
}

/* ---- The next one -------------------------------------------------------------------------------------------------- */

typedef struct late {
    uint64_t ns;
    int blocks; /* at its end, as it may */
} late;

static void runs_about_its_limit(void *arg) {
    const late *l = arg;
    if (l->blocks) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, signo);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
    }
    spins(l->ns);
}

static void runs_next(void *arg) {
    is_undisturbed();
    count_task(arg);
}

static void none_comes_to_the_next_task(void) {
    enum { at_once = 8 };
    const int counts[] = {1, 3};
    for (int w = 0; w < 2; ++w) {
        hc_group *g = group_of_workers((uint32_t)counts[w]);
        atomic_int ran = 0;
        for (int round = 0; round < rounds; round += at_once) {
            late l[at_once];
            hc_task *all[at_once];
            for (int i = 0; i < at_once; ++i) {
                l[i] = (late){next_random() % (100 * us), next_random() % 4 == 0};
                hc_task_options options = interruptible(runs_about_its_limit, &l[i], next_random() % (100 * us) + 1);
                if (next_random() % 4 == 0) options.run_limit = HC_NONE64;
                all[i] = held_with(g, &options);
                CHECK_OK(hc_submit(g, runs_next, &ran));
            }
            for (int i = 0; i < at_once; ++i) { /* some are cancelled, and run or not */
                if (next_random() % 2 == 0) hc_task_cancel(all[i]);
                hc_task_unref(all[i]);
            }
            CHECK_OK(hc_group_drain(g, HC_NEVER));
        }
        CHECK(ran >= rounds);
        CHECK_OK(hc_group_destroy(g));
    }
}

/* ---- What runs on top of it ---------------------------------------------------------------------------------------- */

typedef struct waiter {
    hc_group *g;
    hc_task *promise;
    atomic_int guests;
} waiter;

static void guest(void *arg) {
    waiter *h = arg;
    is_undisturbed();
    if (++h->guests == 10) CHECK_OK(hc_task_complete(h->promise, 0, NULL, NULL));
}

static void held_guest(void *arg) {
    is_undisturbed();
    count_task(arg);
}

static void is_interrupted(void) {
    CHECK_EQ(pause(), -1);
    CHECK_EQ(errno, EINTR);
}

static void waits_and_helps(void *arg) {
    waiter *h = arg;
    is_interrupted(); /* it is late, and signals go on */
    h->promise = promise_in(h->g);
    h->guests = 0;
    for (int i = 0; i < 10; ++i) CHECK_OK(hc_submit(h->g, guest, h));
    CHECK_OK(hc_task_wait(h->promise, HC_NEVER, HC_WAIT_HELP_ANY, NULL)); /* strangers */
    hc_task_unref(h->promise);
    is_interrupted();
    atomic_int ran = 0;
    for (int i = 0; i < 5; ++i) CHECK_RC(end_of(held(h->g, held_guest, &ran)), HC_OK); /* its own */
    hc_scope *s;
    CHECK_OK(hc_scope_create(h->g, &s));
    for (int i = 0; i < 5; ++i) CHECK_OK(hc_scope_submit(s, held_guest, &ran, NULL)); /* a scope's */
    CHECK_OK(hc_scope_wait(s, HC_NEVER, 0, NULL));
    CHECK_OK(hc_scope_destroy(s));
    CHECK_EQ(ran, 10);
    is_interrupted();
}

static void late_guest(void *arg) {
    is_interrupted();
    count_task(arg);
}

/* Both may be interrupted, each in its time. */
static void waits_for_a_late_one(void *arg) {
    waiter *h = arg;
    atomic_int ran = 0;
    is_interrupted();
    const hc_task_options options = interruptible(late_guest, &ran, 1);
    CHECK_RC(end_of(held_with(h->g, &options)), HC_ELIMIT);
    is_interrupted();
    CHECK_RC(end_of(held(h->g, held_guest, &ran)), HC_OK);
    CHECK_EQ(ran, 2);
}

static void none_comes_to_what_runs_on_top(void) {
    for (int w = 0; w < 2; ++w) {
        waiter h = {group_of_workers(w == 0 ? 1 : 3), NULL, 0};
        for (int round = 0; round < 20; ++round) {
            hc_task_options options = interruptible(waits_and_helps, &h, 1);
            CHECK_RC(end_of(held_with(h.g, &options)), HC_ELIMIT);
            options.fn = waits_for_a_late_one;
            CHECK_RC(end_of(held_with(h.g, &options)), HC_ELIMIT);
        }
        CHECK_OK(hc_group_destroy(h.g));
    }
}

/* A task that finds the queue full runs what it submits itself. */
static void submits_to_a_full_group(void *arg) {
    hc_group *g = arg;
    atomic_int ran = 0;
    is_interrupted();
    for (int i = 0; i < 20; ++i) CHECK_OK(hc_submit(g, held_guest, &ran));
    is_interrupted();
    CHECK(ran >= 10); /* its only worker is this one */
    while (ran < 20) { /* the rest, whose count is on this stack */
        hc_task *promise = promise_in(g);
        CHECK_RC(hc_task_wait(promise, 1 * ms, HC_WAIT_HELP_ANY, NULL), HC_ETIMEDOUT);
        CHECK_OK(hc_task_complete(promise, 0, NULL, NULL));
        hc_task_unref(promise);
    }
}

static void none_comes_to_what_a_full_queue_hands_back(void) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 1;
    options.capacity = 2;
    options.full_policy = HC_FULL_RUN;
    hc_group *g = workers_of(options);
    for (int round = 0; round < 10; ++round) {
        const hc_task_options past = interruptible(submits_to_a_full_group, g, 1);
        CHECK_RC(end_of(held_with(g, &past)), HC_ELIMIT);
    }
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Held up ------------------------------------------------------------------------------------------------------- */

/* The same program, under strace. False: there is none, or it may not. */
static bool strace(const char *self, const char *call, const char *where) {
    char trace[64], inject[64];
    snprintf(trace, sizeof trace, "trace=%s", call);
    snprintf(inject, sizeof inject, "inject=%s:%s=300", call, where);
    const char *const probe[] = {"strace", "-qq", "-f", "-o", "/dev/null", "-e", trace, "-e", inject, "true", NULL};
    const char *const again[] = {"strace", "-qq", "-f", "-o", "/dev/null", "-e", trace, "-e", inject, self, "few", NULL};
    for (int i = 0; i < 2; ++i) {
        fflush(NULL);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            if (i == 0) fclose(stderr);
            execvp("strace", (char *const *)(i == 0 ? probe : again));
            _exit(127);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        if (i == 0 && status != 0) return false;
        CHECK_EQ(status, 0);
    }
    return true;
}

static void every_window(const char *self) {
    const char *const calls[] = {"tgkill", "futex", "rt_sigprocmask", "rt_sigtimedwait", "sched_yield"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i)
        for (int at = 0; at < 2; ++at)
            if (!strace(self, calls[i], at == 0 ? "delay_enter" : "delay_exit")) {
                printf("not tried under strace: it is not there, or may not trace\n");
                return;
            }
}

int main(int argc, char **argv) {
    check_deadline(120);
    CHECK_OK(hc_signal_set(signo, 0));
    if (argc > 1) rounds = 200;
    RUN(none_comes_to_the_next_task);
    RUN(none_comes_to_what_runs_on_top);
    RUN(none_comes_to_what_a_full_queue_hands_back);
    if (argc == 1 && CHECK_SLOWER == 1) {
        check_case = "every_window";
        every_window(argv[0]);
    }
    return 0;
}
