// How many CPUs there are to be used, and what says so. Whoever starts as many threads as the machine has CPUs, where a
// container grants less, is throttled: all of them stand still for the rest of each period of 100 ms.
#pragma once
#include <cstdint>

#include "sync/lines.h"
namespace hc {

// What limits the count. Of several that give the same one: online before affinity before quota, for a mask as wide as
// the machine limits nothing, nor does a quota as wide as the mask.
enum class CpusFrom : uint32_t { kAffinity = 1, kOnline, kQuota, kEnvironment };

struct Cpus {
    uint32_t count;
    CpusFrom from;
};

constexpr uint32_t kMostCpus = 4096;  // that the environment can ask for

struct CpuSources {
    uint32_t affinity;        // CPUs in the mask of the caller; 0: unknown
    const char *environment;  // the value of HOMECOOKING_CPUS; may be null
    int root = kRealRoot;
};

// The environment's count, if it is a number from 1 to kMostCpus; else the fewest of: CPUs online, the affinity mask,
// the quota of the cgroups rounded up. At least 1.
Cpus find_cpus(const CpuSources &);

// Of the caller. Reads files, which takes some tens of microseconds, and the environment, which nobody may change
// meanwhile.
Cpus find_cpus();
inline uint32_t usable_cpus() { return find_cpus().count; }

// CPUs in the affinity mask of the caller, at least 1: this many threads can run at once. A quota does not change that,
// it only ends it earlier.
uint32_t affinity_cpus();

}  // namespace hc
