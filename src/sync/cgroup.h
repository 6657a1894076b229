// The CPU bandwidth that control groups grant the calling thread: a quota of CPU time in each period, which may be set
// on its cgroup and on any that contains it.
#pragma once
#include <cstdint>
namespace hc {

constexpr uint32_t kNoQuota = UINT32_MAX;

// The smallest quota of the cgroup and its ancestors, as far as they are mounted, in CPUs and rounded up: who may use
// one and a half needs two threads to do so. Cgroups v1 and v2. What is missing or malformed limits nothing. `root` is
// the descriptor of a directory, or kRealRoot.
uint32_t quota_cpus(int root);

}  // namespace hc
