#include "sync/thread.h"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <initializer_list>

#include "sync/errno.h"

namespace hc {

bool thread_start(Thread *out, void *(*body)(void *), void *self, size_t stack) {
    KeepErrno keep;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) return false;
    const long least = sysconf(_SC_THREAD_STACK_MIN);  // more than our own minimum on some machines
    if (stack != 0 && least > 0) stack = std::max(stack, static_cast<size_t>(least));
    bool ok = stack == 0 || pthread_attr_setstacksize(&attr, stack) == 0;
    if (ok) {
        // A thread inherits the mask of its creator: blocking here leaves no instant at which it could take a signal.
        sigset_t before, blocked;
        sigfillset(&blocked);
        for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&blocked, fault);
        pthread_sigmask(SIG_SETMASK, &blocked, &before);
        ok = pthread_create(out, &attr, body, self) == 0;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    pthread_attr_destroy(&attr);
    return ok;
}

void thread_name(const char *name, uint32_t index) {
    char number[12];
    const int digits = snprintf(number, sizeof number, "-%u", index);
    char text[16];
    snprintf(text, sizeof text, "%.*s%s", 15 - digits, name, number);
    pthread_setname_np(pthread_self(), text);
}

void thread_exact_timeouts() {
    KeepErrno keep;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

sigset_t thread_signals() {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return mask;
}

void thread_set_signals(const sigset_t &mask) { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }

uintptr_t thread_stack_half() {
    KeepErrno keep;
    pthread_attr_t attr;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return UINTPTR_MAX;
    void *low = nullptr;
    size_t size = 0;
    const bool ok = pthread_attr_getstack(&attr, &low, &size) == 0;
    pthread_attr_destroy(&attr);
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), from = reinterpret_cast<uintptr_t>(low);
    // A coroutine's stack is none that the thread knows.
    return ok && here > from && here - from < size ? from + size / 2 : UINTPTR_MAX;
}

void thread_yield() { sched_yield(); }

}  // namespace hc
