// Searches of bytes by products of integers: every neighbor is the oracle's, at the ends of the range, among ties and
// copies, and in any number of dimensions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kith/batches.hpp"
#include "kith/search.hpp"
#include "support/batches.hpp"
#include "support/compare.hpp"
#include "support/fails_with.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

Options by_bytes(const Metric& metric, int threads = 1) {
  Options options = options_for(metric, DistanceStage::int8, threads);
  options.method = Method::brute;
  return options;
}

// Every third row of the base and every second query are the ends of the range: all the least, all the largest, or both
// by turns.
template <class T>
Sample<T> with_ends(Shape shape, const Metric& metric) {
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr T kLargest = std::numeric_limits<T>::max();
  Sample<T> sample = generate<T>(Kind::uniform, shape, metric, 5);
  const auto fill = [&](T* row, std::int64_t turn) {
    for (std::int64_t c = 0; c < shape.dims; ++c)
      row[c] = turn % 3 == 0 || (turn % 3 == 2 && c % 2 == 0) ? kLeast : kLargest;
  };
  for (std::int64_t r = 0; r < shape.base_rows; r += 3) fill(sample.base.row(r), r / 3);
  for (std::int64_t q = 0; q < shape.queries; q += 2) fill(sample.queries.row(q), q / 2);
  return sample;
}

template <class Work>
void with_bytes(Work work) {
  work.template operator()<std::uint8_t>();
  work.template operator()<std::int8_t>();
}

TEST(Bytes, ByIntegersAreTheOracleInAnyNumberOfDimensions) {
  with_bytes([]<class T>() {
    for (const Metric& metric : {Metric(MetricKind::sqeuclidean), Metric(MetricKind::euclidean),
                                 Metric(MetricKind::inner_product), Metric::minkowski(2)})
      for (const std::int64_t dims : {1, 3, 4, 5, 127, 128, 258, 259, 1000, 16384}) {
        const Sample<T> sample = with_ends<T>({dims > 4000 ? 70 : 333, 9, dims}, metric);
        EXPECT_TRUE(finds_the_truth(sample, 12, by_bytes(metric)))
            << kith::to_string(metric) << ' ' << kith::to_string(dtype_of<T>()) << " d=" << dims;
      }
  });
}

TEST(Bytes, ByIntegersKeepTheOrderOfTies) {
  with_bytes([]<class T>() {
    for (const Kind kind : {Kind::ties, Kind::duplicates, Kind::all_equal, Kind::descending})
      for (const MetricKind metric : {MetricKind::sqeuclidean, MetricKind::inner_product})
        for (const std::int64_t dims : {16, 300}) {
          const Sample<T> sample = generate<T>(kind, {3000, 20, dims}, metric, 2);
          for (const std::int64_t k : {1, 40, 1500})
            EXPECT_TRUE(finds_the_truth(sample, k, by_bytes(metric, 2)))
                << to_string(kind) << ' ' << kith::to_string(Metric(metric)) << " d=" << dims << " k=" << k;
        }
  });
}

TEST(Bytes, ByIntegersTakeAnyLayout) {
  with_bytes([]<class T>() {
    const Metric metric = MetricKind::euclidean;
    const Sample<T> sample = with_ends<T>({500, 30, 77}, metric);
    const auto truth = truth_of(sample, metric);
    for (const Layout base : all_layouts())
      for (const Layout queries : all_layouts()) {
        const Points<T> points(sample.base, base);
        const Points<T> asked(sample.queries, queries);
        EXPECT_TRUE(matches_truth(kith::search(points.view(), asked.view(), 10, by_bytes(metric)), truth, 10))
            << to_string(base) << ' ' << to_string(queries);
      }
  });
}

TEST(Bytes, SearchedByAutoAreTheOracle) {
  with_bytes([]<class T>() {
    const Metric metric = MetricKind::sqeuclidean;
    const Sample<T> sample = with_ends<T>({5000, 100, 128}, metric);
    const Index<T> index(sample.base.view(), options_for(metric));
    const auto all = index.search(sample.queries.view(), 10);
    EXPECT_TRUE(matches_truth(all, truth_of(sample, metric), 10));
    for (const std::int64_t queries : {1, 2, 17}) {
      const auto some = index.search(sample.queries.view().rows_from(0, queries), 10);
      EXPECT_TRUE(std::equal(some.ids.begin(), some.ids.end(), all.ids.begin())) << queries << " queries";
      EXPECT_TRUE(std::equal(some.distances.begin(), some.distances.end(), all.distances.begin())) << queries;
    }
  });
}

TEST(Bytes, ByIntegersAreTheOracleInBatches) {
  with_bytes([]<class T>() {
    const Metric metric = MetricKind::euclidean;
    const Offsets offsets = {0, 100, 101, 400, 401, 600};
    const Sample<T> sample = with_ends<T>({600, 600, 33}, metric);
    EXPECT_TRUE(
        same_answer(search_batches(sample.base.view(), offsets, sample.queries.view(), offsets, 7, by_bytes(metric, 2)),
                    true_batches(sample.base, offsets, sample.queries, offsets, 7, metric, false)));
  });
}

TEST(Bytes, AreRefusedByNameWhereThereIsNoProductOfIntegers) {
  const Sample<float> floats = generate<float>(Kind::uniform, {50, 5, 8}, MetricKind::euclidean, 1);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"int8", "float32", "uint8"},
                         [&] { search(floats, 3, by_bytes(MetricKind::euclidean)); }));
  const Sample<std::uint8_t> bytes = generate<std::uint8_t>(Kind::uniform, {50, 5, 8}, MetricKind::correlation, 1);
  for (const MetricKind metric : {MetricKind::manhattan, MetricKind::hamming, MetricKind::cosine})
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"int8", kith::to_string(Metric(metric))},
                           [&] { search(bytes, 3, by_bytes(metric)); }));
  const Sample<std::uint8_t> wide = generate<std::uint8_t>(Kind::uniform, {5, 1, 16385}, MetricKind::euclidean, 1);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"int8", "16384", "16385"},
                         [&] { search(wide, 3, by_bytes(MetricKind::euclidean)); }));
}

}  // namespace
}  // namespace kith::test
