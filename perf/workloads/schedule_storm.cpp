// W2, the storm: 8 external submitters x 300 000 timers with random delays of 1 ms to 5 s (--quick: 60 000, to 1 s), 8
// workers; and ours with 2 and 64 workers (not in --quick). GLib and libuv, which have one loop, would need minutes:
// they get 60 000, in a case of their own. The body adds 1 to the atomic counter of its submitter. Every 64th timer is
// a probe: it also reads the clock and notes how late it is.
//
//     enqueue       from the opening of the gate behind which the submitters wait, until the last of them has returned
//     arm           that divided by the number of timers
//     cpu           user and system time of the process, from there until every timer has fired, for each timer
//     p50 p99 max   lateness of the probes, while all others fire too
//     floor         the submitter writes each timer into a malloc of 64 bytes and pushes that on its own lane, a
//                   boost::lockfree::spsc_queue. Nothing waits: once all are armed, one thread calls and frees them.
//     uv            hands over only: its loop arms later
//
// All systems take turns, the JDK and Go in processes of their own; medians of the rounds (--quick: one); slow systems
// take part in every second. What serves lives through all rounds; submitters are new in each. Before the first round
// each has one of warm-up, with delays up to 20 ms.
#include <algorithm>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdlib>
#include <thread>

#include "../harness/futex.h"
#include "../harness/rounds.h"
#include "../peers/all_timers.h"
#include "contention.h"
#include "schedule.h"

namespace perf {
namespace {

constexpr unsigned submitters = 8;
constexpr uint64_t probe_stride = 64, shortest = 1'000'000, warm_up_longest = 20'000'000;

struct Submitter;
struct Probe {
    Submitter *submitter;
    uint64_t due = 0, fired = 0;
};

struct Submitter {
    alignas(128) std::atomic<uint64_t> fired{0};
    uint64_t target = 0;
    Countdown *all = nullptr;
    alignas(128) std::vector<Probe> probes;
    uint64_t returned = 0;

    static void add(void *arg) {
        auto &self = *static_cast<Submitter *>(arg);
        if (self.fired.fetch_add(1, std::memory_order_relaxed) + 1 == self.target) [[unlikely]]
            self.all->arrive();
    }
    static void note(void *arg) {
        auto &probe = *static_cast<Probe *>(arg);
        probe.fired = now_ns();
        add(probe.submitter);
    }
    template <class Sink>
    void arm_all(Sink &sink, Delays delays) {
        for (uint64_t i = 0; i < target; ++i) {
            const uint64_t delay = delays.next();
            if (i % probe_stride != 0) {
                sink(add, this, delay);
            } else {
                Probe &probe = probes[i / probe_stride];
                probe.due = now_ns() + delay;
                sink(note, &probe, delay);
            }
        }
        returned = now_ns();
    }
};

class Storm {
  public:
    explicit Storm(uint64_t timers) : timers_(timers), submitters_(std::make_unique<Submitter[]>(submitters)) {
        for (unsigned s = 0; s < submitters; ++s) {
            submitters_[s].target = timers;
            submitters_[s].all = &all_;
            submitters_[s].probes.assign((timers - 1) / probe_stride + 1, {&submitters_[s]});
        }
    }

    // make_sink(s) gives what submitter s arms through: sink(fn, arg, delay). armed() is called when all have returned.
    // {enqueue, cpu}
    template <class MakeSink, class Armed>
    Sample run(const char *system, uint64_t longest, MakeSink make_sink, Armed armed) {
        Countdown ready(submitters);
        Gate start;
        std::vector<std::jthread> threads;
        for (unsigned s = 0; s < submitters; ++s)
            threads.emplace_back([&, s] {
                auto sink = make_sink(s);
                ready.arrive();
                start.wait();
                submitters_[s].arm_all(sink, Delays(s + 1, shortest, longest));
            });
        ready.wait();
        uint64_t cpu = process_cpu_ns(), opened = now_ns(), last = 0;
        start.open();
        threads.clear();  // joins
        armed();
        if (!all_.wait_for(patience)) fail(std::string(system) + ": timers have not fired");
        cpu = process_cpu_ns() - cpu;
        for (unsigned s = 0; s < submitters; ++s) {
            if (submitters_[s].fired != timers_) fail(std::string(system) + ": a timer fired twice");
            last = std::max(last, submitters_[s].returned);
        }
        return {ms(opened, last), static_cast<double>(cpu) / static_cast<double>(timers_ * submitters)};
    }

    std::vector<double> latenesses(const char *system) const {
        std::vector<double> late;
        for (unsigned s = 0; s < submitters; ++s)
            for (const Probe &p : submitters_[s].probes) late.push_back(lateness(system, p.due, p.fired));
        return late;
    }

  private:
    const uint64_t timers_;
    std::unique_ptr<Submitter[]> submitters_;
    Countdown all_{submitters};
};

// The metrics of one round, in this order; the floor has the first two.
enum { storm_enqueue, storm_cpu, storm_p50, storm_p99, storm_max };

template <Timers T>
Sample round(T &timers, uint64_t count, uint64_t longest) {
    Storm storm(count);
    auto make_sink = [&](unsigned) {
        return [&timers](TaskFn fn, void *arg, uint64_t delay) { timers.schedule(fn, arg, delay); };
    };
    Sample sample = storm.run(T::name, longest, make_sink, [] {});
    const std::vector<double> late = storm.latenesses(T::name);
    for (double p : {0.5, 0.99, 1.0}) sample.push_back(percentile(late, p));
    return sample;
}

class Floor {
  public:
    explicit Floor(uint64_t timers) : timers_(timers) {
        for (unsigned s = 0; s < submitters; ++s) lanes_.push_back(std::make_unique<Lane>(timers));
    }
    Sample round(uint64_t longest) {
        auto make_sink = [this](unsigned s) {
            return [lane = lanes_[s].get()](TaskFn fn, void *arg, uint64_t delay) {
                auto *block = static_cast<Block *>(std::malloc(sizeof(Block)));
                if (!block) fail("no memory");
                *block = {fn, arg, now_ns() + delay, {}};
                lane->push(block);
            };
        };
        return Storm(timers_).run("floor", longest, make_sink, [this] {
            for (auto &lane : lanes_)
                lane->consume_all([](Block *block) {
                    block->fn(block->arg);
                    std::free(block);
                });
        });
    }

  private:
    struct Block {
        TaskFn fn;
        void *arg;
        uint64_t due;
        char rest[40];
    };
    static_assert(sizeof(Block) == 64);
    using Lane = boost::lockfree::spsc_queue<Block *>;

    uint64_t timers_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

struct Size {
    uint64_t timers, longest;
};

class Field {
  public:
    // round(longest)
    template <class Round>
    void enter(const std::string &kase, std::string system, const Size &size, Round round) {
        round(warm_up_longest);
        entries_.push_back({kase, size.timers * submitters});
        entrants_.push_back({std::move(system), [=] { return round(size.longest); }});
    }
    void enter_floor(const std::string &kase, const Size &size) {
        auto floor = std::make_shared<Floor>(size.timers);
        enter(kase, "floor", size, [=](uint64_t longest) { return floor->round(longest); });
    }
    template <Timers T>
    std::shared_ptr<T> enter_timers(const std::string &kase, const Size &size, unsigned workers) {
        auto timers = std::make_shared<T>(workers);
        enter(kase, T::name, size, [=](uint64_t longest) { return round(*timers, size.timers, longest); });
        return timers;
    }
    void enter_child(const std::string &kase, std::string system, const Size &size, std::shared_ptr<Child> child) {
        std::string request = "storm " + std::to_string(submitters) + " " + std::to_string(size.timers) + " ";
        enter(kase, std::move(system), size,
              [=](uint64_t longest) { return child->ask(request + std::to_string(longest)); });
    }
    void measure(Sheet &sheet, const Pace &pace) {
        interleave(entrants_, pace);
        for (size_t i = 0; i < entrants_.size(); ++i) {
            const auto &[kase, timers] = entries_[i];
            const Entrant &e = entrants_[i];
            auto add = [&](const char *metric, const char *unit, double value) {
                sheet.add(kase, e.system, metric, unit, value);
            };
            add("enqueue", "ms", median(e.column(storm_enqueue)));
            add("arm", "ns", median(e.column(storm_enqueue)) * 1e6 / static_cast<double>(timers));
            add("cpu", "ns", median(e.column(storm_cpu)));
            if (e.samples.front().size() <= storm_p50) continue;
            add("p50", "ns", median(e.column(storm_p50)));
            add("p99", "ns", median(e.column(storm_p99)));
            add("max", "ns", median(e.column(storm_max)));
        }
    }

  private:
    struct Entry {
        std::string kase;
        uint64_t timers;  // of all submitters
    };
    std::vector<Entry> entries_;  // one for each entrant
    std::vector<Entrant> entrants_;
};

std::string case_name(const Size &size, unsigned workers) {
    return "storm of " + std::to_string(submitters) + " x " + std::to_string(size.timers) + ", " +
           std::to_string(workers) + " workers";
}

}  // namespace

void schedule_storm(const Options &o, Sheet &sheet, const ForeignTimers &foreign) {
    const Size small{60'000, o.quick ? 1'000'000'000u : 5'000'000'000u},
        size{o.quick ? 60'000u : 300'000u, small.longest};
    Field field;
    std::vector<std::pair<std::string, std::shared_ptr<HcTimers>>> ours;
    auto enter_case = [&](const Size &of, unsigned workers) {
        const std::string kase = case_name(of, workers);
        field.enter_floor(kase, of);
        ours.emplace_back(kase, field.enter_timers<HcTimers>(kase, of, workers));
        return kase;
    };
    const std::string kase = enter_case(size, 8), of_loops = o.quick ? kase : enter_case(small, 8);
    each_timers_peer([&](auto type) {
        using T = typename decltype(type)::type;
        if (T::one_loop)
            field.enter_timers<T>(of_loops, small, 8);
        else
            field.enter_timers<T>(kase, size, 8);
    });
    foreign.each([&](const char *system, auto child) { field.enter_child(kase, system, size, child); });
    if (!o.quick)
        for (unsigned workers : {2u, 64u}) enter_case(size, workers);
    field.measure(sheet, o.quick ? Pace{1} : Pace{5, 7'500, 2});
    for (const auto &[name, group] : ours) add_contention(sheet, name, "hc", group->stats());

    sheet.at_least("jdk-stpe enqueue, in hc", sheet.ratio(kase, "enqueue", "jdk-stpe", "hc"), 20);
    sheet.at_least("go enqueue, in hc", sheet.ratio(kase, "enqueue", "go", "hc"), 10);
    sheet.at_least("jdk-stpe cpu, in hc", sheet.ratio(kase, "cpu", "jdk-stpe", "hc"), 5);
}

}  // namespace perf
