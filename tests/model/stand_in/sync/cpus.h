// In place of src/sync/cpus.h: the models decide how many workers there are, and read no files.
#pragma once
#include "seam.h"
namespace hc {

enum class CpusFrom : uint32_t { kAffinity = 1, kOnline, kQuota, kEnvironment };
struct Cpus {
    uint32_t count;
    CpusFrom from;
};
inline Cpus find_cpus() { return {2, CpusFrom::kOnline}; }
inline uint32_t usable_cpus() { return 2; }
inline uint32_t affinity_cpus() { return 2; }

}  // namespace hc
