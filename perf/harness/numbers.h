// Summaries of samples. Every function may reorder its copy of the samples and answers NaN when there are none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
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

inline double mean_of(const std::vector<double> &samples) {
    if (samples.empty()) return not_measured;
    double sum = 0;
    for (double v : samples) sum += v;
    return sum / static_cast<double>(samples.size());
}

// What the seed reports: the mean of the second half of the rounds, the first half being warm-up.
inline double mean_of_last_half(const std::vector<double> &samples) {
    if (samples.empty()) return not_measured;
    size_t first = samples.size() / 2;
    double sum = 0;
    for (size_t i = first; i < samples.size(); ++i) sum += samples[i];
    return sum / static_cast<double>(samples.size() - first);
}

// What JMH prints as the error of a mean: half of the interval that holds it with 99.9 %, by Student's t.
inline double error_of_mean(const std::vector<double> &samples) {
    // t for 1, 2, ... degrees of freedom; the last one serves for all that are more
    static constexpr double t[] = {636.6, 31.60, 12.92, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587,
                                   4.437, 4.318, 4.221, 4.140, 4.073, 4.015, 3.965, 3.922, 3.883};
    const size_t n = samples.size();
    if (n < 2) return not_measured;
    const double mean = mean_of(samples);
    double squares = 0;
    for (double v : samples) squares += (v - mean) * (v - mean);
    const auto count = static_cast<double>(n);
    return t[std::min(n - 1, std::size(t)) - 1] * std::sqrt(squares / (count - 1) / count);
}

}  // namespace perf
