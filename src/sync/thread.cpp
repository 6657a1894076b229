#include "sync/thread.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "sync/errno.h"

namespace hc {
namespace {

// The kernel refuses a set that is narrower than its own, which has at most 8 192 CPUs.
struct CpuSet {
    cpu_set_t sets[32];
    bool read() { return sched_getaffinity(0, sizeof sets, sets) == 0; }
    bool has(uint32_t cpu) const { return cpu < sizeof sets * 8 && CPU_ISSET_S(cpu, sizeof sets, sets); }
    void add(uint32_t cpu) {
        if (cpu < sizeof sets * 8) CPU_SET_S(cpu, sizeof sets, sets);
    }
};

pthread_key_t key;

}  // namespace

bool thread_hooks(void (*at_end)(void *), void (*in_child)()) {
    if (pthread_key_create(&key, at_end) != 0) return false;
    if (pthread_atfork(nullptr, nullptr, in_child) == 0) return true;
    pthread_key_delete(key);
    return false;
}

bool thread_keep(void *p) { return pthread_setspecific(key, p) == 0; }

bool thread_start(Thread *out, void *(*body)(void *), void *self, size_t stack) {
    KeepErrno keep;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0) return false;
    if (stack == 0) {
        constexpr size_t kDefault = 1 << 20;  // at least: some systems' own is too small for what runs on others
        if (pthread_attr_getstacksize(&attr, &stack) != 0 || stack < kDefault) stack = kDefault;
    }
    const long least = sysconf(_SC_THREAD_STACK_MIN);  // more than our own minimum on some machines
    if (least > 0) stack = std::max(stack, static_cast<size_t>(least));
    bool ok = pthread_attr_setstacksize(&attr, stack) == 0;
    if (ok) {
        // Blocked before it starts, so that there is no instant at which it could take a signal.
        sigset_t blocked;
        sigfillset(&blocked);
        for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&blocked, fault);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
        ok = pthread_attr_setsigmask_np(&attr, &blocked) == 0 && pthread_create(out, &attr, body, self) == 0;
#else
        sigset_t before;  // a thread inherits the mask of its creator
        pthread_sigmask(SIG_SETMASK, &blocked, &before);
        ok = pthread_create(out, &attr, body, self) == 0;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
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

void thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }

bool thread_sleeps(int32_t id) {
    KeepErrno keep;
    char text[256];
    snprintf(text, sizeof text, "/proc/self/task/%d/stat", id);
    const int fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    const char *name_end = strrchr(text, ')');  // "ID (NAME) STATE ...": a name may contain anything
    return name_end != nullptr && name_end[1] == ' ' && name_end[2] != 'R';
}

bool thread_may_run_on(uint32_t cpu) {
    KeepErrno keep;
    CpuSet set;
    return set.read() && set.has(cpu);
}

void thread_run_on(const uint32_t *cpus, uint32_t n, uint32_t index) {
    KeepErrno keep;
    CpuSet set{};
    for (uint32_t i = 0; i < n; i++)
        if (index == UINT32_MAX || index % n == i) set.add(cpus[i]);
    sched_setaffinity(0, sizeof set.sets, set.sets);
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
