// All rows of all sheets as one JSON array of {"workload","case","system","metric","unit","value"}.
#pragma once

#include "sheet.h"

namespace perf {

void write_json(const std::string &path, const std::vector<Sheet> &sheets);

}  // namespace perf
