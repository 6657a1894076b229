/* check.h - what the contract tests share: checks that name their line, cases, a latch, and threads that must work.
 *
 * A test never sleeps to create an order: it waits on a latch, or asks again until the answer is there, and the alarm
 * ends a program that would wait for ever. Built with asserts on or off alike. */
#ifndef CHECK_H
#define CHECK_H

#include <dirent.h>
#include <homecooking/homecooking.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* gcc defines a macro for each sanitizer, clang answers to __has_feature. */
#ifdef __has_feature
#define CHECK_HAS(feature) __has_feature(feature)
#else
#define CHECK_HAS(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CHECK_HAS(address_sanitizer)
#define CHECK_ASAN 1
#else
#define CHECK_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || CHECK_HAS(thread_sanitizer)
#define CHECK_TSAN 1
#else
#define CHECK_TSAN 0
#endif
#define CHECK_SLOWER (CHECK_ASAN || CHECK_TSAN ? 6u : 1u) /* more time, smaller sizes */

/* Whether the child of a process whose threads are not still may start threads and allocate: the one tool does not follow
 * it, the other's allocator (gcc 12) leaves locks taken that another thread of the parent had. */
#define CHECK_CHILD_GOES_ON (CHECK_SLOWER == 1)

#define CHECK_SKIP 77 /* what meson takes for "skipped" */

/* ---- Checks: they print the line and abort, from any thread ---------------------------------------------------- */

_Noreturn static inline void check_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, what);
    fflush(NULL);
    abort();
}

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

static inline void check_equal(const char *file, int line, const char *what, int64_t got, int64_t wanted) {
    if (got == wanted) return;
    fprintf(stderr, "%s:%d: CHECK failed: %s: got %" PRId64 ", wanted %" PRId64 "\n", file, line, what, got, wanted);
    fflush(NULL);
    abort();
}

#define CHECK_EQ(got, wanted) check_equal(__FILE__, __LINE__, #got " == " #wanted, (int64_t)(got), (int64_t)(wanted))

/* A result of the library, told by name. */
static inline void check_result(const char *file, int line, const char *what, int got, int wanted) {
    if (got == wanted) return;
    fprintf(stderr, "%s:%d: CHECK failed: %s: got %s (%d), wanted %s\n", file, line, what, hc_errname(got), got,
            hc_errname(wanted));
    fflush(NULL);
    abort();
}

#define CHECK_RC(got, wanted) check_result(__FILE__, __LINE__, #got, (got), (wanted))
#define CHECK_OK(got) CHECK_RC(got, HC_OK)
#define CHECK_STR(got, wanted) CHECK(strcmp((got), (wanted)) == 0)

/* ---- Cases ----------------------------------------------------------------------------------------------------- */

static const char *volatile check_case = "(before the first case)";

static inline void check_on_alarm(int signal) {
    (void)signal;
    static const char text[] = "deadline passed in case ";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    ignored = write(STDERR_FILENO, check_case, strlen(check_case));
    ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
    _exit(124);
}

/* Ends the program after `seconds` (more of them under a sanitizer). To be called again in a forked child. */
static inline void check_deadline(unsigned seconds) {
    signal(SIGALRM, check_on_alarm);
    alarm(seconds * CHECK_SLOWER);
}

#define RUN(name)                   \
    do {                            \
        check_case = #name;         \
        printf("case %s\n", #name); \
        fflush(stdout);             \
        name();                     \
    } while (0)

/* Runs a case in a child of its own: for what is process-wide (allocator hooks, exit). The parent has made no group. */
static inline int check_fork(void (*body)(void), unsigned seconds) {
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        check_deadline(seconds);
        body();
        fflush(NULL);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

#define RUN_FORKED(name)                   \
    do {                                   \
        check_case = #name;                \
        printf("case %s\n", #name);        \
        CHECK_EQ(check_fork(name, 60), 0); \
    } while (0)

/* ---- Waiting --------------------------------------------------------------------------------------------------- */

/* Opens once, for all. Only broadcasts: pthread_cond_signal of some glibc versions can lose a wake-up. */
typedef struct latch {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t count;
} latch;

#define LATCH(n) \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, (n) }

static inline void latch_reset(latch *l, int64_t n) {
    pthread_mutex_lock(&l->mutex);
    l->count = n;
    pthread_mutex_unlock(&l->mutex);
}

static inline void latch_down(latch *l) {
    pthread_mutex_lock(&l->mutex);
    if (--l->count <= 0) pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->mutex);
}

static inline void latch_wait(latch *l) {
    pthread_mutex_lock(&l->mutex);
    while (l->count > 0) pthread_cond_wait(&l->changed, &l->mutex);
    pthread_mutex_unlock(&l->mutex);
}

/* For a state that no one announces: asks until it is there. The alarm is the only clock. */
#define UNTIL(condition)                    \
    do {                                    \
        while (!(condition)) sched_yield(); \
    } while (0)

/* ---- Groups and tasks ------------------------------------------------------------------------------------------ */

static inline hc_group *group_with(const hc_group_options *options) {
    hc_group *g = NULL;
    CHECK_OK(hc_group_create(&g, options));
    CHECK(g != NULL);
    return g;
}

/* A fixed number of workers, all there from the start, and no others. */
static inline hc_group_options fixed(hc_group_options options) {
    options.min_workers = options.max_workers;
    if (options.kind != HC_KIND_PINNED) options.spare_workers = HC_NONE32;
    return options;
}
static inline hc_group *fixed_with(const hc_group_options *options) {
    const hc_group_options all = fixed(*options);
    return group_with(&all);
}
static inline hc_group *group_of(uint32_t workers) {
    hc_group_options options = HC_GROUP_OPTIONS_INIT;
    options.max_workers = workers;
    return fixed_with(&options);
}

/* A task that says when it is inside, and stays until told to go. */
typedef struct gate {
    latch inside, go;
} gate;

#define GATE \
    { LATCH(1), LATCH(1) }

static inline void gate_task(void *arg) {
    gate *at = arg;
    latch_down(&at->inside);
    latch_wait(&at->go);
}

static inline void gate_hold(hc_group *g, gate *at) {
    CHECK_OK(hc_submit(g, gate_task, at));
    latch_wait(&at->inside);
}

static inline void gate_open(gate *at) { latch_down(&at->go); }

/* The same for every worker of a group: afterwards nothing starts until it is released. */
typedef struct hold {
    latch inside, go;
} hold;

static inline void hold_task(void *arg) {
    hold *at = arg;
    latch_down(&at->inside);
    latch_wait(&at->go);
}

static inline void hold_all(hc_group *g, hold *at, uint32_t workers) {
    *at = (hold){LATCH(0), LATCH(1)};
    for (uint32_t i = 0; i < workers; ++i) { /* one by one: never more than one is queued, so any capacity will do */
        latch_reset(&at->inside, 1);
        CHECK_OK(hc_submit(g, hold_task, at));
        latch_wait(&at->inside);
    }
}

static inline void hold_release(hold *at) { latch_down(&at->go); }

static inline void count_task(void *arg) { atomic_fetch_add((atomic_int *)arg, 1); }

static inline hc_group_stats_data stats_of(const hc_group *g) {
    hc_group_stats_data data;
    CHECK_OK(hc_group_stats(g, &data, (uint32_t)sizeof data));
    return data;
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

static inline pthread_t thread_start(void *(*body)(void *), void *arg) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, body, arg), 0);
    return thread;
}

static inline void thread_join(pthread_t thread) { CHECK_EQ(pthread_join(thread, NULL), 0); }

/* Runs a case on a thread of its own, so that what the library notes of a thread is gone when it returns. */
typedef void (*check_body)(void);

static inline void *check_thread_body(void *arg) {
    (*(check_body *)arg)();
    return NULL;
}

static inline void on_own_thread(check_body body) { thread_join(thread_start(check_thread_body, &body)); }

/* How many threads the kernel says this process has. */
static inline int threads_now(void) {
    DIR *dir = opendir("/proc/self/task");
    CHECK(dir != NULL);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.') ++n;
    closedir(dir);
    return n;
}

#endif
