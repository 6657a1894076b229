/* Guards against: workers that take the application's signals, also in the moment of their birth; a creator whose own
 * mask is changed; a child program that is exec'd with everything blocked; a signal that the library takes from its
 * host, or that its workers do not hear. */
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

/* ---- Lent signals: each case in a process of its own, since what was lent stays lent --------------------------- */

static bool stacks(void) { return (hc_features() & HC_FEATURE_STACKS) != 0; }

static void what_cannot_be_lent_is_refused(void) {
    static const int never[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS,
                                -1,      32,      33,      1000};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; ++i) CHECK_RC(hc_signal_set(0, never[i]), HC_EINVAL);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; ++i) CHECK_RC(hc_signal_set(never[i], 0), HC_EINVAL);
    CHECK_RC(hc_signal_set(SIGURG, SIGURG), HC_EINVAL);
    CHECK_RC(hc_signal_set(-1, 0), HC_EINVAL);
    CHECK_OK(hc_signal_set(0, 0));
}

static void a_handler_of_the_host_stays(void) {
    struct sigaction action = {.sa_handler = rain_handler, .sa_flags = SA_RESTART}, after;
    CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
    CHECK_RC(hc_signal_set(0, SIGUSR2), HC_EBUSY);
    CHECK_EQ(sigaction(SIGUSR2, NULL, &after), 0);
    CHECK(after.sa_handler == rain_handler);
    signal(SIGUSR2, SIG_IGN); /* that is none */
    CHECK_RC(hc_signal_set(0, SIGUSR2), stacks() ? HC_OK : HC_ENOTSUP);
}

static void one_is_lent_once(void) {
    if (!stacks()) {
        CHECK_RC(hc_signal_set(0, SIGURG), HC_ENOTSUP);
        return;
    }
    CHECK_OK(hc_signal_set(0, SIGRTMIN + 3));
    CHECK_OK(hc_signal_set(0, SIGRTMIN + 3));
    CHECK_RC(hc_signal_set(0, SIGUSR2), HC_EBUSY);
    CHECK_RC(hc_signal_set(0, SIGKILL), HC_EINVAL);
    CHECK_OK(hc_signal_set(0, 0));
    CHECK_OK(hc_signal_set(0, SIGRTMIN + 3));
}

static void urgent_is(void *arg) {
    sigset_t mask = mask_now();
    *(int *)arg = sigismember(&mask, SIGURG);
}

static int urgent_in(hc_group *g) {
    int blocked = -1;
    CHECK_OK(hc_submit(g, urgent_is, &blocked));
    CHECK_OK(hc_group_drain(g, HC_NEVER));
    return blocked;
}

static void workers_open_what_was_lent_before(void) {
    hc_group *old = group_of(1);
    CHECK_EQ(urgent_in(old), 1);
    bool lent = hc_signal_set(0, SIGURG) == 0;
    CHECK_EQ(lent, stacks());
    hc_group *young = group_of(1);
    CHECK_EQ(urgent_in(old), 1);
    CHECK_EQ(urgent_in(young), lent ? 0 : 1);
    if (lent) /* one that nobody of ours has sent does no harm */
        for (int i = 0; i < 1000; ++i) {
            CHECK_EQ(kill(getpid(), SIGURG), 0);
            CHECK_EQ(urgent_in(young), 0);
        }
}

static void others_stay_blocked(void) {
    atomic_int looked = 0;
    if (stacks()) CHECK_OK(hc_signal_set(0, SIGURG));
    hc_group *g = group_of(1);
    CHECK_OK(hc_submit(g, all_blocked, &looked));
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(looked, 1);
}

int main(void) {
    check_deadline(60);
    RUN_FORKED(what_cannot_be_lent_is_refused);
    RUN_FORKED(a_handler_of_the_host_stays);
    RUN_FORKED(one_is_lent_once);
    RUN_FORKED(workers_open_what_was_lent_before);
    RUN_FORKED(others_stay_blocked);
    RUN(workers_block_asynchronous_signals);
    RUN(a_task_can_have_the_mask_of_the_creator);
    RUN(no_signal_lands_on_a_worker);
    RUN(signals_do_not_shorten_a_timeout);
    return 0;
}
