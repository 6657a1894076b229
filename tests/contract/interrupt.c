/* Guards against: a system call in which a task waits past its limit, or cancelled, and that no signal ends; one signal only, that
 * came too early; a handler that changes errno, or lets the kernel go on; a mask that the task has left behind. Where else the
 * signal may not be seen: interrupt_stray.c. */
#include <sys/socket.h>
#include <sys/un.h>

#include "interrupt.h"

static void ends_late(hc_group *g, hc_fn fn, void *arg) {
    const hc_task_options options = interruptible(fn, arg, 1 * ms);
    CHECK_RC(end_of(held_with(g, &options)), HC_ELIMIT);
}

/* ---- Calls that wait ----------------------------------------------------------------------------------------------- */

static void reads(void *fd) {
    char c;
    CHECK(hc_worker_index() >= 0);
    CHECK_EQ(read(*(int *)fd, &c, 1), -1);
    CHECK_EQ(errno, EINTR);
    CHECK_EQ(hc_task_cancelled(), 1);
}

static void accepts(void *fd) {
    CHECK_EQ(accept(*(int *)fd, NULL, NULL), -1);
    CHECK_EQ(errno, EINTR);
}

static void polls(void *fd) {
    struct pollfd one = {*(int *)fd, POLLIN, 0};
    CHECK_EQ(poll(&one, 1, -1), -1);
    CHECK_EQ(errno, EINTR);
}

static void pauses(void *fd) {
    (void)fd;
    CHECK_EQ(pause(), -1);
    CHECK_EQ(errno, EINTR);
}

/* One may have come before the call: body after body needs the next. */
static void pauses_again(void *fd) {
    for (int i = 0; i < 4; ++i) pauses(fd);
}

static void waits_of_the_library(void *fd) {
    struct pollfd one = {*(int *)fd, POLLIN, 0};
    CHECK_RC(hc_poll(&one, 1, HC_NEVER), HC_ECANCELED);
    CHECK_RC(hc_sleep(HC_NEVER), HC_ECANCELED);
}

typedef struct call {
    hc_fn fn;
    int fd;
} call;

static int listening(void) {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    CHECK(fd >= 0);
    CHECK_EQ(bind(fd, (const struct sockaddr *)&any, sizeof any.sun_family), 0); /* the kernel finds a name */
    CHECK_EQ(listen(fd, 1), 0);
    return fd;
}

static void system_calls_end(void) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    call calls[] = {{reads, ends[0]},        {accepts, listening()}, {polls, ends[0]}, {pauses, 0},
                    {pauses_again, ends[0]}, {waits_of_the_library, ends[0]}};
    enum { n = sizeof calls / sizeof calls[0] };
    for (int w = 0; w < n_many_counts; ++w) {
        hc_group *g = group_of_workers(many_counts[w]);
        for (int i = 0; i < n; ++i) ends_late(g, calls[i].fn, &calls[i].fd);
        hc_task *all[n];
        for (int i = 0; i < n; ++i) { /* and all at once */
            const hc_task_options options = interruptible(calls[i].fn, &calls[i].fd, (uint64_t)(i + 1) * 100 * us);
            all[i] = held_with(g, &options);
        }
        for (int i = 0; i < n; ++i) CHECK_RC(end_of(all[i]), HC_ELIMIT);
        hc_task_options detached = interruptible(reads, &ends[0], 1);
        CHECK_OK(hc_task_submit(g, &detached, NULL));
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_EQ(stats_of(g).overran, 2 * n + 1);
        CHECK_OK(hc_group_destroy(g));
    }
    close(ends[0]);
    close(ends[1]);
    close(calls[1].fd);
}

/* ---- Cancelled, without a limit ------------------------------------------------------------------------------------ */

typedef struct inside {
    latch in;
    int fd;
    atomic_int ran;
} inside;

static void reads_cancelled(void *arg) {
    inside *i = arg;
    latch_down(&i->in);
    reads(&i->fd);
    i->ran += 1;
}

static void a_cancel_ends_them(void) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    for (int w = 0; w < n_worker_counts; ++w) {
        hc_group *g = group_of_workers(worker_counts[w]);
        for (int round = 0; round < 20; ++round) {
            inside i = {LATCH(1), ends[0], 0};
            hc_task_options options = interruptible(reads_cancelled, &i, 0);
            hc_task *t = held_with(g, &options);
            latch_wait(&i.in);
            CHECK_RC(hc_task_cancel_wait(t, HC_NEVER), HC_DONE);
            CHECK_RC(end_of(t), HC_OK);
            latch_reset(&i.in, 1);
            const hc_timer_options once = timer_options_of(&options, HC_TIMER_ONCE, 0, 0);
            hc_timer *timer = timer_with(g, &once);
            latch_wait(&i.in);
            CHECK_RC(hc_timer_cancel_wait(timer, HC_NEVER), HC_DONE);
            hc_timer_unref(timer);
            CHECK_EQ(i.ran, 2);
        }
        CHECK_EQ(stats_of(g).overran, 0);
        CHECK_OK(hc_group_destroy(g));
    }
    close(ends[0]);
    close(ends[1]);
}

/* ---- What the handler leaves alone --------------------------------------------------------------------------------- */

static void keeps_errno(void *arg) {
    UNTIL(hc_task_cancelled());
    errno = 77;
    const uint64_t until = hc_now() + 20 * ms; /* several come meanwhile */
    while (hc_now() < until) CHECK_EQ(errno, 77);
    pauses(arg);
}

static void flags_and_errno(void) {
    struct sigaction is;
    CHECK_EQ(sigaction(signo, NULL, &is), 0);
    CHECK_EQ(is.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_RESTART), SA_SIGINFO | SA_ONSTACK);
    hc_group *g = group_of_workers(1);
    ends_late(g, keeps_errno, NULL);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- Masks --------------------------------------------------------------------------------------------------------- */

static int is_blocked(void) {
    sigset_t mask;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    return sigismember(&mask, signo);
}

static void block_it(int how) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signo);
    CHECK_EQ(pthread_sigmask(how, &one, NULL), 0);
}

static void blocks_for_some_time(void *arg) {
    CHECK_EQ(is_blocked(), 0);
    block_it(SIG_BLOCK);
    UNTIL(hc_task_cancelled());
    CHECK_EQ(poll(NULL, 0, 5), 0);
    block_it(SIG_UNBLOCK); /* what has come is delivered here, and the next one later */
    pauses(arg);
}

static void leaves_it_blocked(void *arg) {
    sigset_t pending;
    block_it(SIG_BLOCK);
    do CHECK_EQ(sigpending(&pending), 0);
    while (!sigismember(&pending, signo));
    *(atomic_int *)arg += 1;
}

static void with_the_creators_mask(void *arg) {
    CHECK_OK(hc_thread_sigmask_restore());
    UNTIL(hc_task_cancelled());
    *(atomic_int *)arg += 1;
}

static void whatever_the_body_does_to_its_mask(void) {
    hc_group *g = group_of_workers(1);
    atomic_int ran = 0;
    for (int round = 0; round < 20; ++round) {
        ends_late(g, blocks_for_some_time, NULL);
        ends_late(g, leaves_it_blocked, &ran);
        ends_late(g, pauses, NULL);
        ends_late(g, with_the_creators_mask, &ran);
        ends_late(g, pauses, NULL);
    }
    CHECK_EQ(ran, 40);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- What such a task may do --------------------------------------------------------------------------------------- */

static void hook_is_blocked(void *user, uint32_t index) {
    (void)index;
    CHECK_EQ(is_blocked(), 1);
    *(atomic_int *)user += 1;
}

static void creates_groups(void *arg) {
    (void)arg;
    UNTIL(hc_task_cancelled());
    const uint64_t until = hc_now() + 40 * ms;
    do {
        atomic_int looked = 0, ran = 0;
        hc_group_options options = HC_GROUP_OPTIONS_INIT;
        options.max_workers = 2;
        options.user = &looked;
        options.on_thread_start = options.on_thread_stop = hook_is_blocked;
        hc_group *g = fixed_with(&options);
        CHECK_RC(end_of(held(g, count_task, &ran)), HC_OK);
        CHECK_OK(hc_group_drain(g, HC_NEVER));
        CHECK_OK(hc_group_destroy(g));
        CHECK_EQ(looked, 4);
        CHECK_EQ(ran, 1);
    } while (hc_now() < until);
}

static void a_late_task_creates_groups(void) {
    hc_group *g = group_of_workers(1);
    ends_late(g, creates_groups, NULL);
    CHECK_OK(hc_group_destroy(g));
}

static void in_a_child(void) {
    hc_group *g = group_of_workers(2);
    ends_late(g, pauses_again, NULL);
    CHECK_OK(hc_group_destroy(g));
}

static void forks_and_pauses(void *arg) {
    pauses(arg);
    fflush(NULL);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(60);
        if (CHECK_CHILD_GOES_ON) in_a_child();
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) != child) CHECK_EQ(errno, EINTR);
    CHECK_EQ(status, 0);
    pauses(arg);
}

static void a_late_task_forks(void) {
    hc_group *g = group_of_workers(2);
    for (int i = 0; i < 5; ++i) ends_late(g, forks_and_pauses, NULL);
    CHECK_OK(hc_group_destroy(g));
}

/* ---- No signal ----------------------------------------------------------------------------------------------------- */

static void is_told(void *arg) {
    CHECK_EQ(is_blocked(), 1);
    UNTIL(hc_task_cancelled());
    CHECK_RC(hc_sleep(HC_NEVER), HC_ECANCELED);
    *(atomic_int *)arg += 1;
}

static void none_was_lent(void) {
    hc_group *g = group_of_workers(1);
    atomic_int ran = 0;
    ends_late(g, is_told, &ran);
    CHECK_OK(hc_signal_set(SIGUSR2, 0)); /* a worker that there is already */
    ends_late(g, pauses, NULL);
    CHECK_OK(hc_group_destroy(g));
    CHECK_EQ(ran, 1);
}

/* One of those that queue: nothing piles up. */
static void a_realtime_signal(void) {
    CHECK_OK(hc_signal_set(SIGRTMIN + 2, 0));
    in_a_child();
}

int main(void) {
    check_deadline(100);
    RUN_FORKED(none_was_lent);
    RUN_FORKED(a_realtime_signal);
    CHECK_OK(hc_signal_set(signo, 0));
    RUN(system_calls_end);
    RUN(a_cancel_ends_them);
    RUN(flags_and_errno);
    RUN(whatever_the_body_does_to_its_mask);
    RUN(a_late_task_creates_groups);
    RUN(a_late_task_forks);
    return 0;
}
