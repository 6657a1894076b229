#include "observe/copy.h"

#include <ucontext.h>

#include "memory/peek.h"

namespace hc {

void Copy::take(const void *context) {
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    static constexpr int kFrom[kRegisters] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                              REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                              REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < kRegisters; i++) registers[i] = static_cast<uintptr_t>(machine.gregs[kFrom[i]]);
#elif defined(__aarch64__)
    for (unsigned i = 0; i < kSp; i++) registers[i] = static_cast<uintptr_t>(machine.regs[i]);
    registers[kSp] = static_cast<uintptr_t>(machine.sp);
    registers[kIp] = static_cast<uintptr_t>(machine.pc);
#endif
    base = (registers[kSp] - kBelow) & ~(sizeof(uintptr_t) - 1);
    // The kernel reads, not we: it knows where the stack ends, also of one that no thread library has heard of, and it
    // does not care for what a sanitizer thinks of bytes between variables.
    size = memory::peek(bytes, base, kMost);
}

}  // namespace hc
