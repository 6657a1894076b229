// A number that one thread raises and anyone reads.
#pragma once
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

class Counter {
  public:
    void add(uint64_t n = 1) { value_.store(value_.load(memory_order_relaxed) + n, memory_order_relaxed); }
    uint64_t read() const { return value_.load(memory_order_relaxed); }

  private:
    Atomic<uint64_t> value_{0};
};

}  // namespace hc
