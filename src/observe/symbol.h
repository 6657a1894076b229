// A name for an address of code. C++ names stay mangled: the demangler allocates, and c++filt(1) does it as well.
#pragma once
#include <cstddef>
#include <cstdint>
namespace hc {

// "function+0x12 (libfoo.so)", if the function is one that its module exports; "libfoo.so+0x1234", as addr2line(1)
// wants it, if not; "0x1234", if the address belongs to no module. Cut at size - 1. Not from a signal handler.
void symbol(uintptr_t ip, char *out, size_t size);

}  // namespace hc
