// A search of batches finds what one search for each batch finds, bit for bit: whatever the batches' sizes, types and
// metrics are, wherever points and answers lie, and however many threads and bytes it has.
#include "kith/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/batches.hpp"
#include "support/budget.hpp"
#include "support/compare.hpp"
#include "support/device_memory.hpp"
#include "support/matrix_of.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

// Batches of random sizes.
template <Element T>
struct Ragged {
  Ragged(const std::vector<std::int64_t>& base_counts, const std::vector<std::int64_t>& query_counts, std::int64_t dims,
         const Metric& metric, std::uint64_t seed, Kind kind = Kind::gaussian)
      : base_offsets(offsets_of(base_counts)), query_offsets(offsets_of(query_counts)) {
    Sample<T> sample = generate<T>(kind, {base_offsets.back(), query_offsets.back(), dims}, metric, seed);
    base = std::move(sample.base);
    queries = std::move(sample.queries);
  }

  Neighbors<DistanceOf<T>> search(std::int64_t k, const Options& options) const {
    return search_batches(base.view(), base_offsets, queries.view(), query_offsets, k, options);
  }
  Neighbors<DistanceOf<T>> search_self(std::int64_t k, const Options& options) const {
    return search_batches_self(base.view(), base_offsets, k, options);
  }
  Neighbors<DistanceOf<T>> truth(std::int64_t k, const Metric& metric) const {
    return true_batches(base, base_offsets, queries, query_offsets, k, metric, false);
  }
  Neighbors<DistanceOf<T>> self_truth(std::int64_t k, const Metric& metric) const {
    return true_batches(base, base_offsets, base, base_offsets, k, metric, true);
  }

  Offsets base_offsets;
  Offsets query_offsets;
  Matrix<T> base;
  Matrix<T> queries;
};

template <Element T>
Ragged<T> random_batches(std::size_t batches, std::int64_t most, std::int64_t dims, const Metric& metric,
                         std::uint64_t seed, Kind kind = Kind::gaussian) {
  Random random(seed);
  std::vector<std::int64_t> base = random_counts(batches, most, random);
  std::vector<std::int64_t> queries = random_counts(batches, most / 2, random);
  base.front() += 1;  // the generator makes at least one row
  queries.front() += 1;
  return {base, queries, dims, metric, seed, kind};
}

// What one search for each batch finds.
template <Element T>
Neighbors<DistanceOf<T>> one_by_one(const Ragged<T>& points, std::int64_t k, const Options& options) {
  auto all = no_neighbors<DistanceOf<T>>(points.queries.rows(), k, options.metric);
  for (std::size_t b = 0; b + 1 < points.base_offsets.size(); ++b) {
    const std::int64_t first = points.base_offsets[b];
    const std::int64_t rows = points.base_offsets[b + 1] - first;
    const std::int64_t first_query = points.query_offsets[b];
    const std::int64_t queries = points.query_offsets[b + 1] - first_query;
    if (rows == 0 || queries == 0) continue;
    const auto found = search(points.base.view().rows_from(first, rows),
                              points.queries.view().rows_from(first_query, queries), std::min(k, rows), options);
    for (std::int64_t q = 0; q < queries; ++q)
      for (std::int64_t i = 0; i < found.k; ++i) {
        const auto at = static_cast<std::size_t>((first_query + q) * k + i);
        all.ids[at] = first + found.ids_of(q)[static_cast<std::size_t>(i)];
        all.distances[at] = found.distances_of(q)[static_cast<std::size_t>(i)];
      }
  }
  return all;
}

class Batches : public OnBackend {};

TEST_P(Batches, AreTheOraclesForEveryType) {
  for (const DType dtype : all_dtypes())
    with_dtype(dtype, [&]<class T>() {
      for (const MetricKind metric : {MetricKind::euclidean, MetricKind::manhattan, MetricKind::inner_product}) {
        const Ragged<T> points = random_batches<T>(is_cpu() ? 60 : 8, 40, 3, metric, 7);
        for (const std::int64_t k : {1, 5, 45}) {
          EXPECT_TRUE(same_answer(points.search(k, options(metric)), points.truth(k, metric)))
              << to_string(dtype) << ", " << to_string(Metric(metric)) << ", k = " << k;
          EXPECT_TRUE(same_answer(points.search_self(k, options(metric)), points.self_truth(k, metric)))
              << to_string(dtype) << ", " << to_string(Metric(metric)) << ", k = " << k << ", self";
        }
      }
    });
}

TEST_P(Batches, TakeTheSmallerIdAmongEqualDistances) {
  for (const Kind kind : {Kind::duplicates, Kind::ties, Kind::all_equal}) {
    const auto points = random_batches<float>(is_cpu() ? 40 : 6, 50, 4, MetricKind::euclidean, 11, kind);
    EXPECT_TRUE(same_answer(points.search(6, options()), points.truth(6, MetricKind::euclidean))) << to_string(kind);
    EXPECT_TRUE(same_answer(points.search_self(6, options()), points.self_truth(6, MetricKind::euclidean)))
        << to_string(kind);
  }
}

TEST_P(Batches, TakePointsAndAnswersThatLieOnADevice) {
  if (is_cpu()) GTEST_SKIP() << "backend cpu has host memory alone";
  const auto points = random_batches<float>(6, 30, 3, MetricKind::euclidean, 13);
  const std::int64_t k = 4;
  const auto want = points.truth(k, MetricKind::euclidean);
  for (const Memory memory : {Memory::host, Memory::device})
    for (const Memory answers : {Memory::host, Memory::device}) {
      const auto place = [&](const Matrix<float>& matrix) {
        return std::vector<float>(matrix.data(), matrix.data() + matrix.rows() * matrix.cols());
      };
      Placed<float> base(place(points.base), memory, GetParam());
      Placed<float> queries(place(points.queries), Memory::device, GetParam());
      Placed<std::int64_t> ids(std::vector<std::int64_t>(want.ids.size()), answers, GetParam());
      Placed<float> distances(std::vector<float>(want.ids.size()), answers, GetParam());
      search_batches_into(base.view(points.base.rows(), 3, 3), points.base_offsets,
                          queries.view(points.queries.rows(), 3, 3), points.query_offsets, k,
                          {ids.data(), distances.data(), answers}, options());
      EXPECT_EQ(ids.values(), want.ids);
      EXPECT_EQ(distances.values(), want.distances);
    }
}

// As many neighbors as lists in registers can have, one less and one more.
TEST_P(Batches, LongLists) {
  for (const std::int64_t rows : {1024, 1025, 1026}) {
    const Sample<float> sample = generate<float>(Kind::uniform, {rows, 2, 3}, MetricKind::euclidean, 17);
    const Offsets offsets{0, rows};
    for (const std::int64_t k : {std::int64_t{1023}, std::int64_t{1025}, std::int64_t{1100}}) {
      const auto want = true_batches(sample.base, offsets, sample.queries, {0, 2}, k, MetricKind::euclidean, false);
      EXPECT_TRUE(same_answer(
          search_batches(sample.base.view(), offsets, sample.queries.view(), {{0, 2}}, k, options()), want));
    }
  }
  const Sample<float> sample = generate<float>(Kind::uniform, {1025, 1, 3}, MetricKind::euclidean, 18);
  const Offsets offsets{0, 1025};
  const auto want = true_batches(sample.base, offsets, sample.base, offsets, 1025, MetricKind::euclidean, true);
  EXPECT_TRUE(same_answer(search_batches_self(sample.base.view(), offsets, 1025, options()), want));
}

INSTANTIATE_TEST_SUITE_P(On, Batches, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(to_string(backend.param)); });

TEST(BatchesOnTheCpu, HaveTheBitsOfOneSearchEachForEveryMetric) {
  for (const Metric& metric : all_metrics()) {
    const auto points = random_batches<float>(40, 60, 9, metric, 17);
    for (const DistanceStage stage : {DistanceStage::automatic, DistanceStage::direct, DistanceStage::register_tiled}) {
      const Options options = options_for(metric, stage);
      EXPECT_TRUE(same_answer(points.search(7, options), one_by_one(points, 7, options)))
          << to_string(metric) << ", " << stage;
    }
  }
}

TEST(BatchesOnTheCpu, TakeLargeOnesAmongSmallOnes) {
  const std::vector<std::int64_t> base{20, 4000, 0, 1, 700, 40, 2500};
  const std::vector<std::int64_t> queries{5, 4000, 3, 1, 700, 0, 2500};
  for (const std::int64_t dims : {2, 24}) {
    const Ragged<float> points(base, queries, dims, MetricKind::euclidean, 19);
    for (const int threads : {1, 3}) {
      Options options = options_for(DistanceStage::automatic, threads);
      options.backend = Backend::cpu;
      EXPECT_TRUE(same_answer(points.search(10, options), one_by_one(points, 10, options))) << dims << " dimensions";
    }
  }
}

TEST(BatchesOnTheCpu, AreTakenThroughTreesTogether) {
  for (const Kind kind : {Kind::gaussian, Kind::duplicates, Kind::tiny, Kind::huge}) {
    const auto points = random_batches<float>(40, 400, 2, MetricKind::euclidean, 47, kind);
    Options options = options_for(DistanceStage::automatic, 2);
    options.backend = Backend::cpu;
    options.method = Method::tree;
    const auto found = points.search(6, options);
    EXPECT_EQ(found.report.plan.method, Method::tree);
    EXPECT_TRUE(same_answer(found, points.truth(6, MetricKind::euclidean))) << to_string(kind);
    EXPECT_TRUE(same_answer(points.search_self(6, options), points.self_truth(6, MetricKind::euclidean)))
        << to_string(kind);
  }
}

TEST(BatchesOnTheCpu, ReportWhatHasTheMostDistances) {
  Options options;
  options.backend = Backend::cpu;
  const Ragged<float> small({30, 40, 50}, {30, 40, 50}, 3, MetricKind::euclidean, 23);
  const auto together = small.search(5, options).report;
  EXPECT_EQ(together.plan.method, Method::brute);
  EXPECT_EQ(together.plan.problem.base_rows, 120);
  EXPECT_GE(together.finalists, 120 * 5);
  const Ragged<float> mixed({30, 20000}, {30, 20000}, 3, MetricKind::euclidean, 23);
  const auto alone = mixed.search(5, options).report;
  EXPECT_EQ(alone.plan.method, Method::tree);
  EXPECT_EQ(alone.plan.problem.base_rows, 20000);
}

TEST(BatchesOnTheCpu, FollowTheMethodThatWasAskedFor) {
  const auto points = random_batches<float>(12, 60, 3, MetricKind::euclidean, 29);
  for (const Method method : {Method::brute, Method::tree, Method::triangle}) {
    Options options = options_for(MetricKind::euclidean);
    options.backend = Backend::cpu;
    options.method = method;
    const auto found = points.search(5, options);
    EXPECT_EQ(found.report.plan.method, method);
    EXPECT_TRUE(same_answer(found, points.truth(5, MetricKind::euclidean))) << to_string(method);
  }
}

TEST(Promise1ThreadCountOfBatches, ChangesNothingInAnyLayout) {
  const auto points = random_batches<float>(300, 50, 3, MetricKind::euclidean, 31);
  const auto want = points.truth(8, MetricKind::euclidean);
  for (const int threads : {1, 2, 5}) {
    for (const Layout layout : all_layouts()) {
      const Points<float> base(points.base, layout);
      const Points<float> queries(points.queries, layout);
      EXPECT_TRUE(same_answer(search_batches(base.view(), points.base_offsets, queries.view(), points.query_offsets, 8,
                                             options_for(DistanceStage::automatic, threads)),
                              want))
          << threads << " threads, " << to_string(layout);
    }
  }
}

TEST(BatchesOnTheCpu, TakeBatchesWithoutAnyRows) {
  Options options;
  options.backend = Backend::cpu;
  const MatrixView<float> none(nullptr, 0, 3);
  const Offsets empty{0, 0, 0};
  EXPECT_EQ(search_batches(none, empty, none, empty, 4, options).queries, 0);
  EXPECT_EQ(search_batches(none, Offsets{0}, none, Offsets{0}, 4, options).queries, 0);
  const Matrix<float> two = matrix_of<float>(2, 3, [](auto r, auto c) { return r + c; });
  const auto found = search_batches(none, empty, two.view(), Offsets{0, 1, 2}, 2, options);
  EXPECT_EQ(found.ids, (std::vector<std::int64_t>{-1, -1, -1, -1}));
  EXPECT_EQ(found.distances, std::vector<float>(4, std::numeric_limits<float>::infinity()));
  EXPECT_EQ(search_batches_self(two.view(), Offsets{0, 1, 2}, 1, options).ids, (std::vector<std::int64_t>{-1, -1}));
}

TEST(Promise4ABudgetIsABudget, BatchesKeepToItToo) {
  for (const MetricKind metric : {MetricKind::euclidean, MetricKind::cosine}) {
    const auto points = random_batches<float>(50, 80, 16, metric, 37);
    Options options = options_for(metric);
    options.backend = Backend::cpu;
    options.threads = 2;
    const auto want = one_by_one(points, 9, options);
    for (const std::int64_t budget : {1, 4096, 1 << 16, 1 << 20})
      run_within(budget, [&](std::int64_t bytes) {
        options.memory_budget = bytes;
        const auto got = points.search(9, options);
        EXPECT_LE(got.report.plan.workspace_bytes, bytes);
        EXPECT_TRUE(same_answer(got, want)) << "budget " << bytes;
      });
  }
}

TEST(Promise4ABudgetIsABudget, BatchesOfMethodTreeKeepToItToo) {
  const auto points = random_batches<float>(30, 300, 3, MetricKind::euclidean, 37);
  Options options = options_for(MetricKind::euclidean);
  options.backend = Backend::cpu;
  options.threads = 3;
  options.method = Method::tree;
  const auto want = points.truth(9, MetricKind::euclidean);
  for (const std::int64_t budget : {1, 1 << 15, 1 << 17})
    run_within(budget, [&](std::int64_t bytes) {
      options.memory_budget = bytes;
      const auto got = points.search(9, options);
      EXPECT_LE(got.report.plan.workspace_bytes, bytes);
      EXPECT_TRUE(same_answer(got, want)) << "budget " << bytes;
    });
}

TEST(Promise7ProgressOfBatches, RisesToTheTotal) {
  const Ragged<float> points({500, 40, 9000, 60, 0}, {500, 40, 9000, 60, 7}, 3, MetricKind::euclidean, 41);
  const std::int64_t pairs = 500 * 500 + 40 * 40 + 9000 * 9000 + 60 * 60;
  Options options = options_for(DistanceStage::automatic, 2);
  options.backend = Backend::cpu;
  std::int64_t done = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_GE(progress.done, done);
    EXPECT_EQ(progress.total, pairs);
    done = progress.done;
    return true;
  };
  points.search(5, options);
  EXPECT_EQ(done, pairs);
}

TEST(Promise7ProgressOfBatches, StopsThemWhereItSaysSo) {
  const auto points = random_batches<float>(200, 60, 3, MetricKind::euclidean, 43);
  for (const int calls : {1, 20}) {
    // The calling thread alone is sure to report twenty times.
    Options options = options_for(DistanceStage::automatic, calls == 1 ? 2 : 1);
    options.backend = Backend::cpu;
    int left = calls;
    options.progress = [&](const Progress&) { return --left > 0; };
    EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"progress"}, [&] { points.search(5, options); }));
  }
}

TEST(Promise5BadInputOfBatches, OffsetsAreNamed) {
  const Matrix<float> points = matrix_of<float>(10, 2, [](auto r, auto c) { return r * 2 + c; });
  const auto fails = [&](const Offsets& base, const Offsets& queries, const std::vector<std::string>& mentions) {
    return fails_with(ErrorCode::invalid_argument, mentions,
                      [&] { search_batches(points.view(), base, points.view(), queries, 1); });
  };
  const Offsets good{0, 4, 10};
  EXPECT_TRUE(fails({}, good, {"base", "empty"}));
  EXPECT_TRUE(fails(good, {}, {"queries", "empty"}));
  EXPECT_TRUE(fails({1, 10}, good, {"base", "begin with 1", "0"}));
  EXPECT_TRUE(fails({-1, 10}, good, {"base", "begin with -1"}));
  EXPECT_TRUE(fails(good, {0, 6, 4, 10}, {"queries", "from 6 to 4", "position 2"}));
  EXPECT_TRUE(fails({0, 9}, good, {"base", "end with 9", "10 rows"}));
  EXPECT_TRUE(fails({0, 11}, good, {"base", "end with 11", "10 rows"}));
  EXPECT_TRUE(fails({0, 3, 5, 10}, good, {"3 batches", "2 batches"}));
}

TEST(Promise5BadInputOfBatches, IsNamed) {
  Options options;
  options.backend = Backend::cpu;
  Matrix<float> points = matrix_of<float>(10, 2, [](auto r, auto c) { return r * 2 + c; });
  const Matrix<float> flat = matrix_of<float>(10, 1, [](auto r, auto) { return r; });
  const Offsets offsets{0, 4, 10};
  const auto run = [&](std::int64_t k) { search_batches_self(points.view(), offsets, k, options); };
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 0", "1"}, [&] { run(0); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"k = 4611686018427387904"}, [&] { run(std::int64_t{1} << 62); }));
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"10"}, [&] { run(std::int64_t{1} << 50); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"2 dimensions", "1"},
                         [&] { search_batches(points.view(), offsets, flat.view(), offsets, 1, options); }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"null"}, [&] {
    search_batches_self_into(points.view(), offsets, 1, {nullptr, nullptr}, options);
  }));
  points(7, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 7", "nan"}, [&] { run(1); }));
  options.method = Method::tree;
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"base row 7", "nan"}, [&] { run(1); }));
  options.method = Method::triangle;  // each batch is searched alone
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"batch 1", "base row 3", "nan"}, [&] { run(1); }));
  options.check_finite = false;
  EXPECT_NO_THROW(run(1));
}

// Of every batch, what a search of it alone finds within the same limits.
void expect_limits(const Ragged<float>& problem, std::int64_t k, const Options& options) {
  const auto found = problem.search(k, options);
  for (std::size_t b = 0; b + 1 < problem.base_offsets.size(); ++b) {
    const std::int64_t rows = problem.base_offsets[b + 1] - problem.base_offsets[b];
    const std::int64_t queries = problem.query_offsets[b + 1] - problem.query_offsets[b];
    if (rows == 0 || queries == 0) continue;
    const auto alone =
        search(problem.base.view().rows_from(problem.base_offsets[b], rows),
               problem.queries.view().rows_from(problem.query_offsets[b], queries), std::min(k, rows), options);
    for (std::int64_t q = 0; q < queries; ++q)
      for (std::int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto ids = found.ids_of(problem.query_offsets[b] + q);
        const auto distances = found.distances_of(problem.query_offsets[b] + q);
        const std::int64_t id = i < alone.k ? alone.ids_of(q)[at] : -1;
        ASSERT_EQ(ids[at], id < 0 ? -1 : id + problem.base_offsets[b]) << b << ' ' << q << ' ' << i;
        ASSERT_EQ(distances[at], id < 0 ? std::numeric_limits<float>::infinity() : alone.distances_of(q)[at]);
      }
  }
}

TEST(Batches, HaveTheLimitsOfASearch) {
  for (const std::int64_t most : {30, 900}) {
    const auto problem = random_batches<float>(20, most, 3, MetricKind::euclidean, 8);
    for (const Method method : {Method::automatic, Method::brute, Method::tree, Method::triangle}) {
      Options options;
      options.backend = Backend::cpu;
      options.method = method;
      options.max_distance = 0.8;
      expect_limits(problem, 7, options);
      if (method == Method::brute || method == Method::triangle) continue;
      options.period = {1.5, 0, 2};
      expect_limits(problem, 7, options);
    }
  }
}

}  // namespace
}  // namespace kith::test
