// Held tasks above their record: how they are made, run, ended, and followed by others.
#pragma once
#include "group/line.h"
#include "group/submit.h"
#include "sync/clock.h"
#include "task/task.h"
namespace hc {

struct TaskOptions {
    Entry call{nullptr, nullptr};
    void (*drop)(void *, int32_t) = nullptr;
    const char *label = nullptr;
    void *result = nullptr;
    void (*result_drop)(void *) = nullptr;
    uint32_t flags = 0;
    uint64_t run_limit = 0, queue_expiry = 0;  // ns; 0: the group's, kNever: none
    Priority priority = Priority::kNormal;
    Ordering order;
    Scope *scope = nullptr;
};
constexpr uint32_t kWorkerOnly = 1, kInterrupt = 2;  // HC_TASK_...
constexpr uint64_t or_of_group(uint64_t own, uint64_t of_group) { return own != 0 ? own : of_group; }
inline uint64_t expires_after(uint64_t ns) { return ns == UINT64_MAX ? UINT64_MAX : lazily_after(ns); }

// Why a task did not end well: the values of HC_ECANCELED, HC_EFAILED, ...; capi/task.cpp checks.
constexpr int32_t kWhyCanceled = -1006, kWhyFailed = -1016, kWhyShutdown = -1010, kWhyNoMemory = -1002, kWhyDropped = -1009,
                  kWhyExpired = -1007, kWhyLimit = -1008;

using Push = Submit (*)(Group *g, Entry e, uint64_t with);
Submit submit_ticket(Group *g, const TaskOptions &o, Push push, uint64_t with);  // task/ticket.h; or in its order
inline Submit submit_ticket(Group *g, const TaskOptions &o) {
    return submit_ticket(g, o, [](Group *in, Entry e, uint64_t p) { return submit_at(in, e, static_cast<Priority>(p)); },
                         static_cast<uint64_t>(o.priority));
}
Submit submit_task(Group *g, const TaskOptions &o, Task **out);
Submit task_then(Task *before, const TaskOptions &o, Task **out);
Submit task_after(Task::Body body, Task *const *inputs, size_t n, Task **out);  // kAll, kAny
Submit task_promise(Group *g, Task **out);
bool task_complete(Task *promise, int32_t outcome, void *result, void (*result_drop)(void *));  // false: it is

Task::State task_cancel(Task *t);  // what it was: kQueued, if this call has ended it; kRunning; kEnded

void run_entry(Group *g, Entry e);        // of any kind, on any thread
void run_task(void *task);                // the entry's fn
void run_claimed(Task *t);                // by whoever has claimed it, on any thread
void drop_claimed(Task *t, int32_t why);  // the same, instead of a run
void hand_back_task(Task *t, int32_t why);  // an entry that will not run

Task *make_scope_task(Group *g, Scope *s, const TaskOptions &o, Submit *why_not);  // queued, with one ref

// What others find the forks of a task by: see queue/deque.h.
inline const void *mark_of(const Task *t) { return t->scope != nullptr ? static_cast<const void *>(t->scope) : t; }
bool task_stops(const Task *t);       // was it, or its scope, cancelled?

void wake_waiters(Task *t);           // they have something to look at

void task_release(Task *t);  // one of its refs
void task_unref(Task *t);    // one of its handles

// The group of a task, with a reference, or nullptr; and for a block.
class GroupPin {
  public:
    explicit GroupPin(Home *home);
    ~GroupPin();
    GroupPin(const GroupPin &) = delete;
    GroupPin &operator=(const GroupPin &) = delete;
    Group *get() const { return group_; }
    Group *operator->() const { return group_; }

  private:
    Group *const group_;
};

// Between tasks.cpp (a task's life) and continuations.cpp (what follows its end).
Task *make_task(Group *g, const TaskOptions &o, Submit *why_not);  // kWaiting, with one ref and one handle
void forget_order(Task *t);  // by the claimer, at its end: nothing is put into its serial any more on its account
void unmake_task(Task *t);                                         // it has never been queued; the caller has its only ref
bool unqueue(Task *t);                                             // it was refused. False: too late, it has expired
bool run_body(Group *g, Task *t);                                  // false: it has forked, and this is the child
void call_drop(Group *g, Task *t, int32_t why);
void finish(Task *t, int32_t outcome, bool ran);  // by the claimer; `ran`: on this thread, just now
void release_inputs(Task *t);
inline int32_t outcome_after_run(const Task *t) { return t->overran ? kWhyLimit : t->failure.set ? kWhyFailed : 0; }
void ran_past(Group *g, Entry call, const char *label, uint64_t ns);  // a body that has returned: counts and tells

// wait.cpp
constexpr uint32_t kHelpAny = 1, kNoHelp = 2, kInterruptible = 4;  // HC_WAIT_...
enum class Waited { kDone, kTimedOut, kDeadlock, kInterrupted, kStopped };
Waited wait_for_task(Task *t, uint64_t timeout, uint32_t how);

}  // namespace hc
