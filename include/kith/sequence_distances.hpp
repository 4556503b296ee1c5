// Distances of strings, time series and histograms, for PivotIndex (kith/pivots.hpp) or alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/pivots.hpp"

namespace kith {

// A string as edit distances compare it: a sequence of symbols.
class KITH_API EditText {
 public:
  EditText() = default;
  // Symbols are code points: Error(bad_data) names the first byte that is not UTF-8.
  static EditText of_utf8(std::string_view text);
  // Symbols are bytes.
  static EditText of_bytes(std::string_view bytes);

  std::int64_t size() const { return static_cast<std::int64_t>(symbols_.size()); }
  std::u32string_view symbols() const { return symbols_; }
  // How many symbols have each remainder modulo 32, up to 255.
  const std::array<std::uint8_t, 32>& counts() const { return counts_; }

 private:
  explicit EditText(std::u32string symbols);

  std::u32string symbols_;
  std::array<std::uint8_t, 32> counts_{};
};

// Levenshtein's distance: the least number of symbols that are inserted, deleted or replaced to make one text of the
// other. Bit-parallel (Myers 1999, Hyyrö 2003): m ≤ n symbols take n ⌈m / 64⌉ steps, after what both begin and end
// with is left out.
KITH_API std::int64_t levenshtein(const EditText& a, const EditText& b);
// The same where it is at most `bound`, else some number above `bound`, which takes less time.
KITH_API std::int64_t levenshtein(const EditText& a, const EditText& b, std::int64_t bound);
// Of UTF-8.
KITH_API std::int64_t levenshtein(std::string_view a, std::string_view b);
// Of the distances of a text to others: the difference of lengths, and how many symbols one has that the other lacks
// (bag distance), both at most the distance.
KITH_API void levenshtein_lower_bounds(const EditText& text, std::span<const EditText> others, double* out);

struct Levenshtein {
  double operator()(const EditText& a, const EditText& b) const { return static_cast<double>(levenshtein(a, b)); }
  double operator()(const EditText& a, const EditText& b, double bound) const {
    constexpr double kMost = 0x1p62;
    return static_cast<double>(levenshtein(a, b, static_cast<std::int64_t>(std::min(bound, kMost))));
  }
  void lower_bounds(const EditText& query, std::span<const EditText> objects, double* out) const {
    levenshtein_lower_bounds(query, objects, out);
  }
  static DistanceProperties properties() { return {true, true, true}; }
};

// Points in time, of one number each or of several.
class KITH_API TimeSeries {
 public:
  // Error(bad_data) unless there is a step, and numbers are finite and up to 1e150; `dims` of them are a step.
  explicit TimeSeries(std::vector<double> values, std::int64_t dims = 1);

  std::int64_t steps() const { return static_cast<std::int64_t>(values_.size()) / dims_; }
  std::int64_t dims() const { return dims_; }
  const double* step(std::int64_t index) const { return values_.data() + index * dims_; }

 private:
  std::vector<double> values_;
  std::int64_t dims_;
};

// Dynamic time warping: the root of the least sum of squared Euclidean distances along a path through pairs (i, j) of
// steps, from the first of both to the last of both, that goes on by one in i, j or both; |i − j| ≤ window (Sakoe and
// Chiba), if that is not negative. Infinite where the lengths differ by more than the window. Not a metric.
KITH_API double dynamic_time_warping(const TimeSeries& a, const TimeSeries& b, std::int64_t window = -1);
// The same where it is at most `bound`, else something above `bound`: stops where all paths are too long.
KITH_API double dynamic_time_warping(const TimeSeries& a, const TimeSeries& b, std::int64_t window, double bound);
// Of the distances of a series to others: that of their steps to the ranges that the window lets them meet (Keogh).
KITH_API void dynamic_time_warping_lower_bounds(const TimeSeries& series, std::span<const TimeSeries> others,
                                                std::int64_t window, double* out);

struct DynamicTimeWarping {
  std::int64_t window = -1;

  double operator()(const TimeSeries& a, const TimeSeries& b) const { return dynamic_time_warping(a, b, window); }
  double operator()(const TimeSeries& a, const TimeSeries& b, double bound) const {
    return dynamic_time_warping(a, b, window, bound);
  }
  void lower_bounds(const TimeSeries& query, std::span<const TimeSeries> objects, double* out) const {
    dynamic_time_warping_lower_bounds(query, objects, window, out);
  }
  static DistanceProperties properties() { return {true, false}; }
};

// A distribution on the line: values, each with a weight, which are scaled to a sum of 1.
class KITH_API WeightedSample {
 public:
  // Every value has the same weight.
  explicit WeightedSample(std::vector<double> values);
  // Error(bad_data) unless values are finite and up to 1e150, and weights are finite, not negative and not all 0.
  WeightedSample(const std::vector<double>& values, const std::vector<double>& weights);
  // Counts of bins at 0, 1, 2, …
  static WeightedSample histogram(const std::vector<double>& counts);

  // Sorted, no two equal.
  const std::vector<double>& values() const { return values_; }
  // The part of the weight that lies at or below each value, times 2^62. As whole numbers, so that their differences
  // are exact: distances are then sums of terms that are not negative, each with three roundings.
  const std::vector<std::int64_t>& cumulative() const { return cumulative_; }

 private:
  std::vector<double> values_;
  std::vector<std::int64_t> cumulative_;
};

// Earth mover's distance on the line (Wasserstein-1): the least sum of weight times way that makes one distribution of
// the other. A metric.
KITH_API double earth_movers_distance(const WeightedSample& a, const WeightedSample& b);
KITH_API double earth_movers_distance(const WeightedSample& a, const WeightedSample& b, double bound);

struct EarthMovers {
  double operator()(const WeightedSample& a, const WeightedSample& b) const { return earth_movers_distance(a, b); }
  double operator()(const WeightedSample& a, const WeightedSample& b, double bound) const {
    return earth_movers_distance(a, b, bound);
  }
  // Roundings of 3 million values, and of terms that are too small for double.
  static DistanceProperties properties() { return {true, true, false, 1e-9, 1e-300}; }
};

}  // namespace kith
