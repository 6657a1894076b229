// One look at a group and all its workers, taken while they go on: no worker waits for it, so each number is of its own moment.
#pragma once
#include <cstdint>

#include "observe/stack.h"
#include "observe/stats.h"
namespace hc {

class Group;

enum class Doing : uint32_t { kRunning, kBlocked, kSearching, kParked, kResting, kGone };

struct WorkerLook {
    static constexpr uint32_t kFrames = 48;
    uint32_t index;
    int32_t thread;
    Doing doing;
    bool asleep;          // in the kernel
    bool forks;           // what it runs is a fork that it has stolen
    uintptr_t fn;         // 0: not known
    const char *label;    // nullptr: none
    uint64_t ns;          // since its batch began, about
    StackOf stack;
    uintptr_t frames[kFrames];
};

struct Look {
    Stats stats;
    bool closed, paused, has_stacks;
    uint64_t high = 0, low = 0;                     // of those that are queued
    uint32_t running = 0, blocked = 0, asleep = 0;  // workers in a task; of those: that say, or were found, to block; that sleep
    uint64_t grown = 0;                             // by how much the queue grew meanwhile
    uint32_t n = 0;
    WorkerLook *workers = nullptr;

    Look() = default;
    ~Look();
    Look(const Look &) = delete;
    Look &operator=(const Look &) = delete;
    bool take(Group &g);  // false: no memory
    const char *diagnosis() const;

  private:
    uint32_t room_ = 0;
};

}  // namespace hc
