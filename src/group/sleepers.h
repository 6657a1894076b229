// Sleeping in a task, so that a cancellation ends it.
#pragma once
#include <cstdint>
namespace hc {

class Parker;
class Pollable;

bool stops();  // is the task, or the timer's body, that the caller is in, cancelled, or past its limit?

// Somebody who sleeps in such a task. Who it wakes looks at stops().
class Sleeper {
  public:
    explicit Sleeper(Parker *bed, Pollable *also = nullptr);
    ~Sleeper();
    Sleeper(const Sleeper &) = delete;
    Sleeper &operator=(const Sleeper &) = delete;

  private:
    friend void wake_sleepers(const void *cancelled);
    const void *in_[4];  // the task, its scope, the timer, the deadline
    Parker *const bed_;
    Pollable *const also_;
    Sleeper *next_ = nullptr, *before_ = nullptr;  // under the lock of all
};

enum class Slept { kTimedOut, kCanceled };
Slept sleep_until(uint64_t deadline);

// poll(2). *result is that of poll_fds().
Slept poll_until(void *fds, uint32_t n, uint64_t deadline, int *result);

// A running task, a scope, or a timer has been cancelled, or a deadline has passed: those who sleep in it look.
void wake_sleepers(const void *cancelled);

void sleepers_fork_child();

}  // namespace hc
