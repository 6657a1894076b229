#include <algorithm>
#include <new>

#include "group/outbox.h"
#include "group/sentinel.h"
#include "group/sleepers.h"
#include "group/tasks.h"
#include "sync/clock.h"
#include "sync/fence.h"
#include "sync/mutex.h"
#include "sync/signal.h"
#include "sync/thread.h"

namespace hc {
namespace {

// ns from one signal to the next
#ifdef HC_SYNC_MODEL
constexpr uint64_t kFirstPause = 2, kLongestPause = 8;
#else
constexpr uint64_t kFirstPause = 2'000'000, kLongestPause = 128'000'000;
#endif
constexpr uint64_t kStopped = 0;  // in look_at: at once

struct Limits {
    Mutex lock;
    Plain<Deadlines *> all{nullptr};  // under lock
    Atomic<uint64_t> look_at{kNever};
    Atomic<uint32_t> interruptible{0};  // that run now
};
Limits limits;

bool lowered(uint64_t at) {
    uint64_t seen = limits.look_at.load(memory_order_relaxed);
    do
        if (seen <= at) return false;
    while (!limits.look_at.compare_exchange_weak(seen, at, memory_order_relaxed, memory_order_relaxed));
    return true;
}

void lower(uint64_t at) {
    if (!lowered(at) || sentinel_ring()) return;
    // No thread can be had: the next tries again.
    limits.look_at.compare_exchange_strong(at, kNever, memory_order_relaxed, memory_order_relaxed);
}

void enlist(Deadlines *d) {
    Locked l(limits.lock);
    d->thread = thread_id();
    d->before = nullptr;
    if ((d->next = limits.all) != nullptr) d->next->before = d;
    limits.all = d;
}

// ---- the thread ----

bool stopped(const Deadline &x) {
    Task *t = x.task;
    Timer *r = x.timer;
    return (t != nullptr && task_stops(t)) || (r != nullptr && timer_stops(r));
}

void open(Deadline &x) {
    x.signals.store(Deadline::kMay, memory_order_release);  // pairs with the acquire in send(): repeated
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fences in limits_stop(): signals | the flag; and look(): signals | at
    if (x.passed() || stopped(x)) lower(kStopped);
}

void shut(Deadlines &d, Deadline &x) {
    uint32_t may = Deadline::kMay;
    // acquire: pairs with the release in send(): asked
    while (!x.signals.compare_exchange_weak(may, Deadline::kMayNot, memory_order_acquire, memory_order_relaxed)) {
        may = Deadline::kMay;
        thread_yield();
    }
    // It comes at the latest when a system call returns: this one. The body may have left it blocked: then it is taken here.
    bool look = d.repeated;
    d.repeated = false;
    for (; look || d.asked.load(memory_order_relaxed) != d.answered.load(memory_order_relaxed); look = false)
        if (take_signal(limit_signal())) d.answered.store(d.asked.load(memory_order_relaxed), memory_order_relaxed);
}

// ---- the sentinel ----

void send(Deadlines &d, Deadline &x) {
    const int signo = limit_signal();
    const uint32_t n = d.asked.load(memory_order_relaxed);
    const bool unanswered = n != d.answered.load(memory_order_relaxed);
    if (signo == 0 || (unanswered && signal_queues(signo))) return;
    uint32_t may = Deadline::kMay;
    // acquire: pairs with the release in open(): repeated
    if (!x.signals.compare_exchange_strong(may, Deadline::kSending, memory_order_acquire, memory_order_relaxed)) return;
    if (unanswered)
        d.repeated = true;
    else
        d.asked.store(n + 1, memory_order_relaxed);
    if (!thread_signal(d.thread, signo) && !unanswered) d.asked.store(n, memory_order_relaxed);
    x.signals.store(Deadline::kMay, memory_order_release);  // pairs with the acquire in shut()
}

// Returns when to look again.
uint64_t look(Deadlines &d, Deadline &x, uint64_t now) {
    uint64_t at = x.at.load(memory_order_relaxed);
    const bool over = at != Deadline::kPassed && at <= now, open = x.signals.load(memory_order_relaxed) != Deadline::kMayNot;
    if (at == Deadline::kFree) return kNever;
    if (!over && !open) return at == Deadline::kPassed ? kNever : at;
    // acquire: pairs with the release in Limited(). In vain: it has ended, or even another has begun, which has looked at look_at.
    const uint64_t busy = at == Deadline::kPassed ? Deadline::kBusyPassed : Deadline::kBusy;
    if (!x.at.compare_exchange_strong(at, busy, memory_order_acquire, memory_order_relaxed)) return kNever;
    if (Task *t = x.task; over && t != nullptr) {
        t->stop();
        wake_sleepers(t);
    }
    const bool passed = over || at == Deadline::kPassed;
    uint64_t next = passed ? kNever : at;
    if (open && (passed || stopped(x))) {
        if (now >= x.again) {
            send(d, x);
            x.again = now + x.pause;
            x.pause = std::min<uint64_t>(2 * x.pause, kLongestPause);
        }
        next = std::min<uint64_t>(next, x.again);
    }
    x.at.store(passed ? Deadline::kPassed : at, memory_order_release);  // pairs with the acquire in end()
    if (over && !open) {                                                // has it opened meanwhile, and not seen that its time is over?
        atomic_thread_fence(memory_order_seq_cst);                      // pairs with the fence in open(): at | signals
        if (x.signals.load(memory_order_relaxed) != Deadline::kMayNot) next = kStopped;
    }
    if (over) wake_sleepers(&x);  // also if it is another's by now: that one looks and goes on sleeping
    return next;
}

}  // namespace

uint64_t limits_due() { return limits.look_at.load(memory_order_relaxed); }

void limits_look(uint64_t now) {
    limits.look_at.store(kNever, memory_order_relaxed);
    heavy_fence();  // pairs with light_fence in Limited(): look_at | at
    uint64_t next = kNever;
    {
        Locked l(limits.lock);
        for (Deadlines *d = limits.all; d != nullptr; d = d->next)
            for (Deadline &x : d->of) next = std::min(next, look(*d, x, now));
    }
    lowered(next);  // the caller sees that it is due
}

void limits_stop() {
    atomic_thread_fence(memory_order_seq_cst);  // pairs with the fence in open(): the flag | signals
    if (limits.interruptible.load(memory_order_relaxed) != 0) lower(kStopped);
}

void limits_forget(Deadlines &d) {
    if (d.thread == 0) return;
    Locked l(limits.lock);
    (d.before == nullptr ? limits.all : d.before->next) = d.next;
    if (d.next != nullptr) d.next->before = d.before;
}

void limits_fork_child() { new (&limits) Limits; }

void answer_limit_signal(int, siginfo_t *, void *) {
    if (this_thread == nullptr) return;
    Deadlines &d = this_thread->deadlines;
    d.answered.store(d.asked.load(memory_order_relaxed), memory_order_relaxed);
}

Limited::Limited(ThreadRecord *self, uint64_t ns, Task *task, Timer *timer, bool interrupt) : self_(self), limit_(ns) {
    if (self == nullptr || (ns == kNever && !interrupt)) return;
    Deadlines &d = self->deadlines;
    if (d.depth == Deadlines::kMost) return;
    if (d.thread == 0) enlist(&d);
    Deadline &x = d.of[d.depth++];
    deadline_ = &x;
    x.task = task;
    x.timer = timer;
    x.again = 0;
    x.pause = kFirstPause;
    time_ = ns == kNever ? kNever : lazily_after(ns);
    x.at.store(time_, memory_order_release);  // pairs with the acquire in look()
    if ((interrupts_ = interrupt && limit_signal() != 0)) {
        limits.interruptible.fetch_add(1, memory_order_relaxed);
        unblock_signal(limit_signal());
        open(x);
    }
    light_fence();  // pairs with heavy_fence in limits_look(): at | look_at
    if (time_ < limits.look_at.load(memory_order_relaxed)) lower(time_);
}

bool Limited::end() {
    Deadline *x = std::exchange(deadline_, nullptr);
    if (x == nullptr || this_thread != self_) return passed_;  // or in the child of a fork
    if (interrupts_) {
        shut(self_->deadlines, *x);
        limits.interruptible.fetch_sub(1, memory_order_relaxed);
    }
    uint64_t at = x->at.load(memory_order_relaxed);
    // acquire: pairs with the release in look()
    while (Deadline::busy(at) || !x->at.compare_exchange_weak(at, Deadline::kFree, memory_order_acquire, memory_order_relaxed)) {
        thread_yield();
        at = x->at.load(memory_order_relaxed);
    }
    self_->deadlines.depth--;
    return passed_ = at == Deadline::kPassed;
}

uint64_t Limited::ran() const { return limit_ + (std::max(now(), time_) - time_); }

Undisturbed::Undisturbed() : self_(this_thread) {
    if (self_ == nullptr || self_->deadlines.depth == 0) return;
    Deadline &x = self_->deadlines.of[self_->deadlines.depth - 1];
    if (x.signals.load(memory_order_relaxed) == Deadline::kMayNot) return;
    shut(self_->deadlines, x);
    deadline_ = &x;
}

Undisturbed::~Undisturbed() {
    if (deadline_ != nullptr && this_thread == self_) open(*deadline_);
}

}  // namespace hc
