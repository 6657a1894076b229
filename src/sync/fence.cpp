#include "sync/fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync/errno.h"

namespace hc {

bool membarrier_usable = false;

#ifdef HC_NO_MEMBARRIER
void fence_setup() {}
#else
void fence_setup() {
    if (membarrier_usable) return;
    KeepErrno keep;
    membarrier_usable = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
#endif

void heavy_fence() {
    KeepErrno keep;
    if (membarrier_usable)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    else
        atomic_thread_fence(memory_order_seq_cst);  // pairs with light_fence
}

}  // namespace hc
