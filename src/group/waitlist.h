// Submitters that wait for room in a bounded group, first come, first served.
//
// While somebody waits, nobody who could wait takes room past them. Room is dealt out when the queue is half empty: at the brim
// there would be a wake for each task. Each gets a portion, as any submitter does (budget.h), so that half of the room always
// comes back in the end.
//
//   waiter:  under lock_: into the list, waiting_; fence; deal; sleep          who gives room:  give; fence; waiting_? deal
//
// Hazard: room is given, and nobody seen to wait, while the waiter sees none. The fences forbid that both miss.
#pragma once
#include "group/budget.h"
#include "sync/mutex.h"
#include "sync/parker.h"
namespace hc {

class Waitlist {
  public:
    enum class Got { kRoom, kTimedOut, kClosed };

    bool awaited() const { return waiting_.load(memory_order_relaxed) != 0; }

    // *room is how much. closed() -> has the group been shut down?
    template <class Closed>
    Got wait(Budget &budget, uint64_t holders, uint64_t deadline, uint64_t *room, Closed &&closed) {
        Waiter self;
        {
            Locked l(lock_);
            if (closed()) return Got::kClosed;
            *last_ = &self;
            last_ = &self.next;
            waiting_.store(waiting_.load(memory_order_relaxed) + 1, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in given(): waiting_ | the room
            deal(budget, holders);
        }
        for (;;) {
            const Woken woken = self.bed.park_until(deadline);
            Locked l(lock_);
            *room = self.room;
            if (self.room != 0) return Got::kRoom;
            if (self.sent_away) return Got::kClosed;
            if (woken != Woken::kTimedOut) continue;
            remove(&self);
            return Got::kTimedOut;
        }
    }

    // Room has been given back.
    void given(Budget &budget, uint64_t holders) {
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in wait(): the room | waiting_
        if (!awaited() || !budget.half_empty()) return;
        Locked l(lock_);
        deal(budget, holders);
    }

    void send_away() {  // the group has been shut down
        Locked l(lock_);
        while (Waiter *w = first_) {
            w->sent_away = true;
            take_first();
            w->bed.unpark();
        }
    }

  private:
    struct Waiter {
        Parker bed;
        Plain<Waiter *> next{nullptr};
        Plain<uint64_t> room{0};
        Plain<bool> sent_away{false};
    };

    void deal(Budget &budget, uint64_t holders) {
        while (first_ != nullptr && budget.half_empty()) {
            const uint64_t room = budget.take(1, holders);
            if (room == 0) return;
            Waiter *w = first_;
            w->room = room;
            take_first();
            w->bed.unpark();  // its last use: it leaves only with the lock
        }
    }
    void take_first() { remove(first_); }
    void remove(Waiter *w) {
        Plain<Waiter *> *at = &first_;
        while (*at != w) at = &static_cast<Waiter *>(*at)->next;
        *at = static_cast<Waiter *>(w->next);
        if (last_ == &w->next) last_ = at;
        waiting_.store(waiting_.load(memory_order_relaxed) - 1, memory_order_relaxed);
    }

    Mutex lock_;
    Plain<Waiter *> first_{nullptr};
    Plain<Waiter *> *last_ = &first_;
    Atomic<uint32_t> waiting_{0};
};

}  // namespace hc
