// cuda::Index where there is no device: what is wrong is said before anything is touched. tests/cuda/search_test.cpp
// has the searches.
#include <gtest/gtest.h>

#include <algorithm>

#include "kith/cuda.hpp"
#include "support/compare.hpp"

namespace kith::test {
namespace {

bool has_cuda() {
  const std::vector<Backend> backends = available_backends();
  return std::find(backends.begin(), backends.end(), Backend::cuda) != backends.end();
}

TEST(CudaIndex, NeedsADevice) {
  if (has_cuda()) GTEST_SKIP() << "there is one";
  const float points[4] = {};
  EXPECT_TRUE(fails_with(ErrorCode::no_device, {"cuda"}, [&] { cuda::Index<float>(points, 2, 2, 2); }));
}

TEST(CudaIndex, RefusesOtherBackends) {
  const double points[4] = {};
  Options options;
  options.backend = Backend::cpu;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"cpu"}, [&] { cuda::Index<double>(points, 2, 2, 2, options); }));
}

TEST(CudaIndex, RefusesRowsThatOverlap) {
  if (!has_cuda()) GTEST_SKIP() << "there is no CUDA device here";
  const float points[4] = {};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"overlap"}, [&] { cuda::Index<float>(points, 2, 2, 1); }));
}

}  // namespace
}  // namespace kith::test
