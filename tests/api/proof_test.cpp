// Promise 1 under attack: data on which candidates found by norms and products, or in float, are wrong unless their
// error bound is right. The ids and distances must be the oracle's, bit for bit, from every distance stage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

enum class Trap {
  common_offset,       // a large value everywhere, differences of a few ulp
  one_ulp,             // copies of one point, each coordinate moved by at most one ulp
  giant_outlier,       // one point and one query so large that a bound from the largest norm says nothing
  tight_clusters,      // spread 0.1 around centers of norm 113
  copies,              // ten exact copies of each point
  canceling_products,  // products of 1e10 that sum to about 1
  mixed_scales,        // coordinates and rows over sixteen orders of magnitude
  square_overflow,     // norms that float cannot hold
  product_overflow,    // products at the end of float's range: parts of a sum overflow, the sum does not
  square_underflow,    // squares that are zero in float
  permuted,            // the same values in every order: sums that differ in rounding alone
  nearly_parallel,     // angles below the resolution of float
  wild_norms,          // norms over forty orders of magnitude: some squares overflow, some vanish
  sparse,              // mostly zeros, whole rows of them
  extreme_values,      // the largest and smallest numbers there are, and zeros of both signs
};

constexpr const char* kTrapNames[] = {
    "common_offset",      "one_ulp",         "giant_outlier",   "tight_clusters",   "copies",
    "canceling_products", "mixed_scales",    "square_overflow", "product_overflow", "square_underflow",
    "permuted",           "nearly_parallel", "wild_norms",      "sparse",           "extreme_values"};

const char* to_string(Trap trap) {
  return kTrapNames[static_cast<std::size_t>(trap)];
}

template <Element T>
constexpr bool kSingle = std::is_same_v<T, float>;

// Fills both matrices with f(row, column).
template <Element T, class F>
void fill(Sample<T>& sample, F f) {
  for (Matrix<T>* points : {&sample.base, &sample.queries}) {
    for (std::int64_t i = 0; i < points->rows(); ++i) {
      for (std::int64_t c = 0; c < points->cols(); ++c) (*points)(i, c) = static_cast<T>(f(i, c));
    }
  }
}

template <Element T>
void fill_one_ulp(Sample<T>& sample, Random& random) {
  std::vector<T> center(static_cast<std::size_t>(sample.base.cols()));
  for (T& value : center) value = static_cast<T>(1 + random.uniform());
  fill(sample, [&](std::int64_t, std::int64_t c) {
    const T value = center[static_cast<std::size_t>(c)];
    const std::int64_t step = random.below(3);
    return step == 0 ? value : std::nextafter(value, step == 1 ? T{0} : T{4});
  });
}

// Base rows are a + e with a orthogonal to every query: large terms that cancel leave ⟨q, e⟩.
template <Element T>
void fill_canceling(Sample<T>& sample, Random& random) {
  fill(sample, [&](std::int64_t, std::int64_t c) {
    return (c % 2 == 0 ? 1e5 : -1e5) + std::floor(64 * random.uniform()) / 64;
  });
  for (std::int64_t i = 0; i < sample.queries.rows(); ++i) {
    for (std::int64_t c = 0; c < sample.queries.cols(); ++c) sample.queries(i, c) = static_cast<T>(1e5);
    sample.queries(i, i % sample.queries.cols()) += T(2);
  }
}

template <Element T>
void fill_permuted(Sample<T>& sample, Random& random) {
  const std::int64_t dims = sample.base.cols();
  std::vector<T> values(static_cast<std::size_t>(dims));
  for (T& value : values) value = static_cast<T>(random.gaussian());
  for (std::int64_t i = 0; i < sample.base.rows(); ++i) {
    for (std::size_t j = values.size(); j > 1; --j) {
      std::swap(values[j - 1], values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(j)))]);
    }
    std::copy(values.begin(), values.end(), sample.base.row(i));
  }
  for (std::int64_t i = 0; i < sample.queries.rows(); ++i) {
    std::fill_n(sample.queries.row(i), dims, static_cast<T>(0.1 * static_cast<double>(i + 1)));
  }
}

template <Element T>
void fill_mixed_scales(Sample<T>& sample, Random& random) {
  std::vector<double> scale(static_cast<std::size_t>(sample.base.cols()));
  for (double& value : scale) value = std::pow(10.0, 8 * random.uniform() - 4);
  double row_scale = 1;
  fill(sample, [&](std::int64_t, std::int64_t c) {
    if (c == 0) row_scale = std::pow(10.0, 8 * random.uniform() - 4);
    return row_scale * scale[static_cast<std::size_t>(c)] * random.gaussian();
  });
}

template <Element T>
void fill_nearly_parallel(Sample<T>& sample, Random& random) {
  std::vector<double> direction(static_cast<std::size_t>(sample.base.cols()));
  for (double& value : direction) value = random.gaussian();
  const double noise = kSingle<T> ? 1e-6 : 1e-13;
  double length = 1;
  fill(sample, [&](std::int64_t, std::int64_t c) {
    if (c == 0) length = 0.5 + random.uniform();
    return length * direction[static_cast<std::size_t>(c)] * (1 + noise * random.gaussian());
  });
}

template <Element T>
void fill_wild_norms(Sample<T>& sample, Random& random) {
  double length = 1;
  fill(sample, [&](std::int64_t, std::int64_t c) {
    if (c == 0) length = std::pow(10.0, 40 * random.uniform() - 20);
    return length * random.gaussian();
  });
}

template <Element T>
void fill_extremes(Sample<T>& sample, Random& random) {
  using Limits = std::numeric_limits<T>;
  // Sums of squares of the largest doubles overflow, so double gets smaller values.
  const T large = kSingle<T> ? Limits::max() : static_cast<T>(1e60);
  const T small = kSingle<T> ? Limits::denorm_min() : static_cast<T>(1e-60);
  const T values[] = {large, -large, large / 2, small, -small, T{1}, T{-1}, T{0}, -T{0}};
  fill(sample, [&](std::int64_t, std::int64_t) { return values[random.below(9)]; });
}

template <Element T>
Sample<T> set_trap(Trap trap, Shape shape, const Metric& metric, std::uint64_t seed) {
  if (trap == Trap::tight_clusters) return generate<T>(Kind::clustered, shape, metric, seed);
  if (trap == Trap::copies) return generate<T>(Kind::duplicates, shape, metric, seed);
  Random random(seed);
  Sample<T> sample{Matrix<T>(shape.base_rows, shape.dims), Matrix<T>(shape.queries, shape.dims)};
  const auto gaussian = [&](double scale) {
    fill(sample, [&](std::int64_t, std::int64_t) { return scale * random.gaussian(); });
  };
  switch (trap) {
    case Trap::common_offset:
      fill(sample, [&](std::int64_t, std::int64_t) {
        return (kSingle<T> ? 1e6 : 1e14) + static_cast<double>(random.below(16)) / (kSingle<T> ? 16 : 64);
      });
      break;
    case Trap::one_ulp: fill_one_ulp(sample, random); break;
    case Trap::giant_outlier:
      gaussian(1e-3);
      std::fill_n(sample.base.row(shape.base_rows / 2), shape.dims, static_cast<T>(kSingle<T> ? 1e18 : 1e60));
      std::fill_n(sample.queries.row(shape.queries - 1), shape.dims, static_cast<T>(kSingle<T> ? -1e18 : -1e60));
      break;
    case Trap::canceling_products: fill_canceling(sample, random); break;
    case Trap::mixed_scales: fill_mixed_scales(sample, random); break;
    case Trap::product_overflow: gaussian(kSingle<T> ? 5e18 : 1e60); break;
    case Trap::square_overflow: gaussian(kSingle<T> ? 1e20 : 1e60); break;
    case Trap::square_underflow: gaussian(kSingle<T> ? 1e-25 : 1e-60); break;
    case Trap::permuted: fill_permuted(sample, random); break;
    case Trap::nearly_parallel: fill_nearly_parallel(sample, random); break;
    case Trap::wild_norms: fill_wild_norms(sample, random); break;
    case Trap::sparse:
      fill(sample,
           [&](std::int64_t i, std::int64_t) { return i % 5 == 0 || random.below(20) != 0 ? 0.0 : random.gaussian(); });
      break;
    default: fill_extremes(sample, random); break;
  }
  make_valid(sample.base, metric);
  make_valid(sample.queries, metric);
  return sample;
}

constexpr MetricKind kMetrics[] = {MetricKind::sqeuclidean,   MetricKind::euclidean, MetricKind::manhattan,
                                   MetricKind::chebyshev,     MetricKind::cosine,    MetricKind::correlation,
                                   MetricKind::inner_product, MetricKind::canberra};
constexpr Shape kShapes[] = {{2001, 7, 17}, {1100, 9, 128}, {801, 7, 300}};

// The sample's search is the oracle's from every stage that takes it.
template <Element T>
void expect_truth_of_every_stage(const Sample<T>& sample, const Metric& metric, std::int64_t k,
                                 const std::string& what) {
  const auto truth = truth_of(sample, metric);
  for (const DistanceStage stage : usable_stages(sample, metric, k)) {
    const Index<T> index(sample.base.view(), options_for(metric, stage));
    for (const std::int64_t each : {k, stage == DistanceStage::automatic ? sample.base.rows() / 2 : 50}) {
      EXPECT_TRUE(matches_truth(index.search(sample.queries.view(), each), truth, each))
          << what << ' ' << kith::to_string(metric) << ' ' << stage << " d=" << sample.base.cols() << " k=" << each
          << ' ' << kith::to_string(dtype_of<T>());
    }
  }
}

template <Element T>
void expect_trap_is_survived(Trap trap, Shape shape) {
  for (const MetricKind metric : kMetrics)
    expect_truth_of_every_stage(set_trap<T>(trap, shape, metric, 11), metric, 10, to_string(trap));
}

class Promise1UnderAttack : public testing::TestWithParam<int> {
 protected:
  static Trap trap() { return static_cast<Trap>(GetParam()); }
};

TEST_P(Promise1UnderAttack, Float32) {
  for (const Shape& shape : kShapes) expect_trap_is_survived<float>(trap(), shape);
}

TEST_P(Promise1UnderAttack, Float64) {
  expect_trap_is_survived<double>(trap(), {801, 7, 130});
}

INSTANTIATE_TEST_SUITE_P(Traps, Promise1UnderAttack, testing::Range(0, static_cast<int>(std::size(kTrapNames))),
                         [](const auto& trap) { return kTrapNames[trap.param]; });

// Many queries at once, so that whole tiles of products are used and not only their edges.
TEST(Promise1ProofHolds, ManyQueriesOnClustersFarFromTheOrigin) {
  const Metric metric = MetricKind::euclidean;
  expect_truth_of_every_stage(generate<float>(Kind::clustered, {4000, 300, 96}, metric, 3), metric, 20, "clusters");
}

TEST(Promise1ProofHolds, ThousandsOfDimensions) {
  for (const MetricKind metric : kMetrics)
    for (const Kind kind : {Kind::gaussian, Kind::large_offset})
      expect_truth_of_every_stage(generate<float>(kind, {301, 5, 4099}, metric, 5), metric, 15, to_string(kind));
}

// One query over a large base: the base is split over threads and the parts merged.
TEST(Promise1ProofHolds, OneQueryOverManyPoints) {
  constexpr Shape kShape{60000, 2, 6};
  const Sample<float> sample = generate<float>(Kind::duplicates, kShape, MetricKind::euclidean, 6);
  const Truth<float> truth = truth_of(sample, MetricKind::euclidean);
  for (const DistanceStage stage : stages_of(DType::float32)) {
    const Index<float> index(sample.base.view(), options_for(stage, 3));
    for (const std::int64_t k : {1, 37, 3000}) {
      const Neighbors<float> both = index.search(sample.queries.view(), k);
      EXPECT_TRUE(matches_truth(both, truth, k)) << stage << " k=" << k;
      const Neighbors<float> first = index.search(sample.queries.view().rows_from(0, 1), k);
      EXPECT_TRUE(std::equal(first.ids.begin(), first.ids.end(), both.ids.begin())) << stage << " k=" << k;
    }
  }
}

// Integer sums stay exact at the ends of the range, where 16 and 24 bits do not hold them.
TEST(Promise1ProofHolds, IntegersAtTheEndsOfTheirRange) {
  for (const DType dtype : {DType::uint8, DType::int8})
    with_dtype(dtype, [&]<class T>() {
      for (const MetricKind metric : kMetrics)
        expect_truth_of_every_stage(generate<T>(Kind::huge, {600, 9, 1031}, metric, 13), metric, 25, "integers");
    });
}

// With a power so large that the error bound says nothing, every point must stay a candidate.
TEST(Promise1ProofHolds, MinkowskiOfAnEnormousPower) {
  for (const double p : {1e3, 5e6, 1e7, 1e9}) {
    const Metric metric = Metric::minkowski(p);
    const Sample<float> sample = generate<float>(Kind::uniform, {200, 5, 4}, metric, 29);
    EXPECT_TRUE(finds_the_truth(sample, 7, options_for(metric))) << "p = " << p;
  }
}

// Cosine in double with squared norms beyond the range of double is right or refused, never wrong.
TEST(Promise1ProofHolds, CosineOfVectorsBeyondTheRangeOfSquares) {
  for (const double scale : {1e-310, 1e-200, 1e-160, 1e-150, 1e150, 1e160, 1e300}) {
    for (const MetricKind metric : {MetricKind::cosine, MetricKind::correlation}) {
      Sample<double> sample = generate<double>(Kind::gaussian, {50, 6, 9}, metric, 17);
      for (Matrix<double>* points : {&sample.base, &sample.queries}) {
        for (std::int64_t i = 0; i < points->rows() * points->cols(); ++i) points->data()[i] *= scale;
      }
      const Truth<double> truth = precise_truth_of(sample, metric);
      const bool representable = scale >= 1e-150 && scale <= 1e150;
      try {
        EXPECT_TRUE(matches_truth(search(sample, 10, options_for(metric)), truth, 10, Agreement{false, 0, 1e-12}))
            << kith::to_string(Metric(metric)) << " of vectors of about " << scale;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_data) << error.what();
        EXPECT_FALSE(representable) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
