/* turns.h - what the tests of serials and keys share: a track, whose tasks notice when one overtakes another or runs beside it. */
#ifndef TURNS_H
#define TURNS_H

#include "held.h"

enum { submitters = 4 };

/* What has no atomics is what the order has to protect. */
typedef struct track {
    int inside;
    int64_t last[submitters]; /* of each submitter, the number of the last that began */
    int64_t count;
    atomic_int dropped;
} track;

typedef struct turn {
    track *on;
    int submitter;
    int64_t number; /* from 1 */
} turn;

static inline void turn_begin(turn *t) {
    CHECK_EQ(t->on->inside++, 0);
    CHECK(t->on->last[t->submitter] < t->number);
    t->on->last[t->submitter] = t->number;
    ++t->on->count;
}

static inline void take_turn(void *arg) {
    turn *t = arg;
    turn_begin(t);
    CHECK_EQ(--t->on->inside, 0);
}

static inline void turn_drop(void *arg, int32_t why) {
    turn *t = arg;
    CHECK(why == HC_ESHUTDOWN || why == HC_ECANCELED || why == HC_EDROPPED);
    atomic_fetch_add(&t->on->dropped, 1);
}

static inline void turn_drop_in_order(void *arg, int32_t why) {
    turn_begin(arg);
    --((turn *)arg)->on->inside;
    turn_drop(arg, why);
}

#endif
