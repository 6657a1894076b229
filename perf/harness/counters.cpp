// Readers of /proc. A line that is not there reads as 0.
#include "counters.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "clock.h"

namespace perf {
namespace {

// The number behind `key` in a file of "key: number" lines.
uint64_t field(const std::string &path, const std::string &key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10);
    return 0;
}

// The clock of the CPU time of another thread of this process, as the kernel encodes it.
clockid_t cpu_clock_of(int thread) { return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6u); }

}  // namespace

uint64_t rss_bytes() { return field("/proc/self/status", "VmRSS:") * 1024; }
uint64_t peak_rss_bytes() { return field("/proc/self/status", "VmHWM:") * 1024; }
uint64_t available_memory_bytes() { return field("/proc/meminfo", "MemAvailable:") * 1024; }

unsigned usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<unsigned>(CPU_COUNT(&set));
}

OtherThreads other_threads() {
    OtherThreads sum;
    const std::string self = std::to_string(gettid());
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (task.path().filename() == self) continue;
        sum.cpu_ns += clock_ns(cpu_clock_of(std::atoi(task.path().filename().c_str())));
        const std::string status = task.path().string() + "/status";
        sum.switches += field(status, "voluntary_ctxt_switches:") + field(status, "nonvoluntary_ctxt_switches:");
        ++sum.threads;
    }
    return sum;
}

}  // namespace perf
