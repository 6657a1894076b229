#include "observe/stats.h"

#include <algorithm>

#include "capi/border.h"

using namespace hc;
using namespace hc::capi;

extern "C" {

int hc_group_stats(const hc_group *g, hc_group_stats_data *out, uint32_t size) {
    constexpr uint32_t kFirstRelease = 120;
    if (g == nullptr || out == nullptr || size < kFirstRelease) return HC_EINVAL;
    if (of(g)->foreign()) return HC_EFORKED;
    const Stats s = stats(*const_cast<Group *>(of(g)));
    hc_group_stats_data d{};
    d.size = std::min<uint32_t>(size, sizeof d);
    d.workers = s.workers;
    d.workers_parked = s.parked;
    d.workers_searching = s.searching;
    d.submitted = s.submitted;
    d.started = s.started;
    d.finished = s.finished;
    d.unrun = s.unrun;
    d.queued = s.queued;
    d.lanes = s.lanes;
    d.claims = s.claims;
    d.claims_lost = s.claims_lost;
    d.steals = s.steals;
    d.steals_lost = s.steals_lost;
    d.parks = s.parks;
    d.wakes = s.wakes;
    d.barriers = s.barriers;
    d.timers_pending = s.timers_pending;
    d.timers_fired = s.timers_fired;
    d.workers_blocked = s.blocked;
    d.workers_max = s.most;
    d.cpus = s.cpus.count;
    d.cpus_from = static_cast<uint32_t>(s.cpus.from);
    d.expired = s.expired;
    d.overran = s.overran;
    memcpy(out, &d, d.size);
    return HC_OK;
}

}  // extern "C"
