// Waiting for something about a group to change: read a ticket, look, wait for the ticket to be outdated. Who changes
// something pays nothing while nobody waits.
//
//   waiter: t = prepare(); condition? : wait(t, deadline); done()       changer: change; signal(), or awaited() first
//
// Hazard: the waiter looks before the change, the changer looks for waiters before there is one. The waiter raises
// waiters_, fences heavily and looks; the changer changes, fences lightly and looks: at least one sees the other.
#pragma once
#include "sync/fence.h"
#include "sync/futex.h"
namespace hc {

class Event {
  public:
    uint32_t prepare() {
        waiters_.fetch_add(1, memory_order_relaxed);
        const uint32_t ticket = seq_.load(memory_order_relaxed);
        heavy_fence();  // pairs with light_fence in awaited(): waiters_ | the condition
        return ticket;
    }
    bool wait(uint32_t ticket, uint64_t deadline) { return futex_wait(seq_, ticket, deadline) != Woken::kTimedOut; }
    void done() { waiters_.fetch_sub(1, memory_order_relaxed); }

    bool awaited() const {
        light_fence();  // pairs with heavy_fence in prepare(): the condition | waiters_
        return waiters_.load(memory_order_relaxed) != 0;
    }
    void signal() {
        if (!awaited()) return;
        seq_.fetch_add(1, memory_order_relaxed);
        futex_wake(seq_, INT32_MAX);
    }

  private:
    Atomic<uint32_t> seq_{0};
    Atomic<uint32_t> waiters_{0};
};

}  // namespace hc
