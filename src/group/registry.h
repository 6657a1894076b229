// The process's threads and groups: who has an outbox where, what the end of a thread hands back, and what a fork cuts.
#pragma once
#include "group/outbox.h"
#include "sync/mutex.h"
#include "sync/thread.h"
namespace hc::registry {

// Called for each creation of a group. False: the system has no thread-specific key left.
bool setup();

// How many forks lie between the first process and this one. A group born in another generation belongs to the parent.
extern uint32_t generation;

extern Mutex lock;

ThreadRecord *record();  // the caller's, made at its first call; nullptr: no memory

// A worker's record is made with its group, so that no worker is ever without one.
void adopt(ThreadRecord *made);  // by the worker, at its start
void retire();                   // by the worker, at its end: hands back what it held, frees the record

Outbox *bound(const ThreadRecord *t, const Group *g);  // nullptr: none
// The caller's outbox in g, bound now if it was not. nullptr: no memory, or *closed.
// In a callback of g, also when g is closed: not to submit, but for what a task may still make.
Outbox *bind(Group *g, bool *closed);

// The calling thread runs a callback of g, and is not one of its workers.
class Borrowed {
  public:
    explicit Borrowed(Group *g);
    ~Borrowed();
    Borrowed(const Borrowed &) = delete;
    Borrowed &operator=(const Borrowed &) = delete;

  private:
    ThreadRecord *const thread_;
    Context here_;
};

// The calling thread, which is in a callback of the group, runs something else of it: with another label, task, ...
class Within {
  public:
    Within(ThreadRecord *self, Context like) : self_(self), here_(like) {
        here_.unrefs = 0;
        here_.outer = std::exchange(self->now, &here_);
        show(here_.label);
    }
    ~Within() {
        if (this_thread != self_) return;  // the child of a fork
        self_->now = here_.outer;
        show(here_.outer->label);
    }
    Within(const Within &) = delete;
    Within &operator=(const Within &) = delete;

  private:
    void show(const char *label) {
        if (self_->shows != nullptr) self_->shows->store(label, memory_order_relaxed);
    }
    ThreadRecord *const self_;
    Context here_;
};

bool inside(const Group *g);  // is the caller in a callback of g, however deep?

// A call into g from which callbacks may run. References to g that they drop are its debt, paid at its end, when it does
// not touch g again. Calls nest, of one group or of several: each pays for itself.
class Call {
  public:
    explicit Call(Group *g);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

  private:
    Group *const group_;
    const uint32_t generation_;
    const uint32_t outer_debt_;
};

// Drops a reference; if the caller is about to come back into g from a borrowed frame, only at the end of that Call.
void unref(Group *g);

// In a child that was forked by a task: the signal mask of the creator of that task's group. nullptr otherwise.
const sigset_t *mask_of_forking_task();

// Under `lock`, at the end of a group that nobody uses any more.
void cut(Outbox *outbox);

}  // namespace hc::registry
