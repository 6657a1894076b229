// W7, idleness: a pool has run 10 000 tasks and then gets none for 10 s (--quick: 2 s). How much CPU time does its
// process use, and how often do its threads run? Each system sits in a process of its own; all idle at the same time.
//
//     cpu       CLOCK_PROCESS_CPUTIME_ID over the idle time. `floor` is a process without a pool: the one sleep and the
//               reading of the counters are in all figures.
//     pool cpu  the CPU time of all threads but the one that waits and reads
//     switches  the context switches of those threads, voluntary and not
//     threads   how many those are
#include <memory>

#include "../harness/child.h"
#include "../harness/counters.h"
#include "../harness/serve.h"
#include "../harness/workload.h"
#include "../peers/all.h"

namespace perf {
namespace {

constexpr unsigned tasks = 10'000;

Sample idle(uint64_t settle_ns, uint64_t idle_ns) {
    sleep_ns(settle_ns);
    OtherThreads before = other_threads();
    uint64_t cpu = process_cpu_ns();
    sleep_ns(idle_ns);
    cpu = process_cpu_ns() - cpu;
    OtherThreads after = other_threads();
    return {static_cast<double>(cpu), static_cast<double>(after.cpu_ns - before.cpu_ns),
            static_cast<double>(after.switches - before.switches), static_cast<double>(after.threads)};
}

template <class P>
Sample idle_after_work(unsigned workers, uint64_t settle_ns, uint64_t idle_ns) {
    Countdown done(tasks);
    TaskFn task = [](void *arg) { static_cast<Countdown *>(arg)->arrive(); };
    P pool(workers, task);
    for (unsigned i = 0; i < tasks; ++i) pool.submit(task, &done);
    if (!done.wait_for(patience)) fail(std::string(P::name) + ": tasks have not run");
    settle(pool);
    return idle(settle_ns, idle_ns);
}

// "idle SYSTEM WORKERS SETTLE_NS IDLE_NS": CPU ns, that of the pool's threads, their switches, their number. The system
// "floor" is none.
Sample serve_idle(const Words &words) {
    auto workers = static_cast<unsigned>(std::stoul(words.at(1)));
    uint64_t settle_ns = std::stoull(words.at(2)), idle_ns = std::stoull(words.at(3));
    Sample sample;
    if (!with_pool(words.at(0), [&](auto type) {
            sample = idle_after_work<typename decltype(type)::type>(workers, settle_ns, idle_ns);
        }))
        sample = idle(settle_ns, idle_ns);
    return sample;
}
const Service idle_service("idle", serve_idle);

void run(const Options &o, Sheet &sheet) {
    sheet.main_metric = "cpu";
    struct Sitter {
        std::string kase, system;
        std::unique_ptr<Child> process;
    };
    std::vector<Sitter> sitters;
    auto sit = [&](const std::string &kase, const std::string &system, const Words &command,
                   const std::string &request) {
        sitters.push_back({kase, system, std::make_unique<Child>(command)});
        sitters.back().process->send(request);
    };
    const std::string times = o.quick ? " 700000000 2000000000" : " 3000000000 10000000000";
    for (unsigned workers : {2u, 8u, 64u}) {
        const std::string w = std::to_string(workers), kase = w + " workers";
        sit(kase, "floor", this_program_serving(), "idle floor " + w + times);
        each_pool([&](auto type) {
            using P = typename decltype(type)::type;
            if (workers == 2 || std::is_base_of_v<HcGroup, P>)
                sit(kase, P::name, this_program_serving(), std::string("idle ") + P::name + " " + w + times);
        });
        if (workers == 2 && !o.java.empty())
            for (const char *system : {"jdk-fixed", "jdk-fjp"})
                sit(kase, system, {"java", "-cp", o.java, "Idle", system}, w + times);
    }
    for (Sitter &s : sitters) {
        Sample sample = s.process->receive();
        sheet.add(s.kase, s.system, "cpu", "s", sample.at(0) * 1e-9);
        sheet.add(s.kase, s.system, "pool cpu", "s", sample.at(1) * 1e-9);
        sheet.add(s.kase, s.system, "switches", "1", sample.at(2));
        sheet.add(s.kase, s.system, "threads", "1", sample.at(3));
    }
    for (unsigned workers : {2u, 8u, 64u}) {
        const std::string kase = std::to_string(workers) + " workers";
        sheet.at_most("context switches of hc while idle, " + kase, sheet.value(kase, "hc", "switches"), 0);
        sheet.at_most("CPU s of the workers of hc while idle, " + kase, sheet.value(kase, "hc", "pool cpu"), 0);
    }
}

const Workload w7("W7", "idle: a group without work", run);

}  // namespace
}  // namespace perf
