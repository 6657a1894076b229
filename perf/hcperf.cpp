// hcperf: runs the workloads one after the other, prints the table of each as soon as it is measured, and writes the
// files that were asked for. How a workload measures stands at the top of its file in workloads/.
//
//     harness/    options, rounds, sheets and their writers, what the system counts
//     peers/      one adapter for each thread pool, ours included, and the peers in other languages
//     workloads/  one file for each workload
//
// Exit code: 0 when everything ran, whether goals were met or not; 1 when a pool lost or doubled a task or gave a wrong
// result; 2 for a wrong command line.
#include <algorithm>
#include <cstdio>

#include "harness/fail.h"
#include "harness/json.h"
#include "harness/serve.h"
#include "harness/svg.h"
#include "harness/table.h"
#include "harness/workload.h"

using namespace perf;

namespace {

std::string lower(std::string s) {
    std::transform(s.begin(), s.end(), s.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return s;
}

int usage_error(const std::string &what) {
    std::fprintf(stderr, "hcperf: %s (see --help)\n", what.c_str());
    return 2;
}

}  // namespace

int main(int argc, char **argv) {
    std::string error;
    const Options options = parse_options(argc, argv, error);
    if (!error.empty()) return usage_error(error);
    if (options.help) {
        std::fputs(help_text, stdout);
        for (const Workload *w : all_workloads()) std::printf("\n  %-4s %s", w->id, w->title);
        std::puts("");
        return 0;
    }
    if (options.serve) {
        serve();
        return 0;
    }
    std::vector<const Workload *> chosen;
    std::vector<std::string> unknown = options.only;
    for (const Workload *w : all_workloads())
        if (options.only.empty() || std::erase(unknown, lower(w->id)) > 0) chosen.push_back(w);
    if (!unknown.empty()) return usage_error("no workload " + unknown.front());

    std::vector<Sheet> sheets;
    for (const Workload *w : chosen) {
        sheets.emplace_back(w->id, w->title);
        w->run(options, sheets.back());
        print_table(sheets.back());
    }
    if (!options.json.empty()) write_json(options.json, sheets);
    if (!options.svg.empty()) write_charts(options.svg, sheets);
    return 0;
}
