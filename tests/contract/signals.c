/* Guards against: workers that take the application's signals, also in the moment of their birth; a creator whose own
 * mask is changed; a child program that is exec'd with everything blocked. */
#include <errno.h>

#include "check.h"

static const int asynchronous[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                   SIGUSR2, SIGALRM, SIGCHLD, SIGPIPE, SIGIO};
static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL}; /* blocked, they would kill without a word */

static sigset_t mask_now(void) {
    sigset_t mask;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    return mask;
}

static bool same(const sigset_t *a, const sigset_t *b) {
    for (int s = 1; s < NSIG; ++s)
        if (sigismember(a, s) != sigismember(b, s)) return false;
    return true;
}

static void all_blocked(void *arg) {
    sigset_t mask = mask_now();
    for (size_t i = 0; i < sizeof asynchronous / sizeof asynchronous[0]; ++i)
        CHECK_EQ(sigismember(&mask, asynchronous[i]), 1);
    for (size_t i = 0; i < sizeof synchronous / sizeof synchronous[0]; ++i)
        CHECK_EQ(sigismember(&mask, synchronous[i]), 0);
    count_task(arg);
}

static void all_blocked_in_hook(void *user, uint32_t index) {
    (void)index;
    all_blocked(user);
}

static void workers_block_asynchronous_signals(void) {
    atomic_int looked = 0;
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = 2;
    options.user = &looked;
    options.on_thread_start = all_blocked_in_hook;
    options.on_thread_stop = all_blocked_in_hook;
    sigset_t before = mask_now();
    hc_group *g = fixed_with(&options);
    sigset_t after = mask_now();
    CHECK(same(&before, &after)); /* the creator's own mask is as it was */
    CHECK_OK(hc_submit(g, all_blocked, &looked));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(looked, 5);
    after = mask_now();
    CHECK(same(&before, &after));
}

static sigset_t creators;

static void restores(void *arg) {
    CHECK_OK(hc_thread_sigmask_restore());
    sigset_t mask = mask_now();
    CHECK(same(&mask, &creators));
    CHECK_OK(hc_thread_sigmask_restore());
    count_task(arg);
}

static void a_task_can_have_the_mask_of_the_creator(void) {
    CHECK_RC(hc_thread_sigmask_restore(), HC_EINVAL);
    sigset_t odd, before;
    sigemptyset(&odd);
    sigaddset(&odd, SIGUSR2);
    sigaddset(&odd, SIGWINCH);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &odd, &before), 0);
    creators = mask_now();
    hc_group *g = group_of(1);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0); /* later changes do not matter */
    atomic_int ran = 0;
    CHECK_OK(hc_submit(g, restores, &ran));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
}

/* ---- Signals that rain on the process while groups come and go ------------------------------------------------- */

static _Thread_local volatile sig_atomic_t of_the_application;
static atomic_int on_a_worker, seen;

static void rain_handler(int signal) {
    (void)signal;
    if (of_the_application)
        atomic_fetch_add(&seen, 1);
    else
        atomic_fetch_add(&on_a_worker, 1);
}

static atomic_bool stop;

static void *rain(void *arg) {
    (void)arg;
    of_the_application = 1;
    while (!stop) {
        CHECK_EQ(kill(getpid(), SIGUSR1), 0);
        sched_yield();
    }
    return NULL;
}

static void no_signal_lands_on_a_worker(void) {
    of_the_application = 1;
    struct sigaction action = {.sa_handler = rain_handler, .sa_flags = SA_RESTART};
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    pthread_t cloud = thread_start(rain, NULL);
    for (int i = 0; i < 100; ++i) {
        hc_group *g = group_of(4);
        atomic_int ran = 0;
        for (int k = 0; k < 50; ++k) CHECK_OK(hc_submit(g, count_task, &ran));
        CHECK_OK(hc_group_drain(g, HC_NEVER)); /* and no wait of ours ends early on a signal */
        CHECK_EQ(ran, 50);
        CHECK_OK(hc_group_destroy(g));
    }
    stop = true;
    thread_join(cloud);
    CHECK(seen > 0);
    CHECK_EQ(on_a_worker, 0);
}

/* A wait under a rain of signals still lasts as long as it was told to: an interrupted wait is not a finished one. */
static void signals_do_not_shorten_a_timeout(void) {
    stop = false;
    pthread_t cloud = thread_start(rain, NULL);
    hc_group *g = group_of(1);
    gate at = GATE;
    gate_hold(g, &at);
    uint64_t before = hc_now();
    CHECK_RC(hc_group_drain(g, 30000000), HC_ETIMEDOUT);
    CHECK(hc_now() - before >= 30000000);
    gate_open(&at);
    CHECK_OK(hc_group_destroy(g));
    stop = true;
    thread_join(cloud);
}

int main(void) {
    check_deadline(60);
    RUN(workers_block_asynchronous_signals);
    RUN(a_task_can_have_the_mask_of_the_creator);
    RUN(no_signal_lands_on_a_worker);
    RUN(signals_do_not_shorten_a_timeout);
    return 0;
}
