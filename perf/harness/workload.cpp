#include "workload.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace perf {
namespace {

std::vector<const Workload *> &registered() {
    static std::vector<const Workload *> list;
    return list;
}

auto order(const Workload *w) {
    char *suffix = nullptr;
    long number = std::strtol(w->id + 1, &suffix, 10);
    return std::tuple(number, std::string(suffix));
}

}  // namespace

Workload::Workload(const char *workload_id, const char *workload_title, void (*workload_run)(const Options &, Sheet &))
    : id(workload_id), title(workload_title), run(workload_run) {
    registered().push_back(this);
}

std::vector<const Workload *> all_workloads() {
    auto list = registered();
    std::sort(list.begin(), list.end(), [](auto *a, auto *b) { return order(a) < order(b); });
    return list;
}

}  // namespace perf
