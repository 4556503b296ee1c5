// Promise 1, the invariances: translating, zero-padding, splitting into batches, changing the number of threads, the
// stage or the entry point does not change one bit of the answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

// Calls change(value, column) for every value.
template <Element T, class Change>
void change_all(Sample<T>& sample, Change change) {
  for (Matrix<T>* points : {&sample.base, &sample.queries})
    for (std::int64_t i = 0; i < points->rows(); ++i)
      for (std::int64_t c = 0; c < points->cols(); ++c) change((*points)(i, c), c);
}

// Adding the same amount to coordinate c of every point changes nothing.
template <Element T>
void expect_translation_invariance(Sample<T> sample, const std::vector<T>& by) {
  Sample<T> moved = sample;
  change_all(moved, [&](T& value, std::int64_t c) { value = static_cast<T>(value + by[static_cast<std::size_t>(c)]); });
  for (const Metric& metric :
       {Metric(MetricKind::sqeuclidean), Metric(MetricKind::euclidean), Metric(MetricKind::manhattan),
        Metric(MetricKind::chebyshev), Metric::minkowski(3), Metric(MetricKind::hamming)}) {
    for (DistanceStage stage : usable_stages(sample, metric, 12)) {
      const Options options = options_for(metric, stage);
      EXPECT_TRUE(same_answer(search(moved, 12, options), search(sample, 12, options)))
          << kith::to_string(metric) << ' ' << stage << ' ' << kith::to_string(dtype_of<T>());
    }
  }
}

// Multiples of 1/8 below 128, moved by up to 2^20: 24 bits hold all of it.
template <Element T>
Sample<T> eighths(Shape shape, std::uint64_t seed) {
  Random random(seed);
  Sample<T> sample{Matrix<T>(shape.base_rows, shape.dims), Matrix<T>(shape.queries, shape.dims)};
  change_all(sample,
             [&](T& value, std::int64_t) { value = static_cast<T>(static_cast<double>(random.below(1024)) / 8); });
  return sample;
}

TEST(Promise1Translation, DoesNotChangeTheAnswerInFloat32) {
  for (const Shape& shape : {Shape{900, 20, 5}, Shape{700, 20, 100}}) {
    std::vector<float> by(static_cast<std::size_t>(shape.dims));
    for (std::size_t c = 0; c < by.size(); ++c) by[c] = c % 3 == 0 ? 0x1p20F - 128 : -0x1p20F;
    expect_translation_invariance(eighths<float>(shape, 1), by);
  }
}

TEST(Promise1Translation, DoesNotChangeTheAnswerInFloat64) {
  std::vector<double> by(60, 0x1p45);
  expect_translation_invariance(eighths<double>({600, 20, 60}, 2), by);
}

template <Element T>
void expect_integer_translation_invariance(T by) {
  Sample<T> sample = generate<T>(Kind::clustered, {500, 20, 40}, MetricKind::euclidean, 3);
  change_all(sample, [](T& value, std::int64_t) { value = static_cast<T>(value / 2); });
  expect_translation_invariance(sample, std::vector<T>(40, by));
}

TEST(Promise1Translation, DoesNotChangeTheAnswerInIntegers) {
  expect_integer_translation_invariance<std::uint8_t>(128);
  expect_integer_translation_invariance<std::int8_t>(-64);
}

template <Element T>
Matrix<T> zero_padded(const Matrix<T>& points, std::int64_t extra) {
  Matrix<T> padded(points.rows(), points.cols() + extra);
  for (std::int64_t i = 0; i < points.rows(); ++i) std::copy_n(points.row(i), points.cols(), padded.row(i));
  return padded;
}

// Correlation has another mean and hamming another share once coordinates are added, so they are left out.
TEST(Promise1ZeroPadding, DoesNotChangeTheAnswer) {
  constexpr Shape kShape{300, 7, 13};
  for (const Metric& metric : all_metrics()) {
    if (metric.kind == MetricKind::correlation || metric.kind == MetricKind::hamming) continue;
    for (const DType dtype : all_dtypes()) {
      for (const Kind kind : {Kind::gaussian, Kind::clustered, Kind::ties, Kind::large_offset}) {
        with_dtype(dtype, [&]<class T>() {
          const Sample<T> sample = generate<T>(kind, kShape, metric, 4);
          const auto want = search(sample, 9, options_for(metric));
          for (const std::int64_t extra : {1, 3, 8, 150}) {
            const Matrix<T> base = zero_padded(sample.base, extra);
            const Matrix<T> queries = zero_padded(sample.queries, extra);
            EXPECT_TRUE(same_answer(search(base.view(), queries.view(), 9, options_for(metric)), want))
                << kith::to_string(metric) << ' ' << kith::to_string(dtype) << ' ' << to_string(kind) << ", " << extra
                << " zeros";
          }
        });
      }
    }
  }
}

TEST(Promise1ZeroPadding, DoesNotChangeTheOrderUnderHamming) {
  const Sample<std::uint8_t> sample = generate<std::uint8_t>(Kind::ties, {600, 15, 13}, MetricKind::hamming, 4);
  const auto want = search(sample, 9, options_for(MetricKind::hamming));
  const Matrix<std::uint8_t> base = zero_padded(sample.base, 30);
  const Matrix<std::uint8_t> queries = zero_padded(sample.queries, 30);
  EXPECT_EQ(search(base.view(), queries.view(), 9, options_for(MetricKind::hamming)).ids, want.ids);
}

TEST(Promise1BatchSize, DoesNotChangeTheAnswer) {
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      with_dtype(dtype, [&]<class T>() {
        const Sample<T> sample = generate<T>(Kind::clustered, {400, 19, 70}, metric, 5);
        const auto want = search(sample, 14, options_for(metric));
        const Index<T> index(sample.base.view(), options_for(metric));
        for (const std::int64_t batch : {1, 8, 19}) {
          for (std::int64_t first = 0; first < 19; first += batch) {
            const auto part = index.search(sample.queries.view().rows_from(first, std::min(batch, 19 - first)), 14);
            EXPECT_TRUE(std::equal(part.ids.begin(), part.ids.end(), want.ids.begin() + first * 14) &&
                        std::equal(part.distances.begin(), part.distances.end(), want.distances.begin() + first * 14))
                << kith::to_string(metric) << ' ' << kith::to_string(dtype) << ", batches of " << batch;
          }
        }
      });
    }
  }
}

TEST(Promise1ThreadCount, DoesNotChangeTheAnswer) {
  // Many queries are split over threads by query, one query by base rows.
  for (const Shape& shape : {Shape{9000, 1, 20}, Shape{1200, 41, 48}, Shape{5000, 3, 3}}) {
    for (const MetricKind metric : {MetricKind::euclidean, MetricKind::manhattan, MetricKind::cosine,
                                    MetricKind::inner_product, MetricKind::hamming, MetricKind::canberra}) {
      for (const Kind kind : {Kind::ties, Kind::duplicates}) {
        const Sample<float> sample = generate<float>(kind, shape, metric, 6);
        for (DistanceStage stage : usable_stages(sample, metric, 33)) {
          const auto want = search(sample, 33, options_for(metric, stage, 1));
          for (const int threads : {2, 3, 7}) {
            EXPECT_TRUE(same_answer(search(sample, 33, options_for(metric, stage, threads)), want))
                << kith::to_string(Metric(metric)) << ' ' << stage << ' ' << to_string(kind) << ", " << threads
                << " threads, q = " << shape.queries;
          }
        }
      }
    }
  }
}

class Promise2EverySelection : public OnBackend {};

TEST_P(Promise2EverySelection, ReturnsTheSameAnswer) {
  const MetricKind metric = MetricKind::manhattan;
  const Sample<float> sample = generate<float>(Kind::ties, {is_cpu() ? 3000 : 300, 12, 6}, metric, 8);
  for (const std::int64_t k : {1, 12, is_cpu() ? 2000 : 200}) {
    const auto truth = truth_of(sample, metric);
    for (const SelectMethod name : select_methods(GetParam())) {
      Options asked = options(metric);
      asked.select = name;
      try {
        EXPECT_TRUE(matches_truth(search(sample, k, asked), truth, k)) << name << " k = " << k;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
        EXPECT_NE(std::string(error.what()).find(to_string(name)), std::string::npos) << error.what();
        EXPECT_TRUE(name != SelectMethod::automatic && (is_cpu() || k > 12)) << error.what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Promise2EverySelection, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

}  // namespace
}  // namespace kith::test
