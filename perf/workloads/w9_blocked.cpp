// W9, tasks that block: one thread submits 10 000 tasks (--quick 400) that each sleep 1 ms, to 8 workers.
//
//     plain     nothing else
//     stuck     the first task of the same burst never ends; it is let go after the measurement
//     flooded   four other threads keep up to 4 096 trivial tasks each in the queues, all the time
//     declared  the tasks say that they block: hc_blocking_begin() and _end() around the sleep, ManagedBlocker in the
//               JDK's ForkJoinPool. The group may then have as many threads as hc_group_slots(), its 8 workers and 64
//               spare ones; so may that ForkJoinPool. The JDK's fixed pool, which cannot be told, has that many threads
//               from the start, as its users would do. Four times as many tasks.
//
// Also ours with 2 workers, a quarter of the tasks, and 64, four times as many. The median of 3 rounds, all systems in
// turn; the time runs from the first submit until the submitter, which waits, knows of the last end. The JDK pools run
// the same in a process of their own; --quick has the other peers in `plain` only. `pinned` does not run `stuck`: what
// is dealt to the stuck worker waits for it, as documented; nor `declared`: it has no spare workers.
//
//     floor      as many bare threads as workers (declared: as threads), which only sleep, 1 ms at a time, their share
//                of the tasks; in `stuck` one thread less; never flooded. Their timer slack is 1 ns, as that of our
//                workers is; the threads of the others sleep up to 50 us longer each time
//     floor-all  in `stuck`: with all 8, which a group comes near to that finds out, after stuck_after, who is stuck
//     at once    the most tasks that ever slept at the same time
//
// Then the cost of the declaration itself: see blocking_pair.cpp.
#include <sys/prctl.h>

#include <memory>
#include <thread>

#include "../harness/child.h"
#include "../harness/workload.h"
#include "../peers/all.h"
#include "blocked.h"
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

struct Trouble {
    const char *name;
    bool stuck, flooded, declared;
};

enum BlockedMetric { blocked_wall, blocked_cpu, blocked_at_once };

struct Burst {
    explicit Burst(unsigned tasks) : all(tasks) {}
    Countdown all, stuck{1};
    Gate let_go;
    std::atomic<uint32_t> asleep{0}, at_once{0};

    void nap() {
        uint32_t n = asleep.fetch_add(1) + 1, most = at_once.load();
        while (n > most && !at_once.compare_exchange_weak(most, n)) {
        }
        sleep_ns(task_ns);
        asleep.fetch_sub(1);
    }
    static void sleep(void *arg) {
        auto &self = *static_cast<Burst *>(arg);
        self.nap();
        self.all.arrive();
    }
    static void sleep_declared(void *arg) {
        auto &self = *static_cast<Burst *>(arg);
        hc_blocking_begin();
        self.nap();
        hc_blocking_end();
        self.all.arrive();
    }
    static void stick(void *arg) {
        auto &self = *static_cast<Burst *>(arg);
        self.let_go.wait();
        self.stuck.arrive();
    }
};

template <class P>
Sample round(P &pool, unsigned tasks, const Trouble &trouble) {
    std::unique_ptr<Flood<P>> flood;
    if (trouble.flooded) {
        flood = std::make_unique<Flood<P>>(pool);
        sleep_ns(5'000'000);
    }
    Burst burst(tasks);
    const TaskFn task = trouble.declared ? Burst::sleep_declared : Burst::sleep;
    uint64_t cpu = process_cpu_ns(), begin = now_ns();
    if (trouble.stuck) pool.submit(Burst::stick, &burst);
    for (unsigned i = 0; i < tasks; ++i) pool.submit(task, &burst);
    if (!burst.all.wait_for(patience))
        fail(std::string(P::name) + ": " + std::to_string(burst.all.left()) + " sleeping tasks have not run");
    uint64_t end = now_ns();
    cpu = process_cpu_ns() - cpu;
    flood.reset();
    burst.let_go.open();
    if (trouble.stuck && !burst.stuck.wait_for(patience)) fail(std::string(P::name) + ": the stuck task did not run");
    return {ms(begin, end), static_cast<double>(cpu) * 1e-9, static_cast<double>(burst.at_once.load())};
}

Sample bare_round(unsigned tasks, unsigned threads) {
    Gate start;
    std::vector<std::jthread> sleepers;
    for (unsigned t = 0; t < threads; ++t)
        sleepers.emplace_back([&, n = tasks / threads + (t < tasks % threads)] {
            prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
            start.wait();
            for (unsigned i = 0; i < n; ++i) sleep_ns(task_ns);
        });
    sleep_ns(5'000'000);
    uint64_t cpu = process_cpu_ns(), begin = now_ns();
    start.open();
    sleepers.clear();
    return {ms(begin, now_ns()), static_cast<double>(process_cpu_ns() - cpu) * 1e-9, static_cast<double>(threads)};
}

// Enters our kinds that can, and the peers in this process.
template <class Enter>
void enter_others(Enter enter, const Trouble &trouble, unsigned workers, bool quick) {
    enter(std::make_shared<HcShared>(workers));
    if (trouble.declared) return;  // nor can the peers be told
    if (!trouble.stuck) enter(std::make_shared<HcPinned>(workers));
    if (quick && (trouble.stuck || trouble.flooded)) return;
    each_peer([&](auto type) {
        using P = typename decltype(type)::type;
        if constexpr (P::any_thread) enter(std::make_shared<P>(workers));
    });
}

void one_case(const Options &o, Sheet &sheet, Child *java, const Trouble &trouble, unsigned workers, bool with_peers) {
    unsigned tasks = o.quick ? 400 : 10'000;
    if (workers < 8) tasks /= 4;  // with 2 workers it would take 5 s
    if (workers > 8 || trouble.declared) tasks *= 4;
    auto ours = std::make_shared<Hc>(workers);
    const unsigned threads = trouble.declared ? hc_group_slots(ours->group()) : workers - trouble.stuck;
    std::vector<Entrant> entrants{{"floor", [=] { return bare_round(tasks, threads); }}};
    if (trouble.stuck) entrants.push_back({"floor-all", [=] { return bare_round(tasks, workers); }});
    auto enter = [&](auto pool) {
        using P = std::remove_reference_t<decltype(*pool)>;
        entrants.push_back({P::name, [=] { return round(*pool, tasks, trouble); }});
    };
    enter(ours);
    if (with_peers) {
        enter_others(enter, trouble, workers, o.quick);
        for (const char *system : {"jdk-fixed", "jdk-fjp"})
            if (java) {
                std::string request = std::string(system) + " " + trouble.name;
                for (unsigned n : {workers, tasks, threads}) request.append(" ").append(std::to_string(n));
                entrants.push_back({system, [=] { return java->ask(request); }});
            }
    }
    interleave(entrants, Pace{o.quick ? 2u : 3u});
    const std::string kase = std::string(trouble.name) + ", " + std::to_string(workers) + " workers";
    for (const Entrant &e : entrants) {
        sheet.add(kase, e.system, "wall", "ms", median(e.column(blocked_wall)));
        sheet.add(kase, e.system, "cpu", "s", median(e.column(blocked_cpu)));
        sheet.add(kase, e.system, "at once", "1", median(e.column(blocked_at_once)));
    }
    add_contention(sheet, kase, "hc", ours->stats());
    sheet.at_most("hc wall in floor, " + kase, sheet.ratio(kase, "wall", "hc", "floor"), 1.05);
}

void run(const Options &o, Sheet &sheet) {
    std::unique_ptr<Child> java;
    if (!o.java.empty()) java = std::make_unique<Child>(Words{"java", "-cp", o.java, "Blocked"});
    const Trouble plain{"plain", false, false, false}, stuck{"stuck", true, false, false},
        flooded{"flooded", false, true, false}, declared{"declared", false, false, true};
    for (const Trouble &trouble : {plain, stuck, flooded, declared}) one_case(o, sheet, java.get(), trouble, 8, true);
    for (unsigned workers : {2u, 64u}) one_case(o, sheet, nullptr, plain, workers, false);
    sheet.add_ratios("wall", "floor");
    blocking_pair(o, sheet, java.get());
    if (o.quick) sheet.note("--quick is over before stuck_after is: the stuck worker has no spare one yet");
}

const Workload w9("W9", "blocked: tasks that sleep 1 ms, submitted by one thread", run);

}  // namespace
}  // namespace perf
