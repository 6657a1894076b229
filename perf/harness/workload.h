// The list of workloads. Each stands in one file of workloads/, defines one `Workload` at namespace scope and so enters
// the list by itself; a new one needs only its file and its line in meson.build.
#pragma once

#include <string>
#include <vector>

#include "options.h"
#include "sheet.h"

namespace perf {

struct Workload {
    Workload(const char *workload_id, const char *workload_title, void (*workload_run)(const Options &, Sheet &));

    const char *id;     // "W1"
    const char *title;  // stands above its table
    void (*run)(const Options &, Sheet &);
};

// In the order of their numbers: W1, W1b, W2, ... W10.
std::vector<const Workload *> all_workloads();

}  // namespace perf
