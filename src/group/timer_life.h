// The steps of a timer's life. All but finish() are taken under the lock of its shard.
#pragma once
#include "timer/timer.h"
namespace hc {

void set_time(Timer *t, uint64_t when);          // UINT64_MAX: never
void set_next_time(Series *s, uint64_t now);     // at the end of a body
bool put_in(Shard &s, Timer *t, uint64_t now);   // into the wheel: kPending; false: no memory
void take_out(Shard &s, Timer *t);               // kIdle

// What is left to do once the lock is released: finish().
struct Ending {
    Timer *drop = nullptr;   // its series has ended, and its user is to be told
    Group *group = nullptr;  // with a reference
    int32_t why = 0;         // 0: nothing was lost
    bool forgotten = false;  // the record has gone back, and a reference to the shard with it
};
Ending end_series(Shard &s, Timer *t, int32_t why);
void forget_if_unused(Shard &s, Timer *t, Ending *e);  // the record goes back if nobody needs it any more
void finish(Shard &s, Ending e);

}  // namespace hc
