// What travels through every queue: one call, 16 bytes, the layout of the public hc_call.
#pragma once
#include "sync/atomic.h"
namespace hc {

struct Entry {
    Plain<void (*)(void *)> fn;
    Plain<void *> arg;

    // Copied member by member on purpose. A copy of 16 bytes at once reads back from the stack, in one load, what two
    // stores have just put there: the processor cannot forward that, and a submit costs 5 ns more.
    Entry() = default;
    Entry(void (*f)(void *), void *a) : fn(f), arg(a) {}
    Entry(const Entry &o) : fn(o.fn), arg(o.arg) {}
    Entry &operator=(const Entry &o) {
        fn = o.fn;
        arg = o.arg;
        return *this;
    }
};

}  // namespace hc
