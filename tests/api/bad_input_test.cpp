// Promise 5, bad input gets a clear error: the right code, a message that names the value and the limit, and nothing
// lost: the same objects work afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class Promise5BadInput : public testing::Test {
 protected:
  MatrixView<float> base() const { return sample_.base.view(); }
  MatrixView<float> queries() const { return sample_.queries.view(); }

  // A search refuses this, and so does one of an index, or the index itself where it is the base that is wrong.
  template <Element T>
  static void expect_refused(ErrorCode code, const std::vector<std::string>& mentions, MatrixView<T> base,
                             MatrixView<T> queries, const Options& options = {}, std::int64_t k = 1) {
    EXPECT_TRUE(fails_with(code, mentions, [&] { search(base, queries, k, options); }));
    EXPECT_TRUE(fails_with(code, mentions, [&] { Index<T>(base, options).search(queries, k); }));
    if (mentions.empty() || mentions.front() != "base") return;
    EXPECT_TRUE(fails_with(code, mentions, [&] { Index<T> index(base, options); }));
  }
  template <Element T>
  static void expect_bad(const std::vector<std::string>& mentions, MatrixView<T> base, MatrixView<T> queries,
                         const Options& options = {}) {
    expect_refused(ErrorCode::bad_data, mentions, base, queries, options);
  }

  Sample<float> sample_ = generate<float>(Kind::gaussian, {10, 4, 6}, MetricKind::euclidean, 1);
};

// No product of sizes may wrap around; nothing is read or allocated before that is known.
TEST_F(Promise5BadInput, ShapesThatAreNone) {
  constexpr std::int64_t kVast = std::int64_t{1} << 62;
  const float* data = sample_.base.data();
  using View = MatrixView<float>;
  struct Refused {
    std::vector<std::string> mentions;
    View base;
    View queries;
    std::int64_t k = 1;
  };
  for (const Refused& each : std::vector<Refused>{{{"base"}, View(data, 0, 6), queries()},
                                                  {{"base"}, View(), queries()},
                                                  {{"quer"}, base(), View(data, 0, 6)},
                                                  {{}, View(data, 10, 0), View(data, 4, 0)},
                                                  {{"base"}, View(nullptr, 10, 6), queries()},
                                                  {{"quer"}, base(), View(nullptr, 10, 6)},
                                                  {{"base"}, View(data, -4, 6), queries()},
                                                  {{}, View(data, 4, -6), queries()},
                                                  {{}, View(data, kVast, 6), queries()},
                                                  {{}, View(data, 6, kVast), View(data, 1, kVast)},
                                                  {{}, View(data, 10, 6, kVast, 1), queries()},
                                                  {{}, View(data, 10, 6, 6, -kVast), queries()},
                                                  {{}, base(), View(data, kVast, 6, 0, 1), 10},
                                                  {{"6", "5"}, base(), View(data, 4, 5)},
                                                  {{"k = 0"}, base(), queries(), 0},
                                                  {{"k = -3"}, base(), queries(), -3},
                                                  {{"k = 11", "10"}, base(), queries(), 11}})
    expect_refused(ErrorCode::invalid_argument, each.mentions, each.base, each.queries, {}, each.k);
  EXPECT_NO_THROW(search(base(), queries(), 10));
}

TEST_F(Promise5BadInput, NanAndInfinityAreNamedByRowAndColumn) {
  for (const float bad : {kNan, kInf, -kInf}) {
    for (const Layout layout : all_layouts()) {
      Sample<float> spoilt = sample_;
      spoilt.base(7, 3) = bad;
      spoilt.queries(2, 5) = bad;
      expect_bad({"base", "row 7", "column 3"}, Points<float>(spoilt.base, layout).view(), queries());
      expect_bad({"quer", "row 2", "column 5"}, base(), Points<float>(spoilt.queries, layout).view());
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

// Distances between such points are numbers of double, but their squares are not: refused rather than ranked by id.
TEST_F(Promise5BadInput, SquaresThatOverflowAreRefused) {
  const Matrix<double> far(3, 2, {0, 1e300, 5, 2e300, 1, 1});
  const Matrix<double> near(1, 2, {1e150, -1e150});
  for (const Backend backend : available_backends()) {
    Options options;
    options.backend = backend;
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 0", "column 1", "1e+300", "beyond 1e+150"},
                           [&] { search(far.view(), near.view(), 1, options); }));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query row 0", "beyond 1e+150"},
                           [&] { search(near.view(), far.view(), 1, options); }));
    EXPECT_EQ(search(near.view(), near.view(), 1, options).distances, std::vector<double>{0});
    options.metric = MetricKind::chebyshev;
    EXPECT_EQ(search(far.view(), near.view(), 3, options).ids, (std::vector<std::int64_t>{2, 0, 1}));
  }
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
          Options options = options_for(metric, stage);
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
  const Options options = options_for(MetricKind::cosine);
  for (const float zero : {0.0F, -0.0F}) {
    Sample<float> spoilt = sample_;
    std::fill_n(spoilt.base.row(4), 6, zero);
    std::fill_n(spoilt.queries.row(3), 6, zero);
    expect_bad({"base", "row 4"}, spoilt.base.view(), queries(), options);
    expect_bad({"quer", "row 3"}, base(), spoilt.queries.view(), options);
    EXPECT_NO_THROW(search(spoilt, 1));
  }
  const Matrix<std::uint8_t> bytes(2, 3, {1, 2, 3, 0, 0, 0});
  expect_bad({"row 1"}, bytes.view(), bytes.view(), options);
}

TEST_F(Promise5BadInput, ConstantVectorsUnderCorrelation) {
  const Options options = options_for(MetricKind::correlation);
  // The mean of three times 0.1 is not 0.1 in binary: being constant must not be a question of rounding.
  for (const double value : {0.0, 1.0, 0.1, -1e30, 1e-30, 3.3333}) {
    SCOPED_TRACE(value);
    Matrix<float> spoilt = sample_.base;
    std::fill_n(spoilt.row(4), 6, static_cast<float>(value));
    expect_bad({"base", "row 4"}, spoilt.view(), queries(), options);
    for (const std::int64_t dims : {1, 3, 7, 11}) {
      SCOPED_TRACE(dims);
      Sample<double> doubles = generate<double>(Kind::gaussian, {5, 2, dims}, options.metric, 1);
      const std::int64_t row = dims == 1 ? 0 : 3;
      std::fill_n(doubles.base.row(row), dims, value);
      expect_bad({"base", "row " + std::to_string(row)}, doubles.base.view(), doubles.queries.view(), options);
    }
  }
  const Matrix<std::int8_t> bytes(2, 3, {1, 2, 3, 5, 5, 5});
  expect_bad({"row 1"}, bytes.view(), bytes.view(), options);
}

// One ulp from constant is not constant.
TEST_F(Promise5BadInput, NearlyConstantVectorsAreAccepted) {
  Matrix<float> points(2, 4, {1, 1, 1, 1, 5, 5, 5, 5});
  points(0, 2) = std::nextafter(1.0F, 2.0F);
  points(1, 0) = std::nextafter(5.0F, 6.0F);
  const Neighbors<float> got = search(points.view(), points.view(), 1, options_for(MetricKind::correlation));
  EXPECT_EQ(got.ids, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(got.distances, (std::vector<float>{0, 0}));
}

// What a backend does not have is listed with what it has.
TEST_F(Promise5BadInput, OptionsThatMakeNoSense) {
  const auto refused = [&](const std::vector<std::string>& mentions, auto change) {
    Options options;
    options.backend = Backend::cpu;
    change(options);
    expect_refused(ErrorCode::invalid_argument, mentions, base(), queries(), options);
  };
  for (const double p :
       {0.5, 0.0, -1.0, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    refused({"p"}, [&](Options& options) {
      options.metric = Metric::minkowski(p);
      EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"p"}, [&] { Index<float> index(base(), options); }));
    });
  }
  refused({"threads", "-1"}, [](Options& options) { options.threads = -1; });
  refused({"threads", "1000000"}, [](Options& options) { options.threads = 1000000; });
  refused({"-5"}, [](Options& options) { options.memory_budget = -5; });
  refused({"'tiled'", "cpu", "register-tiled, gemm"},
          [](Options& options) { options.distance = DistanceStage::tiled; });
  refused({"'bits'", "cpu", "threshold-filter"}, [](Options& options) { options.select = SelectMethod::bits; });
  EXPECT_NO_THROW(search(base(), queries(), 1, options_for(Metric::minkowski(1))));
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

TEST_F(Promise5BadInput, NullOutputs) {
  const Index<float> index(base());
  std::int64_t ids[4];
  float found[4];
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { index.search_into(queries(), 1, {nullptr, found}); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {}, [&] { index.search_into(queries(), 1, {ids, nullptr}); }));
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
  for (const Backend backend : {Backend::cuda, Backend::emulated}) {
    if (is_available(backend)) continue;
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
