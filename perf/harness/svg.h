// One chart for each sheet, DIR/<workload>.svg: bars on a logarithmic scale, or lines where a sheet has a line a case.
#pragma once

#include "sheet.h"

namespace perf {

void write_charts(const std::string &folder, const std::vector<Sheet> &sheets);

}  // namespace perf
