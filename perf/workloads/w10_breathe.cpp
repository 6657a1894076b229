// W10, elasticity: groups whose workers come when they are needed and leave when they are not. Its parts are in
// breathe_threads.cpp, breathe_idle.cpp and breathe_fixed.cpp.
#include "breathe.h"

namespace perf {
namespace {

void run(const Options &o, Sheet &sheet) {
    breathe_threads(o, sheet);
    breathe_idle(o, sheet);
    breathe_fixed(o, sheet);
}

const Workload w10("W10", "breathe: workers come when they are needed, and leave", run);

}  // namespace
}  // namespace perf
