// Random changes, searches and files: after each the answers are those of a fresh index of the same points.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>

#include "collection/model.hpp"
#include "support/fails_with.hpp"
#include "support/on_backend.hpp"
#include "support/oracle.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

struct Setting {
  Metric metric;
  Method method;
  Backend backend = Backend::cpu;
};

std::string path_of(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("kith-" + std::to_string(::getpid()) + "-" + name)).string();
}

// A collection and its model, changed alike.
template <Element T>
class Both {
 public:
  Both(std::int64_t dims, const Options& options, std::uint64_t seed)
      : random_(seed), dims_(dims), options_(options), collection_(dims, options) {}

  void change() {
    switch (random_.below(9)) {
      case 0:
      case 1:
      case 2: return add();
      case 3:
      case 4: return remove();
      case 5: return update();
      case 6: return refused();
      case 7: return random_.below(4) == 0 ? static_cast<void>(collection_.compact()) : add();
      default: return file();
    }
  }

  void check() {
    ASSERT_EQ(collection_.rows(), static_cast<std::int64_t>(model_.size()));
    std::vector<std::int64_t> ids;
    for (const auto& [id, point] : model_) ids.push_back(id);
    ASSERT_EQ(collection_.ids(), ids);
    check_search({}, [](std::int64_t, std::int64_t) { return true; });
    if (!model_.empty()) check_search_self();
    check_filters();
    check_radius();
  }

 private:
  using Allowed = std::function<bool(std::int64_t query, std::int64_t id)>;

  std::int64_t any_id() {
    auto at = model_.begin();
    std::advance(at, random_.below(static_cast<std::int64_t>(model_.size())));
    return at->first;
  }

  // None of them constant where the metric takes no such rows.
  Matrix<T> points(std::int64_t rows) {
    Matrix<T> made = grid_points<T>(rows, dims_, random_);
    for (std::int64_t i = 0; i < rows && options_.metric.kind == MetricKind::correlation; ++i)
      made(i, 0) = static_cast<T>(static_cast<float>(made(i, 0)) + 10);
    return made;
  }

  void put(std::int64_t id, const Matrix<T>& points, std::int64_t row, std::int64_t tag) {
    model_[id] = {{points.row(row), points.row(row) + dims_}, tag};
    next_ = std::max(next_, id + 1);
  }

  void add() {
    const std::int64_t rows = random_.below(3) == 0 ? 1 : 1 + random_.below(60);
    const Matrix<T> points = this->points(rows);
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> tags;
    const bool has_ids = random_.below(2) == 0;
    for (std::int64_t i = 0; has_ids && i < rows;) {
      const std::int64_t id = random_.below(4000) - 1000;
      if (id == -1 || model_.count(id) != 0 || std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
      ids.push_back(id);
      ++i;
    }
    if (random_.below(2) == 0)
      for (std::int64_t i = 0; i < rows; ++i) tags.push_back(random_.below(4));
    const ChangeReport report = collection_.add(points.view(), {ids, tags});
    EXPECT_EQ(report.points, rows);
    EXPECT_GE(report.copied, rows);
    const std::int64_t first = next_;
    for (std::int64_t i = 0; i < rows; ++i)
      put(has_ids ? ids[static_cast<std::size_t>(i)] : first + i, points, i,
          tags.empty() ? 0 : tags[static_cast<std::size_t>(i)]);
  }

  void remove() {
    if (model_.empty()) return;
    std::vector<std::int64_t> ids;
    const std::int64_t count =
        random_.below(3) == 0 ? static_cast<std::int64_t>(model_.size()) / 2 + 1 : 1 + random_.below(3);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t id = any_id();
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    collection_.remove(ids);
    for (const std::int64_t id : ids) {
      model_.erase(id);
      EXPECT_FALSE(collection_.contains(id));
    }
  }

  void update() {
    if (model_.empty()) return;
    const std::vector<std::int64_t> ids = {any_id()};
    const Matrix<T> points = this->points(1);
    const std::int64_t tag = model_[ids[0]].tag;
    if (random_.below(2) == 0) {
      collection_.update(points.view(), {ids, {}});
      put(ids[0], points, 0, tag);
    } else {
      const std::vector<std::int64_t> tags = {7};
      collection_.update(points.view(), {ids, tags});
      put(ids[0], points, 0, 7);
    }
    const Matrix<T> there = collection_.points(ids);
    EXPECT_TRUE(std::equal(there.row(0), there.row(0) + dims_, points.row(0)));
  }

  // What fails half-way leaves everything as it was.
  void refused() {
    if (model_.empty()) return;
    const Matrix<T> points = this->points(2);
    const std::vector<std::int64_t> known = {5000, any_id()};
    EXPECT_THROW(collection_.add(points.view(), {known, {}}), Error);
    EXPECT_THROW(collection_.update(points.view(), {known, {}}), Error);
    const std::vector<std::int64_t> gone = {any_id(), 9999};
    EXPECT_THROW(collection_.remove(gone), Error);
    const std::vector<std::int64_t> twice = {any_id(), any_id()};
    if (twice[0] == twice[1]) {
      EXPECT_THROW(collection_.remove(twice), Error);
    }
  }

  void file() {
    const std::string path = path_of("changes");
    collection_.save(path);
    const CollectionInfo info = collection_info(path);
    EXPECT_EQ(info.rows, collection_.rows());
    EXPECT_EQ(info.dims, dims_);
    EXPECT_EQ(info.dtype, dtype_of<T>());
    EXPECT_EQ(info.options.metric, options_.metric);
    collection_ = Collection<T>::load(path, options_, true);
    std::filesystem::remove(path);  // it stays mapped
  }

  void check_search(const Filter& filter, const Allowed& allowed) {
    const std::int64_t count = 3;
    const Matrix<T> queries = points(count);
    const std::int64_t k = 1 + random_.below(8);
    const auto found = collection_.search(queries.view(), k, filter);
    for (std::int64_t q = 0; q < count; ++q) {
      const auto subset = subset_of(model_, dims_, [&](std::int64_t id) { return allowed(q, id); });
      const auto [ids, distances] = answer(subset, queries.view().rows_from(q, 1), k, options_);
      ASSERT_EQ(std::vector(found.ids_of(q).begin(), found.ids_of(q).end()), ids) << "query " << q;
      ASSERT_EQ(std::vector(found.distances_of(q).begin(), found.distances_of(q).end()), distances);
      // The oracle has no 16-bit floats.
      if constexpr (sizeof(T) != 2)
        if (options_.method != Method::shifted_sort) check_truth(subset, queries, q, found);
    }
  }

  // Distances are those of the definition, the nearest first.
  void check_truth(const Subset<T>& subset, const Matrix<T>& queries, std::int64_t q,
                   const Neighbors<DistanceOf<T>>& found) {
    const auto there = static_cast<std::int64_t>(subset.ids.size());
    if (there == 0) return;
    const auto truth = truth_of(subset.points, queries, options_.metric);
    const std::vector<std::int64_t> nearest = truth.nearest(q, std::min(there, found.k));
    const double scale = sizeof(DistanceOf<T>) == 4 ? 1e-5 : 1e-12;
    for (std::size_t i = 0; i < nearest.size(); ++i) {
      const double want = truth.distance(q, nearest[i]);
      ASSERT_NEAR(found.distances_of(q)[i], want, scale * (1 + std::abs(want))) << "query " << q;
    }
  }

  void check_search_self() {
    const std::int64_t k = 1 + random_.below(4);
    const auto found = collection_.search_self(k);
    const auto graph = collection_.graph(k);
    ASSERT_EQ(found.queries, collection_.rows());
    const auto all = subset_of<T>(model_, dims_, [](std::int64_t) { return true; });
    // Approximate neighbors of points that leave themselves out are those of one search of all.
    if (options_.method == Method::shifted_sort) return;
    for (std::int64_t q = 0; q < found.queries; q += 1 + found.queries / 5) {
      const std::int64_t self = all.ids[static_cast<std::size_t>(q)];
      const auto [ids, distances] = answer(all, all.points.view().rows_from(q, 1), k, options_, self);
      ASSERT_EQ(std::vector(found.ids_of(q).begin(), found.ids_of(q).end()), ids) << "point " << self;
      std::vector<std::int64_t> targets;
      for (auto e = graph.indptr[static_cast<std::size_t>(q)]; e < graph.indptr[static_cast<std::size_t>(q) + 1]; ++e)
        targets.push_back(all.ids[static_cast<std::size_t>(graph.indices[static_cast<std::size_t>(e)])]);
      std::vector<std::int64_t> there = ids;
      std::erase(there, -1);
      ASSERT_EQ(targets, there);
    }
  }

  void check_filters() {
    const auto points = static_cast<std::int64_t>(model_.size());
    const double share = std::vector{0.02, 0.3, 0.9}[static_cast<std::size_t>(random_.below(3))];
    std::vector<std::int64_t> order;
    for (const auto& [id, point] : model_) order.push_back(id);
    // One mask for all, and lists of ids of each query.
    std::vector<std::uint8_t> mask(order.size());
    for (std::uint8_t& flag : mask) flag = random_.uniform() < share ? 1 : 0;
    const auto in_mask = [&](std::int64_t id) {
      return mask[static_cast<std::size_t>(std::lower_bound(order.begin(), order.end(), id) - order.begin())] != 0;
    };
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> offsets = {0};
    for (int q = 0; q < 3; ++q) {
      for (std::int64_t i = 0; i < points / 2; ++i) values.push_back(random_.below(10) == 0 ? 123456 : any_id());
      offsets.push_back(static_cast<std::int64_t>(values.size()));
    }
    const auto listed = [&](std::int64_t q, std::int64_t id) {
      return std::find(values.begin() + offsets[static_cast<std::size_t>(q)],
                       values.begin() + offsets[static_cast<std::size_t>(q) + 1],
                       id) != values.begin() + offsets[static_cast<std::size_t>(q) + 1];
    };
    Filter filter;
    if (points > 0) filter.mask = FilterMask{.bytes = mask};
    check_search(filter, [&](std::int64_t, std::int64_t id) { return in_mask(id); });
    filter.excluded = FilterLists{values, offsets};
    check_search(filter, [&](std::int64_t q, std::int64_t id) { return in_mask(id) && !listed(q, id); });
    Filter allow;
    allow.allowed = FilterLists{values, offsets};
    check_search(allow, listed);
    const std::vector<std::int64_t> tags = {1, 3};
    const auto tagged = [&](std::int64_t id) { return model_[id].tag == 1 || model_[id].tag == 3; };
    allow.tags = FilterLists{tags};
    check_search(allow, [&](std::int64_t q, std::int64_t id) { return listed(q, id) && tagged(id); });
    Filter by_tags;
    by_tags.tags = FilterLists{tags};
    std::vector<std::int64_t> with_tags;
    for (const auto& [id, point] : model_)
      if (tagged(id)) with_tags.push_back(id);
    ASSERT_EQ(collection_.ids(by_tags), with_tags);
    // Words, a row for each query.
    const std::size_t width = (order.size() + 63) / 64;
    std::vector<std::uint64_t> words(3 * width);
    for (std::uint64_t& word : words) word = random_.bits() & random_.bits();
    Filter each;
    if (points > 0) each.mask = FilterMask{.words = words, .each = true};
    check_search(each, [&](std::int64_t q, std::int64_t id) {
      const auto rank = static_cast<std::size_t>(std::lower_bound(order.begin(), order.end(), id) - order.begin());
      return (words[static_cast<std::size_t>(q) * width + rank / 64] >> (rank % 64) & 1) != 0;
    });
  }

  void check_radius() {
    const bool has_radii =
        options_.method == Method::automatic || options_.method == Method::brute || options_.method == Method::tree;
    if (model_.empty() || !has_radii) return;
    using D = DistanceOf<T>;
    const Matrix<T> queries = points(2);
    const std::vector<D> radii = {D{2}};
    const std::vector<std::int64_t> tags = {0, 1};
    Filter filter;
    filter.tags = FilterLists{tags};
    const auto found = collection_.search_radius(queries.view(), radii, filter);
    const auto subset = subset_of(model_, dims_, [&](std::int64_t id) { return model_[id].tag <= 1; });
    if (subset.ids.empty()) {
      ASSERT_TRUE(found.ids.empty());
      return;
    }
    Options options = options_;
    options.backend = Backend::cpu;
    options.method = Method::automatic;
    const auto want = search_radius(subset.points.view(), queries.view(), std::span<const D>(radii),
                                    RadiusOutput::neighbors, options);
    ASSERT_EQ(found.offsets, want.offsets);
    ASSERT_EQ(found.distances, want.distances);
    for (std::size_t i = 0; i < want.ids.size(); ++i)
      ASSERT_EQ(found.ids[i], subset.ids[static_cast<std::size_t>(want.ids[i])]);
    const auto counted = collection_.search_radius(queries.view(), radii, filter, RadiusOutput::count_only);
    ASSERT_EQ(counted.offsets, want.offsets);
    ASSERT_TRUE(counted.ids.empty());
  }

  Random random_;
  std::int64_t dims_;
  Options options_;
  Collection<T> collection_;
  Model<T> model_;
  std::int64_t next_ = 0;
};

template <Element T>
void run(const Setting& setting, std::int64_t dims, int steps, std::uint64_t seed) {
  Options options;
  options.metric = setting.metric;
  options.method = setting.method;
  options.backend = setting.backend;
  options.pad_missing = true;
  Both<T> both(dims, options, seed);
  for (int step = 0; step < steps; ++step) {
    both.change();
    both.check();
    if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) {
      ADD_FAILURE() << "step " << step << " of seed " << seed;
      return;
    }
  }
}

class CollectionChanges : public OnBackend {};

TEST_P(CollectionChanges, AnswersAreThoseOfAFreshIndex) {
  const Backend backend = GetParam();
  const int steps = backend == Backend::cpu ? 60 : 8;
  for (std::uint64_t seed = 1; seed <= (backend == Backend::cpu ? 3U : 1U); ++seed) {
    run<float>({MetricKind::euclidean, Method::automatic, backend}, 3, steps, seed);
    run<float>({MetricKind::cosine, Method::automatic, backend}, 12, steps, seed + 10);
    run<double>({MetricKind::manhattan, Method::brute, backend}, 5, steps, seed + 20);
    run<float>({MetricKind::inner_product, Method::automatic, backend}, 7, steps, seed + 30);
    run<std::uint8_t>({MetricKind::sqeuclidean, Method::automatic, backend}, 4, steps, seed + 40);
    run<float>({MetricKind::euclidean, Method::triangle, backend}, 3, steps, seed + 50);
    run<float>({MetricKind::euclidean, Method::tree, backend}, 2, steps, seed + 60);
    run<Float16>({MetricKind::euclidean, Method::automatic, backend}, 3, steps / 2, seed + 70);
    if (HasFailure()) return;
  }
}

// Whatever metric and method go together.
TEST_P(CollectionChanges, EveryMetricAndMethod) {
  const Backend backend = GetParam();
  const Matrix<float> any(1, 3, {1, 2, 4});
  std::uint64_t seed = 100;
  int settings = 0;
  for (const Metric& metric : all_metrics())
    for (const Method method : search_methods(backend)) {
      Options options;
      options.metric = metric;
      options.method = method;
      options.backend = backend;
      try {
        search(any.view(), any.view(), 1, options);
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
        continue;
      }
      ++settings;
      run<float>({metric, method, backend}, 3, backend == Backend::cpu ? 12 : 3, ++seed);
      if (backend == Backend::cpu) run<double>({metric, method, backend}, 4, 6, ++seed);
      ASSERT_FALSE(HasFailure()) << to_string(metric) << " " << to_string(method);
    }
  EXPECT_GE(settings, 30);
}

// One segment, so that the orders along the curve are those of all points.
TEST_P(CollectionChanges, AnswersOfShiftedSortAreThoseOfAFreshIndex) {
  const Backend backend = GetParam();
  run<float>({MetricKind::euclidean, Method::shifted_sort, backend}, 2, backend == Backend::cpu ? 40 : 8, 5);
}

INSTANTIATE_TEST_SUITE_P(All, CollectionChanges, testing::ValuesIn(available_backends()),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST(Collection, AFewRowsDoNotCopyManyOthers) {
  Random random(3);
  Collection<float> collection(grid_points<float>(20000, 4, random));
  std::int64_t copied = 0;
  for (int i = 0; i < 300; ++i) {
    const ChangeReport report = collection.add(grid_points<float>(1, 4, random).view());
    copied += report.copied;
    EXPECT_LE(report.segments, 12);
  }
  EXPECT_LE(copied, 300 * 12);  // each a logarithmic number of times
  const std::vector<std::int64_t> one = {17};
  EXPECT_EQ(collection.remove(one).copied, 0);
}

TEST(Collection, SearchesSeeOneStateWhilePointsComeAndGo) {
  Random random(9);
  Collection<float> collection(grid_points<float>(2000, 3, random));
  const Matrix<float> queries = grid_points<float>(4, 3, random);
  std::atomic<bool> done{false};
  std::vector<std::thread> searchers;
  std::atomic<int> wrong{0};
  // Ten points at a time share a tag, so a search finds all of them or none.
  for (int t = 0; t < 3; ++t)
    searchers.emplace_back([&] {
      const std::vector<std::int64_t> tags = {5};
      while (!done) {
        Filter filter;
        filter.tags = FilterLists{tags};
        const auto found = collection.search(queries.view(), 40, filter);
        for (std::int64_t q = 0; q < found.queries; ++q) {
          const auto ids = found.ids_of(q);
          const auto there = std::count_if(ids.begin(), ids.end(), [](std::int64_t id) { return id >= 0; });
          wrong += there % 10 == 0 ? 0 : 1;
        }
      }
    });
  for (int i = 0; i < 40; ++i) {
    std::vector<std::int64_t> ids;
    for (std::int64_t j = 0; j < 10; ++j) ids.push_back(10000 + j);
    const std::vector<std::int64_t> tags(10, 5);
    const Matrix<float> points = grid_points<float>(10, 3, random);
    collection.add(points.view(), {ids, tags});
    collection.update(points.view(), {ids, {}});
    collection.remove(ids);
  }
  done = true;
  for (std::thread& each : searchers) each.join();
  EXPECT_EQ(wrong, 0);
}

// Files of a collection to which points come meanwhile: each is of one moment, ids that are given later included.
TEST(Collection, SavesSeeOneStateWhilePointsComeAndGo) {
  Random random(10);
  Collection<float> collection(grid_points<float>(300, 3, random));
  const Matrix<float> points = grid_points<float>(5, 3, random);
  const std::string path = path_of("beside");
  std::atomic<bool> done{false};
  std::thread adder([&] {
    for (int i = 0; i < 60 || !done; ++i) {
      collection.add(points.view());
      if (i % 3 == 0) collection.remove(std::vector<std::int64_t>{300 + 5 * i});
    }
  });
  for (int i = 0; i < 12; ++i) {
    collection.save(path);
    Collection<float> loaded = Collection<float>::load(path, {}, true);
    const std::vector<std::int64_t> before = loaded.ids();
    loaded.add(points.view());
    EXPECT_GT(loaded.ids()[before.size()], before.back());
    EXPECT_EQ((loaded.ids().back() + 1) % 5, 0);  // no part of a change
  }
  done = true;
  adder.join();
  std::filesystem::remove(path);
}

TEST(Collection, RefusesWhatItCannotKeep) {
  Random random(1);
  const Matrix<float> points = grid_points<float>(3, 2, random);
  const std::vector<std::int64_t> twice = {4, 9, 4};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"id 4 is there twice"}, [&] {
    Collection<float>(points.view(), {twice, {}});
  }));
  const std::vector<std::int64_t> missing = {4, -1, 5};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"id 1 is -1"}, [&] {
    Collection<float>(points.view(), {missing, {}});
  }));
  const std::vector<std::int64_t> few = {1};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"1 ids for 3 points"}, [&] {
    Collection<float>(points.view(), {few, {}});
  }));
  Collection<float> collection(points.view());
  const Matrix<float> wide = grid_points<float>(1, 3, random);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"3 dimensions, the collection has 2"},
                         [&] { collection.add(wide.view()); }));
  Matrix<float> bad = grid_points<float>(2, 2, random);
  bad(1, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"row 1, column 0"}, [&] { collection.add(bad.view()); }));
  EXPECT_EQ(collection.rows(), 3);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 4 but the number of points is 3"},
                         [&] { collection.search(points.view(), 4); }));
  const Collection<float> none(2);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"k = 1 but the number of other points is 0"},
                         [&] { none.search_self(1); }));
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"k = 1 but the number of other points is 0"}, [&] { none.graph(1); }));
  const std::vector<std::int64_t> gone = {7};
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"no point has id 7"}, [&] { collection.remove(gone); }));
  const std::vector<std::uint8_t> mask(2);
  Filter filter;
  filter.mask = FilterMask{.bytes = mask};
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"2 bytes"}, [&] { collection.search(points.view(), 1, filter); }));
  Filter lists;
  const std::vector<std::int64_t> offsets = {0, 5};
  lists.allowed = FilterLists{few, offsets};
  EXPECT_TRUE(
      fails_with(ErrorCode::invalid_argument, {"2 offsets"}, [&] { collection.search(points.view(), 1, lists); }));
}

TEST(Collection, IdsDecideTies) {
  const std::vector<float> same(8, 1.0F);
  const std::vector<std::int64_t> ids = {30, 10, 40, 20};
  const Collection<float> collection(MatrixView<float>(same.data(), 4, 2), {ids, {}});
  const auto found = collection.search(MatrixView<float>(same.data(), 1, 2), 3);
  EXPECT_EQ(found.ids, (std::vector<std::int64_t>{10, 20, 30}));
}

TEST(Padding, RowsEndWithMissingNeighbors) {
  const std::vector<float> values = {0, 1, 3};
  Options options;
  options.pad_missing = true;
  for (const MetricKind metric : {MetricKind::euclidean, MetricKind::inner_product}) {
    options.metric = metric;
    const Index<float> index(MatrixView<float>(values.data(), 3, 1), options);
    const auto found = index.search(MatrixView<float>(values.data() + 1, 1, 1), 5);
    const float missing = metric == MetricKind::inner_product ? -std::numeric_limits<float>::infinity()
                                                              : std::numeric_limits<float>::infinity();
    EXPECT_EQ(std::vector(found.ids.begin() + 3, found.ids.end()), (std::vector<std::int64_t>{-1, -1}));
    EXPECT_EQ(found.distances[3], missing);
    EXPECT_EQ(found.distances[4], missing);
    EXPECT_GE(*std::min_element(found.ids.begin(), found.ids.begin() + 3), 0);
    const auto others = index.search_self(4);
    EXPECT_EQ(others.ids[2], -1);
    EXPECT_NE(others.ids[1], -1);
  }
  options.metric = MetricKind::euclidean;
  const Index<float> one(MatrixView<float>(values.data(), 1, 1), options);
  EXPECT_EQ(one.search_self(2).ids, (std::vector<std::int64_t>{-1, -1}));
  options.pad_missing = false;
  // Nothing is made room for before it is known what for.
  options.pad_missing = true;
  const Index<float> padded(MatrixView<float>(values.data(), 3, 1), options);
  std::int64_t id = 0;
  float distance = 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"queries is -1 × 1"}, [&] {
    padded.search_into(MatrixView<float>(values.data(), -1, 1), 4, {&id, &distance});
  }));
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"exceed what memory can address"}, [&] {
    padded.search_into(MatrixView<float>(values.data(), 1, 1), kMost, {&id, &distance});
  }));
  EXPECT_TRUE(fails_with(ErrorCode::out_of_memory, {"a result of 1099511627776 × 3"}, [&] {
    padded.search_into(MatrixView<float>(values.data(), std::int64_t{1} << 40, 1, 0, 1), 4, {&id, &distance});
  }));
  options.pad_missing = false;
  const Index<float> strict(MatrixView<float>(values.data(), 3, 1), options);
  EXPECT_THROW(strict.search(MatrixView<float>(values.data(), 1, 1), 4), Error);
}

}  // namespace
}  // namespace kith::test
