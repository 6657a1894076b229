// What a signal handler takes of the thread that it interrupts: the registers, and the innermost piece of the stack.
// Enough to find the callers later and elsewhere, with nothing held up meanwhile.
#pragma once
#include <cstddef>
#include <cstdint>
namespace hc {

struct Copy {
    static constexpr size_t kMost = 65'536;  // of the stack; what lies further out is not seen
#if defined(__x86_64__)
    enum : unsigned { kSp = 7, kIp = 16, kRegisters = 17 };  // by DWARF's numbers, which are libunwind's
    static constexpr size_t kBelow = 128;                    // a leaf may keep things below the stack pointer
#elif defined(__aarch64__)
    enum : unsigned { kSp = 31, kIp = 32, kRegisters = 33 };
    static constexpr size_t kBelow = 0;
#else
    enum : unsigned { kSp = 0, kIp = 1, kRegisters = 2 };
    static constexpr size_t kBelow = 0;
#endif
    uintptr_t registers[kRegisters];
    uintptr_t base;                  // where the piece was
    size_t size;                     // of the piece, read up to where the stack ends or kMost
    unsigned char *bytes = nullptr;  // kMost of them

    // `context` is the ucontext_t of a handler. Touches nothing but *this: whatever the thread was in the middle of, be
    // it in malloc or in the loader, is not entered a second time.
    void take(const void *context);
};

}  // namespace hc
