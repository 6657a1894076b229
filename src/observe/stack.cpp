#include "observe/stack.h"

#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <new>

#include "memory/hooks.h"
#include "observe/copy.h"
#include "observe/desk.h"
#include "observe/objects.h"
#include "observe/unwind.h"
#include "sync/clock.h"
#include "sync/errno.h"
#include "sync/mutex.h"

namespace hc {
namespace {

struct Seat {
    Slot slot;  // guards `copy`; see desk.h
    Copy copy;
    StackOf *of = nullptr;  // the asker's: for whom it is asked
};
constexpr size_t kSeats = 64;  // threads that are asked at once
Seat seats[kSeats];            // never freed, for a handler may come at any time
Bell bell;
Mutex one_asker;                         // guards seats[].of, seats[].copy.bytes, and everything in unwind.cpp
unsigned char first_bytes[Copy::kMost];  // so that there is one seat even when there is no memory
Atomic<bool> asking{false}, broken{false};

// Runs on a thread that may be in the middle of anything: it makes system calls, and writes into seats.
void answer(int, siginfo_t *, void *context) {
    KeepErrno keep;
    const int32_t self = thread_id();
    bool any = false;
    for (Seat &s : seats)
        if (s.slot.take(self)) {
            s.copy.take(context);
            s.slot.give(self);
            any = true;
        }
    if (any) bell.ring();
}

// The seats are as they were left in the parent, some by handlers of threads that are not there. And if somebody else
// was in the middle of asking, libunwind may be too.
void fork_child() {
    if (asking.load(memory_order_relaxed)) broken.store(true, memory_order_relaxed);
    asking.store(false, memory_order_relaxed);
    for (Seat &s : seats) {
        s.slot.forget();
        s.of = nullptr;
    }
    each_object_fork_child();
    new (&one_asker) Mutex;
}

// One answer by hand. It shows that the kernel lets us read our memory; and the linker now knows every function that
// the handler calls, which it would otherwise look for inside of the handler, with a lock that the thread may hold.
bool rehearse() {
    seats[0].copy.bytes = first_bytes;
    ucontext_t here{};
#if defined(__x86_64__)
    here.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(__builtin_frame_address(0));
#elif defined(__aarch64__)
    here.uc_mcontext.sp = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
#endif
    seats[0].slot.ask(thread_id());
    answer(0, nullptr, &here);
    if (seats[0].slot.withdraw()) return false;
    const bool ok = seats[0].copy.size > 0;
    seats[0].slot.collect();
    return ok;
}

void furnish(size_t n) {
    for (size_t i = 1; i < n; i++)
        if (seats[i].copy.bytes == nullptr && seats[i].slot.free())
            seats[i].copy.bytes = static_cast<unsigned char *>(memory::allocate(Copy::kMost, alignof(max_align_t)));
}

// But for those in which a handler is still writing: later.
void clear_out() {
    for (size_t i = 1; i < kSeats; i++)
        if (seats[i].copy.bytes != nullptr && seats[i].slot.free()) {
            memory::release(seats[i].copy.bytes, Copy::kMost, alignof(max_align_t));
            seats[i].copy.bytes = nullptr;
        }
}

void collect(Seat &s) {
    StackOf &of = *s.of;
    of.n = unwind::callers(s.copy, of.frames, of.most, &of.cut);
    of.result = Stack::kTaken;
    s.of = nullptr;
    s.slot.collect();
}

// False: there is no such thread.
bool ask(Seat &s, StackOf &of, int signo) {
    s.of = &of;
    s.slot.ask(of.thread);
    if (thread_signal(of.thread, signo)) return true;
    if (s.slot.withdraw())
        s.of = nullptr;
    else
        collect(s);  // an older signal reached it
    return false;
}

void ask_all(StackOf *of, size_t count, int signo, uint64_t deadline) {
    size_t next = 0, open = 0;
    for (bool in_time = true; in_time;) {
        const uint32_t heard = bell.listen();
        bool moved = false;
        for (Seat &s : seats) {
            if (s.of != nullptr && s.slot.taken()) {
                collect(s);
                open--;
                moved = true;
            }
            if (s.of == nullptr && next < count && s.copy.bytes != nullptr && s.slot.free()) {
                open += ask(s, of[next++], signo) ? 1u : 0u;
                moved = true;
            }
        }
        if (open == 0 && next == count) return;
        if (!moved) in_time = now() < deadline && bell.wait(heard, deadline);
    }
    for (Seat &s : seats) {
        if (s.of == nullptr) continue;
        if (s.slot.withdraw())
            s.of = nullptr;
        else
            collect(s);  // at the last moment
    }
}

}  // namespace

void take_stacks(StackOf *of, size_t count, uint64_t deadline) {
    Locked l(one_asker);
    asking.store(true, memory_order_relaxed);
    const int signo = dump_signal();
    const bool able = signo != 0 && dump_signal_is_ours() && !broken.load(memory_order_relaxed) && unwind::begin();
    for (size_t i = 0; i < count; i++) {
        of[i].n = 0;
        of[i].cut = false;
        of[i].result = able ? Stack::kNoAnswer : Stack::kUnsupported;
    }
    if (able) {
        furnish(std::min(count, kSeats));
        ask_all(of, count, signo, deadline);
        clear_out();
    }
    asking.store(false, memory_order_relaxed);
}

SignalHandler stack_handler() {
    static Atomic<int> ready{0};            // 1: yes; -1: never
    if (!unwind::usable()) return nullptr;  // before our lock: it calls the loader
    if (ready.load(memory_order_acquire) == 0) {
        Locked l(one_asker);
        if (ready.load(memory_order_relaxed) == 0)
            ready.store(rehearse() && pthread_atfork(nullptr, nullptr, fork_child) == 0 ? 1 : -1, memory_order_release);
    }
    return ready.load(memory_order_relaxed) > 0 ? answer : nullptr;
}

}  // namespace hc
