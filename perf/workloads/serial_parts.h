/* What the recursions of W5 do besides to call themselves, in C, for one peer is a C program. */
#pragma once

#include <stddef.h>

enum { most_queens = 16, sorted_by_insertion = 48 };

/* The rows of a board, taken one after the other: which columns are attacked from above, straight and along both
 * diagonals. A child is the board with a queen in one of the free columns. */
typedef struct board {
    unsigned all, columns, left, right;
} board;

static inline board empty_board(int n) {
    board b = {(1u << n) - 1, 0, 0, 0};
    return b;
}
static inline int is_full(board b) { return b.columns == b.all; }
static inline unsigned free_columns(board b) { return b.all & ~(b.columns | b.left | b.right); }
/* With a queen in the lowest one of `columns`. */
static inline board with_queen(board b, unsigned columns) {
    unsigned queen = columns & (0u - columns);
    board child = {b.all, b.columns | queen, (b.left | queen) << 1, (b.right | queen) >> 1};
    return child;
}

static inline void swap_ints(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

/* Hoare's: [begin, result) <= pivot <= [result, end), neither is empty. The pivot is the median of three. */
static inline int *partition(int *begin, int *end) {
    int *middle = begin + (end - begin) / 2, *last = end - 1;
    if (*middle < *begin) swap_ints(middle, begin);
    if (*last < *middle) swap_ints(last, middle);
    if (*middle < *begin) swap_ints(middle, begin);
    const int pivot = *middle;
    int *low = begin, *high = last;
    for (;;) {
        do ++low;
        while (*low < pivot);
        do --high;
        while (pivot < *high);
        if (low >= high) return low;
        swap_ints(low, high);
    }
}

static inline int is_short(const int *begin, const int *end) { return end - begin <= sorted_by_insertion; }

static inline void insertion_sort(int *begin, int *end) {
    for (int *i = begin + 1; i < end; ++i) {
        int v = *i, *at = i;
        for (; at > begin && v < at[-1]; --at) *at = at[-1];
        *at = v;
    }
}
