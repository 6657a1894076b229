#include "sync/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "sync/cgroup.h"
#include "sync/errno.h"
#include "sync/text.h"

namespace hc {
namespace {

// 0: unknown.
uint32_t in_mask() {
    // The kernel refuses a set that is narrower than its own, which has at most 8 192 CPUs: cpu_set_t may be too
    // narrow.
    cpu_set_t sets[32];
    if (sched_getaffinity(0, sizeof sets, sets) != 0) return 0;
    return static_cast<uint32_t>(CPU_COUNT_S(sizeof sets, sets));
}

// "0-3,8,10-11". 0: unknown.
uint32_t online(int root) {
    Lines<2048> file;
    std::string_view list;
    if (!file.open(root, "/sys/devices/system/cpu/online") || !file.next(&list)) return 0;
    uint32_t count = 0;
    do {
        std::string_view range = take(&list, ',');
        uint32_t first, last;
        const bool one = range.find('-') == range.npos;
        if (!parse(take(&range, '-'), &first)) return 0;
        if (one) last = first;
        if (!one && !parse(range, &last)) return 0;
        if (last < first || last > 1u << 20) return 0;
        count += last - first + 1;
    } while (!list.empty());
    return count;
}

}  // namespace

Cpus find_cpus(const CpuSources &sources) {
    KeepErrno keep;
    uint32_t wanted;
    if (sources.environment != nullptr && parse(sources.environment, &wanted) && wanted >= 1 && wanted <= kMostCpus)
        return {wanted, CpusFrom::kEnvironment};
    Cpus found{online(sources.root), CpusFrom::kOnline};
    if (sources.affinity != 0 && (found.count == 0 || sources.affinity < found.count))
        found = {sources.affinity, CpusFrom::kAffinity};
    if (found.count <= 1) return {1, found.from};
    if (const uint32_t quota = quota_cpus(sources.root); quota < found.count) found = {quota, CpusFrom::kQuota};
    return found;
}

Cpus find_cpus() {
    KeepErrno keep;
    return find_cpus({.affinity = in_mask(), .environment = getenv("HOMECOOKING_CPUS")});
}

uint32_t affinity_cpus() {
    KeepErrno keep;
    return std::max(in_mask(), 1u);
}

}  // namespace hc
