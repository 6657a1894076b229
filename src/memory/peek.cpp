#include "memory/peek.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "sync/errno.h"

namespace hc::memory {

size_t peek(void *to, uintptr_t from, size_t size) {
    KeepErrno keep;
    constexpr size_t kPage = 4096;  // or a part of one
    constexpr unsigned kPieces = 17;
    size_t done = 0;
    while (done < size) {
        // The kernel reads a piece wholly or not at all: each ends with its page.
        iovec pieces[kPieces], into{static_cast<char *>(to) + done, 0};
        unsigned n = 0;
        for (uintptr_t at = from + done; n < kPieces && into.iov_len < size - done; n++) {
            const size_t piece = std::min(kPage - at % kPage, size - done - into.iov_len);
            pieces[n] = {reinterpret_cast<void *>(at), piece};
            into.iov_len += piece;
            at += piece;
        }
        const long got =
            syscall(SYS_process_vm_readv, syscall(SYS_getpid), &into, 1UL, pieces, static_cast<unsigned long>(n), 0UL);
        if (got <= 0) break;
        done += static_cast<size_t>(got);
        if (static_cast<size_t>(got) < into.iov_len) break;
    }
    return done;
}

}  // namespace hc::memory
