// Every format × element type × shape × layout: what is saved is loaded.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "files.hpp"
#include "io/format.hpp"
#include "io/scalar_types.hpp"

namespace kith::io {
namespace {

struct Shape {
  int rank;
  std::int64_t rows;
  std::int64_t cols;
};

enum class Order { packed, fortran, strided };

// Values of every magnitude, or small integers that every type holds.
template <class T>
T random_value(std::mt19937_64& random, bool small) {
  if (small) return static_cast<T>(static_cast<int>(random() % 100));
  if constexpr (std::is_floating_point_v<T>) {
    const T magnitude = static_cast<T>(std::uniform_real_distribution<double>(-30, 30)(random));
    return std::exp(magnitude) * static_cast<T>(random() % 2 == 0 ? 1 : -1);
  } else if constexpr (kHas16Bits<T>) {
    const double limit = std::same_as<T, Float16> ? 11 : 80;  // e^11 is within float16's range
    return T(std::exp(std::uniform_real_distribution<double>(-limit, limit)(random)) * (random() % 2 == 0 ? 1 : -1));
  } else {
    return static_cast<T>(random());
  }
}

template <class T>
Array random_array(Shape shape, Order order, bool small) {
  std::mt19937_64 random(static_cast<std::uint64_t>(shape.rows * 31 + shape.cols));
  const std::int64_t padding = order == Order::strided ? 3 : 0;
  const std::int64_t row_stride = order == Order::fortran ? 1 : shape.cols + padding;
  const std::int64_t col_stride = order == Order::fortran ? shape.rows : 1;
  auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(shape.rows * (shape.cols + padding)));
  for (T& value : *values) value = random_value<T>(random, small);
  return {element_type_of<T>(), shape.rank, shape.rows, shape.cols, values->data(), row_stride, col_stride, values};
}

class RoundTrip : public testing::TestWithParam<std::tuple<Format, ElementType>> {};

// Text does not tell integers from other numbers: they are read as float64.
Array rounded_to_double(const Array& array) {
  const std::vector<std::int64_t> values = array.values<std::int64_t>();
  return Array::from(std::vector<double>(values.begin(), values.end()), array.rows(), array.cols());
}

TEST_P(RoundTrip, KeepsEveryValue) {
  const auto [format, type] = GetParam();
  const auto fixed = fixed_type(format);
  const bool vecs = format == Format::fvecs || format == Format::bvecs || format == Format::ivecs;
  const Folder folder;
  for (const Shape shape :
       {Shape{2, 1, 1}, Shape{2, 5, 3}, Shape{2, 3, 2}, Shape{1, 9, 1}, Shape{2, 0, 3}, Shape{2, 100003, 3}}) {
    if (vecs && shape.rows == 0) continue;
    for (const Order order : {Order::packed, Order::fortran, Order::strided}) {
      const bool small = fixed && *fixed != type;
      const Array array =
          with_type(type, [&](auto tag) { return random_array<typename decltype(tag)::type>(shape, order, small); });
      const std::string path = folder.file("a");
      SaveOptions options;
      options.format = format;
      save(path, array, options);
      LoadOptions load_options;
      load_options.format = format;
      if (format == Format::csv && shape.rows == 0) {
        EXPECT_EQ(bytes_of(path), "");
        continue;
      }
      const Array loaded = load(path, load_options);
      // What the format does not know about: one dimension, other element types.
      const bool keeps_rank = format == Format::npy || format == Format::npz || format == Format::hdf5;
      EXPECT_EQ(loaded.rank(), keeps_rank ? shape.rank : 2);
      EXPECT_EQ(loaded.type(), fixed ? *fixed : format == Format::csv ? ElementType::float64 : type);
      const bool wide_in_text = format == Format::csv && type == ElementType::int64;
      const Array compared = wide_in_text ? rounded_to_double(array) : loaded.converted(type);
      const Array against = wide_in_text ? loaded : array;
      EXPECT_TRUE(same_array(Array(compared.type(), 2, compared.rows(), compared.cols(), compared.data(),
                                   compared.row_stride(), compared.col_stride(), nullptr),
                             Array(against.type(), 2, against.rows(), against.cols(), against.data(),
                                   against.row_stride(), against.col_stride(), nullptr)))
          << shape.rows << " x " << shape.cols << " order " << static_cast<int>(order);
    }
  }
  EXPECT_EQ(folder.names().size(), 1U);
}

// Those that every format takes, then what ply has not, then what npy and npz have not either.
constexpr ElementType kTypes[] = {ElementType::float32, ElementType::float64, ElementType::uint8,
                                  ElementType::int8,    ElementType::int32,   ElementType::int64,
                                  ElementType::float16, ElementType::bfloat16};

std::string test_name(const testing::TestParamInfo<RoundTrip::ParamType>& test) {
  return std::string(to_string(std::get<0>(test.param))) + "_" + to_string(std::get<1>(test.param));
}

// Ground truth holds two arrays, and json is written only.
INSTANTIATE_TEST_SUITE_P(AnyType, RoundTrip,
                         testing::Combine(testing::ValuesIn(formats_without({Format::groundtruth, Format::ply,
                                                                             Format::json, Format::npy, Format::npz})),
                                          testing::ValuesIn(kTypes)),
                         test_name);

INSTANTIATE_TEST_SUITE_P(NumpyHasNoBFloat16, RoundTrip,
                         testing::Combine(testing::Values(Format::npy, Format::npz),
                                          testing::ValuesIn(kTypes, kTypes + 7)),
                         test_name);

INSTANTIATE_TEST_SUITE_P(PlyHasNoInt64, RoundTrip,
                         testing::Combine(testing::Values(Format::ply), testing::ValuesIn(kTypes, kTypes + 5)),
                         test_name);

}  // namespace
}  // namespace kith::io
