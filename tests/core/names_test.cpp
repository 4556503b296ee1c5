// Names, codes and small values of the public headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kith/kith.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"

namespace kith::test {
namespace {

template <class Value, class Parse>
void expect_names(const std::vector<std::pair<Value, const char*>>& names, Parse parse) {
  for (const auto& [value, name] : names) {
    EXPECT_STREQ(to_string(value), name);
    EXPECT_EQ(parse(name), value) << name;
  }
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { parse(""); }));
}

TEST(Names, OfWhatOptionsChooseAmong) {
  expect_names<Backend>(
      {{Backend::automatic, "auto"}, {Backend::cpu, "cpu"}, {Backend::cuda, "cuda"}, {Backend::emulated, "emulated"}},
      parse_backend);
  expect_names<Method>({{Method::automatic, "auto"},
                        {Method::brute, "brute"},
                        {Method::two_stage, "two-stage"},
                        {Method::fused, "fused"},
                        {Method::triangle, "triangle"},
                        {Method::tree, "tree"},
                        {Method::shifted_sort, "shifted-sort"}},
                       parse_method);
  expect_names<Symmetrize>({{Symmetrize::none, "none"}, {Symmetrize::either, "union"}, {Symmetrize::mutual, "mutual"}},
                           parse_symmetrize);
}

TEST(Names, TheCpuIsAlwaysThereAndAutomaticIsNotABackend) {
  EXPECT_TRUE(is_available(Backend::cpu));
  EXPECT_FALSE(is_available(Backend::automatic));
}

TEST(Names, ListsStartWithAutoAndNameNothingTwice) {
  const auto check = [](const auto& values, auto parse) {
    ASSERT_GE(values.size(), 2U);
    std::set<std::string> names;
    for (const auto value : values) {
      EXPECT_EQ(parse(to_string(value)), value);
      names.insert(to_string(value));
    }
    EXPECT_STREQ(to_string(values[0]), "auto");
    EXPECT_EQ(names.size(), values.size());
  };
  check(search_methods(Backend::cpu), parse_method);
  for (const Backend backend : {Backend::cpu, Backend::cuda}) check(distance_stages(backend), parse_distance_stage);
  for (const Backend backend : available_backends()) check(select_methods(backend), parse_select_method);
  const std::vector<Method> methods = search_methods(Backend::cpu);
  EXPECT_NE(std::find(methods.begin(), methods.end(), Method::brute), methods.end());
}

TEST(Names, TuningIsParsedAndRefusedByName) {
  EXPECT_EQ(parse_triangle_form("sweet-knn"), TriangleForm::sweet_knn);
  EXPECT_EQ(parse_triangle_filter("partial"), TriangleFilter::partial);
  EXPECT_EQ(parse_triangle_placement("shared"), TrianglePlacement::shared);
  EXPECT_EQ(parse_triangle_layout("contiguous"), TriangleLayout::contiguous);
  EXPECT_EQ(parse_curve("Hilbert"), Curve::hilbert);
  EXPECT_EQ(parse_curve_merge("global_memory"), CurveMerge::global_memory);
  EXPECT_EQ(parse_curve_positions("sort"), CurvePositions::sort);
  EXPECT_STREQ(to_string(SelectMethod::radius), "radius");
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"tpu", "auto, cpu, cuda"}, [] { parse_backend("tpu"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"magic", "brute", "triangle"}, [] { parse_method("magic"); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"both", "none", "union", "mutual"}, [] { parse_symmetrize("both"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"warp", "gemm"}, [] { parse_distance_stage("warp"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"radius", "sort"}, [] { parse_select_method("radius"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"round", "sweet-knn"}, [] { parse_triangle_form("round"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"peano", "morton"}, [] { parse_curve("peano"); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"guess", "sort"}, [] { parse_curve_positions("guess"); }));
}

TEST(Errors, CarryCodeAndMessage) {
  const Error error(ErrorCode::bad_data, "row 3 is bad");
  EXPECT_EQ(error.code(), ErrorCode::bad_data);
  EXPECT_STREQ(error.what(), "row 3 is bad");
  std::set<std::string> texts;
  for (const ErrorCode code :
       {ErrorCode::invalid_argument, ErrorCode::bad_data, ErrorCode::out_of_memory, ErrorCode::no_device,
        ErrorCode::cannot_write, ErrorCode::cancelled, ErrorCode::internal}) {
    ASSERT_NE(to_string(code), nullptr);
    texts.insert(to_string(code));
  }
  EXPECT_EQ(texts.size(), 7U);
}

TEST(Version, IsThatOfTheHeader) {
  EXPECT_EQ(version(), std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) + "." +
                           std::to_string(KITH_VERSION_PATCH));
}

TEST(DTypes, KnowTheirNameAndSize) {
  EXPECT_STREQ(to_string(dtype_of<float>()), "float32");
  EXPECT_STREQ(to_string(dtype_of<double>()), "float64");
  EXPECT_STREQ(to_string(dtype_of<std::uint8_t>()), "uint8");
  EXPECT_STREQ(to_string(dtype_of<std::int8_t>()), "int8");
  for (const DType dtype : all_dtypes()) {
    with_dtype(dtype, [&]<class T>() {
      EXPECT_EQ(dtype_of<T>(), dtype);
      EXPECT_EQ(size_of(dtype), static_cast<std::int64_t>(sizeof(T)));
    });
  }
}

TEST(Matrices, AreRowMajorAndViewable) {
  Matrix<float> matrix(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(matrix(1, 0), 4);
  EXPECT_EQ(*matrix.row(1), 4);
  matrix(0, 2) = 9;
  const MatrixView<float> view = matrix.view();
  EXPECT_EQ(view.rows, 2);
  EXPECT_EQ(view.cols, 3);
  EXPECT_EQ(view.row_stride, 3);
  EXPECT_EQ(view.col_stride, 1);
  EXPECT_EQ(view(0, 2), 9);
  const MatrixView<float> second = view.rows_from(1, 1);
  EXPECT_EQ(second.rows, 1);
  EXPECT_EQ(second(0, 2), 6);
  EXPECT_EQ(Matrix<double>(2, 2)(1, 1), 0);
}

TEST(Progress, FractionIsSafe) {
  EXPECT_EQ((Progress{0, 10}.fraction()), 0);
  EXPECT_EQ((Progress{5, 10}.fraction()), 0.5);
  EXPECT_EQ((Progress{0, 0}.fraction()), 1);
}

}  // namespace
}  // namespace kith::test
