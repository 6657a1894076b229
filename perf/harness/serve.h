// The other side of child.h: hcperf --serve answers requests with the services that the workloads registered. A request
// is the name of a service and its arguments, apart by blanks.
#pragma once

#include "child.h"

namespace perf {

struct Service {
    Service(const char *service_name, Sample (*service_answer)(const Words &arguments));

    const char *name;
    Sample (*answer)(const Words &arguments);
};

// Until the end of stdin.
void serve();

}  // namespace perf
