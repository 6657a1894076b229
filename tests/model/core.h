// The whole core, real sources but for threads, clock, futex and memory, as core.cpp and meson.build put it together. With its
// private parts in view, so that a scenario can begin in the middle.
#ifndef HC_MODEL_CORE_H
#define HC_MODEL_CORE_H
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "model.h"
//
#define private public
#include "group/blocking.h"
#include "group/callback.h"
#include "group/forks.h"
#include "group/group.h"
#include "group/keys.h"
#include "group/line.h"
#include "group/overload.h"
#include "group/registry.h"
#include "group/scope.h"
#include "group/submit.h"
#include "group/tasks.h"
#include "group/timer_life.h"
#include "group/timers.h"
#include "group/worker.h"
#undef private
#include "sync/clock.h"
#include "records.h"

namespace hc::model {

// A submitter's thread ends.
inline void thread_ends() {
    if (this_thread != nullptr) registry::retire();
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
