// W2, timers: a storm of them, a few on an idle group, their memory, and changing them. Each part says in its own file
// how it measures.
#include "../harness/workload.h"
#include "schedule.h"

namespace perf {
namespace {

void run(const Options &o, Sheet &sheet) {
    sheet.main_metric = "enqueue";
    const ForeignTimers foreign(o);
    schedule_storm(o, sheet, foreign);
    schedule_paced(o, sheet, foreign);
    schedule_memory(o, sheet);
    schedule_rearm(o, sheet, foreign);
    sheet.add_ratios("enqueue", "floor");
    sheet.add_ratios("p99", "floor");
}

const Workload w2("W2", "schedule: timers", run);

}  // namespace
}  // namespace perf
