// One coordinate that is no integer, wherever it is, says so for all points.
#include "cuda/points/integer_range.hpp"

#include "device_test.hpp"

namespace kith::test {
namespace {

using IntegerSpan = DeviceTest;

template <class F>
double span_of(const std::vector<F>& values, std::int64_t dims, std::int64_t stride) {
  const device::Stream stream;
  DeviceArray<F> there(values, stream);
  const auto rows = static_cast<std::int64_t>(values.size()) / stride;
  return device::integer_range<F>({there.data(), rows, stride}, dims, stream);
}

TEST_F(IntegerSpan, IsTwiceTheLargestMagnitude) {
  for (std::uint64_t schedule = 0; schedule < kSchedules; ++schedule) {
    set_schedule(schedule);
    std::vector<float> values(40 * 400, 3.0F);
    EXPECT_EQ(span_of(values, 40, 40), 6.0);
    values.back() = -7.0F;
    EXPECT_EQ(span_of(values, 40, 40), 14.0);
    EXPECT_EQ(span_of(std::vector<double>(5, 0.0), 1, 1), 0.0);
  }
}

TEST_F(IntegerSpan, IsNoneOfOtherPoints) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{39}, std::size_t{8000}, std::size_t{15999}}) {
    std::vector<double> values(40 * 400, 3.0);
    values[place] = 0.5;
    EXPECT_EQ(span_of(values, 40, 40), 0.0) << "place " << place;
    values[place] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(span_of(values, 40, 40), 0.0) << "place " << place;
  }
}

TEST_F(IntegerSpan, DoesNotLookBetweenRows) {
  EXPECT_EQ(span_of<float>({1, 2, 0.5F, 4, -5, 0.5F}, 2, 3), 10.0);
}

}  // namespace
}  // namespace kith::test
