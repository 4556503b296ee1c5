// A functor of the caller's, compiled into the kernel: the answers of the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "kith/cuda_custom_metric.cuh"
#include "support/random.hpp"

namespace kith::test {
namespace {

struct Weighted {
  double scale;
  __host__ __device__ double combine(double x, double y) const { return fabs(x - y) / (scale + fabs(x)); }
};

struct Farthest {
  __host__ __device__ double combine(double x, double y, std::int64_t c) const {
    return fabs(x - y) * static_cast<double>(c + 1);
  }
  __host__ __device__ double accumulate(double a, double b) const { return a > b ? a : b; }
  static constexpr double identity = -1;
  __host__ __device__ double finish(double sum, std::int64_t dims) const { return sum / static_cast<double>(dims); }
};

template <Element T>
Matrix<T> made_points(std::int64_t rows, std::int64_t dims, std::uint64_t seed) {
  Random random(seed);
  Matrix<T> points(rows, dims);
  for (std::int64_t i = 0; i < rows * dims; ++i) points.data()[i] = static_cast<T>(random.uniform() * 2 - 1);
  return points;
}

template <Element T, class M>
void expect_same(const M& functor, std::int64_t rows, std::int64_t dims, std::int64_t k) {
  const Matrix<T> base = made_points<T>(rows, dims, 1);
  const Matrix<T> queries = made_points<T>(33, dims, 2);
  Options options;
  options.backend = Backend::cuda;
  const auto found = search_by(cuda_metric(functor), base.view(), queries.view(), k, options);
  options.backend = Backend::cpu;
  const auto wanted = search_by(cuda_metric(functor), base.view(), queries.view(), k, options);
  EXPECT_EQ(found.report.plan.backend, Backend::cuda);
  EXPECT_EQ(found.ids, wanted.ids);
  EXPECT_EQ(found.distances, wanted.distances);
}

TEST(CudaCustomMetric, HasTheAnswersOfTheCpu) {
  if (devices(Backend::cuda).empty()) GTEST_SKIP() << "there is no CUDA device here";
  for (const std::int64_t dims : {1, 19, 64}) {
    expect_same<float>(Weighted{1}, 300, dims, 20);
    expect_same<double>(Weighted{0.5}, 300, dims, 300);
    expect_same<float>(Farthest{}, 20000, dims, 10);
  }
}

}  // namespace
}  // namespace kith::test
