// The end of a run that cannot go on: a sentence on stderr and exit code 1. A pool that loses a task ends here, after
// `patience`, and not in a harness that hangs.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace perf {

inline constexpr uint64_t patience = 120'000'000'000u;  // ns; the slowest peer needs 20 s for one round

[[noreturn]] inline void fail(const std::string &what) {
    std::fflush(stdout);
    std::fprintf(stderr, "hcperf: %s\n", what.c_str());
    _exit(1);  // threads may be stuck: no destructor may wait for them
}

}  // namespace perf
