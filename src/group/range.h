// Ranges, divided in halves by forks.
#pragma once
#include "group/forks.h"
#include "group/tasks.h"
namespace hc {

struct Range {
    void (*fn)(void *arg, uint64_t begin, uint64_t end) = nullptr;  // or, with a value: body and combine
    void (*body)(void *arg, void *value, uint64_t begin, uint64_t end) = nullptr;
    void (*combine)(void *arg, void *left, const void *right) = nullptr;
    void *arg = nullptr;
    uint64_t grain = 1;
    const void *neutral = nullptr;
    size_t size = 0;                   // of a value
    Atomic<bool> left_out{false};      // pieces, for the caller's task was cancelled
    const Task *inside = nullptr;  // the task that is cancelled, if any is,
    const Deadline *deadline = nullptr;  // or runs past its limit
};

// value: of r.size bytes, neutral; nullptr: r.fn is called instead.
void run_range(Range &r, Slot *at, uint64_t begin, uint64_t end, void *value);

uint64_t grain_for(const Group &g, uint64_t length);

}  // namespace hc
