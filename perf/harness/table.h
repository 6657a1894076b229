// A sheet as text for people.
#pragma once

#include "sheet.h"

namespace perf {

void print_table(const Sheet &sheet);

}  // namespace perf
