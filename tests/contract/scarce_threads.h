/* scarce_threads.h - a pthread_create in front of the system's, that can be told to fail. For one file of a program
 * only, which must be linked with its symbols exported. */
#ifndef SCARCE_THREADS_H
#define SCARCE_THREADS_H

#include <dlfcn.h>
#include <errno.h>

#include "check.h"

static atomic_int threads_asked_for, threads_fail_from = -1, threads_fail_count;

typedef int (*pthread_create_fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attr, void *(*body)(void *),
                                                          void *restrict arg) {
    int call = atomic_fetch_add(&threads_asked_for, 1), from = atomic_load(&threads_fail_from);
    if (from >= 0 && call >= from && call < from + atomic_load(&threads_fail_count)) return EAGAIN;
    pthread_create_fn real;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &symbol, sizeof real); /* ISO C has no cast for this */
    return real(thread, attr, body, arg);
}

/* Counted from now on, the calls number from, from + 1, ... fail, `count` of them; from < 0: none does. */
static inline void threads_fail(int from, int count) {
    threads_asked_for = 0;
    threads_fail_count = count;
    threads_fail_from = from;
}

#endif
