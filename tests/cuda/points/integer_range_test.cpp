// The integer range of points: a single coordinate that is no integer, at any index, makes it 0.
#include "cuda/points/integer_range.hpp"

#include "device_test.hpp"

namespace kith::test {
namespace {

using IntegerRange = DeviceTest;

template <class F>
double range_of(const std::vector<F>& values, std::int64_t dims, std::int64_t stride) {
  const device::Stream stream;
  DeviceArray<F> there(values, stream);
  const auto rows = static_cast<std::int64_t>(values.size()) / stride;
  return device::integer_range<F>({there.data(), rows, stride}, dims, stream);
}

TEST_F(IntegerRange, IsTwiceTheLargestMagnitude) {
  for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
    set_schedule(schedule);
    std::vector<float> values(40 * 400, 3.0F);
    EXPECT_EQ(range_of(values, 40, 40), 6.0);
    values.back() = -7.0F;
    EXPECT_EQ(range_of(values, 40, 40), 14.0);
    EXPECT_EQ(range_of(std::vector<double>(5, 0.0), 1, 1), 0.0);
  }
}

TEST_F(IntegerRange, IsNoneOfOtherPoints) {
  for (const std::size_t index : {std::size_t{0}, std::size_t{39}, std::size_t{8000}, std::size_t{15999}}) {
    std::vector<double> values(40 * 400, 3.0);
    values[index] = 0.5;
    EXPECT_EQ(range_of(values, 40, 40), 0.0) << "index " << index;
    values[index] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(range_of(values, 40, 40), 0.0) << "index " << index;
  }
}

TEST_F(IntegerRange, DoesNotLookBetweenRows) {
  EXPECT_EQ(range_of<float>({1, 2, 0.5F, 4, -5, 0.5F}, 2, 3), 10.0);
}

}  // namespace
}  // namespace kith::test
