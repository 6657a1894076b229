// The model's time, in place of src/sync/clock.h: each look at the clock takes one tick.
#pragma once
#include "seam.h"
namespace hc {

inline uint64_t now() { return ++model::machine.ticks; }
inline uint64_t coarse_now() { return model::machine.ticks; }
inline uint64_t after(uint64_t delay) { return now() + delay; }
inline bool is_past(uint64_t when) { return when != UINT64_MAX && when <= now(); }
inline uint64_t lazily_after(uint64_t delay) { return after(delay); }

}  // namespace hc
