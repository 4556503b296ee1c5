// Points of 16-bit floating-point numbers: every ability gives the bits that it gives for the same points as floats,
// which the other tests compare with the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kith/kith.hpp"
#include "support/compare.hpp"
#include "support/device_memory.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

template <Element T>
Matrix<T> narrowed(const Matrix<float>& points) {
  Matrix<T> narrow(points.rows(), points.cols());
  std::transform(points.data(), points.data() + points.rows() * points.cols(), narrow.data(),
                 [](float value) { return static_cast<T>(value); });
  return narrow;
}

template <Element T>
Matrix<float> widened(const Matrix<T>& points) {
  Matrix<float> wide(points.rows(), points.cols());
  std::copy_n(points.data(), points.rows() * points.cols(), wide.data());
  return wide;
}

// The same points twice.
template <Element T>
struct Pair {
  Matrix<T> base;
  Matrix<T> queries;
  Matrix<float> wide_base;
  Matrix<float> wide_queries;

  Pair(Kind kind, Shape shape, const Metric& metric, std::uint64_t seed = 3) {
    Sample<float> sample = generate<float>(kind, shape, metric, seed);
    sample.base = widened(narrowed<T>(sample.base));
    sample.queries = widened(narrowed<T>(sample.queries));
    make_valid(sample.base, metric);
    make_valid(sample.queries, metric);
    base = narrowed<T>(sample.base);
    queries = narrowed<T>(sample.queries);
    wide_base = widened(base);
    wide_queries = widened(queries);
  }
};

// Kinds whose values T holds: half precision ends at 65504, and what is tiny is zero there.
template <Element T>
std::vector<Kind> kinds() {
  std::vector<Kind> all = {Kind::uniform, Kind::gaussian,   Kind::clustered, Kind::duplicates,
                           Kind::ties,    Kind::descending, Kind::all_equal};
  if (std::same_as<T, BFloat16>) all.insert(all.end(), {Kind::huge, Kind::tiny, Kind::large_offset});
  return all;
}

void expect_same_values(const Matrix<float>& got, const Matrix<float>& want) {
  const auto all = [](const Matrix<float>& matrix) {
    return std::vector<float>(matrix.data(), matrix.data() + matrix.rows() * matrix.cols());
  };
  EXPECT_EQ(got.cols(), want.cols());
  EXPECT_EQ(all(got), all(want));
}

template <class Work>
void with_16_bits(Work work) {
  work.template operator()<Float16>();
  work.template operator()<BFloat16>();
}

class SixteenBitPoints : public OnBackend {
 protected:
  static std::vector<DistanceStage> stages() { return distance_stages(GetParam()); }
};

TEST_P(SixteenBitPoints, HaveTheNeighborsOfTheSameFloatsUnderEveryMetric) {
  with_16_bits([]<class T>() {
    for (const Metric& metric : all_metrics())
      for (const Kind kind : kinds<T>()) {
        const Pair<T> points(kind, {is_cpu() ? 700 : 150, 5, 19}, metric);
        EXPECT_TRUE(same_answer(search(points.base.view(), points.queries.view(), 12, options(metric)),
                                search(points.wide_base.view(), points.wide_queries.view(), 12, options(metric))))
            << kith::to_string(dtype_of<T>()) << ' ' << kith::to_string(metric) << ' ' << to_string(kind);
      }
  });
}

TEST_P(SixteenBitPoints, HaveTheSameNeighborsByEveryStage) {
  with_16_bits([]<class T>() {
    for (const MetricKind metric : {MetricKind::sqeuclidean, MetricKind::inner_product, MetricKind::cosine})
      for (const DistanceStage stage : stages()) {
        if (stage == DistanceStage::int8 || (stage == DistanceStage::split_fp16 && !has_wgmma())) continue;
        for (const std::int64_t queries : {1, 40}) {
          const Pair<T> points(Kind::gaussian, {is_cpu() ? 2000 : 300, queries, 33}, metric);
          Options with = options(metric);
          with.distance = stage;
          EXPECT_TRUE(same_answer(search(points.base.view(), points.queries.view(), 7, with),
                                  search(points.wide_base.view(), points.wide_queries.view(), 7, options(metric))))
              << kith::to_string(dtype_of<T>()) << ' ' << kith::to_string(Metric(metric)) << ' ' << stage
              << " q=" << queries;
        }
      }
  });
}

TEST_P(SixteenBitPoints, HaveTheSameNeighborsByEveryMethod) {
  with_16_bits([]<class T>() {
    for (const Method method : {Method::brute, Method::tree, Method::triangle, Method::shifted_sort})
      for (const Kind kind : {Kind::uniform, Kind::ties}) {
        const Metric metric = MetricKind::euclidean;
        const Pair<T> points(kind, {is_cpu() ? 3000 : 400, 30, 3}, metric);
        Options with = options(metric);
        with.method = method;
        EXPECT_TRUE(same_answer(search(points.base.view(), points.queries.view(), 9, with),
                                search(points.wide_base.view(), points.wide_queries.view(), 9, with)))
            << kith::to_string(dtype_of<T>()) << ' ' << kith::to_string(method) << ' ' << to_string(kind);
      }
  });
}

TEST_P(SixteenBitPoints, TakeAnyLayout) {
  with_16_bits([]<class T>() {
    const Metric metric = MetricKind::euclidean;
    const Pair<T> points(Kind::uniform, {200, 9, 21}, metric);
    const auto want = search(points.wide_base.view(), points.wide_queries.view(), 6, options(metric));
    for (const Layout base : all_layouts())
      for (const Layout queries : {Layout::padded, Layout::interleaved})
        EXPECT_TRUE(same_answer(
            search(Points<T>(points.base, base).view(), Points<T>(points.queries, queries).view(), 6, options(metric)),
            want))
            << kith::to_string(dtype_of<T>()) << ' ' << to_string(base) << ' ' << to_string(queries);
  });
}

TEST_P(SixteenBitPoints, HaveEveryAbilityOfAnIndex) {
  with_16_bits([]<class T>() {
    const Metric metric = MetricKind::euclidean;
    const Pair<T> points(Kind::duplicates, {120, 11, 5}, metric);
    const Index<T> index(points.base.view(), options(metric));
    const Index<float> wide(points.wide_base.view(), options(metric));
    EXPECT_TRUE(same_answer(index.search_self(8), wide.search_self(8)));
    for (const std::int64_t queries : {1, 4, 11})
      EXPECT_TRUE(same_answer(index.search(points.queries.view().rows_from(0, queries), 8),
                              wide.search(points.wide_queries.view().rows_from(0, queries), 8)));
    const std::vector<float> radii = {0.8F};
    const auto within = index.search_radius(points.queries.view(), radii);
    const auto wide_within = wide.search_radius(points.wide_queries.view(), radii);
    EXPECT_EQ(within.offsets, wide_within.offsets);
    EXPECT_EQ(within.ids, wide_within.ids);
    EXPECT_EQ(within.distances, wide_within.distances);
    const auto graph = index.graph(4, Symmetrize::either);
    const auto wide_graph = wide.graph(4, Symmetrize::either);
    EXPECT_EQ(graph.indices, wide_graph.indices);
    EXPECT_EQ(graph.data, wide_graph.data);
    const Matrix<float> values = generate<float>(Kind::gaussian, {120, 1, 2}, metric, 4).base;
    expect_same_values(index.reduce(points.queries.view(), 6, values.view(), ReduceOp::mean).values,
                       wide.reduce(points.wide_queries.view(), 6, values.view(), ReduceOp::mean).values);
    expect_same_values(distances(points.base.view(), points.queries.view(), options(metric)),
                       distances(points.wide_base.view(), points.wide_queries.view(), options(metric)));
    const std::vector<std::int64_t> offsets = {0, 5, 11};
    const std::vector<std::int64_t> base_offsets = {0, 50, 120};
    EXPECT_TRUE(same_answer(
        search_batches(points.base.view(), base_offsets, points.queries.view(), offsets, 3, options(metric)),
        search_batches(points.wide_base.view(), base_offsets, points.wide_queries.view(), offsets, 3,
                       options(metric))));
  });
}

TEST_P(SixteenBitPoints, OfADeviceAreSearchedThere) {
  if (is_cpu()) GTEST_SKIP() << "the CPU has no memory of its own";
  with_16_bits([]<class T>() {
    const Metric metric = MetricKind::sqeuclidean;
    const Pair<T> points(Kind::gaussian, {300, 8, 17}, metric);
    const auto on_device = [](const Matrix<T>& matrix) {
      return Placed<T>(std::vector<T>(matrix.data(), matrix.data() + matrix.rows() * matrix.cols()), Memory::device,
                       GetParam());
    };
    Placed<T> base = on_device(points.base);
    Placed<T> queries = on_device(points.queries);
    const Index<T> index(base.view(300, 17, 17), options(metric));
    EXPECT_TRUE(same_answer(index.search(queries.view(8, 17, 17), 5),
                            search(points.wide_base.view(), points.wide_queries.view(), 5, options(metric))));
  });
}

TEST_P(SixteenBitPoints, AreSelectedFromAsTheyAre) {
  with_16_bits([]<class T>() {
    Matrix<T> rows = Pair<T>(Kind::gaussian, {5, 1, 300}, MetricKind::euclidean).base;
    rows(1, 7) = static_cast<T>(-std::numeric_limits<double>::infinity());
    rows(2, 9) = static_cast<T>(std::numeric_limits<double>::infinity());
    for (const bool largest : {false, true}) {
      TopkOptions with;
      with.backend = GetParam();
      with.largest = largest;
      const auto got = topk(rows.view(), 6, with);
      const auto want = topk(widened(rows).view(), 6, with);
      EXPECT_EQ(got.ids, want.ids);
      EXPECT_TRUE(std::equal(got.values.begin(), got.values.end(), want.values.begin(), want.values.end()));
    }
  });
}

TEST_P(SixteenBitPoints, AreRefusedWhereTheyAreNotFinite) {
  with_16_bits([]<class T>() {
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
      for (const Layout layout : {Layout::packed, Layout::interleaved}) {
        Pair<T> points(Kind::uniform, {90, 4, 7}, MetricKind::euclidean);
        const auto refused = [&](const std::vector<std::string>& words) {
          EXPECT_TRUE(fails_with(ErrorCode::bad_data, words, [&] {
            search(Points<T>(points.base, layout).view(), Points<T>(points.queries, layout).view(), 2, options());
          }));
        };
        points.queries(2, 5) = static_cast<T>(bad);
        refused({"query row 2", "column 5", "finite"});
        points.base(77, 3) = static_cast<T>(bad);
        refused({"base row 77", "column 3", "finite"});
      }
    // The largest number there is is one.
    const auto largest = static_cast<T>(std::same_as<T, Float16> ? 65504.0 : 0x1.FEp127);
    const Matrix<T> far(2, 3, {largest, largest, largest, T(1), T(2), T(3)});
    EXPECT_EQ(search(far.view(), far.view(), 1, options(MetricKind::chebyshev)).ids, (std::vector<std::int64_t>{0, 1}));
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, SixteenBitPoints, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

TEST(SixteenBitProblems, AreReadAsTheyAreStoredByFewQueries) {
  Options options;
  options.backend = Backend::cpu;
  const Plan half = explain({1000000, 1, 128, 10, DType::float16}, options);
  const Plan whole = explain({1000000, 1, 128, 10, DType::float32}, options);
  EXPECT_EQ(half.distance, DistanceStage::direct);
  EXPECT_LT(half.seconds, 0.75 * whole.seconds);
}

}  // namespace
}  // namespace kith::test
