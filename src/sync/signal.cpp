#include "sync/signal.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "sync/atomic.h"
#include "sync/errno.h"
#include "sync/mutex.h"

namespace hc {
namespace {

struct Lent {
    Atomic<int> signo{0};
    Atomic<SignalHandler> handler{nullptr};
};
Mutex lock;  // of those who lend
Lent dump, limit;

// A fault's own signal cannot wait, and a thread that has it blocked is killed by it.
bool lendable(int signo) {
    if (signo < 1 || signo > SIGRTMAX) return false;
    for (int s : {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
        if (signo == s) return false;
    struct sigaction now;
    return sigaction(signo, nullptr, &now) == 0;  // the C library keeps some for itself
}

bool is_free(const struct sigaction &a) {
    return (a.sa_flags & SA_SIGINFO) == 0 && (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN);
}

// ONSTACK: runtimes with small stacks have a place for handlers.
Lend lend(Lent &as, const Lent &other, int signo, SignalHandler handler, int flags) {
    KeepErrno keep;
    if (!lendable(signo)) return Lend::kInvalid;
    Locked l(lock);
    const int lent = as.signo.load(memory_order_relaxed);
    if (lent != 0) return lent == signo ? Lend::kOk : Lend::kBusy;
    if (other.signo.load(memory_order_relaxed) == signo) return Lend::kBusy;
    struct sigaction ours {
    }, theirs;
    if (sigaction(signo, nullptr, &theirs) != 0) return Lend::kInvalid;
    if (!is_free(theirs)) return Lend::kBusy;
    if (handler == nullptr) return Lend::kUnsupported;
    ours.sa_sigaction = handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
    // Nothing else may come in between: a handler that leaves with a jump would leave ours half done.
    sigfillset(&ours.sa_mask);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&ours.sa_mask, fault);
    if (sigaction(signo, &ours, &theirs) != 0) return Lend::kInvalid;
    if (!is_free(theirs)) {  // the host was a moment faster
        sigaction(signo, &theirs, nullptr);
        return Lend::kBusy;
    }
    as.handler.store(handler, memory_order_relaxed);
    as.signo.store(signo, memory_order_release);  // pairs with dump_signal(), limit_signal(): the handler is there
    return Lend::kOk;
}

}  // namespace

// RESTART: what the kernel can take up again after the handler, it does.
Lend lend_dump_signal(int signo, SignalHandler handler) { return lend(dump, limit, signo, handler, SA_RESTART); }
int dump_signal() { return dump.signo.load(memory_order_acquire); }  // pairs with the release in lend()

bool dump_signal_is_ours() {
    KeepErrno keep;
    const int signo = dump_signal();
    struct sigaction now;
    return signo != 0 && sigaction(signo, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == dump.handler.load(memory_order_relaxed);
}

// Without RESTART: that is what it is for.
Lend lend_limit_signal(int signo, SignalHandler handler) { return lend(limit, dump, signo, handler, 0); }
int limit_signal() { return limit.signo.load(memory_order_acquire); }  // pairs with the release in lend()

void unblock_signal(int signo) {
    if (signo == 0) return;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, signo);
    pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
}

bool take_signal(int signo) {
    KeepErrno keep;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    const timespec at_once{};
    return sigtimedwait(&set, nullptr, &at_once) == signo;
}

bool signal_queues(int signo) { return signo >= SIGRTMIN; }

void open_signals() { unblock_signal(dump_signal()); }

int32_t thread_id() { return static_cast<int32_t>(syscall(SYS_gettid)); }

bool thread_signal(int32_t thread, int signo) {
    KeepErrno keep;
    // With the process: the number of a thread that has ended may have become one of another process.
    return syscall(SYS_tgkill, syscall(SYS_getpid), thread, signo) == 0;
}

}  // namespace hc
