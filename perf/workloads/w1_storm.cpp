// W1, the storm (see storm.h): 8 submitters x 3 000 000 tasks, --quick 500 000, 8 workers; and ours with 2 and 64
// workers. 20 rounds, the mean of the last 10; slow systems take part in every fourth. Pools in this process take turns
// round by round, and so does our own library built with fences (a child with that .so). The JDK and Go pools then run
// in processes of their own, one after the other, with 3 rounds of warm-up.
//
// Memory of a queued task: in a fresh process the workers of a pool are held by tasks that block, 8 threads queue 10^7
// tasks in all, and the growth of the resident set is divided by their number. Peak memory: the most that a fresh
// process has had resident after one round.
#include <optional>

#include "../harness/child.h"
#include "../harness/counters.h"
#include "../harness/serve.h"
#include "../harness/workload.h"
#include "../peers/all.h"
#include "contention.h"
#include "storm.h"

namespace perf {
namespace {

constexpr unsigned submitters = 8;

StormSize size_from(const Words &words) {
    return {static_cast<unsigned>(std::stoul(words.at(1))), std::stoull(words.at(2)),
            static_cast<unsigned>(std::stoul(words.at(3)))};
}

std::string size_words(const StormSize &s) {
    return std::to_string(s.submitters) + " " + std::to_string(s.tasks) + " " + std::to_string(s.workers);
}

// "storm SYSTEM SUBMITTERS TASKS WORKERS": one round, and the peak of memory so far. The pool is kept for the next
// request.
Sample serve_storm(const Words &words) {
    static std::optional<Entrant> entrant;
    if (!entrant)
        with_pool(words.at(0), [&](auto type) {
            using P = typename decltype(type)::type;
            if constexpr (P::any_thread)
                entrant =
                    storm_entrant(P::name, size_from(words), std::make_shared<P>(size_from(words).workers, storm_task));
        });
    Sample sample = entrant.value().round();
    sample.push_back(static_cast<double>(peak_rss_bytes()));
    return sample;
}
const Service storm_service("storm", serve_storm);

template <class P>
double held_bytes(unsigned workers, uint64_t tasks) {
    struct Held {
        Countdown started, ended;
        Gate release;
        uint64_t holders;
        std::atomic<uint64_t> calls{0};
    } held{Countdown(workers), Countdown(workers + tasks), {}, workers, {}};
    TaskFn task = [](void *arg) {  // the first of them hold the workers
        auto &h = *static_cast<Held *>(arg);
        if (h.calls.fetch_add(1) < h.holders) {
            h.started.arrive();
            h.release.wait();
        }
        h.ended.arrive();
    };
    P pool(workers, task);
    for (unsigned i = 0; i < workers; ++i) pool.submit(task, &held);
    if (!held.started.wait_for(patience))
        fail(std::string(P::name) + ": workers that block do not let each other start");
    std::vector<std::jthread> threads;
    uint64_t before = rss_bytes();
    for (unsigned t = 0; t < submitters; ++t)
        threads.emplace_back([&] {
            for (uint64_t i = 0; i < tasks / submitters; ++i) pool.submit(task, &held);
        });
    threads.clear();
    double grown = static_cast<double>(rss_bytes()) - static_cast<double>(before);
    held.release.open();
    if (!held.ended.wait_for(patience)) fail(std::string(P::name) + ": tasks lost after workers were held");
    return grown / static_cast<double>(tasks);
}

// "held SYSTEM WORKERS TASKS": bytes for each queued task.
Sample serve_held(const Words &words) {
    double bytes = not_measured;
    with_pool(words.at(0), [&](auto type) {
        using P = typename decltype(type)::type;
        if constexpr (P::any_thread)
            bytes = held_bytes<P>(static_cast<unsigned>(std::stoul(words.at(1))), std::stoull(words.at(2)));
    });
    return {bytes};
}
const Service held_service("held", serve_held);

void add_rows(Sheet &sheet, const std::string &kase, const Entrant &e) {
    auto mean = [&](size_t metric) { return mean_of_last_half(e.column(metric)); };
    sheet.add(kase, e.system, "wall", "ms", mean(storm_wall));
    sheet.add(kase, e.system, "enqueue", "ms", mean(storm_enqueue));
    sheet.add(kase, e.system, "complete", "ms", mean(storm_complete));
    sheet.add(kase, e.system, "enqueued", "ms", mean(storm_enqueued));
    sheet.add(kase, e.system, "cpu", "s", mean(storm_cpu));
    if (e.samples.front().size() > storm_cpu + 1)  // a child also tells its peak of memory
        sheet.add(kase, e.system, "rss", "B", e.samples.back().at(storm_cpu + 1));
}

Entrant child_entrant(std::string system, std::shared_ptr<Child> child, std::string request) {
    return {std::move(system), [child, request] { return child->ask(request); }};
}

// Enters our default kind, which is the answer; and the other two if they are wanted.
std::shared_ptr<Hc> enter_ours(std::vector<Entrant> &entrants, const StormSize &size, bool other_kinds) {
    auto ours = std::make_shared<Hc>(size.workers);
    entrants.push_back(storm_entrant(Hc::name, size, ours));
    if (other_kinds) {
        entrants.push_back(storm_entrant(HcShared::name, size, std::make_shared<HcShared>(size.workers)));
        entrants.push_back(storm_entrant(HcPinned::name, size, std::make_shared<HcPinned>(size.workers)));
    }
    return ours;
}

// All systems that take turns, with 8 workers.
void main_case(const Options &o, Sheet &sheet, const std::string &kase, const StormSize &size) {
    std::vector<Entrant> entrants{storm_entrant("direct", size, std::make_shared<Direct>(size.workers))};
    auto ours = enter_ours(entrants, size, true);
    if (o.quick || available_memory_bytes() > 8'000'000'000u)
        each_peer([&](auto type) {
            using P = typename decltype(type)::type;
            if constexpr (P::any_thread)
                entrants.push_back(storm_entrant(P::name, size, std::make_shared<P>(size.workers, storm_task)));
        });
    else
        sheet.note("the peers in this process need 8 GB of memory for their queues: left out");
    if (!o.fence.empty()) {
        auto child = std::make_shared<Child>(this_program_serving(), Words{"LD_LIBRARY_PATH=" + o.fence});
        if (child->ask("features").at(0) != 0) fail("--fence: the library there uses membarrier");
        entrants.push_back(child_entrant("hc-fence", child, "storm hc " + size_words(size)));
    }
    interleave(entrants, o.quick ? Pace{5, 250, 4} : Pace{20, 1500, 4});
    for (const Entrant &e : entrants) add_rows(sheet, kase, e);
    add_contention(sheet, kase, "hc", ours->stats());
}

// The pools of other languages, each in its own process and with its own warm-up.
void foreign_systems(const Options &o, Sheet &sheet, const std::string &kase, const StormSize &size) {
    std::vector<std::pair<std::string, Words>> peers;
    if (!o.java.empty())
        for (const char *system : {"jdk-fixed", "jdk-fjp", "jdk-fjp-async"})
            peers.push_back({system, {"java", "-cp", o.java, "Storm", system}});
    if (!o.go.empty()) peers.push_back({"go", {o.go + "/storm"}});
    for (const auto &[system, command] : peers) {
        std::vector<Entrant> entrant{child_entrant(system, std::make_shared<Child>(command), size_words(size))};
        for (int warm_up = 0; warm_up < (o.quick ? 2 : 3); ++warm_up) entrant[0].round();
        interleave(entrant, Pace{o.quick ? 2u : 8u});
        add_rows(sheet, kase, entrant[0]);
    }
}

// Ours with fewer and with many more workers than cores, in turn with each other and with the direct calls. The other
// kinds too, but not in --quick.
void worker_counts(const Options &o, Sheet &sheet, StormSize size) {
    std::vector<Entrant> entrants{storm_entrant("direct", size, std::make_shared<Direct>(0))};
    struct Case {
        std::string name;
        size_t first, last;  // of its entrants
        std::shared_ptr<Hc> ours;
    };
    std::vector<Case> cases;
    for (unsigned workers : {2u, 64u}) {
        size.workers = workers;
        size_t first = entrants.size();
        auto ours = enter_ours(entrants, size, !o.quick);
        cases.push_back({std::to_string(workers) + " workers", first, entrants.size(), ours});
    }
    interleave(entrants, o.quick ? Pace{4} : Pace{12, 1500, 4});
    for (const Case &c : cases) {
        add_rows(sheet, c.name, entrants[0]);
        for (size_t i = c.first; i < c.last; ++i) add_rows(sheet, c.name, entrants[i]);
        add_contention(sheet, c.name, "hc", c.ours->stats());
    }
}

void memory(const Options &o, Sheet &sheet, const std::string &kase, const StormSize &size) {
    each_pool([&](auto type) {
        using P = typename decltype(type)::type;
        if (!P::any_thread || (o.quick && !std::is_base_of_v<HcGroup, P>)) return;
        const std::string system = P::name, tasks = o.quick ? "1000000" : "10000000";
        sheet.add(kase, system, "rss", "B",
                  Child(this_program_serving()).ask("storm " + system + " " + size_words(size)).back());
        double held = Child(this_program_serving())
                          .ask("held " + system + " " + std::to_string(size.workers) + " " + tasks)
                          .at(0);
        sheet.add(kase, system, "queued task", "B", held);
    });
}

void run(const Options &o, Sheet &sheet) {
    const StormSize size{submitters, o.quick ? 500'000u : 3'000'000u, 8};
    const std::string kase = "8 workers";
    main_case(o, sheet, kase, size);
    foreign_systems(o, sheet, kase, size);
    memory(o, sheet, kase, size);
    worker_counts(o, sheet, size);
    sheet.add_ratios("wall", "direct");

    auto wall = [&](const char *system) { return sheet.value(kase, system, "wall"); };
    sheet.at_most("hc wall, in direct", wall("hc") / wall("direct"), 5);
    if (!o.fence.empty()) sheet.note("the fence fallback has no goal");
    double fastest_jdk = std::fmin(std::fmin(wall("jdk-fixed"), wall("jdk-fjp")), wall("jdk-fjp-async"));
    sheet.at_least("fastest JDK pool, in hc", fastest_jdk / wall("hc"), 15);
    sheet.at_least("tbb wall, in hc", wall("tbb") / wall("hc"), 40);
    sheet.at_least("asio wall, in hc", wall("asio") / wall("hc"), 40);
    sheet.at_most("bytes of a queued task, hc", sheet.value(kase, "hc", "queued task"), 24);
    double flat = sheet.value("64 workers", "hc", "wall") / sheet.value("2 workers", "hc", "wall");
    sheet.at_most("hc with 64 workers, in hc with 2", flat, 1.2);
}

const Service features_service("features", [](const Words &) { return Sample{static_cast<double>(hc_features())}; });
const Workload w1("W1", "storm: 8 external submitters, each task one atomic add", run);

}  // namespace
}  // namespace perf
