// What W10 is made of. Each part stands in a file of its own and describes there how it measures.
#pragma once

#include "../harness/workload.h"

namespace perf {

void breathe_threads(const Options &o, Sheet &sheet);  // how a group grows and shrinks, and what its first task waits
void breathe_idle(const Options &o, Sheet &sheet);     // what a group without work costs
void breathe_fixed(const Options &o, Sheet &sheet);    // an elastic group beside one of a fixed number

}  // namespace perf
