// Promise 1, the invariances: translating, zero-padding, splitting into batches, changing the number of threads, the
// stage or the entry point does not change one bit of the answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kith/index.hpp"
#include "support/compare.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

Options options_for(const Metric& metric, DistanceStage stage = DistanceStage::automatic, int threads = 0) {
  Options options;
  options.metric = metric;
  options.distance = stage;
  options.threads = threads;
  return options;
}

// The stages that accept this problem; the others must have said so.
template <Element T>
std::vector<DistanceStage> usable_stages(const Sample<T>& sample, const Metric& metric, std::int64_t k) {
  std::vector<DistanceStage> usable;
  const Problem shape{sample.base.rows(), sample.queries.rows(), sample.base.cols(), k, dtype_of<T>()};
  for (const DistanceStage stage : distance_stages(Backend::cpu)) {
    try {
      explain(shape, options_for(metric, stage));
      usable.push_back(stage);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    }
  }
  return usable;
}

// Adds the same amount to coordinate c of every point.
template <Element T>
void translate(Sample<T>& sample, const std::vector<T>& by) {
  for (Matrix<T>* points : {&sample.base, &sample.queries}) {
    for (std::int64_t i = 0; i < points->rows(); ++i) {
      for (std::int64_t c = 0; c < points->cols(); ++c) {
        (*points)(i, c) = static_cast<T>((*points)(i, c) + by[static_cast<std::size_t>(c)]);
      }
    }
  }
}

template <Element T>
void expect_translation_invariance(Sample<T> sample, const std::vector<T>& by) {
  Sample<T> moved = sample;
  translate(moved, by);
  for (const Metric& metric :
       {Metric(MetricKind::sqeuclidean), Metric(MetricKind::euclidean), Metric(MetricKind::manhattan),
        Metric(MetricKind::chebyshev), Metric::minkowski(3), Metric(MetricKind::hamming)}) {
    for (DistanceStage stage : usable_stages(sample, metric, 12)) {
      const Options options = options_for(metric, stage);
      EXPECT_TRUE(same_answer(search(moved.base.view(), moved.queries.view(), 12, options),
                              search(sample.base.view(), sample.queries.view(), 12, options)))
          << kith::to_string(metric) << ' ' << stage << ' ' << kith::to_string(dtype_of<T>());
    }
  }
}

// Multiples of 1/8 below 128, moved by up to 2^20: 24 bits hold all of it.
template <Element T>
Sample<T> eighths(Shape shape, std::uint64_t seed) {
  Random random(seed);
  Sample<T> sample{Matrix<T>(shape.base_rows, shape.dims), Matrix<T>(shape.queries, shape.dims)};
  for (Matrix<T>* points : {&sample.base, &sample.queries}) {
    for (std::int64_t i = 0; i < points->rows() * points->cols(); ++i) {
      points->data()[i] = static_cast<T>(static_cast<double>(random.below(1024)) / 8);
    }
  }
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

TEST(Promise1Translation, DoesNotChangeTheAnswerInIntegers) {
  Sample<std::uint8_t> bytes = generate<std::uint8_t>(Kind::clustered, {500, 20, 40}, MetricKind::euclidean, 3);
  for (Matrix<std::uint8_t>* points : {&bytes.base, &bytes.queries}) {
    for (std::int64_t i = 0; i < points->rows() * points->cols(); ++i) points->data()[i] /= 2;
  }
  expect_translation_invariance(bytes, std::vector<std::uint8_t>(40, 128));
  Sample<std::int8_t> chars = generate<std::int8_t>(Kind::clustered, {500, 20, 40}, MetricKind::euclidean, 3);
  for (Matrix<std::int8_t>* points : {&chars.base, &chars.queries}) {
    for (std::int64_t i = 0; i < points->rows() * points->cols(); ++i) points->data()[i] /= 2;
  }
  expect_translation_invariance(chars, std::vector<std::int8_t>(40, -64));
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
          const auto want = search(sample.base.view(), sample.queries.view(), 9, options_for(metric));
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
  const auto want = search(sample.base.view(), sample.queries.view(), 9, options_for(MetricKind::hamming));
  const Matrix<std::uint8_t> base = zero_padded(sample.base, 30);
  const Matrix<std::uint8_t> queries = zero_padded(sample.queries, 30);
  EXPECT_EQ(search(base.view(), queries.view(), 9, options_for(MetricKind::hamming)).ids, want.ids);
}

template <Element T>
Neighbors<DistanceOf<T>> search_in_batches(const Index<T>& index, MatrixView<T> queries, std::int64_t k,
                                           std::int64_t batch) {
  Neighbors<DistanceOf<T>> all;
  all.queries = queries.rows;
  all.k = k;
  for (std::int64_t first = 0; first < queries.rows; first += batch) {
    const auto part = index.search(queries.rows_from(first, std::min(batch, queries.rows - first)), k);
    all.ids.insert(all.ids.end(), part.ids.begin(), part.ids.end());
    all.distances.insert(all.distances.end(), part.distances.begin(), part.distances.end());
  }
  return all;
}

TEST(Promise1BatchSize, DoesNotChangeTheAnswer) {
  constexpr Shape kShape{400, 19, 70};
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      with_dtype(dtype, [&]<class T>() {
        const Sample<T> sample = generate<T>(Kind::clustered, kShape, metric, 5);
        const auto want = search(sample.base.view(), sample.queries.view(), 14, options_for(metric));
        const Index<T> index(sample.base.view(), options_for(metric));
        for (const std::int64_t batch : {1, 8, 19}) {
          EXPECT_TRUE(same_answer(search_in_batches(index, sample.queries.view(), 14, batch), want))
              << kith::to_string(metric) << ' ' << kith::to_string(dtype) << ", batches of " << batch;
        }
      });
    }
  }
}

TEST(Promise1ThreadCount, DoesNotChangeTheAnswer) {
  // Many queries are split over threads by query, one query by base rows.
  for (const Shape& shape : {Shape{9000, 1, 20}, Shape{1200, 41, 48}, Shape{5000, 3, 3}}) {
    for (const MetricKind metric : {MetricKind::euclidean, MetricKind::manhattan, MetricKind::cosine,
                                    MetricKind::inner_product, MetricKind::hamming}) {
      for (const Kind kind : {Kind::ties, Kind::duplicates}) {
        const Sample<float> sample = generate<float>(kind, shape, metric, 6);
        for (DistanceStage stage : usable_stages(sample, metric, 33)) {
          const auto want = search(sample.base.view(), sample.queries.view(), 33, options_for(metric, stage, 1));
          for (const int threads : {2, 3, 7}) {
            EXPECT_TRUE(same_answer(
                search(sample.base.view(), sample.queries.view(), 33, options_for(metric, stage, threads)), want))
                << kith::to_string(Metric(metric)) << ' ' << stage << ' ' << to_string(kind) << ", " << threads
                << " threads, q = " << shape.queries;
          }
        }
      }
    }
  }
}

TEST(Promise2EveryStage, ReturnsTheSameAnswer) {
  for (const Metric& metric : all_metrics()) {
    for (const DType dtype : all_dtypes()) {
      with_dtype(dtype, [&]<class T>() {
        const Sample<T> sample = generate<T>(Kind::gaussian, {800, 21, 45}, metric, 7);
        const auto want = search(sample.base.view(), sample.queries.view(), 40, options_for(metric));
        for (DistanceStage stage : usable_stages(sample, metric, 40)) {
          EXPECT_TRUE(
              same_answer(search(sample.base.view(), sample.queries.view(), 40, options_for(metric, stage)), want))
              << kith::to_string(metric) << ' ' << kith::to_string(dtype) << ' ' << stage;
        }
      });
    }
  }
}

TEST(Promise2EverySelection, ReturnsTheSameAnswer) {
  const Sample<float> sample = generate<float>(Kind::ties, {3000, 12, 6}, MetricKind::manhattan, 8);
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{50}, std::int64_t{2000}}) {
    const auto want = search(sample.base.view(), sample.queries.view(), k, options_for(MetricKind::manhattan));
    for (const SelectMethod name : select_methods(Backend::cpu)) {
      Options options = options_for(MetricKind::manhattan);
      options.select = name;
      try {
        EXPECT_TRUE(same_answer(search(sample.base.view(), sample.queries.view(), k, options), want)) << name;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
        EXPECT_NE(std::string(error.what()).find(to_string(name)), std::string::npos) << error.what();
        EXPECT_NE(name, SelectMethod::automatic);
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
