// What poll(2) can wait for beside the caller's descriptors: something that another thread raises.
#pragma once
#include <cstdint>
namespace hc {

class Pollable {
  public:
    Pollable() = default;
    ~Pollable();
    Pollable(const Pollable &) = delete;
    Pollable &operator=(const Pollable &) = delete;
    bool open();   // false: no descriptor, or no memory, left
    void raise();  // and it stays so
    int fd() const { return fd_; }

  private:
    int fd_ = -1;
};

constexpr int kPollNoMemory = -1, kPollInterrupted = -2, kPollInvalid = -3;

// How many of the n struct pollfd at `fds` have something to tell; 0: none until the deadline, or `also` (unless nullptr) was raised.
int poll_fds(void *fds, uint32_t n, const Pollable *also, uint64_t deadline);

}  // namespace hc
