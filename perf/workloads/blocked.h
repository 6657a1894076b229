// What W9 is made of: its own file, and what a declaration costs.
#pragma once

#include "../harness/child.h"
#include "../harness/workload.h"

namespace perf {

void blocking_pair(const Options &o, Sheet &sheet, Child *java);

}  // namespace perf
