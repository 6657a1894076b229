// W12, limits: what a time to run and a time to be queued cost a task, and how late what has expired comes back.
//
// A storm (see storm.h) of 2 submitters x 1 000 000 tasks, --quick 200 000, with 2 workers: in a group without limits; in one with a
// run_limit of 10 s, which the coarse clock serves; of 100 ms, which it does not; and of tasks with a label, which have a record,
// without and with both limits. The goals are CPU time of the whole process, both sides of the queue: ns a task more than without.
//
// Expiry: the only worker is held, and 100 000 tasks are queued for 100 ms each, half of them with a handle: ms from the time of the
// last one to its drop, the worst of the rounds.
#include "../harness/clock.h"
#include "../harness/rounds.h"
#include "../harness/workload.h"
#include "../peers/hc.h"
#include "storm.h"

namespace perf {
namespace {

constexpr uint64_t short_ns = 100'000'000, long_ns = 10'000'000'000;

class Limited : public HcGroup {
  public:
    Limited(uint64_t group_limit, bool labelled, uint64_t limit, uint64_t expiry)
        : HcGroup(with_limit(group_limit)), labelled_(labelled) {
        options_.label = "storm";
        options_.run_limit = limit;
        options_.queue_expiry = expiry;
    }
    void submit(TaskFn fn, void *arg) {
        if (!labelled_) return HcGroup::submit(fn, arg);
        hc_task_options o = options_;
        o.fn = fn;
        o.arg = arg;
        if (int error = hc_task_submit(group(), &o, nullptr); error < 0) [[unlikely]]
            fail(std::string("hc_task_submit: ") + hc_strerror(error));
    }

  private:
    static hc_group_options with_limit(uint64_t limit) {
        hc_group_options o = options(2, HC_KIND_STEALING);
        o.run_limit = limit;
        return o;
    }
    const bool labelled_;
    hc_task_options options_ = HC_TASK_OPTIONS_INIT;
};

void add_storms(const Options &o, Sheet &sheet) {
    const StormSize size{2, o.quick ? 200'000u : 1'000'000u, 2};
    const double tasks = static_cast<double>(size.submitters) * static_cast<double>(size.tasks);
    std::vector<Entrant> entrants;
    const auto enter = [&](const char *name, uint64_t group_limit, bool labelled = false, uint64_t limit = 0, uint64_t expiry = 0) {
        entrants.push_back(storm_entrant(name, size, std::make_shared<Limited>(group_limit, labelled, limit, expiry)));
    };
    enter("none", 0);
    enter("10 s", long_ns);
    enter("100 ms", short_ns);
    enter("label", 0, true);
    enter("label, limit", 0, true, long_ns);
    enter("label, limit, expiry", 0, true, long_ns, long_ns);
    interleave(entrants, o.quick ? Pace{6} : Pace{20});
    for (const Entrant &e : entrants) {
        sheet.add("storm", e.system, "wall", "ms", mean_of_last_half(e.column(storm_wall)));
        sheet.add("storm", e.system, "a task", "ns", mean_of_last_half(e.column(storm_cpu)) * 1e9 / tasks);
    }
    const auto more = [&](const char *than, const char *with) {
        return sheet.value("storm", with, "a task") - sheet.value("storm", than, "a task");
    };
    sheet.at_most("ns more with a limit of 10 s", more("none", "10 s"), 50);
    sheet.at_most("ns more with a limit of 100 ms", more("none", "100 ms"), 50);
    sheet.at_most("ns more with a label and a limit, than with a label", more("label", "label, limit"), 50);
    sheet.at_most("ns more with an expiry too", more("label, limit", "label, limit, expiry"), 50);
}

struct Expired {
    std::atomic<uint64_t> left{0};
    uint64_t last = 0;
    Countdown all{1};
};

double expire(uint64_t tasks) {
    HcFixed pool(1);
    struct Held {
        Countdown inside{1}, left{1};
        Gate go;
    } held;
    pool.submit(
        [](void *arg) {
            auto &h = *static_cast<Held *>(arg);
            h.inside.arrive();
            h.go.wait();
            h.left.arrive();
        },
        &held);
    held.inside.wait();
    Expired expired;
    expired.left = tasks;
    hc_task_options o = HC_TASK_OPTIONS_INIT;
    o.fn = [](void *) { fail("expiry: a task ran"); };
    o.arg = &expired;
    o.drop = [](void *arg, int32_t) {
        auto &e = *static_cast<Expired *>(arg);
        if (e.left.fetch_sub(1) != 1) return;
        e.last = hc_now();
        e.all.arrive();
    };
    o.queue_expiry = short_ns;
    std::vector<hc_task *> handles(tasks);
    for (uint64_t i = 0; i < tasks; ++i)
        if (hc_task_submit(pool.group(), &o, i % 2 == 0 ? &handles[i] : nullptr) < 0) fail("expiry: a submit failed");
    const uint64_t last_time = hc_now() + short_ns;
    if (!expired.all.wait_for(patience)) fail("expiry: tasks do not come back");
    held.go.open();
    held.left.wait();
    for (hc_task *t : handles) hc_task_unref(t);
    return expired.last > last_time ? ms(last_time, expired.last) : 0;
}

void run(const Options &o, Sheet &sheet) {
    add_storms(o, sheet);
    double worst = 0;
    for (unsigned round = 0; round < (o.quick ? 3u : 20u); ++round) worst = std::max(worst, expire(100'000));
    sheet.add("expiry of 100 000", "hc", "wall", "ms", worst);
    sheet.at_most("ms until the last of 100 000 has come back", worst, 100);
}

const Workload w12("W12", "limits: a time to run, and a time to be queued", run);

}  // namespace
}  // namespace perf
