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
#include "core/score_bounds.hpp"
#include "cpu/simd/kernels.hpp"
#include "kith/metric.hpp"
#include "simd_targets.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

const std::vector<Metric>& forms() {
  static const std::vector<Metric> metrics = {MetricKind::sqeuclidean, MetricKind::manhattan,    MetricKind::chebyshev,
                                              Metric::minkowski(3),    Metric::minkowski(1.5),   MetricKind::hamming,
                                              MetricKind::canberra,    MetricKind::inner_product};
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
void expect_bounds_hold(const core::ScoreBounds<F>& bounds, F score, long double exact, F key, double x_norm,
                        double y_norm, const std::string& what) {
  const double error = bounds.error(x_norm, y_norm);
  EXPECT_LE(score, bounds.computed_limit(static_cast<double>(exact), error)) << what;
  EXPECT_LE(score, bounds.computed_limit(bounds.true_limit(key, x_norm), error)) << what;
  const F raised = core::round_up<F>(static_cast<double>(score) + error);
  EXPECT_GE(bounds.key_above(raised, x_norm), key) << what;
}

// What register_tiled_scores() wrote.
template <class F>
struct TiledScores {
  std::int64_t block_rows;
  std::vector<F> scores;
  std::vector<cpu::BlockHit> hits;

  // Null for a block that was not written.
  const F* block(std::int64_t query, std::int64_t index) const {
    for (std::size_t i = 0; i < hits.size(); ++i)
      if (hits[i].query == query && hits[i].block == index)
        return scores.data() + static_cast<std::int64_t>(i) * block_rows;
    return nullptr;
  }
};

template <class F>
TiledScores<F> tiled_scores(core::Form form, double p, cpu::Rows<F> queries, const cpu::TiledBase<F>& base,
                            std::int64_t dims, const std::vector<F>& limits) {
  TiledScores<F> out{cpu::tiled_block_rows<F>(), {}, {}};
  const std::int64_t blocks = (base.count + out.block_rows - 1) / out.block_rows;
  out.scores.resize(static_cast<std::size_t>(queries.count * blocks * out.block_rows));
  out.hits.resize(static_cast<std::size_t>(queries.count * blocks));
  const std::int64_t hits =
      cpu::register_tiled_scores(form, p, queries, base, dims, {out.scores.data(), out.hits.data(), limits.data()});
  out.hits.resize(static_cast<std::size_t>(hits));
  return out;
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
  cpu::pack_panels(base, dims, panels.data());
  const TiledScores<F> tiled_all = tiled_scores(form, metric.p, queries, {panels.data(), nullptr, kRows}, dims,
                                                std::vector<F>(kQueries, std::numeric_limits<F>::infinity()));
  for (std::int64_t q = 0; q < kQueries; ++q)
    for (std::int64_t j = 0; j < kRows; ++j)
      tiled[static_cast<std::size_t>(q * kStride + j)] =
          tiled_all.block(q, j / tiled_all.block_rows)[j % tiled_all.block_rows];
  const core::ScoreBounds<F> bounds(metric, dims, false, false);
  const core::ScoreBounds<F> expanded(MetricKind::sqeuclidean, dims, true, false);
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

// A block is written exactly when one of its scores is below the query's limit, or that limit is infinite.
template <class F>
void expect_blocks_by_limit(std::int64_t queries, std::int64_t rows, std::int64_t dims, bool with_bias) {
  const Sample<F> sample = generate<F>(Kind::gaussian, {rows, queries, dims}, MetricKind::sqeuclidean, 3);
  const auto stride = static_cast<std::size_t>((rows + cpu::kSlack - 1) / cpu::kSlack * cpu::kSlack);
  std::vector<F> panels(stride * static_cast<std::size_t>(dims));
  cpu::pack_panels(cpu::Rows<F>{sample.base.data(), rows, dims}, dims, panels.data());
  std::vector<F> bias(stride);
  for (std::size_t i = 0; i < stride; ++i) bias[i] = static_cast<F>(i % 7) - 3;
  const auto run = [&](const std::vector<F>& limits, bool add) {
    return tiled_scores(core::Form::squared, 2, cpu::Rows<F>{sample.queries.data(), queries, dims},
                        {panels.data(), add ? bias.data() : nullptr, rows}, dims, limits);
  };
  const std::vector<F> none(static_cast<std::size_t>(queries), std::numeric_limits<F>::infinity());
  const TiledScores<F> plain = run(none, false);
  const TiledScores<F> all = run(none, with_bias);
  const std::int64_t block = all.block_rows;
  const std::int64_t blocks = (rows + block - 1) / block;
  ASSERT_EQ(static_cast<std::int64_t>(all.hits.size()), queries * blocks);
  // A score that occurs and the value above it, which is above that score; then a limit nothing is below, and none.
  std::vector<F> limits;
  for (std::int64_t q = 0; q < queries; ++q) {
    const F occurs = all.block(q, blocks / 2)[0];
    const F infinity = std::numeric_limits<F>::infinity();
    const F choices[] = {occurs, std::nextafter(occurs, infinity), F{-4}, infinity};
    limits.push_back(choices[q % 4]);
  }
  const TiledScores<F> some = run(limits, with_bias);
  for (std::int64_t q = 0; q < queries; ++q) {
    for (std::int64_t index = 0; index < blocks; ++index) {
      const F* expected = all.block(q, index);
      const F limit = limits[static_cast<std::size_t>(q)];
      const bool hit = std::isinf(limit) || *std::min_element(expected, expected + block) < limit;
      const F* written = some.block(q, index);
      ASSERT_EQ(written != nullptr, hit) << "query " << q;
      for (std::int64_t i = 0; i < block; ++i) {
        const F added = with_bias ? bias[static_cast<std::size_t>(index * block + i)] : F{0};
        ASSERT_EQ(expected[i], plain.block(q, index)[i] + added);
        ASSERT_EQ(hit ? written[i] : expected[i], expected[i]);
      }
    }
  }
}

// Where every score is infinite or no number, an infinite limit still keeps the block.
template <class F>
void expect_overflow_is_kept() {
  constexpr std::int64_t kRows = cpu::kSlack;
  const std::vector<F> base(kRows, std::numeric_limits<F>::max());
  const std::vector<F> queries = {std::numeric_limits<F>::max(), -std::numeric_limits<F>::max()};
  const std::vector<F> bias(kRows, -std::numeric_limits<F>::infinity());
  const std::vector<F> limits(2, std::numeric_limits<F>::infinity());
  std::vector<F> panels(kRows);
  cpu::pack_panels(cpu::Rows<F>{base.data(), kRows, 1}, 1, panels.data());
  for (const F* added : {static_cast<const F*>(nullptr), bias.data()}) {
    const auto out =
        tiled_scores(core::Form::dot, 2, cpu::Rows<F>{queries.data(), 2, 1}, {panels.data(), added, kRows}, 1, limits);
    EXPECT_EQ(static_cast<std::int64_t>(out.hits.size()), 2 * kRows / out.block_rows);
  }
}

TEST(Scores, BlocksAreWrittenWhenTheyHoldACandidate) {
  on_every_target([] {
    for (const std::int64_t queries : {1, 5, 6, 7, 13}) {
      for (const bool with_bias : {false, true}) {
        expect_blocks_by_limit<float>(queries, 200, 9, with_bias);
        expect_blocks_by_limit<double>(queries, 131, 4, with_bias);
      }
    }
    expect_overflow_is_kept<float>();
    expect_overflow_is_kept<double>();
  });
}

}  // namespace
}  // namespace kith::test
