// What waits in a wheel, and the record of a timer that somebody may still want to change.
//
// Time in a wheel is counted in ticks. A deadline is rounded up to a tick, the clock down: nothing is early.
#pragma once
#include <cstdint>

#include "sync/atomic.h"
namespace hc {

constexpr uint64_t kNoTick = UINT64_MAX;
#ifdef HC_SYNC_MODEL
constexpr unsigned kTickBits = 0;
#else
constexpr unsigned kTickBits = 10;  // 1 024 ns
#endif

inline uint64_t tick_of(uint64_t deadline) {
    const uint64_t down = deadline >> kTickBits;
    return down + (down << kTickBits != deadline);
}
inline uint64_t tick_at(uint64_t now) { return now >> kTickBits; }
// The first moment that belongs to the tick.
inline uint64_t time_of(uint64_t tick) { return tick > UINT64_MAX >> kTickBits ? UINT64_MAX : tick << kTickBits; }

struct Shard;
struct Chunk;

// A timer with a handle, or with more than one firing. All fields but `handles` are guarded by the lock of its shard; those of the
// wheel:
//   chunk, index   where its entry is; kept up to date by the wheel. chunk == nullptr: it is not in the wheel
//   tick           when it is due; not before its entry's tick, for to put a timer off only this is written
struct Timer {
    enum State : uint8_t { kIdle, kPending, kDue, kRunning };
    enum Flag : uint8_t {
        kEntry = 1,     // an entry names it
        kRearmed = 2,   // while it ran: `tick` is the next time, kNoTick for none
        kEnded = 4,     // the series; a body may still run, and the drop comes after it
        kDropping = 8,  // its drop is being called
        kSeries = 16,   // the record is a Series
        kHeld = 32,     // there is a handle
    };

    Chunk *chunk = nullptr;
    Plain<uint64_t> tick{kNoTick};
    uint8_t index = 0;
    Plain<uint8_t> state{kIdle};  // these two: see timer.h
    Plain<uint8_t> flags{0};
    uint8_t place = 0;  // in its slab
    Atomic<uint32_t> handles{0};
    Shard *shard = nullptr;
    void (*fn)(void *) = nullptr;
    void *arg = nullptr;
    void (*drop)(void *, int32_t) = nullptr;

    bool has(unsigned any) const { return (flags & any) != 0; }
    void set(unsigned flag) { flags = static_cast<uint8_t>(flags | flag); }
    void clear(unsigned some) { flags = static_cast<uint8_t>(flags & ~some); }
};

// An entry of a wheel. fn == nullptr: arg is a Timer.
struct Pending {
    uint64_t tick;
    void (*fn)(void *);
    void *arg;

    Timer *timer() const { return fn == nullptr ? static_cast<Timer *>(arg) : nullptr; }
    uint64_t due() const {
        if (fn == nullptr) return timer()->tick;
        return tick;
    }
};

}  // namespace hc
