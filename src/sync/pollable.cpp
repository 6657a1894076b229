#include "sync/pollable.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "memory/hooks.h"
#include "sync/clock.h"
#include "sync/errno.h"
#include "sync/futex.h"

namespace hc {

Pollable::~Pollable() {
    const KeepErrno keep;
    if (fd_ >= 0) close(fd_);
}

bool Pollable::open() {
    const KeepErrno keep;
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd_ >= 0;
}

void Pollable::raise() {
    const KeepErrno keep;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
}

int poll_fds(void *fds, uint32_t n, const Pollable *also, uint64_t deadline) {
    const KeepErrno keep;
    constexpr uint32_t kFew = 32;
    pollfd few[kFew + 1];
    auto *own = static_cast<pollfd *>(fds);
    pollfd *all = own;
    const size_t size = (size_t{n} + 1) * sizeof(pollfd);
    if (also != nullptr) {
        all = n <= kFew ? few : static_cast<pollfd *>(memory::allocate(size, alignof(pollfd)));
        if (all == nullptr) return kPollNoMemory;
        if (n != 0) memcpy(all, own, n * sizeof(pollfd));
        all[n] = {also->fd(), POLLIN, 0};
    }
    timespec left{};
    if (deadline != kNever) {
        const uint64_t at = now(), ns = deadline > at ? deadline - at : 0;
        left.tv_sec = static_cast<time_t>(std::min<uint64_t>(ns / 1'000'000'000, INT32_MAX));
        left.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    }
    int ready = ppoll(all, n + (also != nullptr), deadline == kNever ? nullptr : &left, nullptr);
    if (ready < 0) ready = errno == EINTR ? kPollInterrupted : errno == ENOMEM ? kPollNoMemory : kPollInvalid;
    if (also != nullptr) {
        for (uint32_t i = 0; i < n; i++) own[i].revents = ready < 0 ? 0 : all[i].revents;
        if (ready > 0 && all[n].revents != 0) ready--;
        if (all != few) memory::release(all, size, alignof(pollfd));
    }
    return ready;
}

}  // namespace hc
