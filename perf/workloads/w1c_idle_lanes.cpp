// W1c, W1 and W6 again beside 10 000 idle lanes: 10 000 live threads that each submitted one task to the group and then
// sleep. Two groups take turns in one process, so that the sleeping threads are there for both: `hc` has the lanes of
// those threads, `floor` has none. W6 is measured "apart" (see apart.h).
#include <pthread.h>

#include "../harness/apart.h"
#include "../harness/workload.h"
#include "../peers/hc.h"
#include "contention.h"
#include "storm.h"
#include "wake.h"

namespace perf {
namespace {

constexpr unsigned idle_lanes = 10'000;

class IdleLanes {
  public:
    IdleLanes(Hc &first, Hc &second) : groups_{&first, &second} {
        pthread_attr_t small;
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 64 * 1024);
        for (unsigned i = 0; i < idle_lanes; ++i) {
            pthread_t thread;
            if (pthread_create(&thread, &small, submit_and_sleep, this) != 0) break;
            threads_.push_back(thread);
        }
        pthread_attr_destroy(&small);
        while (submitted_.load() < threads_.size() || first.stats().queued || second.stats().queued)
            sleep_ns(1'000'000);
    }
    ~IdleLanes() {
        end_.open();
        for (pthread_t t : threads_) pthread_join(t, nullptr);
    }
    size_t count() const { return threads_.size(); }

  private:
    static void *submit_and_sleep(void *arg) {
        auto &self = *static_cast<IdleLanes *>(arg);
        for (Hc *group : self.groups_) group->submit([](void *) {}, nullptr);
        self.submitted_.fetch_add(1);
        self.end_.wait();
        return nullptr;
    }

    Hc *groups_[2];
    Gate end_;
    std::atomic<size_t> submitted_{0};
    std::vector<pthread_t> threads_;
};

void storm(const Options &o, Sheet &sheet, std::shared_ptr<Hc> laden) {
    const StormSize size{8, o.quick ? 500'000u : 3'000'000u, 8};
    const std::string kase = "W1, 8 workers";
    auto plain = std::make_shared<Hc>(size.workers);
    std::vector<Entrant> entrants{storm_entrant("floor", size, plain), storm_entrant("hc", size, laden)};
    interleave(entrants, Pace{o.quick ? 8u : 20u});
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "wall", "ms", mean_of_last_half(e.column(storm_wall)));
        sheet.add(kase, e.system, "cpu", "s", mean_of_last_half(e.column(storm_cpu)));
    }
    add_contention(sheet, kase, "floor", plain->stats());
    add_contention(sheet, kase, "hc", laden->stats());
}

void wake(const Options &o, Sheet &sheet, Hc &laden) {
    const std::string kase = "W6, 2 workers, apart";
    Hc plain(2);
    const unsigned samples = o.quick ? 50 : 100;
    const uint64_t gap = o.quick ? 500'000 : 1'000'000;
    auto entrant = [&](const char *system, Hc &group) {
        return Entrant{system, [&group, samples, gap] {
                           Sample out;
                           wake_samples(group, samples, gap, out);
                           return out;
                       }};
    };
    std::vector<Entrant> entrants{entrant("floor", plain), entrant("hc", laden)};
    Apart apart;
    interleave(entrants, Pace{o.quick ? 6u : 20u});
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "p50", "ns", percentile(pooled(e), 0.5));
        sheet.add(kase, e.system, "p99", "ns", percentile(pooled(e), 0.99));
    }
}

void run(const Options &o, Sheet &sheet) {
    auto for_storm = std::make_shared<Hc>(8);
    Hc for_wake(2);
    IdleLanes lanes(*for_storm, for_wake);
    storm(o, sheet, for_storm);
    wake(o, sheet, for_wake);
    sheet.note(std::to_string(lanes.count()) + " threads with an idle lane in each group; the groups have " +
               std::to_string(for_storm->stats().lanes) + " and " + std::to_string(for_wake.stats().lanes) +
               " lanes in all");
    for (const char *metric : {"wall", "p50", "p99"}) sheet.add_ratios(metric, "floor");
    sheet.at_most("hc wall of W1, in that without idle lanes", sheet.ratio("W1, 8 workers", "wall", "hc", "floor"),
                  1.2);
    sheet.at_most("hc p50 of W6, in that without idle lanes", sheet.ratio("W6, 2 workers, apart", "p50", "hc", "floor"),
                  1.2);
}

const Workload w1c("W1c", "W1 and W6 beside 10 000 idle lanes", run);

}  // namespace
}  // namespace perf
