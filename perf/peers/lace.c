#include <lace.h>
#include <time.h>

#include "lace_forks.h"

#pragma GCC diagnostic ignored "-Wconversion" /* what its macros make here */
#pragma GCC diagnostic ignored "-Wsign-conversion"

static uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* name_timed(answer, repeats, ...) is a task that repeats the task `name` and measures that. */
#define TIMED(call)                                                           \
    do {                                                                      \
        uint64_t begin = clock_ns();                                          \
        for (unsigned i = 0; i < repeats; ++i) answer->result = (long)(call); \
        answer->ns = clock_ns() - begin;                                      \
    } while (0)

void lace_open(unsigned workers) {
    lace_start(workers, 0);
    lace_suspend();
}
void lace_close(void) { lace_stop(); }
void lace_wake(void) { lace_resume(); }
void lace_sleep(void) { lace_suspend(); }

TASK_1(long, fib, long, n) {
    if (n < 2) return n;
    SPAWN(fib, n - 1);
    long b = CALL(fib, n - 2);
    return SYNC(fib) + b;
}
VOID_TASK_3(fib_timed, lace_answer *, answer, unsigned, repeats, long, n) { TIMED(CALL(fib, n)); }

lace_answer lace_fib(unsigned repeats, long n) {
    lace_answer answer;
    RUN(fib_timed, &answer, repeats, n);
    return answer;
}

TASK_1(long, queens, board, b) {
    if (is_full(b)) return 1;
    unsigned n = 0;
    for (unsigned left = free_columns(b); left != 0; left &= left - 1, ++n) SPAWN(queens, with_queen(b, left));
    long sum = 0;
    while (n-- > 0) sum += SYNC(queens);
    return sum;
}
VOID_TASK_3(queens_timed, lace_answer *, answer, unsigned, repeats, board, b) { TIMED(CALL(queens, b)); }

lace_answer lace_queens(unsigned repeats, board b) {
    lace_answer answer;
    RUN(queens_timed, &answer, repeats, b);
    return answer;
}

TASK_2(long, skynet, long, first, long, leaves) {
    if (leaves == 1) return first;
    const long part = leaves / 10;
    for (int i = 0; i < 9; ++i) SPAWN(skynet, first + i * part, part);
    long sum = CALL(skynet, first + 9 * part, part);
    for (int i = 0; i < 9; ++i) sum += SYNC(skynet);
    return sum;
}
VOID_TASK_3(skynet_timed, lace_answer *, answer, unsigned, repeats, long, leaves) { TIMED(CALL(skynet, 0, leaves)); }

lace_answer lace_skynet(unsigned repeats, long leaves) {
    lace_answer answer;
    RUN(skynet_timed, &answer, repeats, leaves);
    return answer;
}

VOID_TASK_2(quicksort, int *, from, int *, to) {
    if (is_short(from, to)) {
        insertion_sort(from, to);
        return;
    }
    int *middle = partition(from, to);
    SPAWN(quicksort, from, middle);
    CALL(quicksort, middle, to);
    SYNC(quicksort);
}
VOID_TASK_4(quicksort_timed, lace_answer *, answer, unsigned, repeats, int *, from, int *, to) {
    TIMED((CALL(quicksort, from, to), 0));
}

lace_answer lace_quicksort(unsigned repeats, int *from, int *to) {
    lace_answer answer;
    RUN(quicksort_timed, &answer, repeats, from, to);
    return answer;
}
