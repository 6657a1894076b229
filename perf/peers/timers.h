// What W2 needs of something that calls functions later. An adapter is as short as that:
//
//     name                      the system, as it is called in tables
//     one_loop                  whether one thread runs all timers
//     T(workers)                starts; with one loop, `workers` is ignored
//     schedule(fn, arg, delay)  fn(arg) once, not before `delay` ns have passed; any thread may call
//     ~T()                      what is still pending is lost
#pragma once

#include <concepts>
#include <cstdint>

#include "pool.h"

namespace perf {

template <class T>
concept Timers = std::constructible_from<T, unsigned> && requires(T timers, TaskFn fn, void *arg, uint64_t delay) {
    { T::name } -> std::convertible_to<const char *>;
    { T::one_loop } -> std::convertible_to<bool>;
    timers.schedule(fn, arg, delay);
};

}  // namespace perf
