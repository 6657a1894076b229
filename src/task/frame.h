// The two layouts that an inline fork and join will compile into programs. Nothing uses them yet but the worker, which
// begins with the prefix; they are here so that what comes between now and then cannot move them.
//
//   fork:  t = w->top;  t < w->limit ?  fill the frame, *t = frame, w->top = t + 1  :  the plain function
//   join:  t = w->top - 1;  t >= w->split && w->limit ?  w->top = t, run it inline  :  the plain function
//
// limit == nullptr sends both to the plain functions.
#pragma once
#include <cstddef>
#include <cstdint>
namespace hc {

struct ForkFrame {  // on the stack of whoever forks, until the join
    void (*fn)(void *worker, void *arg);
    void *arg;
    uint64_t state;
    uint64_t reserved[5];
};
static_assert(sizeof(ForkFrame) == 64);

struct WorkerPrefix {
    ForkFrame **top = nullptr;
    ForkFrame **limit = nullptr;
    ForkFrame **split = nullptr;
    void *reserved = nullptr;
};
static_assert(sizeof(WorkerPrefix) == 32 && offsetof(WorkerPrefix, limit) == 8 && offsetof(WorkerPrefix, split) == 16);

}  // namespace hc
