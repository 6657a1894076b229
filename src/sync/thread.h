// Operating-system threads: started with all asynchronous signals blocked before they run, named so that the index
// survives.
#pragma once
#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
namespace hc {

using Thread = pthread_t;

// Starts body(self) with `stack` bytes (0: the system's default). False: the system refused.
bool thread_start(Thread *out, void *(*body)(void *), void *self, size_t stack);
inline void thread_join(Thread t) { pthread_join(t, nullptr); }
inline void thread_detach(Thread t) { pthread_detach(t); }

// Once a process: at_end(p) when a thread ends that keeps p, in_child() in each child of a fork. False: the system refused.
bool thread_hooks(void (*at_end)(void *), void (*in_child)());
bool thread_keep(void *p);  // by the calling thread, from now on; nullptr: nothing

// Names the calling thread "<name>-<index>" in the 15 bytes that the kernel allows: the middle is left out, not the
// index.
void thread_name(const char *name, uint32_t index);
void thread_name(const char *name);  // at most 15 bytes

// Timeouts of the calling thread are not stretched: the kernel's slack, 50 us, is five times what waking up takes.
void thread_exact_timeouts();

sigset_t thread_signals();  // the mask of the caller
void thread_set_signals(const sigset_t &mask);

bool thread_sleeps(int32_t id);     // is that thread of this process neither running nor ready to run? False: it is, or nobody knows
bool thread_may_run_on(uint32_t cpu);  // the caller
// Binds the caller to these CPUs, or to the one that is `index` modulo their number. In vain where the system refuses.
void thread_run_on(const uint32_t *cpus, uint32_t n, uint32_t index);

uintptr_t thread_stack_half();  // the address in the middle of the caller's stack; UINTPTR_MAX: unknown

void thread_yield();

inline void cpu_relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

}  // namespace hc
