// What a workload needs of a thread pool, ours and others alike. An adapter is as short as that:
//
//     name         the system, as it is called in tables
//     any_thread   whether any thread may call submit(), or only the one that made the pool, its owner
//     P(workers, fn)   starts; fn is the only function that will be submitted, or nullptr where there are several
//     submit(fn, arg)
//     ~P()         after everything has run
//     settle()     optional: called by the owner between samples, for pools that hand completions to it
#pragma once

#include <concepts>

namespace perf {

using TaskFn = void (*)(void *);

template <class P>
concept Pool = std::constructible_from<P, unsigned, TaskFn> && requires(P pool, TaskFn fn, void *arg) {
    { P::name } -> std::convertible_to<const char *>;
    { P::any_thread } -> std::convertible_to<bool>;
    pool.submit(fn, arg);
};

template <Pool P>
void settle(P &pool) {
    if constexpr (requires { pool.settle(); }) pool.settle();
}

}  // namespace perf
