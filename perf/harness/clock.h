// Time and CPU time in nanoseconds, and a sleep that does not end early.
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace perf {

inline uint64_t clock_ns(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

inline uint64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline uint64_t process_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

inline double ms(uint64_t from, uint64_t to) { return static_cast<double>(to - from) * 1e-6; }

inline timespec to_timespec(uint64_t ns) {
    return {static_cast<time_t>(ns / 1'000'000'000u), static_cast<long>(ns % 1'000'000'000u)};
}

// One relative sleep, as a task would do it.
inline void sleep_ns(uint64_t ns) {
    timespec left = to_timespec(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

}  // namespace perf
