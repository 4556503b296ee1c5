// A base that is cut into shards has the neighbors of the whole, bit for bit: whatever the cut, the order in which
// shards are searched, and what was known before.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kith/shards.hpp"
#include "support/compare.hpp"
#include "support/device_memory.hpp"
#include "support/fails_with.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

using Generator = std::mt19937_64;

// Rows 0 … rows − 1 in so many parts, some of which may be empty.
std::vector<std::int64_t> random_cuts(std::int64_t rows, int parts, Generator& random) {
  std::vector<std::int64_t> cuts = {0, rows};
  for (int i = 1; i < parts; ++i) cuts.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(rows + 1)));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

template <Element T>
struct Shards {
  using D = DistanceOf<T>;

  Shards(const Matrix<T>& base, int parts, const Options& options, Generator& random) : metric(options.metric) {
    const std::vector<std::int64_t> cuts = random_cuts(base.rows(), parts, random);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      if (cuts[i] == cuts[i + 1]) continue;  // an empty shard has no neighbors
      first.push_back(cuts[i]);
      indexes.emplace_back(base.view().rows_from(cuts[i], cuts[i + 1] - cuts[i]), options);
    }
    order.resize(first.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
  }

  // One after the other, each with what those before it found; the first one twice.
  Neighbors<D> seeded(const MatrixView<T>& queries, std::int64_t k, std::span<const std::int64_t> self = {}) const {
    Neighbors<D> found;
    std::vector<std::size_t> turns = order;
    turns.push_back(order.front());
    for (const std::size_t shard : turns)
      found = search_shard(indexes[shard], queries,
                           {.k = k, .ids = {first[shard]}, .self = self, .found = found.k == 0 ? nullptr : &found});
    return found;
  }

  // Each for itself, all merged at once; the first one twice.
  Neighbors<D> merged(const MatrixView<T>& queries, std::int64_t k, std::span<const std::int64_t> self = {}) const {
    std::vector<Neighbors<D>> parts;
    for (const std::size_t shard : order)
      parts.push_back(search_shard(indexes[shard], queries, {.k = k, .ids = {first[shard]}, .self = self}));
    parts.push_back(parts.front());
    std::vector<NeighborLists<D>> lists;
    for (const Neighbors<D>& part : parts) lists.push_back({part.ids.data(), part.distances.data(), part.k});
    Neighbors<D> out;
    out.queries = queries.rows;
    out.k = k;
    out.ids.resize(static_cast<std::size_t>(queries.rows * k));
    out.distances.resize(out.ids.size());
    merge_neighbors<D>(lists, queries.rows, k, metric, {out.ids.data(), out.distances.data()});
    return out;
  }

  Metric metric;
  std::vector<std::int64_t> first;
  std::vector<Index<T>> indexes;
  std::vector<std::size_t> order;
};

template <Element T>
void expect_same_in_shards(const Sample<T>& sample, std::int64_t k, int parts, const Options& options,
                           Generator& random) {
  using D = DistanceOf<T>;
  const Shards<T> shards(sample.base, parts, options, random);
  const Neighbors<D> whole = search(sample, k, options);
  EXPECT_TRUE(same_answer(shards.seeded(sample.queries.view(), k), whole));
  EXPECT_TRUE(same_answer(shards.merged(sample.queries.view(), k), whole));

  if (k >= sample.base.rows()) return;
  std::vector<std::int64_t> self(static_cast<std::size_t>(sample.base.rows()));
  std::iota(self.begin(), self.end(), std::int64_t{0});
  const Neighbors<D> others = Index<T>(sample.base.view(), options).search_self(k);
  EXPECT_TRUE(same_answer(shards.seeded(sample.base.view(), k, self), others));
  EXPECT_TRUE(same_answer(shards.merged(sample.base.view(), k, self), others));
}

using ShardsOn = OnBackend;
INSTANTIATE_TEST_SUITE_P(Backends, ShardsOn, testing::ValuesIn(available_backends()),
                         [](const auto& backend) { return std::string(kith::to_string(backend.param)); });

TEST_P(ShardsOn, EveryMethodFindsTheNeighborsOfTheWhole) {
  Generator random(1);
  for (const Method method : search_methods(GetParam())) {
    if (method == Method::shifted_sort) continue;  // refused, below
    SCOPED_TRACE(kith::to_string(method));
    Options asked = options();
    asked.method = method;
    // An emulator has time for one kind of points.
    if (!is_cpu()) {
      expect_same_in_shards(generate<float>(Kind::ties, {60, 3, 3}, asked.metric, 1), 9, 3, asked, random);
      continue;
    }
    for (const Kind kind : {Kind::uniform, Kind::ties, Kind::duplicates})
      expect_same_in_shards(generate<float>(kind, {300, 20, 3}, asked.metric, 1), 9, 4, asked, random);
    expect_same_in_shards(generate<float>(Kind::ties, {40, 4, 2}, asked.metric, 2), 40, 7, asked, random);
  }
}

// Metrics are added up alike on all backends.
TEST(Shards, EveryMetric) {
  Generator random(2);
  const auto options = [](const Metric& metric) {
    Options asked;
    asked.metric = metric;
    asked.backend = Backend::cpu;
    return asked;
  };
  for (const Metric& metric : all_metrics())
    for (const Kind kind : {Kind::gaussian, Kind::ties}) {
      SCOPED_TRACE(kith::to_string(metric.kind));
      expect_same_in_shards(generate<float>(kind, {120, 10, 5}, metric, 3), 11, 5, options(metric), random);
      expect_same_in_shards(generate<double>(kind, {60, 6, 4}, metric, 4), 60, 3, options(metric), random);
    }
}

TEST_P(ShardsOn, OtherTypesOfPoints) {
  Generator random(3);
  const Shape shape = is_cpu() ? Shape{200, 10, 6} : Shape{60, 4, 6};
  expect_same_in_shards(generate<double>(Kind::ties, shape, options().metric, 5), 8, 3, options(), random);
  expect_same_in_shards(generate<std::uint8_t>(Kind::ties, shape, options().metric, 6), 8, 3, options(), random);
}

TEST_P(ShardsOn, RadiusSearchesToo) {
  Generator random(4);
  const Sample<float> sample = generate<float>(Kind::ties, {150, 8, 2}, options().metric, 7);
  const Shards<float> shards(sample.base, 4, options(), random);
  const std::vector<float> radius = {1.5F};
  const auto whole =
      search_radius<float>(sample.base.view(), sample.queries.view(), radius, RadiusOutput::neighbors, options());
  ASSERT_FALSE(whole.ids.empty());
  std::vector<RadiusNeighbors<float>> parts;
  for (const std::size_t shard : shards.order)
    parts.push_back(
        search_shard_radius<float>(shards.indexes[shard], sample.queries.view(), radius, {shards.first[shard]}));
  parts.push_back(parts.front());
  const auto merged = merge_radius<float>(parts, options().metric);
  EXPECT_EQ(merged.offsets, whole.offsets);
  EXPECT_EQ(merged.ids, whole.ids);
  EXPECT_EQ(merged.distances, whole.distances);

  std::vector<RadiusNeighbors<float>> numbers;
  for (const std::size_t shard : shards.order)
    numbers.push_back(shards.indexes[shard].search_radius(sample.queries.view(), radius, RadiusOutput::count_only));
  EXPECT_EQ(merge_radius<float>(numbers, options().metric).offsets, whole.offsets);
}

TEST(Shards, AnOwnIdLeavesOutNoCopy) {
  // Three copies of a point, of which the second asks.
  const Matrix<float> base(3, 1, {5, 5, 5});
  const Index<float> index(base.view());
  const std::vector<std::int64_t> ids = {10, 20, 30};
  const std::vector<std::int64_t> self = {20};
  const auto found = search_shard<float>(index, base.view().rows_from(1, 1), {.k = 3, .ids = {0, ids}, .self = self});
  EXPECT_EQ(found.ids, (std::vector<std::int64_t>{10, 30, -1}));
  EXPECT_EQ(found.distances, (std::vector<float>{0, 0, std::numeric_limits<float>::infinity()}));
}

TEST(Shards, AShardThatIsKnownToBeFarAwayIsHardlyLookedAt) {
  const Sample<float> near = generate<float>(Kind::uniform, {5000, 50, 3}, {}, 1);
  Matrix<float> far = near.base;
  for (std::int64_t i = 0; i < far.rows(); ++i) far(i, 0) += 100;
  Options options;
  options.method = Method::tree;
  options.backend = Backend::cpu;
  const Index<float> first(near.base.view(), options);
  const Index<float> second(far.view(), options);
  const auto found = search_shard<float>(first, near.queries.view(), {.k = 10});
  const auto alone = search_shard<float>(second, near.queries.view(), {.k = 10, .ids = {5000}});
  const auto after = search_shard<float>(second, near.queries.view(), {.k = 10, .ids = {5000}, .found = &found});
  EXPECT_GT(alone.report.finalists, 500);
  EXPECT_EQ(after.report.finalists, 0);
  EXPECT_TRUE(same_answer(after, found));
}

TEST(Shards, RefuseWhatTheyCannotTell) {
  const Sample<float> sample = generate<float>(Kind::uniform, {20, 2, 3}, {}, 1);
  Options options;
  options.method = Method::shifted_sort;
  const Index<float> curves(sample.base.view(), options);
  const MatrixView<float> queries = sample.queries.view();
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"its neighbors depend on all points"},
                         [&] { search_shard<float>(curves, queries, {.k = 1}); }));
  const Index<float> index(sample.base.view());
  const auto refused = [&](const ShardQuery<float>& query, const char* text) {
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {text}, [&] { search_shard<float>(index, queries, query); }));
  };
  refused({.k = 0}, "k = 0");
  refused({.k = 1, .ids = {-1}}, "first id of a shard of 20 rows is -1");
  std::vector<std::int64_t> ids(20);
  refused({.k = 1, .ids = {0, ids}}, "row 1 has id 0 after 0");
  std::iota(ids.begin(), ids.end(), -3);
  refused({.k = 1, .ids = {0, ids}}, "row 2 of a shard has id -1");
  refused({.k = 1, .ids = {0, std::span(ids).first(4)}}, "4 ids for 20 rows");
  const std::vector<std::int64_t> self = {1};
  refused({.k = 1, .self = self}, "1 own ids for 2 queries");
  const auto found = search_shard<float>(index, queries, {.k = 2});
  refused({.k = 3, .found = &found}, "2 × 2 places");
}

// Lists of shards, on a device, with one that is there twice and one that is short.
template <class D>
void expect_merged_on_device(const Metric& metric, std::uint64_t seed, Backend backend) {
  constexpr std::int64_t kQueries = 9;
  constexpr std::int64_t kPlaces = 12;
  Generator random(seed);
  const Sample<D> sample = generate<D>(Kind::ties, {70, kQueries, 2}, metric, seed);
  Options options;
  options.metric = metric;
  options.backend = Backend::cpu;
  const Shards<D> shards(sample.base, 5, options, random);
  std::vector<Neighbors<D>> parts;
  for (std::size_t i = 0; i < shards.first.size(); ++i)
    parts.push_back(search_shard(shards.indexes[i], sample.queries.view(),
                                 {.k = i == 0 ? kPlaces + 3 : kPlaces, .ids = {shards.first[i]}}));
  // Ids of the caller's may be negative.
  for (Neighbors<D>& part : parts)
    for (std::int64_t& id : part.ids) id = id == -1 ? -1 : id - 100;
  parts.push_back(parts.front());
  std::vector<std::unique_ptr<Placed<std::int64_t>>> ids;
  std::vector<std::unique_ptr<Placed<D>>> distances;
  std::vector<NeighborLists<D>> here;
  std::vector<NeighborLists<D>> there;
  for (const Neighbors<D>& part : parts) {
    ids.push_back(std::make_unique<Placed<std::int64_t>>(part.ids, Memory::device, backend));
    distances.push_back(std::make_unique<Placed<D>>(part.distances, Memory::device, backend));
    here.push_back({part.ids.data(), part.distances.data(), part.k});
    there.push_back({ids.back()->data(), distances.back()->data(), part.k});
  }
  for (const std::int64_t k : {std::int64_t{1}, kPlaces, std::int64_t{100}}) {
    std::vector<std::int64_t> want_ids(static_cast<std::size_t>(kQueries * k));
    std::vector<D> want(want_ids.size());
    merge_neighbors<D>(here, kQueries, k, metric, {want_ids.data(), want.data()});
    Placed<std::int64_t> got_ids(std::vector<std::int64_t>(want.size()), Memory::device, backend);
    Placed<D> got(std::vector<D>(want.size()), Memory::device, backend);
    merge_neighbors_on_device<D>(there, kQueries, k, metric, {got_ids.data(), got.data(), Memory::device}, backend,
                                 nullptr);
    EXPECT_EQ(got_ids.values(), want_ids) << k;
    EXPECT_EQ(got.values(), want) << k;
  }
}

TEST(MergeNeighbors, OnADevice) {
  if (device_backends().empty()) GTEST_SKIP() << "there is no device";
  for (const Backend backend : device_backends()) {
    expect_merged_on_device<float>(MetricKind::euclidean, 1, backend);
    expect_merged_on_device<double>(MetricKind::inner_product, 2, backend);
    const std::vector<NeighborLists<float>> lists(33);
    float distance = 0;
    std::int64_t id = 0;
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"32 lists at a time; there are 33"}, [&] {
      merge_neighbors_on_device<float>(lists, 1, 1, {}, {&id, &distance, Memory::device}, backend, nullptr);
    }));
  }
}

TEST(MergeNeighbors, FindsAnIdWithTwoDistances) {
  const std::vector<std::int64_t> ids = {4, 7};
  const std::vector<float> before = {1, 2};
  const std::vector<float> after = {1, 3};
  const std::vector<NeighborLists<float>> lists = {{ids.data(), before.data(), 2}, {ids.data(), after.data(), 2}};
  std::vector<std::int64_t> out_ids(3);
  std::vector<float> out(3);
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"point 7 is at distance 2 from query 0 in one list and at 3"}, [&] {
    merge_neighbors<float>(lists, 1, 3, {}, {out_ids.data(), out.data()});
  }));
}

TEST(MergeNeighbors, TakesListsOfAnyLengthAndNone) {
  const std::vector<std::int64_t> ids = {4, -1, 9, 2};
  const std::vector<float> distances = {1, 0, 2, 3};
  const std::vector<NeighborLists<float>> lists = {{ids.data(), distances.data(), 2}, {nullptr, nullptr, 0}};
  std::vector<std::int64_t> out_ids(6);
  std::vector<float> out(6);
  merge_neighbors<float>(lists, 2, 3, {}, {out_ids.data(), out.data()});
  EXPECT_EQ(out_ids, (std::vector<std::int64_t>{4, -1, -1, 9, 2, -1}));
  merge_neighbors<float>({}, 2, 3, MetricKind::inner_product, {out_ids.data(), out.data()});
  EXPECT_EQ(out_ids, std::vector<std::int64_t>(6, -1));
  EXPECT_EQ(out, std::vector<float>(6, -std::numeric_limits<float>::infinity()));
}

}  // namespace
}  // namespace kith::test
