// The stacks of other threads of the process, as they are, wherever those threads are: each is asked by a signal,
// answers with a copy of the innermost piece of its stack and its registers, and goes on; the asker finds the callers
// afterwards.
//
// What is not told: what lies further out than Copy::kMost, or on another stack (a handler's on its sigaltstack); who
// called code without tables. And while the C++ runtime jumps to a handler of exceptions its own frames contradict
// their tables: such a stack may end too early without being cut.
//
// Nobody waits for an answer longer than the deadline. None comes from a thread that has the signal blocked, has ended,
// is stopped or does not return from the kernel. One asker at a time; the others wait, each at most as long as the one
// before.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sync/signal.h"
namespace hc {

enum class Stack {
    kTaken,
    kNoAnswer,
    kUnsupported,  // no libunwind, no signal was lent, or the host has taken it back
};

struct StackOf {
    int32_t thread;     // thread_id(). It must not have ended and been replaced by another thread of the same number
    uint32_t most;      // room in `frames`
    uintptr_t *frames;  // out: where it is, then the call in its caller, and so on outwards
    uint32_t n = 0;     // out: how many
    bool cut = false;   // out: there are more, but no room, too deep (Copy::kMost), or code without tables
    Stack result = Stack::kUnsupported;
};

// All of them, asked at once. Not from a signal handler. Takes no lock that a thread could hold while it is asked, but
// for the allocator's, when the hooks have one, and the loader's list of what is loaded.
void take_stacks(StackOf *of, size_t count, uint64_t deadline);

inline Stack take_stack(int32_t thread, uint64_t deadline, uintptr_t *frames, uint32_t most, uint32_t *n) {
    StackOf one{thread, most, frames};
    take_stacks(&one, 1, deadline);
    *n = one.n;
    return one.result;
}

// For lend_dump_signal(). nullptr: this build, or this machine, has no stacks. Prepares everything the first time, and
// may then block in the dynamic loader.
SignalHandler stack_handler();

}  // namespace hc
