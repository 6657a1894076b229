// W1b, the storm (see storm.h) in other ways to submit: in batches of 64 through hc_submit_batch(), and into a group of
// bounded capacity whose submitters run what does not fit (HC_FULL_RUN); and both.
#include "../harness/workload.h"
#include "../peers/bare.h"
#include "../peers/hc.h"
#include "contention.h"
#include "storm.h"

namespace perf {
namespace {

constexpr uint64_t capacity = 65'536;

struct HcBounded : HcGroup {
    explicit HcBounded(unsigned workers) : HcGroup(bounded(workers)) {}
    static hc_group_options bounded(unsigned workers) {
        hc_group_options o = options(workers, HC_KIND_STEALING);
        o.capacity = capacity;
        o.full_policy = HC_FULL_RUN;
        return o;
    }
};

struct InBatches {
    hc_group *group;
    size_t filled = 0;
    hc_call calls[64]{};

    void operator()(TaskFn fn, void *arg) {
        calls[filled++] = {fn, arg};
        if (filled == std::size(calls)) flush();
    }
    void flush() {
        size_t accepted = 0;
        if (int error = hc_submit_batch(group, calls, filled, &accepted); error < 0)
            fail(std::string("hc_submit_batch: ") + hc_strerror(error));
        filled = 0;
    }
};

Entrant batch_entrant(const StormSize &size, std::shared_ptr<HcGroup> pool) {
    return {"hc", [size, pool] { return storm_round(size, [&] { return InBatches{pool->group()}; }); }};
}

void run(const Options &o, Sheet &sheet) {
    const StormSize size{8, o.quick ? 500'000u : 3'000'000u, 8};
    auto batches = std::make_shared<Hc>(size.workers);
    auto bounded = std::make_shared<HcBounded>(size.workers), both = std::make_shared<HcBounded>(size.workers);
    const std::pair<const char *, std::shared_ptr<HcGroup>> cases[] = {
        {"batches of 64", batches}, {"caller runs on full", bounded}, {"batches of 64, caller runs on full", both}};
    std::vector<Entrant> entrants{storm_entrant("direct", size, std::make_shared<Direct>(size.workers)),
                                  batch_entrant(size, batches), storm_entrant<HcGroup>("hc", size, bounded),
                                  batch_entrant(size, both)};
    interleave(entrants, Pace{o.quick ? 6u : 20u});

    auto mean = [&](size_t entrant, size_t metric) { return mean_of_last_half(entrants[entrant].column(metric)); };
    for (size_t i = 0; i < std::size(cases); ++i) {
        const auto &[kase, pool] = cases[i];
        for (auto [system, entrant] : {std::pair("direct", size_t{0}), std::pair("hc", i + 1)}) {
            sheet.add(kase, system, "wall", "ms", mean(entrant, storm_wall));
            sheet.add(kase, system, "enqueue", "ms", mean(entrant, storm_enqueue));
            sheet.add(kase, system, "complete", "ms", mean(entrant, storm_complete));
            sheet.add(kase, system, "cpu", "s", mean(entrant, storm_cpu));
        }
        add_contention(sheet, kase, "hc", pool->stats());
        sheet.at_most(std::string("hc wall, in direct: ") + kase, mean(i + 1, storm_wall) / mean(0, storm_wall), 3);
    }
    sheet.add_ratios("wall", "direct");
    sheet.note("caller runs: capacity " + std::to_string(capacity));
}

const Workload w1b("W1b", "storm in batches of 64, and with caller-runs on full", run);

}  // namespace
}  // namespace perf
