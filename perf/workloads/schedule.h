// W2 in its four parts, each in a file of its own: schedule_storm.cpp, schedule_paced.cpp, schedule_memory.cpp,
// schedule_rearm.cpp. And what they share: delays, lateness, the peers in other languages.
#pragma once

#include <cstdint>
#include <memory>

#include "../harness/child.h"
#include "../harness/clock.h"
#include "../harness/fail.h"
#include "../harness/options.h"
#include "../harness/sheet.h"

namespace perf {

inline constexpr uint64_t an_hour = 3'600'000'000'000;  // ns

// Evenly spread delays, from a sequence of its own for each seed.
class Delays {
  public:
    Delays(uint64_t seed, uint64_t from, uint64_t to) : x_(seed * 0x9E3779B97F4A7C15 + 1), from_(from), to_(to) {}
    uint64_t next() {
        x_ ^= x_ << 13;
        x_ ^= x_ >> 7;
        x_ ^= x_ << 17;
        return from_ + static_cast<uint64_t>(static_cast<unsigned __int128>(x_) * (to_ - from_) >> 64);
    }

  private:
    uint64_t x_, from_, to_;
};

// How late a timer was, in ns. No system may fire early: the run ends there.
inline double lateness(const char *system, uint64_t due, uint64_t fired) {
    if (fired < due) fail(std::string(system) + ": a timer fired " + std::to_string(due - fired) + " ns early");
    return static_cast<double>(fired - due);
}

// The peers in other languages, each in a process of its own; none where its language is missing.
struct ForeignTimers {
    std::shared_ptr<Child> jdk, go;

    explicit ForeignTimers(const Options &o) {
        if (!o.java.empty()) jdk = std::make_shared<Child>(Words{"java", "-cp", o.java, "Schedule"});
        if (!o.go.empty()) go = std::make_shared<Child>(Words{o.go + "/schedule"});
    }
    template <class F>  // f(system, child)
    void each(F &&f) const {
        if (jdk) f("jdk-stpe", jdk);
        if (go) f("go", go);
    }
};

void schedule_storm(const Options &, Sheet &, const ForeignTimers &);
void schedule_paced(const Options &, Sheet &, const ForeignTimers &);
void schedule_memory(const Options &, Sheet &);
void schedule_rearm(const Options &, Sheet &, const ForeignTimers &);

}  // namespace perf
