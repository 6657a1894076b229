// Sleeping in a task, so that a cancellation ends it.
#pragma once
#include <cstdint>
namespace hc {

bool stops();  // is the task, or the timer's body, that the caller is in, cancelled?

enum class Slept { kTimedOut, kCanceled };
Slept sleep_until(uint64_t deadline);

// poll(2). *result is that of poll_fds().
Slept poll_until(void *fds, uint32_t n, uint64_t deadline, int *result);

// A running task, a scope, or a timer has been cancelled: those who sleep in it look.
void wake_sleepers(const void *cancelled);

void sleepers_fork_child();

}  // namespace hc
