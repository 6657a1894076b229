#include "sync/fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "sync/errno.h"

namespace hc {

bool membarrier_usable = false;

namespace {

bool enlist() { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0; }

}  // namespace

void fence_setup() {
#ifndef HC_NO_MEMBARRIER
    static const bool usable = [] {
        KeepErrno keep;
        return membarrier_usable = enlist();
    }();
    (void)usable;
#endif
}

void heavy_fence() {
    if (!membarrier_usable) {
        atomic_thread_fence(memory_order_seq_cst);  // pairs with light_fence
        return;
    }
    KeepErrno keep;
    while (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        if (errno == ENOMEM || errno == EINTR || (errno == EPERM && enlist())) continue;
        // The other side has no fence of its own. Going on would lose tasks, or run them twice.
        static const char said[] = "homecooking: membarrier(2) worked and was forbidden since (a seccomp filter?)\n";
        if (write(2, said, sizeof said - 1) < 0) abort();
        abort();
    }
}

}  // namespace hc
