// Triangle bounds: points that they rule out must really be farther, for distances computed in float and in double, at
// scales where squares underflow or overflow, and they must not be so wide that nothing is ruled out.
#include "core/triangle_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kith/metric.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

const std::vector<Metric>& metrics_with_triangle_inequality() {
  static const std::vector<Metric> metrics = {MetricKind::sqeuclidean, MetricKind::euclidean,   MetricKind::manhattan,
                                              MetricKind::chebyshev,   MetricKind::hamming,     MetricKind::canberra,
                                              MetricKind::cosine,      MetricKind::correlation, Metric::minkowski(1.5),
                                              Metric::minkowski(3),    Metric::minkowski(40)};
  return metrics;
}

using PointOfFew = std::vector<float>;

PointOfFew random_point(Random& random, std::size_t dims, double scale) {
  PointOfFew point(dims);
  // Few distinct values, so that equal coordinates and equal points happen.
  for (float& x : point) x = static_cast<float>((static_cast<double>(random.below(9)) - 3.5) * scale);
  return point;
}

template <class F>
std::vector<F> working_row(const Metric& metric, const PointOfFew& point) {
  std::vector<F> row(point.begin(), point.end());
  if (!core::has_directions(metric)) return row;
  const auto dims = static_cast<std::int64_t>(point.size());
  const core::RowFacts facts = core::row_facts(metric.kind, point.data(), 1, dims);
  for (std::size_t c = 0; c < row.size(); ++c)
    row[c] = static_cast<F>((static_cast<double>(point[c]) - facts.mean) / std::sqrt(facts.square_norm));
  return row;
}

// A distance as a backend may compute it: terms and sums in F.
template <class F>
double computed_distance(const Metric& metric, const PointOfFew& x, const PointOfFew& y) {
  const std::vector<F> a = working_row<F>(metric, x);
  const std::vector<F> b = working_row<F>(metric, y);
  F raw = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const F difference = std::abs(a[c] - b[c]);
    switch (core::metric_distance_form(metric)) {
      case core::Form::squared: raw += difference * difference; break;
      case core::Form::maximum: raw = std::max(raw, difference); break;
      case core::Form::power: raw += std::pow(difference, static_cast<F>(metric.p)); break;
      case core::Form::mismatch: raw += difference != 0 ? F{1} : F{0}; break;
      case core::Form::ratio: raw += core::ratio_term(a[c], b[c]); break;
      default: raw += difference;
    }
  }
  return core::metric_distance_of_raw(metric, static_cast<double>(raw));
}

template <class D>
D key_between(const Metric& metric, const PointOfFew& x, const PointOfFew& y) {
  const auto dims = static_cast<std::int64_t>(x.size());
  const core::RowFacts a = core::row_facts(metric.kind, x.data(), 1, dims);
  const core::RowFacts b = core::row_facts(metric.kind, y.data(), 1, dims);
  const double raw = core::raw_sum(core::form_of(metric), metric.p, x.data(), 1, a.mean, y.data(), 1, b.mean, dims);
  return static_cast<D>(core::finish(metric, raw, a, b, dims));
}

bool has_direction(const Metric& metric, const PointOfFew& point) {
  if (!core::has_directions(metric)) return true;
  return core::row_facts(metric.kind, point.data(), 1, static_cast<std::int64_t>(point.size())).square_norm > 0;
}

struct Tally {
  int kept = 0;
  int ruled_out = 0;
};

// A point whose key is at most the limit is in the answer, so that every bound must keep it.
template <class F, class D>
void check_triple(const Metric& metric, const PointOfFew& q, const PointOfFew& c, const PointOfFew& t,
                  const PointOfFew& other, Tally& tally) {
  const core::TriangleBounds<F, D> bounds(metric, static_cast<std::int64_t>(q.size()));
  const double qc = computed_distance<F>(metric, q, c);
  const double ct = computed_distance<F>(metric, c, t);
  const D key = key_between<D>(metric, q, t);
  const D limit = key_between<D>(metric, q, other);
  const auto say = [&] { return kith::to_string(metric); };

  const core::DistanceInterval interval = bounds.interval(qc, ct, bounds.search_bound(limit));
  const bool kept = ct >= interval.low && ct <= interval.high;
  (kept ? tally.kept : tally.ruled_out) += 1;
  if (key <= limit) {
    ASSERT_TRUE(kept) << say() << ": " << key << " <= " << limit << ", distances " << qc << " and " << ct;
    ASSERT_FALSE(bounds.apart(qc, 0, ct, bounds.search_bound(limit))) << say();
    ASSERT_FALSE(bounds.apart(qc, ct, 0, bounds.search_bound(limit))) << say();
  }
  // The path over the center is never shorter.
  ASSERT_LE(key, bounds.key_above(bounds.above(qc + ct, 2))) << say();
  const double search_bound = bounds.search_bound_of_distance(bounds.above(qc + ct, 2));
  const core::DistanceInterval wide = bounds.interval(qc, ct, search_bound);
  ASSERT_TRUE(ct >= wide.low && ct <= wide.high) << say();
}

template <class F, class D>
void check_scale(double scale, Tally& tally) {
  Random random(7);
  for (const Metric& metric : metrics_with_triangle_inequality())
    for (const std::size_t dims : {2U, 3U, 17U})
      for (int i = 0; i < 1500; ++i) {
        const PointOfFew q = random_point(random, dims, scale);
        const PointOfFew c = random_point(random, dims, scale);
        const PointOfFew t = random_point(random, dims, scale);
        const PointOfFew other = random_point(random, dims, scale);
        if (!has_direction(metric, q) || !has_direction(metric, c) || !has_direction(metric, t) ||
            !has_direction(metric, other))
          continue;
        ASSERT_NO_FATAL_FAILURE((check_triple<F, D>(metric, q, c, t, other, tally)));
      }
}

TEST(TriangleBounds, KeepEveryPointOfTheAnswer) {
  for (const double scale : {1.0, 0.1, 1e6, 1e-19, 1e-30, 1e18, 1e30}) {
    SCOPED_TRACE(scale);
    Tally tally;
    check_scale<float, float>(scale, tally);
    check_scale<double, float>(scale, tally);
    check_scale<double, double>(scale, tally);
    EXPECT_GT(tally.kept, 0);
  }
}

TEST(TriangleBounds, RuleOutMuch) {
  Tally tally;
  check_scale<float, float>(0.1, tally);
  EXPECT_GT(tally.ruled_out, tally.kept / 20);
}

TEST(TriangleBounds, AreNarrow) {
  const core::TriangleBounds<float> bounds(MetricKind::euclidean, 4);
  const core::DistanceInterval interval = bounds.interval(100, 200, 10);
  EXPECT_NEAR(interval.low, 90, 1e-3);
  EXPECT_NEAR(interval.high, 110, 1e-3);
  EXPECT_NEAR(bounds.search_bound(10.0F), 10, 1e-5);
  EXPECT_NEAR(bounds.search_bound_of_distance(10), 10, 1e-5);
  EXPECT_TRUE(bounds.apart(100, 40, 40, 19.9));
  EXPECT_FALSE(bounds.apart(100, 40, 40, 20));
}

TEST(TriangleBounds, DistancesThatAreNotFiniteRuleNothingOut) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const core::TriangleBounds<double> bounds(MetricKind::euclidean, 3);
  for (const double bad : {infinity, nan}) {
    EXPECT_EQ(bounds.interval(bad, 1, 1).high, infinity);
    EXPECT_EQ(bounds.interval(1, bad, 1).high, infinity);
    EXPECT_EQ(bounds.interval(1, 1, bad).low, -infinity);
    EXPECT_FALSE(bounds.apart(bad, 1, 1, 1));
    EXPECT_FALSE(bounds.apart(9, bad, 1, 1));
    EXPECT_FALSE(bounds.apart(9, 1, 1, bad));
    EXPECT_EQ(bounds.key_above(bad), infinity);
  }
  EXPECT_EQ(core::metric_distance_of_raw(MetricKind::euclidean, nan), infinity);
}

TEST(TriangleBounds, OnlyTheInnerProductHasNone) {
  for (const Metric& metric : metrics_with_triangle_inequality()) EXPECT_TRUE(core::has_triangle_inequality(metric));
  EXPECT_FALSE(core::has_triangle_inequality(MetricKind::inner_product));
}

}  // namespace
}  // namespace kith::test
