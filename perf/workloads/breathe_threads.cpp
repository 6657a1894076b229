// W10, threads over time. At most 8 workers, and none at least: min_workers = HC_NONE32. All systems in turn, in
// rounds; the JDK's pools in a process of their own.
//
//     breath       keep_alive 50 ms. A burst of 8 tasks that wait for each other, so that each needs a worker; then
//                  nothing. The owner asks the pool every half a millisecond how many threads it has. The medians of 20
//                  rounds, --quick 4
//       burst      from before the first submit until all 8 tasks have started
//       peak       threads at the end of the burst
//       at half    threads half a keep_alive after the end of the last task, from when the owner knows of it
//       shrunk     from there until the pool is at its minimum, in keep_alives; `worst` of all rounds
//     first task   keep_alive 5 ms. Once the pool has no thread, and 1 ms more has passed: from before the submit to
//                  the first instruction of the task. The owner sleeps right after the submit. p50 and p99 of 400
//                  samples, --quick 32
//
//     floor        pthread_create() for each task: from before the call to the first instruction of the thread
//     hc-min-1     hc with the default min_workers, 1
//     jdk-timeout  ThreadPoolExecutor with 8 core threads, a LinkedBlockingQueue and allowCoreThreadTimeOut(true)
//     jdk-cached   ThreadPoolExecutor with no core threads, at most 8, and a SynchronousQueue
//     jdk-fjp      ForkJoinPool with parallelism 8 and no core threads. Its keep-alive is never below 20 ms,
//                  and is waited for anew before each of its threads
#include <pthread.h>

#include <list>
#include <memory>

#include "../harness/child.h"
#include "../harness/futex.h"
#include "../peers/hc.h"
#include "breathe.h"
#include "wake.h"

namespace perf {
namespace {

constexpr unsigned workers = 8;
constexpr uint64_t breath_keep_alive = 50'000'000, first_keep_alive = 5'000'000, gap = 1'000'000;

struct HcBreather : HcGroup {
    static constexpr const char *name = "hc";
    HcBreather(uint32_t least, uint32_t kind, uint64_t keep_alive) : HcGroup(with(least, kind, keep_alive)) {}
    unsigned threads() { return stats().workers; }

  private:
    static hc_group_options with(uint32_t least, uint32_t kind, uint64_t keep_alive) {
        hc_group_options o = options(workers, kind);
        o.min_workers = least;
        o.keep_alive = keep_alive;
        return o;
    }
};

// The floor: a thread for each task.
class BareStarts {
  public:
    static constexpr const char *name = "floor";
    ~BareStarts() { threads(); }
    void submit(TaskFn fn, void *arg) {
        started_.push_back({fn, arg, {}});
        if (pthread_create(&started_.back().thread, nullptr, body, &started_.back()) != 0) fail("no thread");
    }
    unsigned threads() {  // none is left when it returns
        for (Start &s : started_) pthread_join(s.thread, nullptr);
        started_.clear();
        return 0;
    }

  private:
    struct Start {
        TaskFn fn;
        void *arg;
        pthread_t thread;
    };
    static void *body(void *arg) {
        auto *s = static_cast<Start *>(arg);
        s->fn(s->arg);
        return nullptr;
    }
    std::list<Start> started_;
};

template <class P>
void wait_until_shrunk(P &pool, unsigned least, uint64_t nap) {
    const uint64_t begin = now_ns();
    while (pool.threads() > least) {
        if (now_ns() - begin > patience) fail(std::string(P::name) + ": a pool does not shrink");
        sleep_ns(nap);
    }
}

enum BreathMetric { breath_burst, breath_peak, breath_at_half, breath_shrunk };

template <class P>
Sample breath(P &pool, unsigned least) {
    struct Burst {
        Countdown to_start{workers}, to_end{workers};
        std::atomic<uint64_t> started{0};
    } burst;
    TaskFn task = [](void *arg) {
        auto &b = *static_cast<Burst *>(arg);
        const uint64_t now = now_ns();
        if (b.to_start.arrive()) b.started.store(now);
        if (!b.to_start.wait_for(patience)) fail(std::string(P::name) + ": not all tasks of a burst get a worker");
        b.to_end.arrive();
    };
    const uint64_t submit = now_ns();
    for (unsigned i = 0; i < workers; ++i) pool.submit(task, &burst);
    if (!burst.to_end.wait_for(patience)) fail(std::string(P::name) + ": a burst has not run");
    const uint64_t ended = now_ns();
    const auto peak = static_cast<double>(pool.threads());
    sleep_ns(breath_keep_alive / 2);
    const auto at_half = static_cast<double>(pool.threads());
    wait_until_shrunk(pool, least, breath_keep_alive / 100);
    const double shrunk = static_cast<double>(now_ns() - ended) / static_cast<double>(breath_keep_alive);
    sleep_ns(gap);
    return {static_cast<double>(burst.started.load() - submit), peak, at_half, shrunk};
}

// Appends `n` samples.
template <class P>
void first_samples(P &pool, unsigned n, Sample &out) {
    std::atomic<uint64_t> started{0};
    TaskFn task = [](void *arg) { static_cast<std::atomic<uint64_t> *>(arg)->store(now_ns()); };
    for (unsigned i = 0; i < n; ++i) {
        wait_until_shrunk(pool, 0, gap);
        sleep_ns(gap);
        started.store(0);
        uint64_t submit = now_ns(), start = 0;
        pool.submit(task, &started);
        do {
            sleep_ns(gap);
            if (now_ns() - submit > patience) fail(std::string(P::name) + ": a first task did not start");
        } while ((start = started.load()) == 0);
        out.push_back(static_cast<double>(start - submit));
    }
}

const std::vector<const char *> jdk_systems{"jdk-timeout", "jdk-cached", "jdk-fjp"};

void breaths(const Options &o, Sheet &sheet, Child *java) {
    const std::string kase = "breath, at most 8 workers";
    std::vector<Entrant> entrants;
    auto enter = [&](const char *system, unsigned least, auto pool) {
        entrants.push_back({system, [=] { return breath(*pool, least); }});
    };
    auto ours = [&](uint32_t least, uint32_t kind) {
        return std::make_shared<HcBreather>(least, kind, breath_keep_alive);
    };
    enter("floor", 0, std::make_shared<BareStarts>());
    enter("hc", 0, ours(HC_NONE32, HC_KIND_STEALING));
    enter("hc-min-1", 1, ours(0, HC_KIND_STEALING));
    enter("shared", 0, ours(HC_NONE32, HC_KIND_SHARED));
    for (const char *system : jdk_systems)
        if (java) {
            std::string request = std::string(system) + " breath " + std::to_string(breath_keep_alive) + " 8";
            entrants.push_back({system, [=] { return java->ask(request); }});
        }
    interleave(entrants, Pace{o.quick ? 4u : 20u});
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "burst", "ns", median(e.column(breath_burst)));
        if (e.system == BareStarts::name) continue;  // it has threads only while tasks run
        sheet.add(kase, e.system, "peak", "1", median(e.column(breath_peak)));
        sheet.add(kase, e.system, "at half", "1", median(e.column(breath_at_half)));
        sheet.add(kase, e.system, "shrunk", "keep-alives", median(e.column(breath_shrunk)));
        sheet.add(kase, e.system, "worst", "keep-alives", percentile(e.column(breath_shrunk), 1));
    }
    sheet.at_most("hc is at its minimum, in keep-alives after the last task", sheet.value(kase, "hc", "shrunk"), 1.2);
    sheet.at_least("threads of hc, half a keep-alive after it", sheet.value(kase, "hc", "at half"), workers);
}

void first_tasks(const Options &o, Sheet &sheet, Child *java) {
    const std::string kase = "first task, after all have left";
    const unsigned samples = o.quick ? 8 : 10;
    std::vector<Entrant> entrants;
    auto enter = [&](const char *system, auto pool) {
        entrants.push_back({system, [=] {
                                Sample out;
                                first_samples(*pool, samples, out);
                                return out;
                            }});
    };
    auto ours = [&](uint32_t kind) { return std::make_shared<HcBreather>(HC_NONE32, kind, first_keep_alive); };
    enter("floor", std::make_shared<BareStarts>());
    enter("hc", ours(HC_KIND_STEALING));
    enter("shared", ours(HC_KIND_SHARED));
    for (const char *system : jdk_systems)
        if (java) {
            std::string request =
                std::string(system) + " first " + std::to_string(first_keep_alive) + " " + std::to_string(samples);
            entrants.push_back({system, [=] { return java->ask(request); }});
        }
    interleave(entrants, Pace{o.quick ? 4u : 40u});
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "p50", "ns", percentile(pooled(e), 0.5));
        sheet.add(kase, e.system, "p99", "ns", percentile(pooled(e), 0.99));
    }
    sheet.at_most("hc p50 in floor, first task", sheet.ratio(kase, "p50", "hc", "floor"), 1.3);
}

}  // namespace

void breathe_threads(const Options &o, Sheet &sheet) {
    std::unique_ptr<Child> java;
    if (!o.java.empty()) {
        java = std::make_unique<Child>(Words{"java", "-cp", o.java, "Breathe"});
        for (const char *system : jdk_systems)  // warm-up
            java->ask(std::string(system) + " first " + std::to_string(first_keep_alive) + (o.quick ? " 20" : " 100"));
    }
    breaths(o, sheet, java.get());
    first_tasks(o, sheet, java.get());
    for (const char *metric : {"burst", "p50", "p99"}) sheet.add_ratios(metric, "floor");
}

}  // namespace perf
