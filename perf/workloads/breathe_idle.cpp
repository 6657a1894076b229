// W10, what a group without work costs: 1 000 groups of at most 8 workers, that have never been given a task, each time
// in a fresh process; medians of 3 (--quick: one).
//
//     min none  min_workers = HC_NONE32          min 1     the default
//
//     create    us for each hc_group_create()
//     rss       growth of the resident set for each, once all workers sleep. The kernel's part of a thread is not in it
//     threads   of the process, for each
//     destroy   us for each hc_group_destroy()
#include "../harness/counters.h"
#include "../harness/serve.h"
#include "../peers/hc.h"
#include "breathe.h"

namespace perf {
namespace {

constexpr unsigned groups = 1'000, workers = 8;

// us for each.
double each(uint64_t begin) { return static_cast<double>(now_ns() - begin) * 1e-3 / groups; }

bool all_asleep(const std::vector<hc_group *> &list) {
    for (hc_group *g : list) {
        hc_group_stats_data data{};
        hc_group_stats(g, &data, sizeof data);
        if (data.workers_parked != data.workers) return false;
    }
    return true;
}

void check(int error, const char *what) {
    if (error < 0) fail(std::string(what) + ": " + hc_strerror(error));
}

// "groups MIN_WORKERS": create, rss, threads, destroy.
Sample serve_groups(const Words &words) {
    hc_group_options o = HC_GROUP_OPTIONS_INIT;
    o.min_workers = static_cast<uint32_t>(std::stoul(words.at(0)));
    o.max_workers = workers;
    hc_group *first = nullptr;  // what only the first group of a process pays for
    check(hc_group_create(&first, &o), "hc_group_create");
    hc_group_destroy(first);

    std::vector<hc_group *> list(groups);
    const auto before = static_cast<double>(rss_bytes());
    uint64_t begin = now_ns();
    for (hc_group *&g : list) check(hc_group_create(&g, &o), "hc_group_create");
    const double create = each(begin);
    while (!all_asleep(list)) {
        if (now_ns() - begin > patience) fail("groups without work do not come to rest");
        sleep_ns(1'000'000);
    }
    sleep_ns(20'000'000);  // and their last instructions
    const double rss = (static_cast<double>(rss_bytes()) - before) / groups;
    const double threads = static_cast<double>(other_threads().threads) / groups;
    begin = now_ns();
    for (hc_group *g : list) hc_group_destroy(g);
    return {create, rss, threads, each(begin)};
}
const Service groups_service("groups", serve_groups);

}  // namespace

void breathe_idle(const Options &o, Sheet &sheet) {
    const std::string kase = "a group without work";
    for (const auto &[system, least] : {std::pair("hc-min-none", HC_NONE32), std::pair("hc-min-1", 0u)}) {
        const std::string request = "groups " + std::to_string(least);
        std::vector<Entrant> fresh{{system, [&] { return Child(this_program_serving()).ask(request); }}};
        interleave(fresh, Pace{o.quick ? 1u : 3u});
        sheet.add(kase, system, "create", "us", median(fresh[0].column(0)));
        sheet.add(kase, system, "rss", "B", median(fresh[0].column(1)));
        sheet.add(kase, system, "threads", "1", median(fresh[0].column(2)));
        sheet.add(kase, system, "destroy", "us", median(fresh[0].column(3)));
    }
    sheet.at_most("threads of a group without work, min none", sheet.value(kase, "hc-min-none", "threads"), 0);
}

}  // namespace perf
