// One thread of the process that looks after tasks that have a limit (deadline.h), and after groups whose workers are all busy: does
// a task wait although one of them only sleeps? It sleeps itself, without an end, while there is neither, and is started by the first.
//
//   who takes the last idle worker or place:  all are busy, in the word; light_fence; is the group listed?
//                                  No: list it                                                                  Group::look_after()
//   sentinel:                      the group was not all busy, several looks in a row: unlist; heavy_fence;
//                                  all busy, in the word? list it again                                         Stuck::look()
//
// Rule: all workers are busy => the group is listed. Hazard: the worker finds it listed, and the sentinel unlists it without
// seeing that all are busy. The fences forbid that both miss.
#pragma once
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Group;

// A group's part.
class Stuck {
  public:
    // after: ns that a worker must have stood; kNever: never look.
    void start(uint64_t after) {
        after_ = after;
        listed_.store(after == UINT64_MAX, memory_order_relaxed);
    }
    bool listed() const { return listed_.load(memory_order_relaxed); }
    void list(Group *g);
    void end();  // before the group is freed

  private:
    friend struct Sentinel;
    bool look(Group &g);  // false: there has been nothing to look after

    uint64_t after_ = UINT64_MAX;
    Atomic<bool> listed_{true};
    // The sentinel's, under its lock.
    Group *group_ = nullptr;
    Stuck *next_ = nullptr;
    bool in_list_ = false;
    uint64_t look_at_ = 0;
    uint32_t calm_ = 0;
};

bool sentinel_ring();  // that it look at the limits (deadline.h). False: no thread can be had
void sentinel_fork_child();

}  // namespace hc
