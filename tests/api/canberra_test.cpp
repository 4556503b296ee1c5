// Canberra at the ends of the range: sums of two coordinates that overflow, subnormal ones, and both zeros, with every
// backend, method and stage.
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

template <class F>
Sample<F> extremes(Shape shape) {
  using Limits = std::numeric_limits<F>;
  const F values[] = {Limits::max(),
                      -Limits::max(),
                      Limits::max() / 3,
                      Limits::min(),
                      -Limits::min() / 5,
                      Limits::denorm_min(),
                      3 * Limits::denorm_min(),
                      F{1},
                      F{-3},
                      F{0},
                      -F{0}};
  Sample<F> sample{Matrix<F>(shape.base_rows, shape.dims), Matrix<F>(shape.queries, shape.dims)};
  Random random(1);
  for (Matrix<F>* points : {&sample.base, &sample.queries})
    for (std::int64_t i = 0; i < points->rows() * points->cols(); ++i)
      points->data()[i] = values[random.below(std::ssize(values))];
  return sample;
}

template <class F>
void expect_oracle(const Sample<F>& sample, const Options& options) {
  for (const std::int64_t k : {std::int64_t{3}, sample.base.rows()})
    EXPECT_TRUE(finds_the_truth(sample, k, options))
        << options.backend << ' ' << options.method << ' ' << options.distance << ", k = " << k;
}

template <class F>
void expect_oracle_of_all_stages(Shape shape) {
  const Sample<F> sample = extremes<F>(shape);
  for (const Backend backend : available_backends()) {
    Options options = options_for(MetricKind::canberra);
    options.backend = backend;
    for (const DistanceStage stage : distance_stages(backend)) {
      const bool products = stage == DistanceStage::gemm || stage == DistanceStage::fp16 ||
                            stage == DistanceStage::split_fp16 || stage == DistanceStage::int8 ||
                            stage == DistanceStage::bf16;
      if (products) continue;
      options.distance = stage;
      expect_oracle(sample, options);
    }
    options.distance = DistanceStage::automatic;
    options.method = Method::triangle;
    expect_oracle(sample, options);
  }
}

TEST(Canberra, HoldsAtTheEndsOfTheRange) {
  for (const Shape& shape : {Shape{150, 9, 3}, Shape{90, 20, 21}}) {
    expect_oracle_of_all_stages<float>(shape);
    expect_oracle_of_all_stages<double>(shape);
  }
}

TEST(Canberra, CountsZeroOverZeroAsZero) {
  const Sample<float> sample{Matrix<float>(3, 2, {0, 1, -0.0F, 3, 5, 0}), Matrix<float>(1, 2, {-0.0F, 1})};
  for (const Backend backend : available_backends()) {
    Options options = options_for(MetricKind::canberra);
    options.backend = backend;
    const Neighbors<float> got = search(sample, 3, options);
    EXPECT_EQ(got.ids, (std::vector<std::int64_t>{0, 1, 2})) << backend;
    EXPECT_EQ(got.distances, (std::vector<float>{0, 0.5F, 2})) << backend;
  }
}

}  // namespace
}  // namespace kith::test
