// Tasks that may be queued only for some time. Who takes one out of a queue looks at the clock; and one thread of the process, the
// reaper, hands back those whose time is over while nobody takes them out: all workers are busy, or the group is paused. It finds them
// by walking over all records of the group (queue/made.h), wherever they are.
//
//   submitter:  the task is queued;   light_fence();  its time < look_at? lower it, and ring
//   reaper:     look_at = never;      heavy_fence();  walk over all; lower look_at to the first time of those that are queued
//
// Hazard: both miss the other, and nobody looks. The fences forbid that.
#pragma once
#include <cstdint>

#include "sync/fence.h"
namespace hc {

class Group;

class Expiry {
  public:
    void queued(Group *g, uint64_t expires_at) {
        if (expires_at == UINT64_MAX) return;
        light_fence();  // pairs with heavy_fence in reap(): the task | look_at
        if (expires_at < look_at_.load(memory_order_relaxed)) lower(g, expires_at);
    }
    // By the reaper, with a reference to the group.
    void reap(Group *g);
    void end();  // before the group is freed

    Atomic<uint64_t> expired{0};  // tasks

  private:
    friend struct Reaper;
    void lower(Group *g, uint64_t at);

    alignas(64) Atomic<uint64_t> look_at_{UINT64_MAX};
    // The reaper's, under its lock.
    Group *group_ = nullptr;
    Expiry *next_ = nullptr;
};

void reaper_fork_child();

}  // namespace hc
