// Summaries of samples. Every function may reorder its copy of the samples and answers NaN when there are none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace perf {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

// The smallest sample that at least `p` of all (0 < p <= 1) do not exceed.
inline double percentile(std::vector<double> samples, double p) {
    if (samples.empty()) return not_measured;
    std::sort(samples.begin(), samples.end());
    auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(samples.size())));
    return samples[std::clamp<size_t>(rank, 1, samples.size()) - 1];
}

inline double median(const std::vector<double> &samples) { return percentile(samples, 0.5); }

// What the seed reports: the mean of the second half of the rounds, the first half being warm-up.
inline double mean_of_last_half(const std::vector<double> &samples) {
    if (samples.empty()) return not_measured;
    size_t first = samples.size() / 2;
    double sum = 0;
    for (size_t i = first; i < samples.size(); ++i) sum += samples[i];
    return sum / static_cast<double>(samples.size() - first);
}

}  // namespace perf
