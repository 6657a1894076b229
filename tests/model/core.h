// The whole core in one translation unit: the real sources, but for threads, clock, futex and memory. With its private parts
// in view, so that a scenario can begin in the middle.
#ifndef HC_MODEL_CORE_H
#define HC_MODEL_CORE_H
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "stand_ins.h"

#define private public
#include "group/group.h"
#include "group/registry.h"
#include "group/submit.h"
#include "group/worker.h"
#undef private
#include "records.h"

#include "group/blocking.cpp"
#include "group/closing.cpp"
#include "group/continuations.cpp"
#include "group/find.cpp"
#include "group/forks.cpp"
#include "group/group.cpp"
#include "group/keys.cpp"
#include "group/line.cpp"
#include "group/overload.cpp"
#include "group/roster.cpp"
#include "group/scope.cpp"
#include "group/tasks.cpp"
#include "group/wait.cpp"
#include "group/tickets.cpp"
#include "group/stuck.cpp"
#include "group/sleep.cpp"
#include "group/submit.cpp"
#include "group/timer_calls.cpp"
#include "group/timer_life.cpp"
#include "group/timer_run.cpp"
#include "group/timers.cpp"
#include "group/worker.cpp"

// What a process has one of, with a lock that lives longer than an iteration: left out. The reaper has a model of its own,
// which says HC_MODEL_REAPER; limits have one without the rest of the core.
namespace hc {

bool stops() { return false; }
Sleeper::Sleeper(Parker *bed, Pollable *also) : bed_(bed), also_(also) {}
Sleeper::~Sleeper() {}
#ifndef HC_MODEL_REAPER
void reaper_fork_child() {}
void Expiry::lower(Group *, uint64_t) {}
void Expiry::end() {}
#endif
void wake_sleepers(const void *) {}
bool sentinel_ring() { return true; }
void limits_stop() {}
void limits_forget(Deadlines &) {}
void limits_fork_child() {}
Limited::Limited(ThreadRecord *self, uint64_t ns, Task *, Timer *, bool) : self_(self), limit_(ns) {}
bool Limited::end() { return false; }
uint64_t Limited::ran() const { return 0; }
Undisturbed::Undisturbed() : self_(nullptr) {}
Undisturbed::~Undisturbed() {}
void sleepers_fork_child() {}
void Stuck::list(Group *g) {
    group_ = g;
    listed_.store(true, memory_order_relaxed);
}
bool Stuck::list_owed(Group *g) {
    group_ = g;
    retry_at_ = 0;
    return true;
}
void Stuck::end() {}
void sentinel_fork_child() {}

}  // namespace hc

// A thread ends when the scenario says so: thread_ends(). None forks.
#include <pthread.h>
namespace hc::model {

inline int key_create(pthread_key_t *, void (*)(void *)) { return 0; }
inline int setspecific(pthread_key_t, const void *) { return 0; }
inline int atfork(void (*)(), void (*)(), void (*)()) { return 0; }

}  // namespace hc::model
#define pthread_key_create model::key_create
#define pthread_setspecific model::setspecific
#define pthread_atfork model::atfork
#include "group/registry.cpp"
#undef pthread_key_create
#undef pthread_setspecific
#undef pthread_atfork

namespace hc::model {

// A submitter's thread ends.
inline void thread_ends() {
    if (this_thread != nullptr) registry::hand_back(this_thread);
}

// A model of a whole group. The registry lives for one iteration.
template <int Threads, int Started = 0>
struct CoreModel : Model<Threads, Started> {
    CoreModel() {
        Records::forget();
        new (&registry::lock) Mutex;
    }
    ~CoreModel() {
        registry::lock.~Mutex();
        CHECK(Records::none());
    }
};

}  // namespace hc::model
#endif
