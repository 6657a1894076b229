// Monotonic nanoseconds. Times saturate: kNever is later than everything.
#pragma once
#include <cstdint>
#include <ctime>
namespace hc {

inline uint64_t read_clock(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}
inline uint64_t now() { return read_clock(CLOCK_MONOTONIC); }
inline uint64_t coarse_now() { return read_clock(CLOCK_MONOTONIC_COARSE); }  // some milliseconds behind, and much cheaper

inline uint64_t after(uint64_t delay) {
    const uint64_t t = now();
    return delay > UINT64_MAX - t ? UINT64_MAX : t + delay;
}

// The coarse clock costs a fifth, and is never so much behind.
constexpr uint64_t kCoarse = 20'000'000;  // ns: two ticks of a kernel that has 100 a second

inline bool is_past(uint64_t when) { return when != UINT64_MAX && when <= coarse_now() + kCoarse && when <= now(); }

// Not before so many ns have passed. If they are many, it may be a little later.
inline uint64_t lazily_after(uint64_t delay) {
    constexpr uint64_t kMany = 1'000'000'000;
    if (delay < kMany) return after(delay);
    const uint64_t t = coarse_now() + kCoarse;
    return delay > UINT64_MAX - t ? UINT64_MAX : t + delay;
}

}  // namespace hc
