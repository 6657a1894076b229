#include "sync/signal.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "sync/atomic.h"
#include "sync/errno.h"
#include "sync/mutex.h"

namespace hc {
namespace {

Mutex lock;  // of those who lend
Atomic<int> dump{0};
Atomic<SignalHandler> dump_handler{nullptr};

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

}  // namespace

Lend lend_dump_signal(int signo, SignalHandler handler) {
    KeepErrno keep;
    if (!lendable(signo)) return Lend::kInvalid;
    Locked l(lock);
    const int lent = dump.load(memory_order_relaxed);
    if (lent != 0) return lent == signo ? Lend::kOk : Lend::kBusy;
    struct sigaction ours {
    }, theirs;
    if (sigaction(signo, nullptr, &theirs) != 0) return Lend::kInvalid;
    if (!is_free(theirs)) return Lend::kBusy;
    if (handler == nullptr) return Lend::kUnsupported;
    ours.sa_sigaction = handler;
    // RESTART: what the kernel can take up again after the handler, it does. ONSTACK: runtimes with small stacks have a
    // place for handlers. And nothing else may come in between: a handler that leaves with a jump would leave our
    // question half answered.
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&ours.sa_mask, fault);
    if (sigaction(signo, &ours, &theirs) != 0) return Lend::kInvalid;
    if (!is_free(theirs)) {  // the host was a moment faster
        sigaction(signo, &theirs, nullptr);
        return Lend::kBusy;
    }
    dump_handler.store(handler, memory_order_relaxed);
    dump.store(signo, memory_order_release);  // pairs with dump_signal(): the handler is there
    return Lend::kOk;
}

int dump_signal() { return dump.load(memory_order_acquire); }  // pairs with the release above

bool dump_signal_is_ours() {
    KeepErrno keep;
    const int signo = dump_signal();
    struct sigaction now;
    return signo != 0 && sigaction(signo, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
           now.sa_sigaction == dump_handler.load(memory_order_relaxed);
}

void open_signals() {
    const int signo = dump_signal();
    if (signo == 0) return;
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, signo);
    pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
}

int32_t thread_id() { return static_cast<int32_t>(syscall(SYS_gettid)); }

bool thread_signal(int32_t thread, int signo) {
    KeepErrno keep;
    // With the process: the number of a thread that has ended may have become one of another process.
    return syscall(SYS_tgkill, syscall(SYS_getpid), thread, signo) == 0;
}

}  // namespace hc
