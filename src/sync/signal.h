// Signals to one thread, and the signals that the host has lent to the library. A number is lent once and never given
// back: a signal may be on its way at any time, and without our handler most of them end the process.
#pragma once
#include <signal.h>

#include <cstdint>
namespace hc {

using SignalHandler = void (*)(int signo, siginfo_t *info, void *context);

enum class Lend {
    kOk,
    kInvalid,      // no such signal, one that cannot be caught, or one that a fault sends
    kBusy,         // the host has a handler, or another number was lent
    kUnsupported,  // there is no handler for it
};

// The number by which a thread is asked for its stack. `handler` may be nullptr: the number is judged all the same.
Lend lend_dump_signal(int signo, SignalHandler handler);
int dump_signal();           // 0: none
bool dump_signal_is_ours();  // the host has put no other handler in our place

// The number that ends a system call of a task whose time is over.
Lend lend_limit_signal(int signo, SignalHandler handler);
int limit_signal();  // 0: none
void unblock_signal(int signo);
bool take_signal(int signo);  // true: it was on its way to the caller, and will not come any more

// Workers are started with everything blocked: one lets itself be asked for its stack at its start.
void open_signals();

bool signal_queues(int signo);  // as often as it is sent. False: it is pending, or not

int32_t thread_id();                            // the kernel's, of the caller. May be called from a signal handler
bool thread_signal(int32_t thread, int signo);  // to this thread of this process. False: there is none, or no memory
}  // namespace hc
