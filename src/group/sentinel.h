// One thread of the process that looks after tasks that have a limit (deadline.h), after groups whose workers are all busy: does a task
// wait although one of them only sleeps? And after such as could not get a worker when they wanted one: can it be had now? It sleeps
// itself, without an end, while there is none of the three, and is started by the first that is.
//
//   who takes the last idle worker or place:  all are busy, in the word; light_fence; is the group listed?
//                                  No: list it                                                                  Group::look_after()
//   sentinel:                      the group was not all busy, several looks in a row: unlist; heavy_fence;
//                                  all busy, in the word? list it again                                         Stuck::look()
//
// Rule: all workers are busy => the group is listed. Hazard: the worker finds it listed, and the sentinel unlists it without
// seeing that all are busy. The fences forbid that both miss.
//
//   who could not get a worker:    publish a task; ...; fence; owed_ = true. Was it false? Enter the list           Stuck::owe()
//   sentinel, after kRetry:        owed_ = false; heavy_fence; does a task wait, and is there a place? Try again;
//                                  in vain? Stay                                                                    Stuck::retry()
//
// Rule: a task waits, and nobody has come for it because none could be had => the sentinel will try. Hazard: a submitter finds it owed,
// and the sentinel does not see its task. Both change owed_ by exchange, in one order, with a fence before and after. Where no
// sentinel can be started either, nothing is owed: the next submit, or drain, tries.
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
    // A worker could not be had. The caller holds no lock.
    void owe(Group *g) {
        // After the fence in Group::more_room(), which pairs with heavy_fence in retry(): the task | owed_
        if (!owed_.exchange(true, memory_order_relaxed) && !list_owed(g)) owed_.store(false, memory_order_relaxed);
    }
    void end();  // before the group is freed

  private:
    friend struct Sentinel;
    static constexpr uint64_t kRetry = 100'000'000;  // ns
    bool list_owed(Group *g);  // false: there is no sentinel
    bool enter(Group *g);
    // The sentinel, under its lock.
    void look(Group &g);
    void retry(Group &g);

    uint64_t after_ = UINT64_MAX;
    Atomic<bool> listed_{true}, owed_{false};
    // The sentinel's, under its lock.
    Group *group_ = nullptr;
    Stuck *next_ = nullptr;
    bool in_list_ = false;
    uint64_t look_at_ = UINT64_MAX, retry_at_ = UINT64_MAX;  // neither: it leaves the list
    uint32_t calm_ = 0;
};

bool sentinel_ring();  // that it look at the limits (deadline.h). False: no thread can be had
void sentinel_fork_child();

}  // namespace hc
