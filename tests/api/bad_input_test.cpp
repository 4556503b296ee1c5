// Promise 5, bad input gets a clear error: the right code, a message that names the value and the limit, and nothing
// lost: the same objects work afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class Promise5BadInput : public testing::Test {
 protected:
  MatrixView<float> base() const { return sample_.base.view(); }
  MatrixView<float> queries() const { return sample_.queries.view(); }

  Sample<float> sample_ = generate<float>(Kind::gaussian, {10, 4, 6}, MetricKind::euclidean, 1);
};

TEST_F(Promise5BadInput, EmptyBase) {
  const MatrixView<float> none(sample_.base.data(), 0, 6);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"base"}, [&] { search(none, queries(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"base"}, [&] { search(MatrixView<float>(), queries(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"base"}, [&] { Index<float> index(none); }));
}

TEST_F(Promise5BadInput, EmptyQueries) {
  const MatrixView<float> none(sample_.queries.data(), 0, 6);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"quer"}, [&] { search(base(), none, 1); }));
}

TEST_F(Promise5BadInput, NoCoordinates) {
  const MatrixView<float> thin_base(sample_.base.data(), 10, 0);
  const MatrixView<float> thin_queries(sample_.queries.data(), 4, 0);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { search(thin_base, thin_queries, 1); }));
}

TEST_F(Promise5BadInput, KOfZeroOrLess) {
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 0"}, [&] { search(base(), queries(), 0); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = -3"}, [&] { search(base(), queries(), -3); }));
}

TEST_F(Promise5BadInput, KLargerThanTheBase) {
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 11", "10"}, [&] { search(base(), queries(), 11); }));
  const Index<float> index(base());
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 11", "10"}, [&] { index.search(queries(), 11); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 10", "9"}, [&] { index.search_self(10); }));
  EXPECT_NO_THROW(index.search(queries(), 10));
}

TEST_F(Promise5BadInput, DifferentDimensions) {
  const MatrixView<float> narrow(sample_.queries.data(), 4, 5);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"6", "5"}, [&] { search(base(), narrow, 1); }));
  const Index<float> index(base());
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"6", "5"}, [&] { index.search(narrow, 1); }));
}

TEST_F(Promise5BadInput, NanAndInfinityAreNamedByRowAndColumn) {
  for (const float bad : {kNan, kInf, -kInf}) {
    for (const Layout layout : all_layouts()) {
      Matrix<float> spoilt = sample_.base;
      spoilt(7, 3) = bad;
      const Points<float> points(spoilt, layout);
      EXPECT_TRUE(
          fails_with(ErrorCode::bad_data, {"base", "row 7", "column 3"}, [&] { search(points.view(), queries(), 2); }));
      EXPECT_TRUE(
          fails_with(ErrorCode::bad_data, {"base", "row 7", "column 3"}, [&] { Index<float> index(points.view()); }));
      spoilt = sample_.queries;
      spoilt(2, 5) = bad;
      const Points<float> query_points(spoilt, layout);
      EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"quer", "row 2", "column 5"},
                             [&] { search(base(), query_points.view(), 2); }));
    }
  }
}

TEST_F(Promise5BadInput, NanIsFoundAnywhereInLargeInput) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    with_dtype(dtype, [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>) {
        Matrix<T> large = generate<T>(Kind::uniform, {5003, 1, 19}, MetricKind::euclidean, 1).base;
        const Matrix<T> one(1, 19, std::vector<T>(19, T{1}));
        for (const auto& [row, column] : {std::pair{0, 0}, std::pair{5002, 18}, std::pair{2500, 17}}) {
          const T kept = large(row, column);
          large(row, column) = std::numeric_limits<T>::quiet_NaN();
          EXPECT_TRUE(fails_with(ErrorCode::bad_data,
                                 {"row " + std::to_string(row), "column " + std::to_string(column)},
                                 [&] { search(large.view(), one.view(), 1); }));
          large(row, column) = kept;
        }
        EXPECT_NO_THROW(search(large.view(), one.view(), 1));
      }
    });
  }
}

// Values at the end of the range are finite, whatever their sum is.
TEST_F(Promise5BadInput, TheLargestFiniteValuesAreNotBad) {
  const Matrix<float> extreme(2, 6, std::vector<float>(12, std::numeric_limits<float>::max()));
  const Neighbors<float> got = search(extreme.view(), extreme.view(), 2);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{0, 1, 0, 1}));
  EXPECT_EQ(got.distances, std::vector<float>(4, 0));
}

// The check is off: no promise about the answer but its shape, and no crash from any stage.
TEST_F(Promise5BadInput, WithoutTheFiniteCheckNanDoesNoHarm) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    with_dtype(dtype, [&]<class T>() {
      Sample<T> spoilt = generate<T>(Kind::gaussian, {350, 13, 40}, MetricKind::cosine, 2);
      for (std::int64_t i = 0; i < 350; i += 3) spoilt.base(i, i % 40) = std::numeric_limits<T>::quiet_NaN();
      for (std::int64_t i = 1; i < 350; i += 9) spoilt.base(i, i % 40) = std::numeric_limits<T>::infinity();
      std::fill_n(spoilt.queries.row(3), 40, std::numeric_limits<T>::quiet_NaN());
      spoilt.queries(5, 5) = -std::numeric_limits<T>::infinity();
      for (const Metric& metric : all_metrics()) {
        for (const DistanceStage stage : distance_stages(Backend::cpu)) {
          Options options;
          options.metric = metric;
          options.distance = stage;
          options.check_finite = false;
          for (const std::int64_t k : {1, 20, 349, 350}) {
            try {
              const auto got = search(spoilt.base.view(), spoilt.queries.view(), k, options);
              EXPECT_EQ(got.ids.size(), static_cast<std::size_t>(13 * k));
              EXPECT_EQ(got.distances.size(), static_cast<std::size_t>(13 * k));
            } catch (const Error& error) {  // a stage that refuses, or an infinite length under cosine
              EXPECT_TRUE(error.code() == ErrorCode::bad_data || stage != DistanceStage::automatic) << error.what();
            }
          }
        }
      }
    });
  }
}

TEST_F(Promise5BadInput, ZeroVectorsUnderCosine) {
  Options options;
  options.metric = MetricKind::cosine;
  for (const float zero : {0.0F, -0.0F}) {
    Matrix<float> spoilt = sample_.base;
    std::fill_n(spoilt.row(4), 6, zero);
    EXPECT_TRUE(
        fails_with(ErrorCode::bad_data, {"base", "row 4"}, [&] { search(spoilt.view(), queries(), 1, options); }));
    spoilt = sample_.queries;
    std::fill_n(spoilt.row(3), 6, zero);
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"quer", "row 3"}, [&] { search(base(), spoilt.view(), 1, options); }));
    options.metric = MetricKind::euclidean;
    EXPECT_NO_THROW(search(base(), spoilt.view(), 1, options));
    options.metric = MetricKind::cosine;
  }
  const Matrix<std::uint8_t> bytes(2, 3, {1, 2, 3, 0, 0, 0});
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 1"}, [&] { search(bytes.view(), bytes.view(), 1, options); }));
}

TEST_F(Promise5BadInput, ConstantVectorsUnderCorrelation) {
  Options options;
  options.metric = MetricKind::correlation;
  // The mean of three times 0.1 is not 0.1 in binary: being constant must not be a question of rounding.
  for (const double value : {0.0, 1.0, 0.1, -1e30, 1e-30, 3.3333}) {
    Matrix<float> spoilt = sample_.base;
    std::fill_n(spoilt.row(4), 6, static_cast<float>(value));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base", "row 4"}, [&] {
      search(spoilt.view(), queries(), 1, options);
    })) << value;
    for (const std::int64_t dims : {1, 3, 7, 11}) {
      Sample<double> doubles = generate<double>(Kind::gaussian, {5, 2, dims}, options.metric, 1);
      if (dims == 1) doubles.base(0, 0) = value;
      std::fill_n(doubles.base.row(dims == 1 ? 0 : 3), dims, value);
      EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base", dims == 1 ? "row 0" : "row 3"},
                             [&] { search(doubles.base.view(), doubles.queries.view(), 1, options); }))
          << value << " in " << dims << " coordinates";
    }
  }
  const Matrix<std::int8_t> bytes(2, 3, {1, 2, 3, 5, 5, 5});
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 1"}, [&] { search(bytes.view(), bytes.view(), 1, options); }));
}

// One ulp from constant is not constant.
TEST_F(Promise5BadInput, NearlyConstantVectorsAreAccepted) {
  Options options;
  options.metric = MetricKind::correlation;
  Matrix<float> points(2, 4, {1, 1, 1, 1, 5, 5, 5, 5});
  points(0, 2) = std::nextafter(1.0F, 2.0F);
  points(1, 0) = std::nextafter(5.0F, 6.0F);
  const Neighbors<float> got = search(points.view(), points.view(), 1, options);
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(got.distances, (std::vector<float>{0, 0}));
}

TEST_F(Promise5BadInput, MinkowskiBelowOne) {
  for (const double p :
       {0.5, 0.0, -1.0, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Options options;
    options.metric = Metric::minkowski(p);
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"p"}, [&] { search(base(), queries(), 1, options); })) << p;
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"p"}, [&] { Index<float> index(base(), options); })) << p;
  }
  Options options;
  options.metric = Metric::minkowski(1);
  EXPECT_NO_THROW(search(base(), queries(), 1, options));
}

TEST_F(Promise5BadInput, NegativeThreadsAndBudget) {
  Options options;
  options.threads = -1;
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"threads", "-1"}, [&] { search(base(), queries(), 1, options); }));
  options.threads = 0;
  options.memory_budget = -5;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"-5"}, [&] { search(base(), queries(), 1, options); }));
}

// OpenMP would end the process when the system refuses it a thread, so absurd numbers are refused before.
TEST_F(Promise5BadInput, AbsurdThreadsAreRefused) {
  Options options;
  options.threads = 1000000;
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"threads", "1000000"}, [&] { search(base(), queries(), 1, options); }));
}

TEST_F(Promise5BadInput, AbsurdShapesAreRefusedByExplain) {
  for (const std::int64_t dims : {std::int64_t{1} << 31, std::int64_t{1} << 62}) {
    const Problem problem{1000000, 10, dims, 10, DType::float32};
    EXPECT_TRUE(
        fails_with(ErrorCode::invalid_argument, {"dimensions", std::to_string(dims)}, [&] { explain(problem); }));
  }
}

TEST_F(Promise5BadInput, AMatrixHoldsWhatItsShapeSays) {
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"5", "2 × 3"}, [] { Matrix<float>(2, 3, std::vector<float>(5)); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"-1"}, [] { Matrix<float>(-1, 3); }));
}

TEST_F(Promise5BadInput, MoreThreadsThanWorkAreFine) {
  Options options;
  options.threads = 200;
  EXPECT_TRUE(same_answer(search(base(), queries(), 3, options), search(base(), queries(), 3)));
}

TEST_F(Promise5BadInput, WhatABackendDoesNotHaveIsListedWithWhatItHas) {
  Options options;
  options.backend = Backend::cpu;
  options.distance = DistanceStage::tiled;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"'tiled'", "cpu", "register-tiled, gemm"},
                         [&] { search(base(), queries(), 1, options); }));
  options.distance = DistanceStage::automatic;
  options.select = SelectMethod::bits;
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"'bits'", "cpu", "threshold-filter"},
                         [&] { search(base(), queries(), 1, options); }));
}

TEST_F(Promise5BadInput, NullData) {
  const MatrixView<float> null(nullptr, 10, 6);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"base"}, [&] { search(null, queries(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"quer"}, [&] { search(base(), null, 1); }));
  const Index<float> index(base());
  std::int64_t ids[4];
  float found[4];
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { index.search_into(queries(), 1, {nullptr, found}); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { index.search_into(queries(), 1, {ids, nullptr}); }));
}

TEST_F(Promise5BadInput, NegativeSizes) {
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"base"},
                         [&] { search(MatrixView<float>(sample_.base.data(), -4, 6), queries(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {},
                         [&] { search(MatrixView<float>(sample_.base.data(), 4, -6), queries(), 1); }));
}

// No product of sizes may wrap around; nothing is read or allocated before that is known.
TEST_F(Promise5BadInput, OverflowingSizes) {
  constexpr std::int64_t kVast = std::int64_t{1} << 62;
  const float* data = sample_.base.data();
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {}, [&] { search(MatrixView<float>(data, kVast, 6), queries(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {},
                         [&] { search(MatrixView<float>(data, 6, kVast), MatrixView<float>(data, 1, kVast), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {},
                         [&] { search(MatrixView<float>(data, 10, 6, kVast, 1), queries(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {},
                         [&] { search(MatrixView<float>(data, 10, 6, 6, -kVast), queries(), 1); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {},
                         [&] { search(base(), MatrixView<float>(data, kVast, 6, 0, 1), 10); }));
}

// Outputs that no memory holds are refused before the work starts; std::bad_alloc never gets out.
TEST_F(Promise5BadInput, OutputsThatCannotBeHeld) {
  const MatrixView<float> endless(sample_.queries.data(), std::int64_t{1} << 50, 6, 0, 1);
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {}, [&] { search(base(), endless, 10); }));
}

TEST_F(Promise5BadInput, TheIndexWorksAfterAnError) {
  const Index<float> index(base());
  const Neighbors<float> want = index.search(queries(), 3);
  Matrix<float> spoilt = sample_.queries;
  spoilt(0, 0) = kNan;
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {}, [&] { index.search(spoilt.view(), 3); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { index.search(queries(), 0); }));
  EXPECT_TRUE(same_answer(index.search(queries(), 3), want));
}

TEST_F(Promise5BadInput, BackendsThatAreNotThere) {
  const std::vector<Backend> available = available_backends();
  for (const Backend backend : {Backend::cuda, Backend::emulated}) {
    if (std::find(available.begin(), available.end(), backend) != available.end()) continue;
    Options options;
    options.backend = backend;
    EXPECT_TRUE(
        fails_with(ErrorCode::no_device, {kith::to_string(backend)}, [&] { search(base(), queries(), 1, options); }));
    EXPECT_TRUE(fails_with(ErrorCode::no_device, {kith::to_string(backend)},
                           [&] { graph(base(), 1, Symmetrize::none, options); }));
  }
}

}  // namespace
}  // namespace kith::test
