// W9, tasks that block: one thread submits 10 000 tasks (--quick 1 000) that each sleep 1 ms, to 8 workers.
//
//     plain     nothing else
//     stuck     the first task of the same burst never ends; it is let go after the measurement
//     flooded   four other threads keep up to 4 096 trivial tasks each in the queues, all the time
//
// Also ours with 2 and 64 workers. `floor`: as many bare threads as workers, which only sleep, 1 ms at a time, their
// share of the tasks; in `stuck` one thread less; never flooded. The median of 3 rounds, all systems in turn; the time
// runs from the first submit until the submitter, which waits, knows of the last end. The JDK pools run the same in a
// process of their own. `pinned` does not run `stuck`: what is dealt to the stuck worker waits for it, as documented.
#include <memory>
#include <thread>

#include "../harness/child.h"
#include "../harness/workload.h"
#include "../peers/all.h"
#include "contention.h"

namespace perf {
namespace {

constexpr uint64_t task_ns = 1'000'000;

// Submitters that never leave the queues of a pool empty while it lives.
template <class P>
class Flood {
  public:
    explicit Flood(P &pool) {
        for (Flooder &f : flooders_) f.thread = std::jthread([this, &f, &pool] { f.run(pool, stop_); });
    }
    ~Flood() {
        stop_.store(true);
        for (Flooder &f : flooders_) {
            f.thread.join();
            while (f.ran.load() < f.submitted) sleep_ns(100'000);
        }
    }

  private:
    struct alignas(128) Flooder {
        alignas(128) std::atomic<uint64_t> ran{0};
        alignas(128) uint64_t submitted = 0;
        std::jthread thread{};

        void run(P &pool, const std::atomic<bool> &stop) {
            TaskFn task = [](void *arg) { static_cast<std::atomic<uint64_t> *>(arg)->fetch_add(1); };
            while (!stop.load(std::memory_order_relaxed)) {
                if (submitted - ran.load(std::memory_order_relaxed) >= 4096) {
                    sleep_ns(50'000);
                    continue;
                }
                pool.submit(task, &ran);
                ++submitted;
            }
        }
    };
    std::atomic<bool> stop_{false};
    Flooder flooders_[4];
};

struct Burst {
    explicit Burst(unsigned tasks) : all(tasks) {}
    Countdown all, stuck{1};
    Gate let_go;

    static void sleep(void *arg) {
        sleep_ns(task_ns);
        static_cast<Burst *>(arg)->all.arrive();
    }
    static void stick(void *arg) {
        auto &self = *static_cast<Burst *>(arg);
        self.let_go.wait();
        self.stuck.arrive();
    }
};

template <class P>
Sample round(P &pool, unsigned tasks, bool stuck, bool flooded) {
    std::unique_ptr<Flood<P>> flood;
    if (flooded) {
        flood = std::make_unique<Flood<P>>(pool);
        sleep_ns(5'000'000);
    }
    Burst burst(tasks);
    uint64_t cpu = process_cpu_ns(), begin = now_ns();
    if (stuck) pool.submit(Burst::stick, &burst);
    for (unsigned i = 0; i < tasks; ++i) pool.submit(Burst::sleep, &burst);
    if (!burst.all.wait_for(patience))
        fail(std::string(P::name) + ": " + std::to_string(burst.all.left()) + " sleeping tasks have not run");
    uint64_t end = now_ns();
    cpu = process_cpu_ns() - cpu;
    flood.reset();
    burst.let_go.open();
    if (stuck && !burst.stuck.wait_for(patience)) fail(std::string(P::name) + ": the stuck task did not run");
    return {ms(begin, end), static_cast<double>(cpu) * 1e-9};
}

Sample bare_round(unsigned tasks, unsigned threads) {
    Gate start;
    std::vector<std::jthread> sleepers;
    for (unsigned t = 0; t < threads; ++t)
        sleepers.emplace_back([&, n = tasks / threads + (t < tasks % threads)] {
            start.wait();
            for (unsigned i = 0; i < n; ++i) sleep_ns(task_ns);
        });
    sleep_ns(5'000'000);
    uint64_t cpu = process_cpu_ns(), begin = now_ns();
    start.open();
    sleepers.clear();
    return {ms(begin, now_ns()), static_cast<double>(process_cpu_ns() - cpu) * 1e-9};
}

struct Trouble {
    const char *name;
    bool stuck, flooded;
};

void one_case(const Options &o, Sheet &sheet, Child *java, const Trouble &trouble, unsigned workers, bool with_peers) {
    const unsigned tasks = (o.quick ? 1'000u : 10'000u) / (workers < 8 ? 4 : 1);  // with 2 workers it would take 5 s
    std::vector<Entrant> entrants{{"floor", [&] { return bare_round(tasks, workers - trouble.stuck); }}};
    auto ours = std::make_shared<Hc>(workers);
    auto enter = [&](auto pool) {
        using P = std::remove_reference_t<decltype(*pool)>;
        entrants.push_back({P::name, [=] { return round(*pool, tasks, trouble.stuck, trouble.flooded); }});
    };
    enter(ours);
    if (with_peers) {
        enter(std::make_shared<HcShared>(workers));
        if (!trouble.stuck) enter(std::make_shared<HcPinned>(workers));
        each_peer([&](auto type) {
            using P = typename decltype(type)::type;
            if constexpr (P::any_thread) enter(std::make_shared<P>(workers));
        });
        for (const char *system : {"jdk-fixed", "jdk-fjp"})
            if (java) {
                std::string request = std::string(system) + " " + trouble.name + " " + std::to_string(workers) + " " +
                                      std::to_string(tasks);
                entrants.push_back({system, [=] { return java->ask(request); }});
            }
    }
    interleave(entrants, Pace{o.quick ? 2u : 3u});
    const std::string kase = std::string(trouble.name) + ", " + std::to_string(workers) + " workers";
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "wall", "ms", median(e.column(0)));
        sheet.add(kase, e.system, "cpu", "s", median(e.column(1)));
    }
    add_contention(sheet, kase, "hc", ours->stats());
    sheet.at_most("hc wall in floor, " + kase, sheet.ratio(kase, "wall", "hc", "floor"), 1.05);
}

void run(const Options &o, Sheet &sheet) {
    std::unique_ptr<Child> java;
    if (!o.java.empty()) java = std::make_unique<Child>(Words{"java", "-cp", o.java, "Blocked"});
    const Trouble plain{"plain", false, false}, stuck{"stuck", true, false}, flooded{"flooded", false, true};
    for (const Trouble &trouble : {plain, stuck, flooded}) one_case(o, sheet, java.get(), trouble, 8, true);
    for (unsigned workers : {2u, 64u}) one_case(o, sheet, nullptr, plain, workers, false);
    sheet.add_ratios("wall", "floor");
}

const Workload w9("W9", "blocked: tasks that sleep 1 ms, submitted by one thread", run);

}  // namespace
}  // namespace perf
