// The library neither reads nor sets its caller's errno: whatever makes a system call keeps it.
#pragma once
#include <cerrno>
namespace hc {

class KeepErrno {
  public:
    KeepErrno() : kept_(errno) {}
    ~KeepErrno() { errno = kept_; }
    KeepErrno(const KeepErrno &) = delete;
    KeepErrno &operator=(const KeepErrno &) = delete;

  private:
    const int kept_;
};

}  // namespace hc
