// What the headers under test call and the model provides: futex and memory. Included once, by the model's only source.
#ifndef HC_MODEL_STAND_INS_H
#define HC_MODEL_STAND_INS_H
#include "memory/hooks.h"
#include "model.h"
#include "sync/futex.h"
namespace hc {

Woken futex_wait(const Atomic<uint32_t> &word, uint32_t expected, uint64_t deadline) {
    rl::ctx().sched();
    if (word.newest() != expected) return Woken::kMaybe;
    const bool timed = deadline < model::machine.ticks + model::kFar;
    return model::block(&word, timed, true, rl::debug_info("futex_wait")) ? Woken::kMaybe : Woken::kTimedOut;
}

void futex_wake(const Atomic<uint32_t> &word, int threads) {
    rl::ctx().sched();
    model::wake(&word, threads, rl::debug_info("futex_wake"));
}

// relacy's heap: it finds leaks, and what touches an atomic that is gone.
void *memory::allocate(size_t size, size_t) noexcept {
    return model::machine.no_memory ? nullptr : rl::rl_malloc(size, rl::debug_info("allocate"));
}
void memory::release(void *p, size_t, size_t) noexcept { rl::rl_free(p, rl::debug_info("release")); }
bool memory::set_hooks(Alloc, Free, void *) { return false; }
void memory::freeze_hooks() {}
void memory::fork_child() {}

}  // namespace hc
#endif
