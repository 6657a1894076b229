// Tasks that block, and say so.
#pragma once
#include <cstdint>

#include "group/outbox.h"
namespace hc {

bool blocking_begin();  // of the calling thread. True: another worker may work meanwhile
void blocking_end();
inline uint32_t blocking_depth() { return this_thread == nullptr ? 0 : this_thread->blocking; }
// All but so many of its begins, if there are more. In the child of a fork: none.
inline void blocking_end_to(uint32_t depth) {
    ThreadRecord *t = this_thread;
    if (__builtin_expect(t == nullptr || t->blocking <= depth, 1)) return;
    t->blocking = depth + 1;
    blocking_end();
}

class Blocking {
  public:
    Blocking() { blocking_begin(); }
    ~Blocking() { blocking_end(); }
    Blocking(const Blocking &) = delete;
    Blocking &operator=(const Blocking &) = delete;
};

}  // namespace hc
