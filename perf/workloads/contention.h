// What the workers of a group met on their way, for each task: rows in "1/task" of what hc_group_stats() counts. On
// machines with more cores than this one these numbers are what decides, so each must stay flat as workers grow.
#pragma once

#include <homecooking/homecooking.h>

#include "../harness/sheet.h"

namespace perf {

inline void add_contention(Sheet &sheet, const std::string &kase, const std::string &system,
                           const hc_group_stats_data &s) {
    if (s.finished == 0) return;
    auto row = [&](const char *metric, uint64_t n) {
        sheet.add(kase, system, metric, "1/task", static_cast<double>(n) / static_cast<double>(s.finished));
    };
    row("claims", s.claims);
    row("claims lost", s.claims_lost);
    row("steals", s.steals);
    row("steals lost", s.steals_lost);
    row("parks", s.parks);
    row("wakes", s.wakes);
    row("barriers", s.barriers);
}

}  // namespace perf
