// W10, what elasticity costs where it is of no use: W1 (8 workers; --quick 200 000 tasks of each submitter) and W3 (2
// and 8 threads, 100 000 tasks; --quick 50 000) in an elastic group, which is the default, and in a `fixed` one, whose
// min_workers is its max_workers. The two take turns, 21 rounds (--quick 5) after one that does not count, which starts
// the threads; both groups live through all of them.
//
//     wall        the median
//     x fixed     the median of the ratios of two neighbours, so that what changes slowly on this machine is in both
//     threads     of the group, after the last round
#include <memory>

#include "../peers/hc.h"
#include "breathe.h"
#include "matmul.h"
#include "storm.h"

namespace perf {
namespace {

void compare(const Options &o, Sheet &sheet, const std::string &kase, std::vector<Entrant> entrants, const Hc &elastic,
             const HcFixed &fixed) {
    for (Entrant &e : entrants) e.round();
    interleave(entrants, Pace{o.quick ? 5u : 21u});
    const std::vector<double> with_fixed = entrants[0].column(0), with_elastic = entrants[1].column(0);
    std::vector<double> ratios;
    for (size_t i = 0; i < with_fixed.size(); ++i) ratios.push_back(with_elastic[i] / with_fixed[i]);
    auto row = [&](const char *system, const std::vector<double> &walls, double ratio, const HcGroup &group) {
        sheet.add(kase, system, "wall", "ms", median(walls));
        sheet.add(kase, system, "wall/fixed", "x", ratio);
        sheet.add(kase, system, "threads", "1", group.stats().workers);
    };
    row(HcFixed::name, with_fixed, 1, fixed);
    row(Hc::name, with_elastic, median(ratios), elastic);
    sheet.at_most("hc wall in fixed, " + kase, median(ratios), 1.03);
}

void storm(const Options &o, Sheet &sheet) {
    const StormSize size{8, o.quick ? 200'000u : 3'000'000u, 8};
    auto fixed = std::make_shared<HcFixed>(size.workers);
    auto elastic = std::make_shared<Hc>(size.workers);
    compare(o, sheet, "W1, 8 workers", {storm_entrant("fixed", size, fixed), storm_entrant("hc", size, elastic)},
            *elastic, *fixed);
}

void matmul(const Options &o, Sheet &sheet, Matmul &work, unsigned threads) {
    const unsigned tasks = o.quick ? 50'000 : 100'000;
    HcFixed fixed(threads);
    Hc elastic(threads);
    auto entrant = [&](const char *system, HcGroup &group) {
        return Entrant{system, [&work, &group, tasks] {
                           return Sample{work.run(tasks, [&](TaskFn fn, void *arg) { group.submit(fn, arg); })};
                       }};
    };
    compare(o, sheet, "W3, " + std::to_string(threads) + " threads", {entrant("fixed", fixed), entrant("hc", elastic)},
            elastic, fixed);
}

}  // namespace

void breathe_fixed(const Options &o, Sheet &sheet) {
    storm(o, sheet);
    Matmul work;
    for (unsigned threads : {2u, 8u}) matmul(o, sheet, work, threads);
}

}  // namespace perf
