// The callers that a copy of a thread tells, found by libunwind. One thread at a time; not in a signal handler.
#pragma once
#include "observe/copy.h"
namespace hc::unwind {

// Whether it can be done at all. Looks for libunwind the first time, through the dynamic loader.
bool usable();

// Before a number of copies: looks which code is loaded. False: no memory.
bool begin();

// frames[0]: where the thread was. frames[1]...: in the call instruction of its caller, and so on. How many: at most
// `most`. `*cut`: there are more, which the copy or `most` does not hold.
uint32_t callers(const Copy &copy, uintptr_t *frames, uint32_t most, bool *cut);

}  // namespace hc::unwind
