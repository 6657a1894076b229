// Rounds: all systems take turns, so that what disturbs the machine disturbs each of them. The order rotates from round
// to round. A system that is slow takes part in the first round and then only in every `slow_stride`-th, so that the
// slowest peer does not decide how long a run lasts.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "clock.h"
#include "numbers.h"

namespace perf {

using Sample = std::vector<double>;  // one value for each metric of the workload, in its order

struct Entrant {
    std::string system;
    std::function<Sample()> round;
    std::vector<Sample> samples{};

    std::vector<double> column(size_t metric) const {
        std::vector<double> values;
        for (const Sample &s : samples) values.push_back(s.at(metric));
        return values;
    }
};

struct Pace {
    unsigned rounds;
    double slow_ms = 1e9;  // a first round longer than this makes a system slow
    unsigned slow_stride = 4;
};

inline void interleave(std::vector<Entrant> &entrants, const Pace &pace) {
    std::vector<bool> slow(entrants.size());
    for (unsigned r = 0; r < pace.rounds; ++r) {
        for (size_t k = 0; k < entrants.size(); ++k) {
            size_t i = (k + r) % entrants.size();
            if (slow[i] && r % pace.slow_stride != 0) continue;
            sleep_ns(2'000'000);  // the workers of the last one go to sleep
            uint64_t begin = now_ns();
            entrants[i].samples.push_back(entrants[i].round());
            if (r == 0) slow[i] = ms(begin, now_ns()) > pace.slow_ms;
        }
    }
}

}  // namespace perf
