// The lock of the slow paths. None is ever held during a callback, nor taken between fork() and the child's first call.
#pragma once
#include "sync/atomic.h"
#ifndef HC_SYNC_MODEL
#include <mutex>
namespace hc {
using Mutex = std::mutex;
}
#endif
namespace hc {

template <class M>
class Locked {  // M: Mutex, or Lock (lock.h)
  public:
    explicit Locked(M &m) : m_(m) { m_.lock(); }
    ~Locked() { m_.unlock(); }
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;

  private:
    M &m_;
};

}  // namespace hc
