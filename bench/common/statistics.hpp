// statistics.hpp: what is said about the times of several runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace kith::bench {

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

inline double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the sample; 0 for fewer than two.
inline double deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Milliseconds of the runs of one contender.
struct Times {
  std::vector<double> samples_ms;

  bool timed() const { return !samples_ms.empty(); }
  double median_ms() const { return median(samples_ms); }
  double min_ms() const { return timed() ? *std::min_element(samples_ms.begin(), samples_ms.end()) : 0; }
};

}  // namespace kith::bench
