/* Lace, a library that does nothing but fork and join: the recursions of W5 as tasks of it.
 * It starts workers of its own, which spin for work as long as they are awake. */
#pragma once

#include <stdint.h>

#include "../workloads/serial_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lace_answer {
    long result;
    uint64_t ns; /* of all repeats, on the worker that ran the first of them */
} lace_answer;

void lace_open(unsigned workers);
void lace_close(void);

/* Between these two its workers are awake. */
void lace_wake(void);
void lace_sleep(void);

lace_answer lace_fib(unsigned repeats, long n);
lace_answer lace_queens(unsigned repeats, board b);
lace_answer lace_skynet(unsigned repeats, long leaves);
lace_answer lace_quicksort(unsigned repeats, int *from, int *to);

#ifdef __cplusplus
}
#endif
