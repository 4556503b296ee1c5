#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "files.hpp"

namespace kith::io {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Array, OneDimensionIsAColumn) {
  const Array array = Array::from(std::vector<std::int64_t>{3, 1, 2});
  EXPECT_EQ(array.rank(), 1);
  EXPECT_EQ(array.rows(), 3);
  EXPECT_EQ(array.cols(), 1);
  EXPECT_EQ(array.at<std::int64_t>(1), 1);
  EXPECT_TRUE(array.packed());
}

TEST(Array, KeepsItsMemoryAliveThroughCopies) {
  Array copy;
  {
    const Array array = Array::from(std::vector<float>{1, 2, 3, 4}, 2, 2);
    copy = array;
  }
  EXPECT_EQ(copy.view<float>()(1, 0), 3);
}

TEST(Array, BorrowsViewsWithTheirStrides) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const Array array = Array::borrow(MatrixView<double>::column_major(values.data(), 2, 3));
  EXPECT_FALSE(array.packed());
  EXPECT_EQ(array.at<double>(1, 2), 6);
  EXPECT_EQ(array.values<double>(), (std::vector<double>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(array.view<double>().data, values.data());
}

TEST(Array, RefusesAnotherType) {
  const Array array = Array::from(std::vector<std::int32_t>{1});
  EXPECT_EQ(failure_of([&] { array.view<float>(); }), invalid_argument("the array holds int32, not float32"));
}

TEST(Array, RefusesImpossibleShapes) {
  EXPECT_EQ(failure_of([] { Array::from(std::vector<float>{1, 2, 3}, 2, 2); }), invalid_argument("3 values for 2 x 2"));
  EXPECT_EQ(failure_of([] { Array(ElementType::int8, 3, 1, 1, nullptr, 1, 1, nullptr); }),
            invalid_argument("no array has rank 3, 1 row and 1 column"));
}

TEST(Array, ConvertsToItselfWithoutACopy) {
  const Array array = Array::from(std::vector<float>{1, 2});
  EXPECT_EQ(array.converted(ElementType::float32).data(), array.data());
}

TEST(Array, ConvertsWhatFits) {
  const Array wide = Array::from(std::vector<double>{-128, 127, -0.0});
  EXPECT_EQ(wide.values<std::int8_t>(), (std::vector<std::int8_t>{-128, 127, 0}));
  EXPECT_EQ(wide.converted(ElementType::int64).at<std::int64_t>(0), -128);
  const Array ids = Array::from(std::vector<std::int64_t>{2147483647, -2147483648});
  EXPECT_EQ(ids.values<std::int32_t>(), (std::vector<std::int32_t>{2147483647, -2147483647 - 1}));
  const Array third = Array::from(std::vector<double>{1.0 / 3});
  EXPECT_EQ(third.values<float>()[0], 1.0F / 3);
  const Array odd = Array::from(std::vector<float>{kInfinity, -kInfinity, NAN});
  EXPECT_EQ(odd.values<double>()[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(odd.values<double>()[2]));
}

TEST(Array, NamesTheFirstValueThatDoesNotFit) {
  const auto fail = [](const Array& array, ElementType type) { return failure_of([&] { array.converted(type); }); };
  EXPECT_EQ(fail(Array::from(std::vector<double>{1, 2, 3, 4.5}, 2, 2), ElementType::int32),
            bad_data("row 1, column 1: 4.5 is not a value of int32"));
  EXPECT_EQ(fail(Array::from(std::vector<std::int64_t>{0, 2147483648}), ElementType::int32),
            bad_data("row 1, column 0: 2147483648 is not a value of int32"));
  EXPECT_EQ(fail(Array::from(std::vector<std::int8_t>{-1}), ElementType::uint8),
            bad_data("row 0, column 0: -1 is not a value of uint8"));
  EXPECT_EQ(fail(Array::from(std::vector<std::int64_t>{16777216, 16777217}), ElementType::float32),
            bad_data("row 1, column 0: 16777217 is not a value of float32"));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(fail(Array::from(std::vector<std::int64_t>{-kMost - 1, kMost}), ElementType::float64),
            bad_data("row 1, column 0: 9223372036854775807 is not a value of float64"));
  EXPECT_EQ(fail(Array::from(std::vector<double>{1e39}), ElementType::float32),
            bad_data("row 0, column 0: 1e+39 is not a value of float32"));
  EXPECT_EQ(fail(Array::from(std::vector<float>{NAN}), ElementType::int64),
            bad_data("row 0, column 0: nan is not a value of int64"));
  EXPECT_EQ(fail(Array::from(std::vector<double>{9223372036854775808.0}), ElementType::int64),
            bad_data("row 0, column 0: 9223372036854775808 is not a value of int64"));
  EXPECT_EQ(fail(Array::from(std::vector<float>{kInfinity}), ElementType::int8),
            bad_data("row 0, column 0: inf is not a value of int8"));
}

TEST(Array, RoundsOnceToFloatsOf16Bits) {
  // Just above the middle of 1 and the next float16: rounded to float32 first, it would be the middle, and then 1.
  const Array above = Array::from(std::vector<double>{1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 65519.99, 0x1p-24, 0x1p-26});
  const std::vector<Float16> halves = above.values<Float16>();
  EXPECT_EQ(halves[0].bits, 0x3c01);
  EXPECT_EQ(halves[1].bits, 0x3c00);
  EXPECT_EQ(halves[2].bits, 0x7bff);
  EXPECT_EQ(halves[3].bits, 0x0001);
  EXPECT_EQ(halves[4].bits, 0x0000);
  const Array wide = Array::from(std::vector<double>{1 + 0x1p-8 + 0x1p-40, -3e38});
  EXPECT_EQ(wide.values<BFloat16>()[0].bits, 0x3f81);
  EXPECT_EQ(wide.values<BFloat16>()[1].bits, 0xff62);
  const Array odd = Array::from(std::vector<float>{kInfinity, -kInfinity, NAN});
  for (const ElementType type : {ElementType::float16, ElementType::bfloat16}) {
    const std::vector<double> back = odd.converted(type).values<double>();
    EXPECT_EQ(back[0], kInfinity);
    EXPECT_EQ(back[1], -kInfinity);
    EXPECT_TRUE(std::isnan(back[2]));
  }
}

TEST(Array, ConvertsFloatsOf16BitsWhereTheyFit) {
  const Array halves = Array::from(std::vector<Float16>{Float16(-128), Float16(127), Float16(0.5)});
  EXPECT_EQ(halves.values<double>(), (std::vector<double>{-128, 127, 0.5}));
  EXPECT_EQ(halves.values<float>(), (std::vector<float>{-128, 127, 0.5}));
  EXPECT_EQ(halves.converted(ElementType::bfloat16).values<float>(), (std::vector<float>{-128, 127, 0.5}));
  const Array whole = Array::from(std::vector<Float16>{Float16(-128), Float16(127)});
  EXPECT_EQ(whole.values<std::int8_t>(), (std::vector<std::int8_t>{-128, 127}));
  const Array ids = Array::from(std::vector<std::int64_t>{2048, -65504});
  EXPECT_EQ(ids.converted(ElementType::float16).values<std::int64_t>(), (std::vector<std::int64_t>{2048, -65504}));
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const Array least = Array::from(std::vector<std::int64_t>{kLeast});
  EXPECT_EQ(least.converted(ElementType::bfloat16).values<std::int64_t>(), (std::vector<std::int64_t>{kLeast}));
}

TEST(Array, RefusesWhatFloatsOf16BitsDoNotHold) {
  const auto fail = [](const Array& array, ElementType type) { return failure_of([&] { array.converted(type); }); };
  EXPECT_EQ(fail(Array::from(std::vector<float>{65519.9F, 65520}), ElementType::float16),
            bad_data("row 1, column 0: 65520 is not a value of float16"));
  EXPECT_EQ(fail(Array::from(std::vector<double>{-3.4e38}), ElementType::bfloat16),
            bad_data("row 0, column 0: -3.4e+38 is not a value of bfloat16"));
  EXPECT_EQ(fail(Array::from(std::vector<BFloat16>{BFloat16(1e30)}), ElementType::float16),
            bad_data("row 0, column 0: 1.00025555e+30 is not a value of float16"));
  EXPECT_EQ(fail(Array::from(std::vector<std::int32_t>{2049}), ElementType::float16),
            bad_data("row 0, column 0: 2049 is not a value of float16"));
  EXPECT_EQ(fail(Array::from(std::vector<std::int32_t>{-70000}), ElementType::float16),
            bad_data("row 0, column 0: -70000 is not a value of float16"));
  EXPECT_EQ(
      fail(Array::from(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()}), ElementType::bfloat16),
      bad_data("row 0, column 0: 9223372036854775807 is not a value of bfloat16"));
  EXPECT_EQ(fail(Array::from(std::vector<Float16>{Float16(0.5)}), ElementType::int8),
            bad_data("row 0, column 0: 0.5 is not a value of int8"));
  EXPECT_EQ(fail(Array::from(std::vector<Float16>{Float16(NAN)}), ElementType::int64),
            bad_data("row 0, column 0: nan is not a value of int64"));
}

TEST(Array, VisitsPointsByTheirType) {
  const auto size = [](auto view) { return sizeof(typename decltype(view)::value_type); };
  EXPECT_EQ(visit_points(Array::from(std::vector<double>{1}), size), 8U);
  EXPECT_EQ(visit_points(Array::from(std::vector<float>{1}), size), 4U);
  EXPECT_EQ(visit_points(Array::from(std::vector<std::int8_t>{1}), size), 1U);
  EXPECT_EQ(visit_points(Array::from(std::vector<Float16>(1)), size), 2U);
  EXPECT_EQ(visit_points(Array::from(std::vector<BFloat16>(1)), size), 2U);
  EXPECT_EQ(failure_of([&] { visit_points(Array::from(std::vector<std::int64_t>{1}), size); }),
            invalid_argument("the array holds int64, not float32"));
}

TEST(ElementType, NamesAreParsedBack) {
  for (const auto type : {ElementType::float32, ElementType::float64, ElementType::uint8, ElementType::int8,
                          ElementType::int32, ElementType::int64, ElementType::float16, ElementType::bfloat16}) {
    EXPECT_EQ(parse_element_type(to_string(type)), type);
  }
  EXPECT_EQ(failure_of([] { parse_element_type("half"); }),
            invalid_argument("element type 'half' is not one of float32, float64, uint8, int8, int32, int64, "
                             "float16, bfloat16"));
}

}  // namespace
}  // namespace kith::io
