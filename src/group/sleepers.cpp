#include "group/sleepers.h"

#include "group/blocking.h"
#include "group/group.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/tasks.h"
#include "sync/clock.h"
#include "sync/pollable.h"

namespace hc {
namespace {

// Who sleeps in a task that can be cancelled.
//
//   sleeper:    enter the list (under its lock); stops()? ; sleep; leave the list
//   canceller:  set the flag; is there anybody? ; under the lock, wake those of this task
//
// Hazard: the canceller finds nobody, and the sleeper does not see the flag. Both fence fully between the two steps.
struct Sleeper {
    const void *in[3];  // the task, its scope, the timer
    Parker *bed = nullptr;
    Pollable *also = nullptr;
    Sleeper *next = nullptr, *before = nullptr;
};

Mutex lock;
Sleeper *sleepers = nullptr;  // under lock
Atomic<uint32_t> count{0};

class Listed {
  public:
    explicit Listed(Sleeper *s) : s_(s) {
        const Context *c = this_thread == nullptr ? nullptr : this_thread->now;
        const Task *task = c == nullptr ? nullptr : c->task;
        s->in[0] = task;
        s->in[1] = task == nullptr ? nullptr : task->scope;
        s->in[2] = c == nullptr ? nullptr : c->timer;
        Locked l(lock);
        s->next = std::exchange(sleepers, s);
        if (s->next != nullptr) s->next->before = s;
        count.fetch_add(1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in wake_sleepers(): count | the flag
    }
    ~Listed() {
        Locked l(lock);
        (s_->before == nullptr ? sleepers : s_->before->next) = s_->next;
        if (s_->next != nullptr) s_->next->before = s_->before;
        count.fetch_sub(1, memory_order_relaxed);
    }

  private:
    Sleeper *const s_;
};

}  // namespace

void sleepers_fork_child() {
    new (&lock) Mutex;
    sleepers = nullptr;
    count.store(0, memory_order_relaxed);
}

bool stops() {
    if (this_thread == nullptr) return false;
    const Context *c = this_thread->now;
    return (c->task != nullptr && task_stops(c->task)) || (c->timer != nullptr && timer_stops(c->timer));
}

void wake_sleepers(const void *cancelled) {
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in Listed(): the flag | count
    if (count.load(memory_order_relaxed) == 0) return;
    Locked l(lock);
    for (Sleeper *s = sleepers; s != nullptr; s = s->next)
        for (const void *in : s->in)
            if (in == cancelled) {
                s->bed->unpark();
                if (s->also != nullptr) s->also->raise();
            }
}

Slept sleep_until(uint64_t deadline) {
    if (stops()) return Slept::kCanceled;
    if (deadline != kNever && now() >= deadline) return Slept::kTimedOut;
    const Blocking declared;
    Parker bed;
    Sleeper s{.in = {}, .bed = &bed};
    const Listed listed(&s);
    while (!stops())
        if (bed.park_until(deadline) == Woken::kTimedOut) return Slept::kTimedOut;
    return Slept::kCanceled;
}

Slept poll_until(void *fds, uint32_t n, uint64_t deadline, int *result) {
    if (stops()) return Slept::kCanceled;
    const Blocking declared;
    const bool can_be_cancelled = this_thread != nullptr && (this_thread->now->task != nullptr || this_thread->now->timer != nullptr);
    Pollable also;
    if (!can_be_cancelled) {
        *result = poll_fds(fds, n, nullptr, deadline);
        return Slept::kTimedOut;
    }
    if (!also.open()) {
        *result = kPollNoMemory;
        return Slept::kTimedOut;
    }
    Parker bed;
    Sleeper s{.in = {}, .bed = &bed, .also = &also};
    const Listed listed(&s);
    *result = 0;
    if (!stops()) *result = poll_fds(fds, n, &also, deadline);
    return *result <= 0 && stops() ? Slept::kCanceled : Slept::kTimedOut;
}

}  // namespace hc
