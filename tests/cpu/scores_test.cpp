// Scores and their bounds: the SIMD kernels compute the sums they claim, within the errors that decide what may be
// dropped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/key.hpp"
#include "cpu/score_bounds.hpp"
#include "cpu/simd/kernels.hpp"
#include "kith/metric.hpp"
#include "simd_targets.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

const std::vector<Metric>& forms() {
  static const std::vector<Metric> metrics = {MetricKind::sqeuclidean,  MetricKind::manhattan,  MetricKind::chebyshev,
                                              Metric::minkowski(3),     Metric::minkowski(1.5), MetricKind::hamming,
                                              MetricKind::inner_product};
  return metrics;
}

// The score of the kernels without its rounding: the raw sum, negated for products.
template <Element T>
long double true_score(const T* x, const T* y, std::int64_t dims, const Metric& metric) {
  const long double distance = precise_distance(x, y, dims, metric);
  switch (metric.kind) {
    case MetricKind::minkowski: return std::pow(distance, static_cast<long double>(metric.p));
    case MetricKind::hamming: return distance * static_cast<long double>(dims);
    case MetricKind::inner_product: return -distance;
    default: return distance;
  }
}

template <class F>
double square_norm(const F* row, std::int64_t dims) {
  return key_distance(row, row, dims, MetricKind::inner_product);
}

// A candidate is lost when its computed score lies above the limit that its own true score, or its own key, sets.
template <class F>
void expect_bounds_hold(const cpu::ScoreBounds<F>& bounds, F score, long double exact, F key, double x_norm,
                        double y_norm, const std::string& what) {
  const double error = bounds.error(x_norm, y_norm);
  EXPECT_LE(score, bounds.computed_limit(static_cast<double>(exact), error)) << what;
  EXPECT_LE(score, bounds.computed_limit(bounds.true_limit(key, x_norm), error)) << what;
  const F raised = core::round_up<F>(static_cast<double>(score) + error);
  EXPECT_GE(bounds.key_above(raised, x_norm), key) << what;
}

template <class F>
void expect_scores_within_bounds(Kind kind, const Metric& metric, std::int64_t dims) {
  constexpr std::int64_t kRows = 35;
  constexpr std::int64_t kQueries = 5;
  const Sample<F> sample = generate<F>(kind, {kRows, kQueries, dims}, metric, 1);
  const cpu::Rows<F> base{sample.base.data(), kRows, dims};
  const cpu::Rows<F> queries{sample.queries.data(), kQueries, dims};
  constexpr std::int64_t kStride = cpu::kSlack;
  std::vector<F> direct(kQueries * kStride);
  std::vector<F> tiled(kQueries * kStride);
  std::vector<F> panels(static_cast<std::size_t>(kStride * dims));
  const core::Form form = core::form_of(metric);
  cpu::direct_scores(form, metric.p, queries, base, dims, direct.data(), kStride);
  cpu::pack_panels(base, dims, nullptr, panels.data());
  const std::vector<F> thresholds(kQueries, std::numeric_limits<F>::infinity());  // every block is written
  std::vector<std::uint8_t> hits(kQueries * kStride);
  cpu::register_tiled_scores(form, metric.p, queries, panels.data(), kRows, dims,
                             {tiled.data(), kStride, thresholds.data(), hits.data(), kStride});
  const cpu::ScoreBounds<F> bounds(metric, dims, false, false);
  const cpu::ScoreBounds<F> expanded(MetricKind::sqeuclidean, dims, true, false);
  for (std::int64_t q = 0; q < kQueries; ++q) {
    const F* x = sample.queries.row(q);
    for (std::int64_t j = 0; j < kRows; ++j) {
      const F* y = sample.base.row(j);
      const auto at = static_cast<std::size_t>(q * kStride + j);
      const long double exact = true_score(x, y, dims, metric);
      const double returned = key_distance(x, y, dims, metric);
      const bool product = metric.kind == MetricKind::inner_product;
      const F key = static_cast<F>(product ? -returned : returned);
      const double x_norm = square_norm(x, dims);
      const double y_norm = square_norm(y, dims);
      const std::string what = kith::to_string(metric) + ' ' + to_string(kind) + " d=" + std::to_string(dims);
      expect_bounds_hold(bounds, direct[at], exact, key, x_norm, y_norm, what + " direct");
      expect_bounds_hold(bounds, tiled[at], exact, key, x_norm, y_norm, what + " tiled");
      if (!product) continue;
      const F score = static_cast<F>(y_norm) + 2 * direct[at];
      const long double square = precise_distance(x, y, dims, MetricKind::sqeuclidean);
      expect_bounds_hold(expanded, score, square - static_cast<long double>(x_norm), static_cast<F>(square), x_norm,
                         y_norm, what + " expanded");
    }
  }
}

TEST(Scores, StayWithinTheirBounds) {
  for (const Metric& metric : forms()) {
    for (const Kind kind : {Kind::uniform, Kind::gaussian, Kind::clustered, Kind::duplicates, Kind::large_offset,
                            Kind::ties, Kind::subnormal}) {
      for (const std::int64_t dims : {1, 3, 16, 67, 300}) {
        expect_scores_within_bounds<float>(kind, metric, dims);
        expect_scores_within_bounds<double>(kind, metric, dims);
      }
    }
  }
}

// A block is written, and its byte set, exactly when one of its scores is not above the query's threshold.
template <class F>
void expect_blocks_by_threshold(std::int64_t queries, std::int64_t rows, std::int64_t dims) {
  const Sample<F> sample = generate<F>(Kind::gaussian, {rows, queries, dims}, MetricKind::sqeuclidean, 3);
  const std::int64_t stride = (rows + cpu::kSlack - 1) / cpu::kSlack * cpu::kSlack;
  const auto size = static_cast<std::size_t>(queries * stride);
  std::vector<F> panels(static_cast<std::size_t>(stride * dims));
  cpu::pack_panels(cpu::Rows<F>{sample.base.data(), rows, dims}, dims, nullptr, panels.data());
  const auto run = [&](const std::vector<F>& thresholds, std::vector<F>& scores, std::vector<std::uint8_t>& hits) {
    cpu::register_tiled_scores(core::Form::squared, 2, cpu::Rows<F>{sample.queries.data(), queries, dims},
                               panels.data(), rows, dims,
                               {scores.data(), stride, thresholds.data(), hits.data(), stride});
  };
  std::vector<F> all(size);
  std::vector<std::uint8_t> hits(size);
  run(std::vector<F>(static_cast<std::size_t>(queries), std::numeric_limits<F>::infinity()), all, hits);
  // Every other query's threshold is a score that occurs, so that equality counts as a hit; the rest have none.
  std::vector<F> thresholds;
  for (std::int64_t q = 0; q < queries; ++q)
    thresholds.push_back(q % 2 == 0 ? all[static_cast<std::size_t>(q * stride + rows / 2)] : F{-1});
  const F untouched = -7;
  std::vector<F> some(size, untouched);
  hits.assign(size, 0);
  run(thresholds, some, hits);
  const std::int64_t block = cpu::tiled_block_rows<F>();
  for (std::int64_t q = 0; q < queries; ++q) {
    for (std::int64_t first = 0; first < rows; first += block) {
      const F* expected = all.data() + q * stride + first;
      const bool hit = *std::min_element(expected, expected + block) <= thresholds[static_cast<std::size_t>(q)];
      ASSERT_EQ(hits[static_cast<std::size_t>(q * stride + first / block)], hit ? 1 : 0) << "query " << q;
      for (std::int64_t i = 0; i < block; ++i)
        ASSERT_EQ(some[static_cast<std::size_t>(q * stride + first + i)], hit ? expected[i] : untouched);
    }
  }
}

TEST(Scores, BlocksAreWrittenWhenTheyHoldACandidate) {
  on_every_target([] {
    for (const std::int64_t queries : {1, 5, 6, 7, 13}) {
      expect_blocks_by_threshold<float>(queries, 200, 9);
      expect_blocks_by_threshold<double>(queries, 131, 4);
    }
  });
}

}  // namespace
}  // namespace kith::test
