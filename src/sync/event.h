// Waiting for something about a group to change: read a ticket, look, wait for the ticket to be outdated. A signal
// costs a system call only while somebody waits.
//
//   waiter: t = prepare(); if (condition) ...; wait(t, deadline); done()       signaller: change; signal()
//
// Hazard: the waiter looks before the change, the signaller looks for waiters before there is one. Both sides write,
// fence, and read, so at least one sees the other.
#pragma once
#include "sync/futex.h"
namespace hc {

class Event {
  public:
    uint32_t prepare() {
        waiters_.fetch_add(1, memory_order_relaxed);
        const uint32_t ticket = seq_.load(memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in signal()
        return ticket;
    }
    bool wait(uint32_t ticket, uint64_t deadline) { return futex_wait(seq_, ticket, deadline); }
    void done() { waiters_.fetch_sub(1, memory_order_relaxed); }

    bool awaited() const {
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in prepare()
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
