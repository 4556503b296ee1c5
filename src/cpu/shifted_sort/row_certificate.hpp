// row_certificate.hpp: whether the neighbors of a query are proven to be its nearest (core/curve_certificate.hpp).
// Cost    codes of some dozens of boxes, then the exact keys of the windows that have the points around the query.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/curve_certificate.hpp"
#include "core/order.hpp"
#include "cpu/shifted_sort/curve_base.hpp"

namespace kith::cpu {

constexpr std::int64_t kSumsAtOnce = 16;

// Raw sums of core/key.hpp, bit for bit, of a query and `count` consecutive points of an order, at most kSumsAtOnce.
// Coordinate c of the points lies at points + c · stride. Lanes that no coordinate adds to are 0 and left out.
template <class F>
void exact_curve_sums(core::Form form, const F* query, const F* points, std::int64_t stride, std::int64_t dims,
                      std::int64_t count, double* sums) {
  double lanes[core::kLanes][kSumsAtOnce];
  const std::int64_t used = std::min<std::int64_t>(dims, core::kLanes);
  for (std::int64_t l = 0; l < used; ++l) std::fill(lanes[l], lanes[l] + count, 0.0);
  for (std::int64_t c = 0; c < dims; ++c) {
    const auto x = static_cast<double>(query[c]);
    const F* y = points + c * stride;
    double* lane = lanes[c % core::kLanes];
    if (form == core::Form::squared) {
      for (std::int64_t i = 0; i < count; ++i) {
        const double gap = x - static_cast<double>(y[i]);
        lane[i] += gap * gap;
      }
    } else if (form == core::Form::absolute) {
      for (std::int64_t i = 0; i < count; ++i) lane[i] += std::abs(x - static_cast<double>(y[i]));
    } else {
      for (std::int64_t i = 0; i < count; ++i) lane[i] = std::max(lane[i], std::abs(x - static_cast<double>(y[i])));
    }
  }
  // The tree of core::combine_lanes(): lanes 4 apart, 2 apart, then the last two.
  for (std::int64_t apart = core::kLanes / 2; apart > 0; apart /= 2)
    for (std::int64_t l = 0; l < apart && l + apart < used; ++l)
      for (std::int64_t i = 0; i < count; ++i)
        lanes[l][i] = form == core::Form::maximum ? std::max(lanes[l][i], lanes[l + apart][i])
                                                  : lanes[l][i] + lanes[l + apart][i];
  std::copy(lanes[0], lanes[0] + count, sums);
}

template <class F, class Code>
class RowCertificate {
 public:
  RowCertificate(const Metric& metric, const core::CurveFrame& frame, const std::vector<CurveOrder<F, Code>>& orders,
                 std::int64_t window)
      : metric_(metric), frame_(frame), orders_(orders), window_(window) {}

  // Of a query with these positions in the orders, and its neighbors, sorted.
  bool proves(const F* query, const std::vector<std::int64_t>& positions,
              const std::vector<core::Hit<F>>& neighbors) const {
    const double reach = core::curve_reach(metric_, neighbors.back().key, frame_.dims);
    if (!(reach >= 0)) return false;  // of values that are no numbers
    const auto box = core::reached_box(frame_, reach, [=](int c) { return static_cast<double>(query[c]); });
    const auto ends_of = [&](int shift) {
      const std::vector<Code>& codes = orders_[static_cast<std::size_t>(shift)].sorted.codes;
      return core::window_ends<Code>(window_of(positions, static_cast<std::size_t>(shift)), count(),
                                     [&](std::int64_t i) { return codes[static_cast<std::size_t>(i)]; });
    };
    const std::uint32_t covering = core::covering_orders(frame_, static_cast<int>(orders_.size()), box, ends_of);
    if (covering == 0) return false;
    for (std::size_t shift = 0; shift < orders_.size(); ++shift)
      if ((covering >> shift & 1U) != 0 && has_others(orders_[shift], window_of(positions, shift), query, neighbors))
        return false;
    return true;
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(orders_.front().sorted.codes.size()); }
  core::CurveWindow window_of(const std::vector<std::int64_t>& positions, std::size_t shift) const {
    return core::curve_window(positions[shift], window_, count());
  }

  // Whether the window has a point that is no neighbor and does not come after all of them.
  bool has_others(const CurveOrder<F, Code>& order, const core::CurveWindow& window, const F* query,
                  const std::vector<core::Hit<F>>& neighbors) const {
    const double ceiling = core::raw_ceiling(metric_, neighbors.back().key, frame_.dims);
    const bool root = core::effective_kind(metric_) == MetricKind::euclidean;
    const core::Form form = core::form_of(metric_);
    double sums[kSumsAtOnce];
    for (std::int64_t next = window.from; next < window.to; next += kSumsAtOnce) {
      // The last of them begin earlier, and look at some points again: compilers make the most of a constant count.
      const std::int64_t at = std::max(window.from, std::min(next, window.to - kSumsAtOnce));
      const std::int64_t some = std::min(kSumsAtOnce, window.to - at);
      const F* points = order.points.data() + at;
      if (some == kSumsAtOnce)
        exact_curve_sums(form, query, points, count(), frame_.dims, kSumsAtOnce, sums);
      else
        exact_curve_sums(form, query, points, count(), frame_.dims, some, sums);
      for (std::int64_t i = 0; i < some; ++i) {
        if (sums[i] > ceiling) continue;
        const core::Hit<F> hit{static_cast<F>(root ? std::sqrt(sums[i]) : sums[i]),
                               order.sorted.ids[static_cast<std::size_t>(at + i)]};
        if (!(neighbors.back() < hit) && !std::binary_search(neighbors.begin(), neighbors.end(), hit)) return true;
      }
    }
    return false;
  }

  Metric metric_;
  const core::CurveFrame& frame_;
  const std::vector<CurveOrder<F, Code>>& orders_;
  std::int64_t window_;
};

}  // namespace kith::cpu
