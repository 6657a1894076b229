// In place of src/sync/signal.h. Most models send no signals: limits.cpp says what becomes of those of a task that is over.
#pragma once
#include <signal.h>

#include <cstdint>
namespace hc {

inline void open_signals() {}
int limit_signal();
void unblock_signal(int signo);
bool take_signal(int signo);
bool signal_queues(int signo);
bool thread_signal(int32_t thread, int signo);

}  // namespace hc
