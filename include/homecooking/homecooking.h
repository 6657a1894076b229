/* homecooking.h - a thread pool that any language can link.           MIT licence
 *
 * THE MANUAL
 *
 * A *group* is a named set of worker threads and their queues. A *task* is one call fn(arg). A *submitter* is any thread
 * that hands tasks to a group. The shortest useful program:
 *
 *     hc_group *g;
 *     if (hc_group_create(&g, NULL) < 0) return 1;      // defaults: up to one worker for each usable CPU
 *     hc_submit(g, work, arg);                          // from any thread, as often as you like
 *     hc_group_drain(g, HC_NEVER);                      // until nothing is queued or running
 *     hc_group_destroy(g);                              // runs what is queued, ends the workers, frees
 *
 * RESULTS. A negative result means that the call had no effect and that you still own `arg` (hc_submit_batch() alone may
 * have taken a prefix, and says how long it is); the constants are below, hc_strerror() gives the sentence. A result >=
 * 0 is a documented answer. errno is neither read nor set.
 *
 * EXACTLY ONCE. An accepted task runs exactly once, or is handed back exactly once through its `drop` (or the group's
 * `on_unrun`) with the reason. Nothing is ever lost in silence, and no lock of the library is held during a callback.
 *
 * WHAT HAPPENS BEFORE WHAT. Everything a thread did before a submit (schedule, create, arm) is visible to the task (or
 * to its drop). The bodies of one timer come one after the other, each seeing what the last has done. The end of a task,
 * and of a drop, is visible to a thread whose hc_group_drain() or hc_group_await() then returned 0.
 *
 * ORDER. With one worker, the tasks of one submitter start in the order in which it submitted them. With more workers no
 * order is promised, unless the group's kind gives one (HC_KIND_SHARED, HC_KIND_PINNED), or you ask for it (section 11). Tasks may
 * have a priority (HC_PRIORITY_...): what is said here holds among those of the same. Timers that one thread has armed are taken up
 * in the order of their times, to about a microsecond; they do not queue behind tasks.
 *
 * FAIRNESS (HC_KIND_STEALING; the other kinds are plain queues). A submitter that floods a group, or a task that
 * resubmits itself for ever, delays the task of another by at most one batch (256 tasks) for each submitter that has
 * something queued. A task that blocks holds up nothing but its own worker: what that worker had already taken is run by
 * the others (except for HC_KIND_PINNED, where you asked for that).
 *
 * TIMERS. hc_schedule(g, fn, arg, delay) runs a task later; hc_timer_create() makes timers that repeat and can be changed. The
 * `arg` of such a timer is lent to each of its firings; its `drop`, if it has one, gets it when the series ends, exactly once.
 * Neither drain nor destroy waits for a timer that is not due: destroy hands it back. To have those that fire once fire first:
 * hc_group_shutdown(g, HC_SHUTDOWN_RUN_TIMERS), then hc_group_destroy(g).
 *
 * REFERENCES. Whoever calls a function needs a reference of its own for the length of the call. A task that destroys the
 * group to which it was submitted must therefore not take its submitter's last one while hc_submit() is still returning.
 *
 * THREADS. Unless a function says otherwise it may be called by any thread, inside and outside of tasks, and does not
 * block. None may be called from a signal handler, but for the ones marked so, nor from the allocator hooks.
 *
 * TIME. uint64_t nanoseconds. A `timeout` is relative; 0 polls, HC_NEVER waits for ever.
 *
 * OPTIONS. Each options struct begins with its size: fill it with its HC_..._INIT macro or its _init function, then set
 * what you need. In every field 0 means the default; where a real zero makes sense, it is written HC_NONE32 or HC_NONE64.
 * A NULL pointer to options means all defaults. A larger struct from a newer header is accepted as long as the part that
 * this library does not know is zero.
 *
 * FORK. In a forked child the groups of the parent answer HC_EFORKED, whatever they are asked; new groups work.
 * EXIT. exit() with live groups is fine: workers are neither joined nor waited for. Destroy a group first if its tasks
 * must be finished.
 * SIGNALS. Workers are started with all asynchronous signals blocked, but for those that you lend with hc_signal_set();
 * see hc_thread_sigmask_restore().
 * CALLBACKS must return: no longjmp, exception or pthread_exit may leave one.
 */
#ifndef HOMECOOKING_H
#define HOMECOOKING_H

#include <stddef.h>
#include <stdint.h>

#define HC_VERSION_HEX 0x000100u /* 0.1.0 */
#define HC_VERSION_STRING "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

#define HC_API __attribute__((visibility("default")))

/* ---- 1 Results ------------------------------------------------------------------------------------------------------ */

/* X(name, value, text). The values never change and lie outside the range of errno. HC_EUNWOUND and HC_ECLOSED are reserved. */
#define HC_ERROR_MAP(X)                                                                                                  \
    X(HC_EINVAL, -1001, "invalid argument")                                                                              \
    X(HC_ENOMEM, -1002, "out of memory")                                                                                 \
    X(HC_ETHREAD, -1003, "could not start a thread")                                                                     \
    X(HC_EFULL, -1004, "queue is full")                                                                                  \
    X(HC_ETIMEDOUT, -1005, "the wait timed out")                                                                         \
    X(HC_ECANCELED, -1006, "task was cancelled")                                                                         \
    X(HC_EEXPIRED, -1007, "task expired in the queue")                                                                   \
    X(HC_ELIMIT, -1008, "task ran past its limit")                                                                       \
    X(HC_EDROPPED, -1009, "task was dropped by the overload policy")                                                     \
    X(HC_ESHUTDOWN, -1010, "group is shut down")                                                                         \
    X(HC_EFORKED, -1011, "group belongs to the parent process")                                                          \
    X(HC_EDEADLK, -1012, "the caller would wait for itself")                                                             \
    X(HC_EBUSY, -1013, "in use")                                                                                         \
    X(HC_ENOTSUP, -1014, "not in this build, or not for this kind of group")                                             \
    X(HC_EUNWOUND, -1015, "task was unwound (pthread_exit, cancellation)")                                               \
    X(HC_EFAILED, -1016, "task failed")                                                                                  \
    X(HC_EINTR, -1017, "interrupted by a signal")                                                                        \
    X(HC_ECLOSED, -1018, "completion queue is closed")

enum {
    HC_OK = 0,
#define HC_ERROR_CONSTANT(name, value, text) name = value,
    HC_ERROR_MAP(HC_ERROR_CONSTANT)
#undef HC_ERROR_CONSTANT
    HC_ERROR_LAST_ = HC_ECLOSED /* so that the list may end without a comma; not for use */
};

/* "HC_EFULL" for HC_EFULL, "HC_OK" for 0 and above, "HC_E?" for an unknown code. Never NULL, static storage. May be called
 * from a signal handler. */
HC_API const char *hc_errname(int code);

/* A sentence for people, as in the list above. Never NULL, static storage. May be called from a signal handler. */
HC_API const char *hc_strerror(int code);

#define HC_NEVER UINT64_MAX   /* as a timeout: wait for ever */
#define HC_NONE32 UINT32_MAX  /* "really none" in a 32-bit option, where 0 means the default */
#define HC_NONE64 UINT64_MAX  /* the same for a 64-bit option */

/* ---- 2 Process-wide ------------------------------------------------------------------------------------------------- */

/* The version of the library that is loaded: HC_VERSION_HEX and "0.1.0". May be called from a signal handler. */
HC_API uint32_t hc_version(void);
HC_API const char *hc_version_string(void);

/* What this build and this machine can do, as a mask of HC_FEATURE_...; unknown bits are to be ignored. */
enum {
    HC_FEATURE_MEMBARRIER = 1, /* submits need no fence: the kernel orders them for us. Without it each pays one. */
    HC_FEATURE_STACKS = 2 /* stacks of other threads can be taken: the build knows libunwind, and it is installed. The first
                             call looks for it, and may block in the dynamic loader. Not in programs linked with -static. */
};
HC_API uint64_t hc_features(void);

/* Lends the library signals that it may send to threads of this process; without them it sends none. 0 = none; what was lent
 * stays lent.
 *   dump_signo   asks a thread for its stack. Workers that were started before have it blocked, and will not answer: set it
 *                before the first group. A number below SIGRTMIN that the program has no use for (SIGURG, SIGPROF) is best: of
 *                those, questions that are not answered do not pile up. The answer takes some 10 us of the thread, on its own
 *                stack (or sigaltstack); calls that no handler's SA_RESTART takes up again (nanosleep, poll, epoll_wait) then
 *                return EINTR.
 *   limit_signo  ends a system call in which a task with HC_TASK_INTERRUPT waits, see section 12. Any time before such a task
 *                begins. Without SA_RESTART: read, accept, connect, poll and their like then return EINTR.
 * Nobody else may handle the signals, nor wait for them (sigwait, signalfd).
 * Returns 0, HC_EINVAL (no signal, the same twice, or none that can be lent: SIGKILL, SIGSTOP, those that faults send), HC_EBUSY
 * (it has a handler, neither SIG_DFL nor SIG_IGN, or another was lent; the limit_signo may have been taken, the dump_signo not),
 * HC_ENOTSUP (a dump_signo without HC_FEATURE_STACKS). */
HC_API int hc_signal_set(int limit_signo, int dump_signo);

/* The clock of the library: CLOCK_MONOTONIC in nanoseconds. May be called from a signal handler. */
HC_API uint64_t hc_now(void);

/* Where the library takes its memory from: alloc(size, align, user) returns NULL when there is none; free gets the size
 * and the alignment back. Both must be safe to call from any thread and must not call this library. Before the first group
 * is created, otherwise HC_EBUSY. Both NULL restores the default (posix_memalign, free).
 * Returns 0, HC_EINVAL (only one of the two), HC_EBUSY. */
typedef void *(*hc_alloc_fn)(size_t size, size_t align, void *user);
typedef void (*hc_free_fn)(void *p, size_t size, size_t align, void *user);
HC_API int hc_allocator_set(hc_alloc_fn alloc, hc_free_fn free, void *user);

/* ---- 3 Groups ------------------------------------------------------------------------------------------------------- */

typedef struct hc_group hc_group; /* reference counted; a handle stays valid, though shut down, until its last unref */
typedef struct hc_task hc_task;   /* reference counted; see section 5 */
typedef struct hc_scope hc_scope; /* see section 6 */
typedef struct hc_timer hc_timer; /* reference counted; see section 9 */
typedef struct hc_serial hc_serial; /* reference counted; see section 11 */

typedef void (*hc_fn)(void *arg);

/* `arg` comes back instead of a run (of a timer: after the last); `why` is the code that says so, for instance
 * HC_ESHUTDOWN. Called once, on the thread that took the task out of the queue. It must not wait for the drop of another
 * task. */
typedef void (*hc_drop_fn)(void *arg, int32_t why);

/* How a group queues. */
enum {
    HC_KIND_STEALING = 0, /* a lane for each submitter, read by whichever worker is free: the fast one */
    HC_KIND_SHARED = 1,   /* one queue, strictly first in, first out, whoever submits */
    HC_KIND_PINNED = 2    /* a queue for each worker, first in, first out, never stolen from: see hc_submit_to() */
};

/* What a submit does when `capacity` tasks are queued. */
enum {
    HC_FULL_FAIL = 0, /* it returns HC_EFULL */
    HC_FULL_WAIT = 1, /* it waits for room, for at most full_timeout, first come, first served. A task of the group itself is not
                         made to wait (all of them might): HC_EDEADLK */
    HC_FULL_RUN = 2,  /* it runs the task itself, before it returns, and so do its next submits until the queue is half
                         empty. Such a task runs ahead of what is queued, in every kind of group. A slow one slows its
                         submitter; a lock that the submitter holds, and that the task wants, deadlocks; a task that
                         submits others, which submit others, nests them on one stack. */
    HC_FULL_DROP_NEWEST = 3, /* it returns 0, and the task comes back with HC_EDROPPED, before that, on this thread */
    HC_FULL_DROP_OLDEST = 4  /* it takes one of the oldest out (its submitter's own, if that has any queued), which comes back with
                                HC_EDROPPED on this thread, and queues the new one in its place; when workers have taken up all that
                                is queued, the new one comes back instead */
};

typedef struct hc_group_options {
    uint32_t size;        /* sizeof(hc_group_options) */
    uint32_t flags;       /* none yet: 0 */
    const char *name;     /* copied; threads are called "<name>-<index>", shortened so that the index survives. NULL = "hc" */
    uint32_t min_workers; /* started at creation, and never fewer; 0 = 1 (HC_KIND_PINNED: all), HC_NONE32 = none. The others are
                             started when a task would have to wait for a busy worker, and end when they are not needed */
    uint32_t max_workers; /* most that run tasks at once; 0 = usable CPUs, see hc_group_stats(). At most HC_MAX_WORKERS. Equal to
                             min_workers: a fixed number */
    uint32_t spare_workers; /* how many more there may be, one for each that is blocked, see section 10. 0 = 64, but none where you
                               have asked for a single worker (max_workers = 1) or for HC_KIND_PINNED. HC_NONE32 = none: then
                               max_workers also limits how many tasks are blocked at once. At most HC_MAX_WORKERS */
    uint32_t kind;        /* HC_KIND_... */
    uint64_t keep_alive;  /* ns that a worker above min_workers has nothing to run before it ends. 0 = 60 s, HC_NONE64 = for ever */
    uint64_t stuck_after; /* ns that all workers must be busy, and a task wait, before one that sleeps inside of its task is taken
                             for blocked: section 10. 0 = 100 ms, HC_NONE64 = never */
    uint64_t capacity;    /* most tasks queued at once, in the whole group; 0 = unbounded. Running tasks do not count. It
                             is never exceeded; "full" may come up to a fifth early, for submitters take their room
                             in small portions ahead, and workers give it back in small portions. */
    uint32_t full_policy; /* HC_FULL_...; only together with a capacity */
    uint32_t spin;        /* ns that a worker without work looks around before it sleeps; one does at a time. 0 = default:
                             not at all. Worth trying where cores are plenty and tasks come every few microseconds; where
                             they are few, a spinning worker keeps its submitter from the CPU. HC_NONE32 = not at all */
    uint64_t full_timeout; /* ns, for HC_FULL_WAIT only. 0 = for ever. See also hc_submit_timed() */
    uint64_t stack_size;  /* bytes of a worker's stack, at least 65 536; 0 = the system's default for threads, but no less than 1 MiB */
    const uint32_t *cpus; /* copied: the CPUs that workers may run on, of those that the caller may. HC_KIND_PINNED: worker i runs on
                             cpus[i % cpu_count] only. NULL = wherever the caller may: no thread is bound unasked */
    uint32_t cpu_count;   /* how many those are; max_workers = 0 is then that number */
    uint32_t reserved;    /* 0 */
    void *user;           /* passed to the callbacks below */
    void (*on_thread_start)(void *user, uint32_t index); /* on each worker, before its first task */
    void (*on_thread_stop)(void *user, uint32_t index);  /* on each worker, after its last; the index may then be another's */
    void (*on_unrun)(void *user, hc_fn fn, void *arg, int32_t why); /* an accepted task without a drop of its own that will
                                                                       not run; NULL: such tasks are only counted */
    uint64_t run_limit;    /* ns: the limit of every task that brings none of its own, see section 12. 0 = none */
    uint64_t queue_expiry; /* ns: the same for the time that it may be queued. 0 = none */
    void (*on_limit)(void *user, hc_fn fn, void *arg, const char *label, uint64_t ns); /* a task that ran past its limit has
                              returned, after so long; on its thread. `arg` may be gone: only its value is passed */
} hc_group_options;

#define HC_MAX_WORKERS 4096u
#define HC_GROUP_OPTIONS_INIT                                                                                            \
    { (uint32_t)sizeof(hc_group_options), 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL }

/* Fills *options with the defaults for a struct of `size` bytes, as HC_GROUP_OPTIONS_INIT does. NULL: no effect. */
HC_API void hc_group_options_init(void *options, uint32_t size);

/* Starts a group. Returns when its min_workers have been started (not: when on_thread_start has returned). *out gets one
 * reference, and is NULL after an error. May block for as long as the threads take to start.
 * Returns 0, HC_EINVAL, HC_ENOMEM, HC_ETHREAD (min_workers could not be started: none is left behind). Later, when a thread
 * cannot be had, the group goes on with those it has, and tries again: at the next submit, and by itself every 100 ms while tasks wait
 * (if the process can have one thread more, which looks after that for all groups). */
HC_API int hc_group_create(hc_group **out, const hc_group_options *options);

/* References. NULL: no effect. When the last one goes, the group is shut down (HC_SHUTDOWN_DRAIN) if it was not yet; its
 * workers run what is queued, and the last of them frees it. unref does not wait for that. */
HC_API void hc_group_ref(hc_group *g);
HC_API void hc_group_unref(hc_group *g);

/* Ends the acceptance of tasks: from now on every submit answers HC_ESHUTDOWN, from inside tasks too. Does not wait; with
 * HC_SHUTDOWN_NOW it hands back itself what workers had taken and not started, at most 256 tasks for each worker. A
 * submit that runs at the same moment is either accepted, and then kept or handed back as all others, or refused.
 * A second call may turn RUN_TIMERS into DRAIN, and DRAIN into NOW; the other way round it changes nothing.
 * Returns 0, HC_EINVAL, HC_EFORKED. */
enum {
    HC_SHUTDOWN_DRAIN = 0,     /* what is queued still runs; timers that no worker has taken up come back, as all does
                                  after NOW */
    HC_SHUTDOWN_NOW = 1,       /* what has not started comes back through drop or on_unrun, with HC_ESHUTDOWN */
    HC_SHUTDOWN_RUN_TIMERS = 2 /* as DRAIN, but timers that fire once still do, at their time (unless that is HC_NEVER): await
                                  waits for them. Those that repeat fire no more, and come back when their next time comes, or
                                  with the last of the others. Nothing can be armed any more, nor put off; what was armed in
                                  its own body, and that body still runs, comes back */
};
HC_API int hc_group_shutdown(hc_group *g, uint32_t how);

/* Waits for a moment at which nothing is queued and nothing runs. Others may go on submitting: it may then never come.
 * A timer counts from the moment that a worker takes it up, when it is due.
 * Does not stop anything, and works after a shutdown too. Blocks.
 * Returns 0, HC_EINVAL, HC_ETIMEDOUT, HC_EDEADLK (called by a task of this group), HC_EFORKED. */
HC_API int hc_group_drain(hc_group *g, uint64_t timeout);

/* Waits until the group has been shut down (by whomever), everything accepted has run or been handed back, and all its
 * workers have ended. After HC_SHUTDOWN_NOW it hands tasks back itself, so that a stuck worker does not hold them.
 * Blocks; handing back, and the last instructions of ending threads, are not cut short by the timeout.
 * Returns 0, HC_EINVAL, HC_ETIMEDOUT, HC_EDEADLK (called by a task of this group), HC_EFORKED. */
HC_API int hc_group_await(hc_group *g, uint64_t timeout);

/* hc_group_shutdown(g, HC_SHUTDOWN_DRAIN), unless it has been shut down before (in whatever manner: that stays),
 * hc_group_await(g, HC_NEVER), hc_group_unref(g). From a task of this group it
 * does not wait: it is then a shutdown and an unref. Tasks may go on using the group until they end. Blocks.
 * Returns 0, HC_EINVAL, HC_EFORKED. */
HC_API int hc_group_destroy(hc_group *g);

/* Gives the memory that a burst left in the caches of the group back to the allocator. Worth calling when the group is
 * idle; safe at any time. Returns 0, HC_EINVAL, HC_EFORKED. */
HC_API int hc_group_trim(hc_group *g);

/* Changes the number of workers: min_workers and max_workers as in the options (0 there is the default). max_workers at most
 * hc_group_slots(), which is max_workers + spare_workers of its creation. Does not wait: who is one too many goes to rest after its
 * task, and ends after keep_alive.
 * Returns 0, HC_EINVAL, HC_ENOTSUP (HC_KIND_PINNED), HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_group_resize(hc_group *g, uint32_t min_workers, uint32_t max_workers);

/* From now on the workers begin nothing: no task (but one that a worker is just about to begin), timer or fork. Tasks that run go
 * on; everything is accepted as before; who waits still helps with its own; a drain waits for the resume if something is queued. To
 * pause twice is to pause once. A shutdown resumes.
 * Returns 0, HC_EINVAL, HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_group_pause(hc_group *g);
HC_API int hc_group_resume(hc_group *g);

/* The group whose task (or drop, or thread hook) the caller is in; NULL outside. Borrowed: take a reference to keep it. */
HC_API hc_group *hc_group_current(void);

/* The caller's number in that group: 0 <= index < hc_group_slots(), in tasks and thread hooks. -1 elsewhere, and in a task
 * that its submitter (HC_FULL_RUN) or a thread that waits runs, and in a drop, unless that thread is one of its workers. */
HC_API int32_t hc_worker_index(void);

/* The bound of hc_worker_index() for this group, constant for its life: the size of an array of per-worker scratch.
 * 0 for NULL. */
HC_API uint32_t hc_group_slots(const hc_group *g);

/* Workers block asynchronous signals. A task that is about to exec a program calls this, to give it the signal mask that
 * the creator of the group had; a child that a task has forked may call it too.
 * Returns 0, HC_EINVAL outside of a worker and of such a child. */
HC_API int hc_thread_sigmask_restore(void);

/* ---- 4 Detached tasks ----------------------------------------------------------------------------------------------- */

typedef struct hc_call { /* frozen: 16 bytes */
    hc_fn fn;
    void *arg;
} hc_call;

/* Queues fn(arg). Never blocks, except under HC_FULL_WAIT, and never runs fn itself, except under HC_FULL_RUN.
 * HC_KIND_PINNED: the workers are dealt tasks in turn.
 * Returns 0, HC_EINVAL, HC_ENOMEM (also: 65 536 threads submit to the group already), HC_EFULL, HC_ETIMEDOUT and HC_EDEADLK
 * (under HC_FULL_WAIT), HC_ETHREAD (there is no worker, and none can be had), HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_submit(hc_group *g, hc_fn fn, void *arg);

/* Queues calls[0] to calls[n-1], in this order, at less cost than n submits. *accepted (which must not be NULL) is how
 * many were taken: always a prefix; the rest stays yours. The array may be reused at once. A NULL fn anywhere: HC_EINVAL,
 * and none is taken.
 * Returns 0 (all n), or why the rest was refused: HC_EINVAL, HC_ENOMEM, HC_EFULL, HC_ETIMEDOUT, HC_EDEADLK,
 * HC_ETHREAD, HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_submit_batch(hc_group *g, const hc_call *calls, size_t n, size_t *accepted);

/* hc_submit(), but where that would answer HC_EFULL, or wait, or drop, or run the task itself, this waits for room, for at most
 * `timeout`. Blocks.
 * Returns 0, HC_EINVAL, HC_ENOMEM, HC_ETIMEDOUT, HC_EDEADLK (a task of this group, and no room), HC_ETHREAD, HC_ESHUTDOWN,
 * HC_EFORKED. */
HC_API int hc_submit_timed(hc_group *g, hc_fn fn, void *arg, uint64_t timeout);

/* HC_KIND_PINNED: queues fn(arg) for the worker with that index, and no other will run it.
 * Returns 0, HC_EINVAL (also: no such worker), HC_ENOMEM, HC_EFULL, HC_ETIMEDOUT, HC_EDEADLK, HC_ENOTSUP (another kind of group),
 * HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_submit_to(hc_group *g, uint32_t worker, hc_fn fn, void *arg);

typedef struct hc_task_options {
    uint32_t size;     /* sizeof(hc_task_options) */
    uint32_t flags;    /* HC_TASK_... */
    hc_fn fn;
    void *arg;
    hc_drop_fn drop;   /* NULL: the group's on_unrun is told instead */
    const char *label; /* not copied: a string that outlives the task, such as a literal. NULL = none */
    void *result;      /* held tasks: what hc_task_result() gives once the task has ended well; typically a part of *arg */
    hc_fn result_drop; /* called with `result` when the last reference to the task goes, however it ended. NULL = nothing */
    uint64_t run_limit;    /* ns that it may run, see section 12. 0 = the group's, HC_NONE64 = none */
    uint64_t queue_expiry; /* ns that it may be queued. 0 = the group's, HC_NONE64 = none */
    hc_scope *scope;       /* it belongs to that scope, see section 6; of the same group. NULL = none */
    hc_serial *serial;     /* it keeps the order of that serial, see section 11; of the same group. NULL = none */
    uint64_t key;          /* the same for a key, with a key_mode */
    uint32_t key_mode;     /* HC_KEY_...; 0 = it has no key */
    uint32_t priority;     /* HC_PRIORITY_... */
} hc_task_options;

/* Flags of a task. */
enum {
    HC_TASK_WORKER_ONLY = 1, /* run by workers of the group only, not by a thread that waits for it, nor by its submitter: for
                               tasks that need what on_thread_start has set up. HC_FULL_RUN: queued above the capacity */
    HC_TASK_INTERRUPT = 2 /* past its limit, or cancelled, its thread gets a signal, see section 12. Implies HC_TASK_WORKER_ONLY */
};

/* Which of the tasks that are queued a worker begins next. HIGH and LOW are one queue each, of the whole group and in any kind of
 * group, first in, first out, whoever submits; they are taken one by one, in HC_KIND_PINNED by any worker. All other tasks are
 * normal. What runs is not interrupted. For each worker:
 *   HC_PRIORITY_HIGH  comes before all else, also before tasks that the worker has already taken up. But after 128 of them in a
 *                     row, the next is a normal one or a timer that is due, if there is any.
 *   HC_PRIORITY_LOW   comes when there is nothing else. But while LOW is not empty, the worker begins one of it after at most 768
 *                     others.
 * Tasks of a serial or key that run in one turn, up to 16 (section 11), count as one here; HIGH ends the turn, after the task that runs.
 * A full group: HC_FULL_DROP_OLDEST takes out LOW first, and nothing above the new one, which otherwise comes back itself;
 * HC_FULL_RUN runs any. Not yet together with a scope, serial or key: HC_EINVAL. */
enum { HC_PRIORITY_NORMAL = 0, HC_PRIORITY_HIGH = 1, HC_PRIORITY_LOW = 2 };

#define HC_TASK_OPTIONS_INIT                                                                                             \
    { (uint32_t)sizeof(hc_task_options), 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, 0, 0 }

/* Fills *options with the defaults for a struct of `size` bytes, as HC_TASK_OPTIONS_INIT does. NULL: no effect. */
HC_API void hc_task_options_init(void *options, uint32_t size);

/* Queues options->fn(options->arg) with what the options add. *out (unless `out` is NULL) gets a handle, with one reference
 * for you, and is NULL after an error. A task of a scope has neither a handle nor a result, nor flags; how it ended, its scope says.
 * Returns as hc_submit; HC_EINVAL also: a result without a handle, a scope or a serial of another group; HC_ECANCELED: the scope is;
 * HC_ENOTSUP: see HC_KEY_BOUND. */
HC_API int hc_task_submit(hc_group *g, const hc_task_options *options, hc_task **out);

/* The label of the task that the caller is in; NULL if it has none, and outside of tasks. */
HC_API const char *hc_task_label(void);

/* ---- 5 Held tasks --------------------------------------------------------------------------------------------------- */

/* A handle is a reference to a task. It may be kept as long as you like, also after the task has run and the group is gone;
 * dropping the last one neither cancels nor waits. NULL: no effect. */
HC_API void hc_task_ref(hc_task *t);
HC_API void hc_task_unref(hc_task *t);

/* A task ends with an outcome:
 *   HC_OK          fn has returned, cancelled meanwhile or not
 *   HC_EFAILED     fn has returned, and had called hc_task_fail(): see hc_task_error()
 *   HC_ECANCELED   it was cancelled before it began; its drop was told
 *   HC_ESHUTDOWN   its group was shut down before it began; its drop was told
 *   HC_EEXPIRED    it was queued for longer than its queue_expiry; its drop was told
 *   HC_ELIMIT      fn has returned, but ran past its run_limit (whatever hc_task_fail() said: hc_task_error() still tells)
 *   HC_EDROPPED    the queue was full, see HC_FULL_DROP_NEWEST and _OLDEST; its drop was told
 * or, for a promise, whatever hc_task_complete() said. */

/* Waits until the task has ended; *outcome (unless NULL) is then its outcome. Meanwhile the caller helps, with its own
 * only: it runs the task itself if that has not begun, or what it waits for, or what it has forked. So a wait inside a
 * task is fine, and waits may nest, each on top of the stack of the one before (some 1 KiB beside what the tasks need:
 * see stack_size); a lock that the caller holds is safe from strangers; a task whose time is longer than the timeout may
 * be run nevertheless. A timeout of 0 only looks. Blocks.
 * Returns 0, HC_EINVAL, HC_ETIMEDOUT, HC_EDEADLK (the caller is in that task), HC_EINTR and HC_ECANCELED
 * (HC_WAIT_INTERRUPTIBLE), HC_EFORKED. */
enum {
    HC_WAIT_HELP_ANY = 1,     /* run any task of the group meanwhile: never while holding a lock that one may want */
    HC_WAIT_NO_HELP = 2,      /* only sleep */
    HC_WAIT_INTERRUPTIBLE = 4 /* a signal that the caller handles ends the wait, and so does, inside of a task, that this is to
                                 stop, see hc_task_cancelled(): HC_ECANCELED */
};
HC_API int hc_task_wait(hc_task *t, uint64_t timeout, uint32_t flags, int32_t *outcome);

/* The result of a task that has ended well; of an hc_task_any() also when its winner has not. It belongs to the task:
 * yours as long as you have a reference.
 * Returns 0, HC_EINVAL, HC_EBUSY (it has not ended), HC_EFAILED (it has, but not with HC_OK). */
HC_API int hc_task_result(hc_task *t, void **result);

/* What the task said of its failure: `code` and `payload` of hc_task_fail(); otherwise its outcome and NULL. Either
 * pointer may be NULL. The payload belongs to the task.
 * Returns 0, HC_EINVAL, HC_EBUSY (it has not ended). */
HC_API int hc_task_error(hc_task *t, int32_t *code, void **payload);

/* A task that has not begun will not: drop(arg, HC_ECANCELED) is called before this returns. One that runs is told, see
 * hc_task_cancelled(). Works from anywhere, its own body included. A promise that is not complete is completed, with
 * HC_ECANCELED. A cancelled task counts as queued until a worker comes across it.
 * Returns HC_REMOVED, HC_RUNNING, HC_DONE, HC_EINVAL, HC_EFORKED. */
enum { HC_REMOVED = 0, HC_RUNNING = 1, HC_DONE = 2 };
HC_API int hc_task_cancel(hc_task *t);

/* The same, and waits for a body that runs: after HC_REMOVED or HC_DONE, nothing of the task is running. Blocks.
 * Returns HC_REMOVED, HC_DONE, HC_EINVAL, HC_ETIMEDOUT, HC_EDEADLK (the caller is in that task), HC_EFORKED. */
HC_API int hc_task_cancel_wait(hc_task *t, uint64_t timeout);

/* The held task that the caller is in; NULL in a detached one and outside. Borrowed. */
HC_API hc_task *hc_task_current(void);

/* 1 if the task (or the timer whose body) the caller is in should stop: it has been cancelled, or its scope has, or it runs past
 * its limit; otherwise 0. */
HC_API int hc_task_cancelled(void);

/* The held task, or the scope's task, that the caller is in has failed: an exception, a panic, an error object. Its
 * outcome will be HC_EFAILED. `payload_drop` (unless NULL) is called with the payload when the last reference goes. Only
 * the first call counts; the payload of a later one is dropped at once.
 * Returns 0, HC_EINVAL (outside of such tasks: the payload stays yours). */
HC_API int hc_task_fail(int32_t code, void *payload, hc_fn payload_drop);

/* Continuations: no thread is blocked by one, and a chain of any length takes constant stack. What follows a task is
 * queued when that has ended, however it ended: ask its handle. It is never refused for want of room: it counts as
 * queued from then on, even above the capacity. After HC_SHUTDOWN_DRAIN the continuations of tasks that are still
 * running run as well; what waits for anything else comes back through drop (or on_unrun, while the group lives) when
 * that ends. *out (unless `out` is NULL) gets a handle. With a serial or a key (a scope is HC_EINVAL) it takes its place in the order when
 * it is queued; its priority counts from then on, too.
 * Returns 0, HC_EINVAL (also: a result without a handle), HC_ENOMEM, HC_ESHUTDOWN, HC_ENOTSUP (see HC_KEY_BOUND), HC_EFORKED. */
HC_API int hc_task_then(hc_task *t, const hc_task_options *options, hc_task **out);

/* A task without a body, which has ended when all of ts[0] to ts[n-1] have: with the outcome of the first in the array
 * that did not end well, otherwise HC_OK. Or: when any has, with the outcome of that; its result is that one's handle,
 * borrowed. They may belong to different groups. Cancelling it does not cancel them. n = 0: HC_EINVAL.
 * Returns 0, HC_EINVAL, HC_ENOMEM, HC_ESHUTDOWN (the group of ts[0]), HC_EFORKED. */
HC_API int hc_task_all(hc_task *const *ts, size_t n, hc_task **out);
HC_API int hc_task_any(hc_task *const *ts, size_t n, hc_task **out);

/* A task that ends when somebody says so: once, from any thread, with any outcome <= 0. A shutdown of its group does not wait
 * for it. When its last reference goes and it is not complete, it ends with HC_ECANCELED.
 * hc_task_promise returns 0, HC_EINVAL, HC_ENOMEM, HC_ESHUTDOWN, HC_EFORKED. hc_task_complete returns 0, HC_EINVAL (not a
 * promise, or an outcome above 0), HC_EBUSY (it is complete), HC_EFORKED; after an error the result stays yours. */
HC_API int hc_task_promise(hc_group *g, hc_task **out);
HC_API int hc_task_complete(hc_task *promise, int32_t outcome, void *result, hc_fn result_drop);

/* ---- 6 Scopes ------------------------------------------------------------------------------------------------------- */

/* A set of tasks that are awaited together. Any thread may submit to it, its own tasks included; scopes nest. After
 * HC_SHUTDOWN_DRAIN the group's tasks may still make scopes, and add to them: whoever waits runs what was added.
 *     hc_scope *s;
 *     if (hc_scope_create(g, &s) < 0) return 1;
 *     for (i = 0; i < n; ++i) hc_scope_submit(s, work, &part[i], NULL);
 *     hc_scope_wait(s, HC_NEVER, 0, &failure);
 *     hc_scope_destroy(s);
 */

/* Returns 0, HC_EINVAL, HC_ENOMEM, HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_scope_create(hc_group *g, hc_scope **out);

/* Queues fn(arg) as a task of the scope; `drop` as in hc_task_options. Returns as hc_submit; HC_ECANCELED: the scope is. */
HC_API int hc_scope_submit(hc_scope *s, hc_fn fn, void *arg, hc_drop_fn drop);

/* Waits until no task of the scope is queued or running, helping as hc_task_wait() does: with tasks of this scope and
 * with what they have forked. *failure (unless NULL) is the outcome of the first since the scope was made that did not
 * end well, otherwise HC_OK. The scope may then be used again. Blocks.
 * Returns 0, HC_EINVAL, HC_ETIMEDOUT, HC_EDEADLK (the caller is in a task of the scope), HC_EINTR, HC_ECANCELED, HC_EFORKED. */
HC_API int hc_scope_wait(hc_scope *s, uint64_t timeout, uint32_t flags, int32_t *failure);

/* What the first failure said, as hc_task_error() does: 0 and NULL if nothing has failed. The payload belongs to the scope.
 * Returns 0, HC_EINVAL. */
HC_API int hc_scope_error(hc_scope *s, int32_t *code, void **payload);

/* From now on nothing is accepted; what is queued comes back through drop with HC_ECANCELED, before this returns; what
 * runs is told, see hc_task_cancelled(). Does not wait.
 * Returns 0, HC_EINVAL, HC_EFORKED. */
HC_API int hc_scope_cancel(hc_scope *s);

/* Frees the scope. NULL: no effect. Returns 0, HC_EBUSY (tasks of it are queued or running), HC_EFORKED. */
HC_API int hc_scope_destroy(hc_scope *s);

/* ---- 7 Ranges ------------------------------------------------------------------------------------------------------- */

/* Calls fn(arg, b, e) for disjoint pieces [b, e) that together are [begin, end), on the caller and on idle workers, and
 * returns when all have returned. `grain` is the least length of a piece (but for the last); 0 = chosen, about eight
 * pieces for each worker. Nothing is allocated. Inside a task that is cancelled, pieces that have not begun are left
 * out. Blocks.
 * Returns 0, HC_EINVAL, HC_ENOMEM, HC_ESHUTDOWN, HC_EFORKED, HC_ECANCELED (pieces were left out). */
typedef void (*hc_range_fn)(void *arg, uint64_t begin, uint64_t end);
HC_API int hc_group_for(hc_group *g, uint64_t begin, uint64_t end, uint64_t grain, hc_range_fn fn, void *arg);

/* The same with a value of `size` bytes (at most HC_REDUCE_MAX) that is made of the pieces' values: each begins as a
 * copy of *value, which must be neutral for `combine`, and body() adds a piece to it; combine(arg, left, right) adds
 * right to left. They are combined in order, so that combine need only be associative. *value is the sum in the end;
 * after an error it is unspecified.
 * Returns as hc_group_for. */
#define HC_REDUCE_MAX 1024u
typedef void (*hc_reduce_fn)(void *arg, void *value, uint64_t begin, uint64_t end);
typedef void (*hc_combine_fn)(void *arg, void *left, const void *right);
HC_API int hc_group_reduce(hc_group *g, uint64_t begin, uint64_t end, uint64_t grain, void *value, size_t size,
                           hc_reduce_fn body, hc_combine_fn combine, void *arg);

/* ---- 8 Fork and join ------------------------------------------------------------------------------------------------ */

/* For work that divides itself, from tens of nanoseconds upwards; nothing is allocated. A fork is offered to idle workers,
 * and run by its owner at the join if nobody took it:
 *
 *     struct call { long n, result; };
 *     static long fib(hc_worker *w, long n);
 *     static void fib_forked(hc_worker *w, void *arg) {
 *         struct call *c = arg;
 *         c->result = fib(w, c->n);
 *     }
 *     static long fib(hc_worker *w, long n) {
 *         if (n < 2) return n;
 *         struct call c;
 *         hc_fork f;
 *         c.n = n - 1;
 *         hc_worker *inner = hc_fork_push_fast(w, &f, fib_forked, &c);  // what comes next uses `inner`
 *         long b = fib(inner, n - 2);
 *         return b + (hc_fork_take_fast(inner, &f) ? fib(w, n - 1) : c.result);
 *     }
 *
 * An hc_worker is not an object but a place: the calling thread's, at its present depth of forks. Each push returns the place
 * for what comes next, its join gives the old one back. It is good for the thread and the call that got it, and for what
 * they call; never pass it to another thread.
 *
 * Forks are joined in reverse order, each exactly once, by the function that pushed it, before it returns and before its
 * hc_fork goes out of scope. None of these functions fails. A join whose fork was taken runs, meanwhile, what that fork has
 * itself forked, never a stranger's task, so that a lock which the caller holds is safe from all but its own forks; and only
 * while more than half of the caller's stack is left. Otherwise it sleeps. Without memory for more places (16 bytes for each
 * fork that is open) a push runs its fork at once.
 *
 * Only workers of HC_KIND_STEALING groups take forks of others. In a child that fork(2) made, places are no longer good. */
typedef struct hc_worker hc_worker;
typedef void (*hc_fork_fn)(hc_worker *w, void *arg);
typedef struct hc_fork { /* frozen: 8 pointers, the library's until the join; need not be initialised */
    hc_fork_fn fn;
    void *arg;
    void *opaque[6];
} hc_fork;

/* The place of the calling thread: in a task, or between hc_worker_enter() and hc_worker_leave(). NULL elsewhere, and when
 * there is no memory. */
HC_API hc_worker *hc_worker_self(void);

/* For a thread that is no worker of g: from now on it may fork, in g, and helps in its joins. *w is its place. Calls
 * nest; to enter a group again changes nothing but *w. The caller's reference to g must last until hc_worker_leave(w),
 * by the same thread, with all forks joined.
 * Returns 0, HC_EINVAL, HC_ENOMEM, HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_worker_enter(hc_group *g, hc_worker **w);
HC_API void hc_worker_leave(hc_worker *w); /* NULL: no effect */

/* Offers fn(place, arg) to the group. Returns the place for what comes next. */
HC_API hc_worker *hc_fork_push(hc_worker *w, hc_fork *f, hc_fork_fn fn, void *arg);

/* Ends a fork: f is the last one pushed, w the place that its push returned. When it returns, the fork has run. Returns the
 * place before the push. May block. */
HC_API hc_worker *hc_fork_join(hc_worker *w, hc_fork *f);

/* The same for a caller who knows better how to run it: 1 if nobody took the fork, and it is now up to the caller to call the
 * function itself, with the place before the push; 0 if it has run. May block. */
HC_API int hc_fork_take(hc_worker *w, hc_fork *f);

/* The same three, inline. They know of the library no more than these two structs, and ask it whenever there is anything to
 * decide: programs that were compiled with them stay right when the library is replaced. */
struct hc_forks {
    hc_worker *top, *limit, *split;
};
struct hc_worker {
    hc_fork *fork;
    struct hc_forks *forks;
};
HC_API hc_worker *hc_fork_notice(hc_worker *w); /* for hc_fork_push_fast() only */

/* The place before the push that gave the place w, once its fork has been taken or joined: for takes in a loop. */
static inline hc_worker *hc_fork_outer(hc_worker *w) { return w[-1].fork != NULL ? w - 1 : hc_worker_self(); }

static inline hc_worker *hc_fork_push_fast(hc_worker *w, hc_fork *f, hc_fork_fn fn, void *arg) {
    struct hc_forks *forks = w->forks;
    f->fn = fn;
    f->arg = arg;
    w->fork = f;
    __atomic_store_n(&forks->top, w + 1, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __builtin_expect(w + 1 < __atomic_load_n(&forks->limit, __ATOMIC_RELAXED), 1) ? w + 1 : hc_fork_notice(w + 1);
}

static inline int hc_fork_take_fast(hc_worker *w, hc_fork *f) {
    struct hc_forks *forks = w[-1].forks;
    __atomic_store_n(&forks->top, w - 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return __builtin_expect(w - 1 >= __atomic_load_n(&forks->split, __ATOMIC_RELAXED), 1) ? 1 : hc_fork_take(w, f);
}

static inline hc_worker *hc_fork_join_fast(hc_worker *w, hc_fork *f) {
    struct hc_forks *forks = w[-1].forks;
    __atomic_store_n(&forks->top, w - 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(w - 1 < __atomic_load_n(&forks->split, __ATOMIC_RELAXED), 0)) return hc_fork_join(w, f);
    f->fn(w - 1, f->arg);
    return w - 1;
}

/* ---- 9 Timers ------------------------------------------------------------------------------------------------------- */

/* Every group has timers. They fire on its workers (any of them, in HC_KIND_PINNED too), never early; the time is that
 * of hc_now(), which nobody sets. A timer that is due is run like any task, by whichever worker is free, also above the
 * capacity. A worker that is stuck delays no timer while another is free (at most 1 ms); when all are busy, timers wait
 * like tasks. A delay that reaches beyond the end of time, such as HC_NEVER, is never.
 *     hc_schedule(g, remind, arg, 5000000000);           // once, in 5 s; no handle, and 24 bytes while it waits
 */

/* fn(arg) once, when `delay` ns have passed, or when hc_now() has reached `when`. 0, and what is past: now, through the
 * queue, as hc_submit() but never refused for want of room. If the group is shut down before, on_unrun gets it back
 * (NULL: it is only counted); for a drop of its own use hc_timer_create() without a handle.
 * Returns 0, HC_EINVAL, HC_ENOMEM, HC_ETHREAD (no worker, and none can be had), HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_schedule(hc_group *g, hc_fn fn, void *arg, uint64_t delay);
HC_API int hc_schedule_at(hc_group *g, hc_fn fn, void *arg, uint64_t when);

enum {
    HC_TIMER_ONCE = 0,
    HC_TIMER_RATE = 1, /* every `period` from the first time on, without drift; never before the last body has returned */
    HC_TIMER_DELAY = 2 /* `period` after the last body has returned */
};
/* HC_TIMER_RATE, when a body took so long, or the group was so busy, that times have passed: */
enum {
    HC_MISSED_COALESCE = 0, /* fire once, at once, for all of them */
    HC_MISSED_BURST = 1,    /* fire once for each, one after the other */
    HC_MISSED_SKIP = 2      /* fire next when the next time comes */
};

typedef struct hc_timer_options {
    uint32_t size;  /* sizeof(hc_timer_options) */
    uint32_t flags; /* none yet: 0 */
    const hc_task_options *task; /* fn, arg, drop, label, run_limit of each body, key (each body then takes its turn, when
                                    it is due), flags (of which WORKER_ONLY changes nothing); copied. A result, queue_expiry,
                                    priority, scope or serial is HC_EINVAL: what is due does not queue, but for a key's turn */
    uint32_t mode;   /* HC_TIMER_... */
    uint32_t missed; /* HC_MISSED_..., for RATE only */
    uint64_t delay;  /* ns until it fires first. HC_NEVER: not before hc_timer_arm() */
    uint64_t when;   /* or, `delay` being 0: that time of hc_now() */
    uint64_t period; /* ns, at least 1, for RATE and DELAY; 0 for ONCE */
    uint64_t leeway; /* ns that it may be late, so that it can share a wake-up with others */
} hc_timer_options;

#define HC_TIMER_OPTIONS_INIT { (uint32_t)sizeof(hc_timer_options), 0, NULL, 0, 0, 0, 0, 0, 0 }

/* Fills *options with the defaults for a struct of `size` bytes, as HC_TIMER_OPTIONS_INIT does. NULL: no effect. */
HC_API void hc_timer_options_init(void *options, uint32_t size);

/* A timer that can be changed, or that repeats. *out (unless `out` is NULL: it then goes on until it has fired its last,
 * or the group is shut down) gets a handle, with one reference for you, before the body can run, and is NULL after an
 * error.
 *
 * The series of a timer ends once: when it is cancelled, when its last handle goes, or, if a firing is pending, when
 * its group is shut down; without a handle also when it has fired its last. Then, and not while the body runs, `drop` is
 * called with `arg`, though it may have run: with HC_OK if no firing was pending, otherwise with HC_ECANCELED or
 * HC_ESHUTDOWN (or HC_ENOMEM: its next time found no memory; or, with a key, HC_EDROPPED: see HC_FULL_DROP_OLDEST). Without
 * a drop, the group's on_unrun is told of a pending firing that is lost, unless you have cancelled it. A timer that fires once and has a handle ends with its handle, not
 * with its firing: it may be armed again. While a body runs nothing is pending, unless it was armed meanwhile.
 * Returns 0, HC_EINVAL (also: without a handle, and never), HC_ENOMEM, HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_timer_create(hc_group *g, const hc_timer_options *options, hc_timer **out);

/* A handle may be kept after the group is gone. When the last one goes, the timer is cancelled. NULL: no effect. */
HC_API void hc_timer_ref(hc_timer *t);
HC_API void hc_timer_unref(hc_timer *t);

/* Sets when the timer fires next, whether it waits, runs or has fired; the old time no longer counts. To put off what is
 * pending costs least. HC_NEVER: it rests, until it is armed again. `period` changes that of a repeating timer; 0: as it
 * was. While the body runs, the new time (from now, not from its return) replaces the next one, but it fires only when
 * the body has returned. It sets a new phase for HC_TIMER_RATE.
 * Returns what it was: HC_REMOVED (pending), HC_RUNNING, HC_DONE (neither); HC_EINVAL (a period, though it fires once),
 * HC_ECANCELED (its series has ended), HC_ENOMEM (nothing has changed), HC_ESHUTDOWN, HC_EFORKED. */
HC_API int hc_timer_arm(hc_timer *t, uint64_t delay, uint64_t period);
HC_API int hc_timer_arm_at(hc_timer *t, uint64_t when, uint64_t period);

/* Ends the series. Works from anywhere, the body included. hc_task_cancelled() tells a body that runs. A drop that this
 * call runs is not waited for by a drain or an await elsewhere.
 * Returns what it was: HC_REMOVED (a firing was pending: it will not happen), HC_RUNNING (this firing goes on), HC_DONE
 * (neither), HC_EINVAL, HC_EFORKED. */
HC_API int hc_timer_cancel(hc_timer *t);

/* The same, and waits for a body, or a drop, that runs: afterwards nothing of the timer does. Blocks.
 * Returns HC_REMOVED, HC_DONE, HC_EINVAL, HC_ETIMEDOUT (cancelled, but still running), HC_EDEADLK (the caller is in that
 * body or drop: nothing has changed), HC_EFORKED. */
HC_API int hc_timer_cancel_wait(hc_timer *t, uint64_t timeout);

/* ns until it fires next: within its leeway, at the time that it shares with others; 0: it is due; HC_NEVER: nothing is
 * pending.
 * Returns 0, HC_EINVAL, HC_EFORKED. */
HC_API int hc_timer_remaining(hc_timer *t, uint64_t *ns);

/* How many times of its HC_TIMER_RATE have passed without a firing of their own. Returns 0, HC_EINVAL, HC_EFORKED. */
HC_API int hc_timer_missed(hc_timer *t, uint64_t *count);

/* ---- 10 Blocking ---------------------------------------------------------------------------------------------------- */

/* A task that blocks (reads, locks, sleeps) keeps its worker from the tasks that wait. Say so, and another may work meanwhile:
 *
 *     hc_blocking_begin();
 *     n = read(fd, buffer, size);
 *     hc_blocking_end();
 *
 * Above max_workers there are at most spare_workers; one that is not needed any more goes to rest at the end of its task, ready
 * for the next time, and ends after keep_alive. A task that blocks and does not say so is found out, though late: when all workers
 * are busy and a task has waited for stuck_after, a worker that stands in its task and sleeps (as the kernel says) counts as
 * blocked; one in each stuck_after. Waits of this library, inside of tasks, say so themselves when they sleep. */

/* Calls nest; only the outermost pair counts. What a task has begun and not ended, ends with it.
 * Returns HC_HELPED (another may work), HC_NOT_HELPED (the cap is reached, and another may work only when one that was helped
 * ends; or this is no task on a worker of a group that can have spare workers: the task goes on all the same). */
enum { HC_HELPED = 0, HC_NOT_HELPED = 1 };
HC_API int hc_blocking_begin(void);
HC_API void hc_blocking_end(void);

/* Sleep, and poll(2), as tasks should: blocking, between a begin and an end of their own, and at once over when the task is to
 * stop (see hc_task_cancelled()). Outside of tasks they work too.
 * hc_sleep: `ns` HC_NEVER is until then. hc_poll: fds points to n struct pollfd; `timeout` in ns.
 * hc_sleep returns 0, HC_ECANCELED. hc_poll returns how many of them have something to tell, 0 at the timeout, HC_ECANCELED,
 * HC_EINTR (a signal was handled), HC_EINVAL, HC_ENOMEM (also: no descriptor left). */
HC_API int hc_sleep(uint64_t ns);
HC_API int hc_poll(void *fds, uint32_t n, uint64_t timeout);

/* ---- 11 Order ------------------------------------------------------------------------------------------------------- */

/* Tasks that must not overlap, and must keep their order, without a lock and without a thread of their own: those of one serial,
 * or of one key, run one after the other in the order of their submission, each seeing what the one before has done. Of two
 * submitters, who submits after the other's submit has returned, comes after. Different keys, and serials, run at the same time.
 *     hc_submit_keyed(g, account, HC_KEY_PLAIN, book, entry);      // any number that says what must not overlap
 *
 * The tasks of a key take turns with everything else in the group: some 16 of them, or 100 us, then others. A cancelled one is
 * left out. What HC_SHUTDOWN_NOW hands back comes back in the same order, and after the one that was running. After a shutdown nothing
 * gets an order any more (of a scope's tasks, too), but for continuations, as they are promised.
 * Only workers run such tasks (but for what is left after a shutdown: whoever waits or hands back may run that). HC_FULL_RUN: their
 * submitter does not run them, they are queued above the capacity. HC_KIND_SHARED and HC_KIND_PINNED: a key that has work waits in
 * the queue as one task. HC_FULL_DROP_OLDEST, where it comes across a key, takes out that key's oldest.
 * WAITING for a task that has an order does not help with it: it would be out of its turn. Inside of a task, such a wait counts as
 * blocking (section 10); where no other worker may come, use HC_WAIT_HELP_ANY, or it lasts for ever. To wait, inside of a task, for
 * a later one of the same order is HC_EDEADLK. */

/* As hc_submit(). A key costs memory only while it has work, and there may be millions; serials and keys have nothing to do with
 * each other. How the tasks of a key are spread over the workers:
 *   HC_KEY_PLAIN    any worker
 *   HC_KEY_STICKY   as long as the key has work, the worker that has begun with it, for the sake of its cache: unless that one ends
 *                   or is held up for some ms in another task. HC_KIND_SHARED: as HC_KEY_PLAIN; HC_KIND_PINNED: as HC_KEY_BOUND
 *   HC_KEY_BOUND    HC_KIND_PINNED only, otherwise HC_ENOTSUP: always the same worker, that with the number
 *                   h % hc_group_slots(g), where x = (key ^ key >> 32) * 0x9e3779b97f4a7c15 and h = x ^ x >> 32 (all uint64_t)
 * A key is the same key in all modes: while it has work, the mode is that of the first; in HC_KIND_PINNED all are bound.
 * Returns as hc_submit; HC_EINVAL, HC_ENOTSUP. */
enum { HC_KEY_PLAIN = 1, HC_KEY_STICKY = 2, HC_KEY_BOUND = 3 };
HC_API int hc_submit_keyed(hc_group *g, uint64_t key, uint32_t mode, hc_fn fn, void *arg);

/* The same without a key: an object of its own. HC_KIND_PINNED: each is bound to a worker, in turn. *out gets one reference, and is NULL
 * after an error. When the last reference goes, what is queued still runs. A serial keeps its group's handle valid: let go of it
 * before you expect the group to end by itself.
 * `drop` is as in hc_task_options. NULL in ref and unref: no effect.
 * hc_serial_create returns 0, HC_EINVAL, HC_ENOMEM, HC_ESHUTDOWN, HC_EFORKED. hc_serial_submit returns 0, HC_EINVAL, HC_ENOMEM,
 * HC_EFULL, HC_ETIMEDOUT, HC_EDEADLK, HC_ETHREAD, HC_ESHUTDOWN, HC_EFORKED, as hc_submit() does. */
HC_API int hc_serial_create(hc_group *g, hc_serial **out);
HC_API int hc_serial_submit(hc_serial *s, hc_fn fn, void *arg, hc_drop_fn drop);
HC_API void hc_serial_ref(hc_serial *s);
HC_API void hc_serial_unref(hc_serial *s);

/* ---- 12 Limits ------------------------------------------------------------------------------------------------------- */

/* A task may be given a time to run, and a time to be queued: in its options, or, for all tasks that bring none, in those of the
 * group. No time is taken to be over early; one of a second and more may be taken up to 20 ms late.
 *
 * RUN_LIMIT counts from the moment that the body begins. When it is over, the body is told, and goes on: nothing stops code that
 * does not look. It sees hc_task_cancelled() become 1; hc_sleep(), hc_poll() and waits with HC_WAIT_INTERRUPTIBLE end at once, with
 * HC_ECANCELED; hc_group_for() leaves out what has not begun. When it has returned, the task's outcome is HC_ELIMIT, the group's
 * on_limit is called, and hc_group_stats() has counted it. A body that ends before that was noticed (some 100 us) ends well. Each
 * firing of a timer is a body. Forks and ranges belong to the task that they are in (but where that is neither held nor a scope's, a
 * fork that another thread runs does not see it); of nested waits, the eight outermost tasks that a thread runs on top of each other
 * have their limits.
 *
 * HC_TASK_INTERRUPT, with a limit_signo lent by hc_signal_set() (without, it only implies HC_TASK_WORKER_ONLY): a task that has run
 * past its limit, or is cancelled while it runs,
 * also gets that signal, so that a system call in which it waits fails with EINTR: again and again (after 2 ms, 4, ... 128), for one
 * may come just before the call, until the body has returned. None comes to what the thread does next, nor to a task that it runs
 * while this one waits by hc_task_wait() and its like. The body must bear EINTR anywhere; it may block the signal.
 *
 * QUEUE_EXPIRY counts from the submit (of a continuation: from when it could have begun). A task that has not begun by then will
 * not: it comes back through its drop, or on_unrun, with HC_EEXPIRED, which is also its outcome: on the worker that would have begun
 * it, or, when all are busy or the group is paused, on a thread of the library, which hands back those of all groups, one after the
 * other, in no order: such a drop should not block (there, hc_group_current() is its group). Until a worker comes across what is left
 * of it, such a task takes its room and counts as queued, as a cancelled one does: in a group that is paused, until it resumes. Timers
 * do not expire. */

/* ---- 13 Seeing inside ----------------------------------------------------------------------------------------------- */

typedef struct hc_group_stats_data { /* a snapshot, exact when the group is idle; otherwise not of one instant */
    uint32_t size;              /* bytes written */
    uint32_t workers;           /* threads alive */
    uint32_t workers_parked;    /* asleep */
    uint32_t workers_searching; /* awake, looking for work */
    uint64_t submitted;         /* tasks accepted into a queue since creation */
    uint64_t started;           /* of those: begun */
    uint64_t finished;          /* of those: ended */
    uint64_t unrun;             /* accepted, but handed back by a shutdown or an overload policy. Those that were cancelled, or have
                                   expired, count as queued until a worker comes across them, then as started and finished */
    uint64_t queued;            /* accepted, neither begun nor handed back */
    uint64_t lanes;             /* queues of submitters, free ones included */
    /* Contention, since creation: divide by `finished`. */
    uint64_t claims;            /* batches taken from a queue */
    uint64_t claims_lost;       /* attempts that met another worker */
    uint64_t steals;            /* batches taken from another worker */
    uint64_t steals_lost;       /* attempts that found it gone, or met another thief */
    uint64_t parks;             /* times a worker went to sleep */
    uint64_t wakes;             /* times one was woken */
    uint64_t barriers;          /* process-wide memory barriers paid */
    uint64_t timers_pending;    /* not yet taken up by a worker; those that are cancelled are counted nowhere */
    uint64_t timers_fired;      /* taken up, and then counted above like other tasks */
    uint32_t workers_blocked;   /* have made room for another, by hc_blocking_begin() or found out */
    uint32_t workers_max;       /* the present max_workers */
    uint32_t cpus;              /* usable CPUs, when the group was created; 0: its max_workers did not come from them */
    uint32_t cpus_from;         /* HC_CPUS_FROM_...: what limits them */
    uint64_t expired;           /* tasks handed back with HC_EEXPIRED */
    uint64_t overran;           /* tasks that have run past their limit, and returned */
} hc_group_stats_data;

/* The usable CPUs are those of the creator's affinity mask that are online, but no more than its cgroup's quota (v1 or v2, the least
 * of all ancestors, rounded up), and at least 1. The environment's HOMECOOKING_CPUS (1 to 4096), if set, is the number instead. */
enum { HC_CPUS_FROM_AFFINITY = 1, HC_CPUS_FROM_ONLINE = 2, HC_CPUS_FROM_QUOTA = 3, HC_CPUS_FROM_ENVIRONMENT = 4 };

/* Writes at most `size` bytes of the snapshot to *out, and into out->size how many. Reads no clock, takes no lock that a
 * submit takes. Returns 0, HC_EINVAL (also: size below that of the first release, 120), HC_EFORKED. */
HC_API int hc_group_stats(const hc_group *g, hc_group_stats_data *out, uint32_t size);

/* Why is it stuck? Writes what the group is doing, in some pieces, through write(user, text, n), on this thread: a sentence of
 * diagnosis, the counts, and each worker with its state, its task (label, function, how long, to some milliseconds) and its stack.
 * The group goes on meanwhile (but see hc_signal_set() for calls that a question for a stack ends early); no lock is held while `write`
 * is called. A result of `write` other than 0 ends the dump.
 *
 * Stacks need libunwind (HC_FEATURE_STACKS) and a signal: see hc_signal_set(). Without, and where a worker does not answer, the
 * dump says so. It asks all workers at once and waits at most 40 ms for them.
 * Text is for people, and changes. JSON is one object: "group", "diagnosis", "closed", "paused", the counts ("queued",
 * "queued_high", "submitted", "workers_alive", ...) and "workers", an array of objects with "index", "thread", "state" ("running", "blocked", "searching",
 * "parked", "resting"), in a task also "task", "label", "ns" and "asleep", and either "stack", innermost first, or "no_stack",
 * why not. More may be added. Any thread, tasks of the group included.
 * Returns 0, HC_EINVAL, HC_ENOMEM, HC_ECANCELED (`write` ended it), HC_EFORKED. */
enum { HC_DUMP_TEXT = 0, HC_DUMP_JSON = 1 };
typedef int (*hc_write_fn)(void *user, const char *text, size_t n);
HC_API int hc_group_dump(hc_group *g, uint32_t format, hc_write_fn write, void *user);

#ifdef __cplusplus
}
#endif
#endif
