// A scope: a set of tasks, with a queue of its own. What lies in the group's lanes is only a note that there is something in that
// queue, so that whoever waits can take the tasks out first; a note may find nothing.
//
//   a task:  queued ──popped: by a worker with a note, a waiter, cancel(), hand-back──> running, or dropped ──> ended()
//
// A task that has an order is in its line instead, as any held task is, and nobody takes it out but to drop it. The scope has a list of them.
//
// pending_ is the number of tasks that are queued, running or being dropped. Whoever brings it to 0 wakes the waiters. Everything
// is under lock_, and no callback is.
#pragma once
#include "group/tasks.h"
namespace hc {

class Scope {
  public:
    explicit Scope(Group *g) : group_(g) {}
    Group *group() const { return group_; }

    Submit submit(const TaskOptions &o, bool *cancelled);
    bool in_line();  // is one of its tasks behind the caller, in the same line?
    void cancel();
    bool cancelled() const { return cancelled_.load(memory_order_relaxed); }
    bool idle() const { return pending_.load(memory_order_acquire) == 0; }  // pairs with the release in ended()
    int32_t outcome();  // of the first that failed
    void error(int32_t *code, void **payload);

    void ended(Task *t);  // by the claimer of one of its tasks

    static void run_next(void *scope);  // a note's fn
    void hand_back_next(int32_t why);
    void hand_back_new(int32_t why);  // the task that the caller's thread is submitting, if it is still there, otherwise as above

    // Counted as helped, and claimed. nullptr: none is queued.
    Task *take_for_waiter();

    struct Waiter {
        Parker *bed = nullptr;
        Plain<Waiter *> next{nullptr};
    };
    bool listen(Waiter *w);  // false: it is idle
    void unlisten(Waiter *w);

    void ref() { refs_.fetch_add(1, memory_order_relaxed); }
    void unref();

  private:
    Submit submit_in_order(Task *t, bool *cancelled);
    void take_out_ordered(Task *t);  // under lock_
    Task *claim_ordered();
    Task *pop(bool *ours);   // under lock_
    bool take_out(Task *t);  // under lock_. False: somebody has popped it
    // kPopped: somebody runs it, with another's note. kStays: it needs none, for it has expired. Both: it was accepted.
    enum class Back { kOurs, kPopped, kStays };
    Back take_back(Task *t);
    void hand_back(Task *t, bool ours, int32_t why);
    void replace_note(Submit why);
    void wake_waiters();  // under lock_

    Group *const group_;  // with a reference
    Atomic<uint32_t> refs_{1};
    Mutex lock_;
    Plain<Task *> first_{nullptr}, last_{nullptr};
    Plain<Task *> ordered_{nullptr}, ordered_last_{nullptr};  // those that have an order are not in the queue, but here, until they have ended
    Atomic<uint64_t> pending_{0};
    Atomic<bool> cancelled_{false};
    Plain<int32_t> outcome_{0};
    Failure failure_;
    Plain<Waiter *> waiters_{nullptr};
};

Waited wait_for_scope(Scope *s, uint64_t timeout, uint32_t how);

}  // namespace hc
