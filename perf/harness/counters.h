// What the system counts about this process and this machine.
#pragma once

#include <cstdint>

namespace perf {

uint64_t rss_bytes();       // resident now
uint64_t peak_rss_bytes();  // the most that ever was
uint64_t available_memory_bytes();
unsigned usable_cpus();  // of the affinity mask

// All threads of this process but the caller: CPU time and context switches, voluntary and not, since each began; and
// how many threads those are.
struct OtherThreads {
    uint64_t cpu_ns = 0;
    uint64_t switches = 0;
    unsigned threads = 0;
};
OtherThreads other_threads();

}  // namespace perf
