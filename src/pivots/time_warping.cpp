// time_warping.cpp: dynamic time warping row by row, and Keogh's lower bound.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "api/guard.hpp"
#include "kith/sequence_distances.hpp"
#include "pivots/arguments.hpp"

namespace kith {
namespace {

using pivots::kInfinity;

constexpr double kLargestStep = 1e150;  // whose square double can hold

double squared_distance(const double* a, const double* b, std::int64_t dims) {
  double sum = 0;
  for (std::int64_t i = 0; i < dims; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

void check_dims(const TimeSeries& a, const TimeSeries& b) {
  if (a.dims() != b.dims())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a time series of {} dimensions and one of {}", a.dims(), b.dims()));
}

// Steps that a step may meet in a series of so many.
struct Window {
  std::int64_t width;  // negative: all
  std::int64_t steps;

  std::int64_t first(std::int64_t step) const { return width < 0 ? 0 : std::max<std::int64_t>(step - width, 0); }
  std::int64_t last(std::int64_t step) const { return width < 0 ? steps - 1 : std::min(step + width, steps - 1); }
};

// One that leaves nothing out is none, and numbers that are added to it stay small.
std::int64_t effective(std::int64_t window, std::int64_t longest) {
  return window < longest ? window : -1;
}

// Columns of a row of sums, shifted by one: before the first there is one that no path reaches.
double warp(const TimeSeries& a, const TimeSeries& b, std::int64_t asked, double bound) {
  check_dims(a, b);
  const std::int64_t window = effective(asked, std::max(a.steps(), b.steps()));
  if (window >= 0 && std::abs(a.steps() - b.steps()) > window) return kInfinity;
  thread_local std::vector<double> before;
  thread_local std::vector<double> row;
  before.assign(static_cast<std::size_t>(b.steps()) + 1, kInfinity);
  row.assign(before.size(), kInfinity);
  before[0] = 0;
  // Roots of sums that are larger are larger than the bound, by three roundings.
  const double most = bound * bound * (1 + 8 * std::numeric_limits<double>::epsilon());
  const Window reach{window, b.steps()};
  for (std::int64_t i = 0; i < a.steps(); ++i) {
    const std::int64_t first = reach.first(i);
    const std::int64_t last = reach.last(i);
    double least = kInfinity;
    row[static_cast<std::size_t>(first)] = kInfinity;
    for (std::int64_t j = first; j <= last; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double from = std::min({before[at], before[at + 1], row[at]});
      row[at + 1] = from + squared_distance(a.step(i), b.step(j), a.dims());
      least = std::min(least, row[at + 1]);
    }
    // The next row looks one column further.
    if (last + 2 < std::ssize(row)) row[static_cast<std::size_t>(last) + 2] = kInfinity;
    if (least > most) return kInfinity;
    std::swap(before, row);
  }
  return std::sqrt(before.back());
}

// The least and greatest coordinates of the steps of a series that step i of another may meet.
class Envelope {
 public:
  Envelope(const TimeSeries& series, std::int64_t window) : dims_(series.dims()), reach_{window, series.steps()} {
    // As many steps as a series can have that meets this one at all; all are alike without a window.
    const std::int64_t steps = window < 0 ? 1 : series.steps() + window;
    least_.resize(static_cast<std::size_t>(steps * dims_));
    greatest_.resize(least_.size());
    std::vector<std::int64_t> lows;
    std::vector<std::int64_t> highs;
    for (std::int64_t dim = 0; dim < dims_; ++dim) {
      const auto value = [&](std::int64_t step) { return series.step(step)[dim]; };
      slide(lows, steps, dim, least_, value, [](double x, double y) { return x <= y; });
      slide(highs, steps, dim, greatest_, value, [](double x, double y) { return x >= y; });
    }
  }

  // Of all warping paths' sums; infinite where there is no path.
  double squared_distance_to(const TimeSeries& other) const {
    if (reach_.width >= 0 && std::abs(other.steps() - reach_.steps) > reach_.width) return kInfinity;
    double sum = 0;
    for (std::int64_t i = 0; i < other.steps(); ++i) {
      const auto at = static_cast<std::size_t>((reach_.width < 0 ? 0 : i) * dims_);
      for (std::int64_t dim = 0; dim < dims_; ++dim) {
        const double x = other.step(i)[dim];
        const auto where = at + static_cast<std::size_t>(dim);
        const double beyond = std::max({x - greatest_[where], least_[where] - x, 0.0});
        sum += beyond * beyond;
      }
    }
    return sum;
  }

 private:
  // The best value of each window, by a queue of steps each of which is better than those behind it.
  template <class Value, class Better>
  void slide(std::vector<std::int64_t>& queue, std::int64_t steps, std::int64_t dim, std::vector<double>& out,
             Value value, Better better) {
    queue.clear();
    std::size_t head = 0;
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      for (; next <= reach_.last(i); ++next) {
        while (queue.size() > head && better(value(next), value(queue.back()))) queue.pop_back();
        queue.push_back(next);
      }
      while (queue[head] < reach_.first(i)) ++head;
      out[static_cast<std::size_t>(i * dims_ + dim)] = value(queue[head]);
    }
  }

  std::int64_t dims_;
  Window reach_;
  std::vector<double> least_;
  std::vector<double> greatest_;
};

}  // namespace

TimeSeries::TimeSeries(std::vector<double> values, std::int64_t dims) : values_(std::move(values)), dims_(dims) {
  api::guarded([&] {
    const auto count = static_cast<std::int64_t>(values_.size());
    if (dims < 1 || count % dims != 0)
      throw Error(ErrorCode::bad_data, fmt::format("{} numbers are no steps of {} dimensions", count, dims));
    if (count == 0) throw Error(ErrorCode::bad_data, "a time series of 0 steps; at least one is needed");
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = values_[static_cast<std::size_t>(i)];
      if (!(std::abs(value) <= kLargestStep))
        throw Error(ErrorCode::bad_data,
                    fmt::format("step {} of the time series has {}; finite numbers up to {} are needed", i / dims,
                                value, kLargestStep));
    }
  });
}

double dynamic_time_warping(const TimeSeries& a, const TimeSeries& b, std::int64_t window) {
  return dynamic_time_warping(a, b, window, kInfinity);
}

double dynamic_time_warping(const TimeSeries& a, const TimeSeries& b, std::int64_t window, double bound) {
  return api::guarded([&] { return warp(a, b, window, bound); });
}

void dynamic_time_warping_lower_bounds(const TimeSeries& series, std::span<const TimeSeries> others,
                                       std::int64_t window, double* out) {
  api::guarded([&] {
    std::int64_t longest = series.steps();
    for (const TimeSeries& other : others) {
      check_dims(series, other);
      longest = std::max(longest, other.steps());
    }
    const Envelope envelope(series, effective(window, longest));
    for (const TimeSeries& other : others) *out++ = std::sqrt(envelope.squared_distance_to(other));
  });
}

}  // namespace kith
