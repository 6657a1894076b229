// Threads of the model, in place of src/sync/thread.h: a started thread is one of relacy's dynamic ones.
#pragma once
#include <signal.h>

#include "seam.h"
namespace hc {

using Thread = rl::win_waitable_object *;

inline bool thread_start(Thread *out, void *(*body)(void *), void *self, size_t) {
    if (model::machine.threads_left-- <= 0) return false;
    *out = rl::ctx().create_thread(body, self);
    return true;
}
inline void thread_join(Thread t) {  // nullptr: a worker whose thread is the scenario's own
    if (t != nullptr) t->wait(false, false, rl::debug_info("thread_join"));
}
inline void thread_detach(Thread) {}
// A thread ends when the scenario says so: thread_ends(). None forks.
inline bool thread_hooks(void (*)(void *), void (*)()) { return true; }
inline bool thread_keep(const void *) { return true; }
inline void thread_name(const char *, uint32_t = 0) {}
inline int32_t thread_id() { return 1; }
inline bool thread_sleeps(int32_t) { return true; }
inline void thread_run_on(const uint32_t *, uint32_t, uint32_t) {}
inline uintptr_t thread_stack_half() { return 1; }
inline void thread_exact_timeouts() {}
inline sigset_t thread_signals() { return {}; }
inline void thread_yield(HC_PLACE) { rl::yield(1, at); }
inline void cpu_relax(HC_PLACE) { rl::yield(1, at); }

}  // namespace hc
