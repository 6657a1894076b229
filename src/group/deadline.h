// The limit of a task that runs. A thread has a few deadlines: one for each of its tasks, one on top of another, that has a limit or may
// be interrupted. The sentinel's thread passes them (limits.cpp): it tells the task, wakes its waits, and sends it a signal, again
// and again until it has left.
//
//   at:       kFree ──begin()──> its time ──sentinel, that time being over──> kBusy ──> kPassed
//             its time ──sentinel: has it been cancelled?──> kBusy ──> its time
//             kPassed ──sentinel: is the next signal due?──> kBusyPassed ──> kPassed
//             its time, kPassed ──end(), which waits while it is busy──> kFree
//   signals:  kMayNot ──open()──> kMay ──sentinel──> kSending ──> kMay ──shut(), which waits while it is kSending──> kMayNot
//
// Rule: the sentinel touches a task only while its `at` is kBusy, or kBusyPassed: the task is there. Two tasks with the same time may
// follow one another without the sentinel noticing: both have it behind them.
// Rule: a signal is sent only while `signals` is kSending, and after shut() what was sent has come: asked == answered, and, where one
// was repeated though it was not answered, a system call has returned. So none comes to what the thread does next: another task, or,
// on top of this one, a task that it runs while it waits. It is repeated because a runtime that handles the signals of its threads may
// keep one until a system call returns, which the next one makes it do.
//
// When the sentinel has to look: hc::look_at, no later than the first of all deadlines.
//   who begins:  at = time;                     light_fence();  time < look_at? lower it, and ring
//   sentinel:    look_at = never;               heavy_fence();  read each `at`; lower look_at to the first
// Hazard: both miss the other, and nobody looks. The fences forbid that.
//
//   field            written by                                      read by
//   at, signals      as above                                        anyone
//   task, timer      the thread, while at == kFree                   the sentinel, while `at` is busy
//   again, pause     the thread, while at == kFree; the sentinel     the sentinel, while `at` is busy
//   depth            the thread                                      the thread
//   asked            the sentinel                                    both
//   answered         the thread, its signal handler included         both
//   repeated         the sentinel, while `signals` is kSending; the  as written
//                    thread, when it has shut
#pragma once
#include <signal.h>

#include <cstdint>

#include "sync/atomic.h"
namespace hc {

struct Task;
struct Timer;
struct ThreadRecord;

struct Deadline {
    static constexpr uint64_t kFree = 0, kBusy = 1, kPassed = 2, kBusyPassed = 3;
    enum Signals : uint32_t { kMayNot, kMay, kSending };
    Atomic<uint64_t> at{kFree};
    Atomic<uint32_t> signals{kMayNot};
    Plain<Task *> task{nullptr};
    Plain<Timer *> timer{nullptr};
    Plain<uint64_t> again{0}, pause{0};  // the next signal, and how long after the one before

    static bool busy(uint64_t at) { return at == kBusy || at == kBusyPassed; }
    bool passed() const { return (at.load(memory_order_relaxed) & ~uint64_t{1}) == kPassed; }
};

struct Deadlines {  // of a thread
    static constexpr uint32_t kMost = 8;
    Deadline of[kMost];
    uint32_t depth = 0;
    Plain<int32_t> thread{0};  // the kernel's number; 0: not in the list yet
    Atomic<uint32_t> asked{0}, answered{0};
    Plain<bool> repeated{false};
    Plain<Deadlines *> next{nullptr}, before{nullptr};  // in the list of all, under its lock
};

// A body runs. On the stack of its thread, which has a record.
class Limited {
  public:
    // ns: kNever: without a limit. Nothing but that, and not `interrupt`: costs nothing.
    Limited(ThreadRecord *self, uint64_t ns, Task *task, Timer *timer, bool interrupt);
    ~Limited() { end(); }
    Limited(const Limited &) = delete;
    Limited &operator=(const Limited &) = delete;

    const Deadline *deadline() const { return deadline_; }  // nullptr: none
    bool end();                                             // true: it has passed
    uint64_t ran() const;                                   // ns, about; after end()

  private:
    ThreadRecord *const self_;
    Deadline *deadline_ = nullptr;
    uint64_t limit_, time_ = 0;
    bool interrupts_ = false, passed_ = false;
};

// A thread that waits in a task, and may run others meanwhile: it gets no signal.
class Undisturbed {
  public:
    Undisturbed();
    ~Undisturbed();
    Undisturbed(const Undisturbed &) = delete;
    Undisturbed &operator=(const Undisturbed &) = delete;

  private:
    ThreadRecord *const self_;
    Deadline *deadline_ = nullptr;
};

uint64_t limits_due();                // when the sentinel has to look; kNever
void limits_look(uint64_t now);       // by the sentinel
void limits_stop();                   // a task, a scope or a timer was cancelled: if it runs, and may be interrupted, it is
void limits_forget(Deadlines &d);     // a thread ends
void limits_fork_child();
void answer_limit_signal(int, siginfo_t *, void *);  // the handler

}  // namespace hc
