// What travels through every queue: one call, 16 bytes, the layout of the public hc_call.
#pragma once
#include "sync/atomic.h"
namespace hc {

struct Entry {
    void (*fn)(void *);
    void *arg;
};

}  // namespace hc
