// Memory of this process that may not be there, or may go while it is read. The kernel copies, and stops where nothing
// is mapped: no fault, no lock, no allocation. May be called from a signal handler.
#pragma once
#include <cstddef>
#include <cstdint>
namespace hc::memory {

// How much could be read, from `from` on. None at all: nothing is there, or the kernel does not let us.
size_t peek(void *to, uintptr_t from, size_t size);

}  // namespace hc::memory
