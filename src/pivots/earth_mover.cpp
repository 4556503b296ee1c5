// earth_mover.cpp: distributions on the line; the distance is the area between their cumulative functions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "api/guard.hpp"
#include "kith/sequence_distances.hpp"
#include "pivots/arguments.hpp"

namespace kith {
namespace {

constexpr double kLargest = 1e150;
constexpr double kWhole = 0x1p62;

void check(const std::vector<double>& values, const std::vector<double>& weights) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorCode::bad_data, message); };
  if (values.empty()) refuse("a sample of 0 values; at least one is needed");
  if (values.size() != weights.size()) refuse(fmt::format("{} values but {} weights", values.size(), weights.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(std::abs(values[i]) <= kLargest))
      refuse(fmt::format("value {} is {}; finite numbers up to {} are needed", i, values[i], kLargest));
    if (!(weights[i] >= 0 && weights[i] <= kLargest))
      refuse(fmt::format("weight {} is {}; it must be from 0 to {}", i, weights[i], kLargest));
  }
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; }))
    refuse(fmt::format("all {} weights are 0; their sum must be more", weights.size()));
}

double area(const WeightedSample& a, const WeightedSample& b, double bound) {
  const std::vector<double>& x = a.values();
  const std::vector<double>& y = b.values();
  std::size_t i = 0;
  std::size_t j = 0;
  std::int64_t below_a = 0;
  std::int64_t below_b = 0;
  double position = std::min(x.front(), y.front());
  double sum = 0;
  while (i < x.size() || j < y.size()) {
    const bool from_a = j == y.size() || (i < x.size() && x[i] <= y[j]);
    const double next = from_a ? x[i] : y[j];
    sum += static_cast<double>(std::abs(below_a - below_b)) / kWhole * (next - position);
    if (sum > bound) return sum;  // no term is negative
    position = next;
    if (from_a) {
      below_a = a.cumulative()[i++];
    } else {
      below_b = b.cumulative()[j++];
    }
  }
  return sum;
}

}  // namespace

WeightedSample::WeightedSample(std::vector<double> values)
    : WeightedSample(values, std::vector<double>(values.size(), 1)) {}

WeightedSample::WeightedSample(const std::vector<double>& values, const std::vector<double>& weights) {
  api::guarded([&] {
    check(values, weights);
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> below;
    double sum = 0;
    for (const std::size_t i : order) {
      if (weights[i] == 0) continue;
      sum += weights[i];
      if (!values_.empty() && values_.back() == values[i]) {
        below.back() = sum;
      } else {
        values_.push_back(values[i]);
        below.push_back(sum);
      }
    }
    for (const double part : below) cumulative_.push_back(static_cast<std::int64_t>(part / sum * kWhole));
  });
}

WeightedSample WeightedSample::histogram(const std::vector<double>& counts) {
  return api::guarded([&] {
    std::vector<double> bins(counts.size());
    std::iota(bins.begin(), bins.end(), 0.0);
    return WeightedSample(bins, counts);
  });
}

double earth_movers_distance(const WeightedSample& a, const WeightedSample& b) {
  return earth_movers_distance(a, b, pivots::kInfinity);
}

double earth_movers_distance(const WeightedSample& a, const WeightedSample& b, double bound) {
  return api::guarded([&] { return area(a, b, bound); });
}

}  // namespace kith
