// Sums in pairs of floats: within their bound of the sum of keys, and near enough to tell most keys.
#include "cuda/distance/float_pair_sum.cuh"

#include <cmath>

#include "core/key.hpp"
#include "cuda/runtime/launch.cuh"
#include "device_test.hpp"
#include "point_set.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using core::Form;
using FloatPairs = DeviceTest;

struct PairSum {
  double value;
  double bound;
  bool has_bound;
  bool is_zero;
};

// A group of lanes takes a pair of rows of x and y.
template <Form kForm>
__global__ void sum_pairs(const float* x, const float* y, std::int64_t dims, unsigned count, PairSum* sums) {
  const unsigned pair = (blockIdx.x * blockDim.x + threadIdx.x) / core::kLanes;
  const unsigned mine = pair < count ? pair : count - 1;
  device::distance::FloatPairSum<kForm> sum;
  for (std::int64_t c = device::group_lane(); c < dims; c += core::kLanes)
    sum.add(x[mine * dims + c], y[mine * dims + c]);
  sum.combine();
  if (pair < count && device::group_lane() == 0)
    sums[pair] = {sum.value(), sum.bound(dims), sum.has_bound(), sum.is_zero()};
}

double key_sum(Form form, const float* x, const float* y, std::int64_t dims) {
  return core::raw_sum(form, 0, x, 1, 0.0, y, 1, 0.0, dims);
}

// Numbers of pairs with a bound, and of those whose sum in double rounds to a float in one way within it.
struct Tally {
  int bounded = 0;
  int certain = 0;
  int pairs = 0;
};

template <Form kForm>
Tally check(const std::vector<float>& x, const std::vector<float>& y, std::int64_t dims) {
  Tally tally;
  const auto count = static_cast<unsigned>(static_cast<std::int64_t>(x.size()) / dims);
  const device::Stream stream;
  const DeviceArray<float> x_values(x, stream);
  const DeviceArray<float> y_values(y, stream);
  DeviceArray<PairSum> sums(std::vector<PairSum>(count), stream);
  device::launch("sum_pairs", sum_pairs<kForm>,
                 {.blocks = device::ceil_div(static_cast<std::int64_t>(count) * core::kLanes, 64), .threads = 64},
                 static_cast<cudaStream_t>(stream), x_values.data(), y_values.data(), dims, count, sums.data());
  const std::vector<PairSum> found = sums.values();
  for (unsigned i = 0; i < count; ++i) {
    const double wanted = key_sum(kForm, x.data() + i * dims, y.data() + i * dims, dims);
    EXPECT_TRUE(!found[i].is_zero || wanted == 0) << "pair " << i;
    EXPECT_TRUE(!found[i].has_bound || std::abs(found[i].value - wanted) <= found[i].bound) << "pair " << i;
    ++tally.pairs;
    tally.bounded += found[i].has_bound ? 1 : 0;
    const auto least = static_cast<float>(found[i].value - found[i].bound);
    const auto most = static_cast<float>(found[i].value + found[i].bound);
    tally.certain += found[i].is_zero || (found[i].has_bound && least == most) ? 1 : 0;
  }
  return tally;
}

std::vector<float> gaussian(std::int64_t count, std::uint64_t seed, float scale, float shift = 0) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = shift + scale * static_cast<float>(random.gaussian());
  return values;
}

constexpr std::int64_t kPairs = 100;
constexpr std::int64_t kManyDims = 64;
constexpr std::int64_t kDims[] = {1, 2, 3, 7, 8, 9, 64, 128, 768, 2048};

template <Form kForm>
void check_all(float scale, float shift, double least_certain) {
  for (const std::int64_t dims : kDims) {
    SCOPED_TRACE(testing::Message() << dims << " dimensions, scale " << scale << ", shift " << shift);
    const Tally tally =
        check<kForm>(gaussian(kPairs * dims, 1, scale, shift), gaussian(kPairs * dims, 2, scale, shift), dims);
    EXPECT_EQ(tally.bounded, tally.pairs);
    // Few differences of similar numbers often add up to the middle of two floats.
    EXPECT_TRUE(dims < kManyDims || tally.certain >= least_certain * tally.pairs) << tally.certain;
  }
}

TEST_F(FloatPairs, AreWithinTheirBoundAndTellMostKeys) {
  check_all<Form::squared>(1, 0, 0.97);
  check_all<Form::squared>(1, 1000, 0.97);
  check_all<Form::absolute>(1, 0, 0.97);
  check_all<Form::absolute>(1e-3F, 77, 0.97);
  check_all<Form::dot>(1, 1, 0.97);
  check_all<Form::dot>(1, 0, 0.5);  // terms cancel
}

TEST_F(FloatPairs, HoldAtTheEndsOfTheirRange) {
  for (const float scale : {1e-10F, 1e-5F, 1e5F, 1e15F}) {
    check_all<Form::squared>(scale, 0, 0.97);
    check_all<Form::absolute>(scale, scale, 0.97);
    check_all<Form::dot>(scale, scale, 0.97);
  }
}

TEST_F(FloatPairs, SayWhereSumsOverflowOrVanish) {
  constexpr std::int64_t kRowDims = 16;
  for (const float scale : {1e-25F, 1e-40F, 1e25F, 1e38F}) {
    SCOPED_TRACE(scale);
    const std::vector<float> x = gaussian(kPairs * kRowDims, 3, scale);
    const std::vector<float> y = gaussian(kPairs * kRowDims, 4, scale);
    EXPECT_EQ(check<Form::squared>(x, y, kRowDims).bounded, 0);
    EXPECT_EQ(check<Form::dot>(x, y, kRowDims).bounded, 0);
  }
  std::vector<float> x = gaussian(kPairs * kRowDims, 5, 1);
  for (std::size_t i = 3; i < x.size(); i += kRowDims) x[i] = i % 2 == 0 ? INFINITY : NAN;
  EXPECT_EQ(check<Form::squared>(x, gaussian(kPairs * kRowDims, 6, 1), kRowDims).certain, 0);
}

TEST_F(FloatPairs, KnowEqualPoints) {
  constexpr std::int64_t kRowDims = 24;
  const std::vector<float> x = gaussian(kPairs * kRowDims, 7, 1e-3F, 5);
  EXPECT_EQ(check<Form::squared>(x, x, kRowDims).certain, kPairs);
  EXPECT_EQ(check<Form::absolute>(x, x, kRowDims).certain, kPairs);
  // Differences whose squares vanish are no zeros.
  std::vector<float> y = x;
  for (std::size_t i = 0; i < y.size(); i += kRowDims) {
    y[i] = 1e-30F;
    y[i + 1] = 2e-30F;
  }
  std::vector<float> z = y;
  for (std::size_t i = 0; i < z.size(); i += kRowDims) std::swap(z[i], z[i + 1]);
  EXPECT_EQ(check<Form::squared>(y, z, kRowDims).certain, 0);
}

// Sums of integers that lie between two floats, or next to the middle: no bound tells their key.
TEST_F(FloatPairs, DoNotTellKeysBetweenTwoFloats) {
  constexpr std::int64_t kRowDims = 8;
  std::vector<float> x(kPairs * kRowDims, 0);
  const std::vector<float> y(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); i += kRowDims) {
    x[i] = 0x1p24F;
    x[i + 1] = 1;
  }
  EXPECT_EQ(check<Form::absolute>(x, y, kRowDims).certain, 0);
}

}  // namespace
}  // namespace kith::test
