// Each thread of a model has its own record of what it does.
#ifndef HC_MODEL_RECORDS_H
#define HC_MODEL_RECORDS_H
#include <algorithm>
#include <iterator>
#include <utility>

#include "group/outbox.h"
#include "model.h"
namespace hc::model {

// The threads of a model are fibers of one thread: each finds its own record in the thread-local variable.
struct Records {
    static inline ThreadRecord *of[Machine::kThreads];
    static void at_switch(rl::thread_id_t from, rl::thread_id_t to) {
        if (from >= 0) of[from] = this_thread;
        this_thread = std::exchange(of[to], nullptr);
    }
    static void hand_to(unsigned thread) {  // the caller's
        if (rl::thread_index() != thread) of[thread] = std::exchange(this_thread, nullptr);
    }
    static void forget() {
        machine.at_switch = at_switch;
        this_thread = nullptr;
        std::fill(std::begin(of), std::end(of), nullptr);
    }
    static bool none() {
        return this_thread == nullptr && std::all_of(std::begin(of), std::end(of), [](auto *r) { return r == nullptr; });
    }
};

}  // namespace hc::model
#endif
