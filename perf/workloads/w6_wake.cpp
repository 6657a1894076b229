// W6, wake latency (see wake.h for the three things measured): submit to start of one task in an idle group; ping-pong;
// a burst of as many tasks as there are workers. With 2, 8 and 64 workers. All systems in turn, in rounds of some
// samples, and percentiles over the samples of all rounds. With 2 workers the first two also "apart": the submitter on
// one core, all workers on the others (see apart.h), which is the case that compares best.
//
//     floor  BareThreads: write a word, FUTEX_WAKE; the other thread is in FUTEX_WAIT. One thread for single tasks; for
//            a burst as many as workers, each on a word of its own, woken one by one.
//     uv     only with 2 workers: libuv has one set of threads for a process, and one size
#include <memory>

#include "../harness/apart.h"
#include "../harness/workload.h"
#include "../peers/all.h"
#include "contention.h"
#include "wake.h"

namespace perf {
namespace {

struct Plan {
    unsigned rounds, wakes, pongs, bursts;  // the last three: samples in a round
    uint64_t gap;                           // ns
};

struct Cases {
    std::vector<Entrant> wake, pong, burst;
};

template <class P>
void enter(Cases &cases, std::shared_ptr<P> single, std::shared_ptr<P> many, unsigned workers, Plan plan) {
    auto add = [&](std::vector<Entrant> &list, auto sampler) {
        list.push_back({P::name, [sampler] {
                            Sample out;
                            sampler(out);
                            return out;
                        }});
    };
    add(cases.wake, [=](Sample &out) { wake_samples(*single, plan.wakes, plan.gap, out); });
    add(cases.pong, [=](Sample &out) { ping_pong_samples(*single, plan.pongs, out); });
    add(cases.burst, [=](Sample &out) { burst_samples(*many, workers, plan.bursts, plan.gap, out); });
}

void measure(Sheet &sheet, const std::string &kase, std::vector<Entrant> entrants, unsigned rounds) {
    interleave(entrants, Pace{rounds});
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "p50", "ns", percentile(pooled(e), 0.5));
        sheet.add(kase, e.system, "p99", "ns", percentile(pooled(e), 0.99));
    }
}

void with_workers(const Options &o, Sheet &sheet, unsigned workers) {
    const bool main_case = workers == 2;
    Plan plan{20, 100, 500, 30, 1'000'000};
    if (o.quick) plan = {4, main_case ? 60u : 30u, 300, main_case ? 15u : 5u, 400'000};
    Cases cases;
    enter(cases, std::make_shared<BareThreads>(1), std::make_shared<BareThreads>(workers), workers, plan);
    std::shared_ptr<Hc> ours = std::make_shared<Hc>(workers);
    enter(cases, ours, ours, workers, plan);
    auto enter_type = [&](auto type) {
        using P = typename decltype(type)::type;
        if (!main_case && (o.quick || !P::any_thread)) return;
        auto pool = std::make_shared<P>(workers);
        enter(cases, pool, pool, workers, plan);
    };
    enter_type(std::type_identity<HcShared>{});
    each_peer(enter_type);

    const std::string suffix = ", " + std::to_string(workers) + " workers";
    measure(sheet, "submit to start" + suffix, cases.wake, plan.rounds);
    measure(sheet, "ping-pong" + suffix, cases.pong, plan.rounds);
    measure(sheet, "burst of " + std::to_string(workers), cases.burst, plan.rounds);
    if (Apart apart; main_case && apart.possible()) {
        measure(sheet, "submit to start" + suffix + ", apart", cases.wake, plan.rounds);
        measure(sheet, "ping-pong" + suffix + ", apart", cases.pong, plan.rounds);
    }
    add_contention(sheet, std::to_string(workers) + " workers", "hc", ours->stats());
}

void run(const Options &o, Sheet &sheet) {
    sheet.main_metric = "p50";
    for (unsigned workers : {2u, 8u, 64u}) with_workers(o, sheet, workers);
    sheet.add_ratios("p50", "floor");
    sheet.add_ratios("p99", "floor");
    auto goal = [&](const std::string &kase, const char *percentile, double limit) {
        double ratio = sheet.ratio(kase, percentile, "hc", "floor");
        sheet.at_most(std::string("hc ") + percentile + " in floor, " + kase, ratio, limit);
    };
    for (const char *kase : {"2 workers", "2 workers, apart", "8 workers", "64 workers"}) {
        goal(std::string("submit to start, ") + kase, "p50", 1.2);
        goal(std::string("submit to start, ") + kase, "p99", 1.5);
    }
    for (const char *burst : {"burst of 2", "burst of 8", "burst of 64"}) goal(burst, "p50", 1.2);
}

const Workload w6("W6", "wake: an idle group gets work", run);

}  // namespace
}  // namespace perf
