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
Mutex lock;
Sleeper *sleepers = nullptr;  // under lock
Atomic<uint32_t> count{0};

}  // namespace

Sleeper::Sleeper(Parker *bed, Pollable *also) : bed_(bed), also_(also) {
    const Context *c = this_thread == nullptr ? nullptr : this_thread->now;
    const Task *task = c == nullptr ? nullptr : c->task;
    in_[0] = task;
    in_[1] = task == nullptr ? nullptr : task->scope;
    in_[2] = c == nullptr ? nullptr : c->timer;
    in_[3] = c == nullptr ? nullptr : c->deadline;
    Locked l(lock);
    next_ = std::exchange(sleepers, this);
    if (next_ != nullptr) next_->before_ = this;
    count.fetch_add(1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in wake_sleepers(): count | the flag
}

Sleeper::~Sleeper() {
    Locked l(lock);
    (before_ == nullptr ? sleepers : before_->next_) = next_;
    if (next_ != nullptr) next_->before_ = before_;
    count.fetch_sub(1, memory_order_relaxed);
}

void sleepers_fork_child() {
    new (&lock) Mutex;
    sleepers = nullptr;
    count.store(0, memory_order_relaxed);
}

bool stops() {
    if (this_thread == nullptr) return false;
    const Context *c = this_thread->now;
    return (c->task != nullptr && task_stops(c->task)) || (c->timer != nullptr && timer_stops(c->timer)) ||
           (c->deadline != nullptr && c->deadline->passed());
}

void wake_sleepers(const void *cancelled) {
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in Sleeper(): the flag | count
    if (count.load(memory_order_relaxed) == 0) return;
    Locked l(lock);
    for (Sleeper *s = sleepers; s != nullptr; s = s->next_)
        for (const void *in : s->in_)
            if (in == cancelled) {
                s->bed_->unpark();
                if (s->also_ != nullptr) s->also_->raise();
            }
}

Slept sleep_until(uint64_t deadline) {
    if (stops()) return Slept::kCanceled;
    if (deadline != kNever && now() >= deadline) return Slept::kTimedOut;
    const Blocking declared;
    Parker bed;
    const Sleeper listed(&bed);
    while (!stops())
        if (bed.park_until(deadline) == Woken::kTimedOut) return Slept::kTimedOut;
    return Slept::kCanceled;
}

Slept poll_until(void *fds, uint32_t n, uint64_t deadline, int *result) {
    if (stops()) return Slept::kCanceled;
    const Blocking declared;
    const Context *in = this_thread == nullptr ? nullptr : this_thread->now;
    const bool can_be_cancelled = in != nullptr && (in->task != nullptr || in->timer != nullptr || in->deadline != nullptr);
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
    const Sleeper listed(&bed, &also);
    *result = 0;
    if (!stops()) *result = poll_fds(fds, n, &also, deadline);
    return *result <= 0 && stops() ? Slept::kCanceled : Slept::kTimedOut;
}

}  // namespace hc
