// While it lives, the caller runs on one core and all other threads of the process on the others. Where the scheduler
// puts a thread that was woken, on the core of its waker, which is about to be free, or on an idle one, which must be
// interrupted, makes a factor of four; a comparison of wake-ups must not depend on that.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace perf {

class Apart {
  public:
    // False on a machine with one core, where nothing is changed.
    bool possible() const { return CPU_COUNT(&all_) > 1; }

    Apart() {
        CPU_ZERO(&all_);
        sched_getaffinity(0, sizeof all_, &all_);
        if (!possible()) return;
        cpu_set_t one = all_, others = all_;
        int first = 0;
        while (!CPU_ISSET(first, &all_)) ++first;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        CPU_CLR(first, &others);
        set(one, others);
    }
    ~Apart() {
        if (possible()) set(all_, all_);
    }
    Apart(const Apart &) = delete;
    Apart &operator=(const Apart &) = delete;

  private:
    static void set(const cpu_set_t &caller, const cpu_set_t &others) {
        for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
            int thread = std::atoi(task.path().filename().c_str());
            sched_setaffinity(thread, sizeof(cpu_set_t), thread == gettid() ? &caller : &others);
        }
    }

    cpu_set_t all_;
};

}  // namespace perf
