// Every ability of an index, wherever its points lie: the bits that the CPU gives, for answers in host memory and on
// the device, of queries in either. A row of the table is an ability, a column a place; what is not there does not
// compile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "kith/kith.hpp"
#include "support/compare.hpp"
#include "support/device_memory.hpp"
#include "support/on_backend.hpp"
#include "support/problem.hpp"

namespace kith::test {
namespace {

struct Place {
  std::string name;
  Backend backend;
  Memory memory;  // of the points
};

std::vector<Place> all_places() {
  std::vector<Place> places = {{"host_points_on_cpu", Backend::cpu, Memory::host}};
  for (const Backend backend : device_backends()) {
    places.push_back({std::string("host_points_on_") + to_string(backend), backend, Memory::host});
    places.push_back({std::string("device_points_on_") + to_string(backend), backend, Memory::device});
  }
  return places;
}

constexpr std::int64_t kRows = 70;  // seven points, ten times each
constexpr std::int64_t kQueries = 9;
constexpr std::int64_t kDims = 4;
constexpr std::int64_t kColumns = 3;  // of values

// Rows lie apart, so that what is between them is found out if it is read.
template <Element T>
std::vector<T> spread(const Matrix<T>& points) {
  std::vector<T> values(static_cast<std::size_t>(points.rows() * (points.cols() + 1)), std::numeric_limits<T>::max());
  for (std::int64_t r = 0; r < points.rows(); ++r)
    std::copy_n(points.row(r), points.cols(), values.begin() + r * (points.cols() + 1));
  return values;
}

template <class V>
bool same_bits(const std::vector<V>& a, const std::vector<V>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(V)) == 0);
}

// Points in their place, an index of them, and one of the same points on the CPU.
template <Element T>
class World {
 public:
  using D = DistanceOf<T>;

  World(const Place& place, const Metric& metric)
      : place_(place),
        metric_(metric),
        sample_(generate<T>(Kind::duplicates, {kRows, kQueries, kDims}, metric, 5)),
        values_(generate<D>(Kind::gaussian, {kRows, 1, kColumns}, metric, 6).base),
        base_(spread(sample_.base), place.memory, place.backend) {
    if (place.backend != Backend::cpu) stream_ = memory_of(place.backend).make_stream();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    if (stream_ != nullptr) memory_of(place_.backend).destroy_stream(stream_);
  }

  Options options() const {
    Options options;
    options.backend = place_.backend;
    options.metric = metric_;
    return options;
  }
  Index<T> index(const Options& with) { return Index<T>(base_.view(kRows, kDims, kDims + 1), with, stream_); }
  Index<T> index() { return index(options()); }
  Index<T> right(Options on_cpu) const {
    on_cpu.backend = Backend::cpu;
    return Index<T>(sample_.base.view(), on_cpu);
  }
  Index<T> right() const { return right(options()); }

  // Where queries, values and answers may lie.
  std::vector<Memory> memories() const {
    return place_.backend == Backend::cpu ? std::vector{Memory::host} : std::vector{Memory::host, Memory::device};
  }
  template <class V>
  Placed<V> placed(std::vector<V> values, Memory memory) const {
    return Placed<V>(std::move(values), memory, place_.backend);
  }
  // Calls use(queries) with the queries in every memory.
  template <class Use>
  void for_queries(Use use) const {
    for (const Memory memory : memories()) {
      SCOPED_TRACE(std::string("queries in memory of the ") + to_string(memory));
      Placed<T> queries = placed(spread(sample_.queries), memory);
      use(queries.view(kQueries, kDims, kDims + 1));
    }
  }

  // Calls into(view) for answers in every memory, which must have these ids and distances.
  template <class Into>
  void expect_neighbors(const std::vector<std::int64_t>& ids, const std::vector<D>& distances, Into into) const {
    for (const Memory memory : memories()) {
      SCOPED_TRACE(std::string("answers in memory of the ") + to_string(memory));
      Placed<std::int64_t> got_ids = placed(std::vector<std::int64_t>(ids.size(), -7), memory);
      Placed<D> got_distances = placed(std::vector<D>(ids.size(), D{-7}), memory);
      into(NeighborsView<D>{got_ids.data(), got_distances.data(), memory});
      EXPECT_EQ(got_ids.values(), ids);
      EXPECT_TRUE(same_bits(got_distances.values(), distances));
    }
  }

  // The same for lists whose length into(offsets, allocate, memory) finds out.
  template <class Into>
  void expect_lists(const std::vector<std::int64_t>& offsets, const std::vector<std::int64_t>& ids,
                    const std::vector<D>& distances, Into into) const {
    for (const Memory memory : memories()) {
      SCOPED_TRACE(std::string("lists in memory of the ") + to_string(memory));
      Placed<std::int64_t> got_offsets = placed(std::vector<std::int64_t>(offsets.size(), -7), memory);
      Placed<std::int64_t> got_ids = placed(std::vector<std::int64_t>(ids.size(), -7), memory);
      Placed<D> got_distances = placed(std::vector<D>(ids.size(), D{-7}), memory);
      int calls = 0;
      into(
          got_offsets.data(),
          [&](std::int64_t count) {
            EXPECT_EQ(count, static_cast<std::int64_t>(ids.size()));
            EXPECT_EQ(++calls, 1);
            return NeighborsView<D>{got_ids.data(), got_distances.data(), memory};
          },
          memory);
      EXPECT_EQ(got_offsets.values(), offsets);
      EXPECT_EQ(got_ids.values(), ids);
      EXPECT_TRUE(same_bits(got_distances.values(), distances));
    }
  }

  const Place& place() const { return place_; }
  const Metric& metric() const { return metric_; }
  const Sample<T>& sample() const { return sample_; }
  const Matrix<D>& values() const { return values_; }
  void* stream() const { return stream_; }

 private:
  Place place_;
  Metric metric_;
  Sample<T> sample_;
  Matrix<D> values_;
  Placed<T> base_;
  void* stream_ = nullptr;
};

struct Search {
  template <Element T>
  static void check(World<T>& world) {
    const Index<T> index = world.index();
    EXPECT_EQ(index.memory(), world.place().memory);
    for (const std::int64_t k : {1, 40}) {
      const auto right = world.right().search(world.sample().queries.view(), k);
      world.for_queries([&](const MatrixView<T>& queries) {
        EXPECT_TRUE(same_answer(index.search(queries, k, world.stream()), right));
        world.expect_neighbors(right.ids, right.distances, [&](const auto& out) {
          EXPECT_EQ(index.search_into(queries, k, out, world.stream()).plan.backend, world.place().backend);
        });
      });
    }
  }
};

// Copies of a point, more than k of them, may come before it.
struct SearchSelf {
  template <Element T>
  static void check(World<T>& world) {
    const Index<T> index = world.index();
    for (const std::int64_t k : {std::int64_t{3}, std::int64_t{40}, kRows - 1}) {
      const auto right = world.right().search_self(k);
      EXPECT_TRUE(same_answer(index.search_self(k, world.stream()), right));
      world.expect_neighbors(right.ids, right.distances,
                             [&](const auto& out) { index.search_self_into(k, out, world.stream()); });
    }
  }
};

// One radius for all queries, and one for each, on which points lie.
template <class D>
std::vector<std::vector<D>> some_radii(const Neighbors<D>& found) {
  std::vector<D> each;
  for (std::int64_t q = 0; q < found.queries; ++q)
    each.push_back(found.distances_of(q)[static_cast<std::size_t>(q * 7 % found.k)]);
  return {{each.front()}, each};
}

template <bool kSelf>
struct SearchRadius {
  template <Element T>
  static void check(World<T>& world) {
    const Index<T> index = world.index();
    const Index<T> right = world.right();
    const MatrixView<T> host_queries = kSelf ? world.sample().base.view() : world.sample().queries.view();
    for (const auto& radii : some_radii(right.search(host_queries, 30))) {
      const auto wanted = kSelf ? right.search_radius_self(radii) : right.search_radius(host_queries, radii);
      ASSERT_GT(wanted.ids.size(), 0U);
      world.for_queries([&](const MatrixView<T>& queries) {
        const auto all = [&](RadiusOutput output) {
          return kSelf ? index.search_radius_self(radii, output, world.stream())
                       : index.search_radius(queries, radii, output, world.stream());
        };
        EXPECT_EQ(all(RadiusOutput::neighbors).ids, wanted.ids);
        EXPECT_EQ(all(RadiusOutput::count_only).offsets, wanted.offsets);
        const auto into = [&](const RadiusLists<DistanceOf<T>>& lists) {
          if (kSelf) return index.search_radius_self_into(radii, lists, world.stream());
          return index.search_radius_into(queries, radii, lists, world.stream());
        };
        world.expect_lists(wanted.offsets, wanted.ids, wanted.distances, [&](auto* offsets, auto allocate, Memory at) {
          into({offsets, allocate, at});
        });
        for (const Memory memory : world.memories()) {
          Placed<std::int64_t> counted = world.placed(std::vector<std::int64_t>(wanted.offsets.size()), memory);
          into({counted.data(), {}, memory});
          EXPECT_EQ(counted.values(), wanted.offsets);
        }
      });
    }
  }
};

template <Symmetrize kHow>
struct MakeGraph {
  template <Element T>
  static void check(World<T>& world) {
    const Index<T> index = world.index();
    for (const std::int64_t k : {4, 40}) {
      const auto right = world.right().graph(k, kHow);
      const auto got = index.graph(k, kHow, world.stream());
      EXPECT_EQ(got.indptr, right.indptr);
      EXPECT_EQ(got.indices, right.indices);
      EXPECT_TRUE(same_bits(got.data, right.data));
      world.expect_lists(right.indptr, right.indices, right.data, [&](auto* indptr, auto allocate, Memory memory) {
        index.graph_into(k, kHow, {indptr, allocate, memory}, world.stream());
      });
    }
  }
};

// By lists, and by shifted-sort, which on a device reduces neighbors where it finds them.
template <ReduceOp kOp>
struct Reduce {
  template <Element T>
  static void check(World<T>& world) {
    const MetricKind metric = world.metric().kind;
    const bool no_volume = metric == MetricKind::cosine || metric == MetricKind::inner_product;
    if (kOp == ReduceOp::density && no_volume) return;
    if (kOp == ReduceOp::weighted_mean && metric == MetricKind::inner_product) return;  // no weights either
    check(world, Method::automatic);
    if (metric == MetricKind::euclidean) check(world, Method::shifted_sort);
    if (metric == MetricKind::euclidean) check(world, Method::tree);
  }

 private:
  template <Element T>
  static void check(World<T>& world, Method method) {
    using D = DistanceOf<T>;
    Options options = world.options();
    options.method = method;
    options.shifted_sort.curve = Curve::morton;
    const Index<T> index = world.index(options);
    const auto right = world.right(options).reduce(world.sample().queries.view(), 7, world.values().view(), kOp);
    const std::vector<D> wanted(right.values.data(), right.values.data() + kQueries * right.values.cols());
    EXPECT_EQ(right.values.cols(), reduced_columns(kOp, kColumns, kDims));
    world.for_queries([&](const MatrixView<T>& queries) {
      for (const Memory memory : world.memories()) {
        SCOPED_TRACE(std::string("values and answers in memory of the ") + to_string(memory));
        Placed<D> values = world.placed(spread(world.values()), memory);
        const MatrixView<D> view = values.view(kRows, kColumns, kColumns + 1);
        const auto got = index.reduce(queries, 7, view, kOp, world.stream());
        EXPECT_TRUE(same_bits(std::vector<D>(got.values.data(), got.values.data() + wanted.size()), wanted));
        Placed<D> out = world.placed(std::vector<D>(wanted.size()), memory);
        index.reduce_into(queries, 7, view, kOp, {out.data(), memory}, world.stream());
        EXPECT_TRUE(same_bits(out.values(), wanted));
      }
    });
  }
};

struct SelectTopk {
  template <Element T>
  static void check(World<T>& world) {
    TopkOptions options;
    options.backend = Backend::cpu;
    const MatrixView<T> host = world.sample().base.view();
    for (const TopkOutput output : {TopkOutput::sorted, TopkOutput::values_only, TopkOutput::kth_only}) {
      options.output = output;
      options.backend = Backend::cpu;
      const Topk<T> right = topk(host, 2, options);
      options.backend = world.place().backend;
      for (const Memory from : world.memories()) {
        // Columns next to each other, and rows: what kernels cannot read where it lies is brought.
        Placed<T> rows = world.placed(spread(world.sample().base), from);
        EXPECT_EQ(topk(rows.view(kRows, kDims, kDims + 1), 2, options, world.stream()).values, right.values);
        std::vector<T> columns;
        for (std::int64_t c = 0; c < kDims; ++c)
          for (std::int64_t r = 0; r < kRows; ++r) columns.push_back(host(r, c));
        Placed<T> by_columns = world.placed(columns, from);
        for (const Memory to : world.memories()) {
          Placed<T> values = world.placed(std::vector<T>(right.values.size()), to);
          Placed<std::int64_t> ids = world.placed(std::vector<std::int64_t>(right.ids.size(), -7), to);
          topk_into(by_columns.view(kRows, kDims, 1, kRows), 2, {values.data(), ids.data(), to}, options,
                    world.stream());
          EXPECT_TRUE(same_bits(values.values(), right.values));
          EXPECT_EQ(ids.values(), right.ids);
        }
      }
    }
  }
};

struct AllDistances {
  template <Element T>
  static void check(World<T>& world) {
    Options on_cpu = world.options();
    on_cpu.backend = Backend::cpu;
    const auto right = distances(world.sample().base.view(), world.sample().queries.view(), on_cpu);
    world.for_queries([&](const MatrixView<T>& queries) {
      for (const Memory memory : world.memories()) {
        Placed<T> base = world.placed(spread(world.sample().base), memory);
        const auto got = distances(base.view(kRows, kDims, kDims + 1), queries, world.options(), world.stream());
        EXPECT_TRUE(std::equal(got.data(), got.data() + kQueries * kRows, right.data()));
      }
    });
  }
};

struct Explain {
  template <Element T>
  static void check(World<T>& world) {
    const Index<T> index = world.index();
    const Plan plan = index.explain(kQueries, 6);
    EXPECT_EQ(plan.backend, world.place().backend);
    EXPECT_EQ(plan.problem.base_rows, kRows);
    EXPECT_EQ(plan.problem.queries, kQueries);
    world.for_queries([&](const MatrixView<T>& queries) {
      EXPECT_EQ(index.search(queries, 6, world.stream()).report.plan.method, plan.method);
    });
  }
};

// Calls every search that reports, with an index whose callback says go on or stop.
template <Element T, class Expect>
void for_each_search(World<T>& world, const ProgressCallback& callback, Expect expect) {
  using D = DistanceOf<T>;
  Options options = world.options();
  options.progress = callback;
  const Index<T> index = world.index(options);
  const std::vector<D> radius = {D{3}};
  world.for_queries([&](const MatrixView<T>& queries) {
    for (const Memory memory : world.memories()) {
      Placed<std::int64_t> ids = world.placed(std::vector<std::int64_t>(kRows * 5), memory);
      Placed<D> distances = world.placed(std::vector<D>(kRows * 5), memory);
      const NeighborsView<D> out{ids.data(), distances.data(), memory};
      expect("search", [&] { index.search_into(queries, 5, out, world.stream()); });
      expect("search_self", [&] { index.search_self_into(5, out, world.stream()); });
      expect("search_radius", [&] {
        index.search_radius_into(queries, radius, {ids.data(), {}, memory}, world.stream());
      });
      expect("graph", [&] { index.graph(5, Symmetrize::mutual, world.stream()); });
      expect("reduce", [&] {
        index.reduce_into(queries, 5, {}, ReduceOp::kth_distance, {distances.data(), memory}, world.stream());
      });
    }
  });
}

struct ReportsProgress {
  template <Element T>
  static void check(World<T>& world) {
    std::int64_t calls = 0;
    Progress last;
    const auto watch = [&](const Progress& progress) {
      ++calls;
      EXPECT_GE(progress.done, last.done);
      last = progress;
      return true;
    };
    for_each_search(world, watch, [&](const char* name, auto work) {
      calls = 0;
      last = {};
      work();
      EXPECT_GE(calls, 1) << name;
      EXPECT_EQ(last.done, last.total) << name;
      EXPECT_GT(last.total, 0) << name;
    });
  }
};

struct Cancels {
  template <Element T>
  static void check(World<T>& world) {
    bool stop = false;  // an index is made first
    for_each_search(
        world, [&](const Progress&) { return !stop; },
        [&](const char* name, auto work) {
          stop = true;
          EXPECT_TRUE(fails_with(ErrorCode::cancelled, {}, work)) << name;
          stop = false;
          EXPECT_NO_THROW(work()) << name;
        });
  }
};

struct Statistics {
  template <Element T>
  static void check(World<T>& world) {
    Options options = world.options();
    options.statistics = true;
    options.method = Method::triangle;
    const auto lengths = world.metric().kind != MetricKind::inner_product;
    if (lengths) {
      const Index<T> triangle = world.index(options);
      const auto wanted = world.right().search(world.sample().queries.view(), 4);
      world.for_queries([&](const MatrixView<T>& queries) {
        const auto got = triangle.search(queries, 4, world.stream());
        EXPECT_TRUE(same_answer(got, wanted));
        ASSERT_TRUE(got.report.triangle.has_value());
        EXPECT_EQ(got.report.triangle->pairs, kRows * kQueries);
      });
    }
    if (world.metric().kind != MetricKind::euclidean) return;
    options.method = Method::shifted_sort;
    const Index<T> shifted = world.index(options);
    world.for_queries([&](const MatrixView<T>& queries) {
      for (const Memory memory : world.memories()) {
        Placed<std::int64_t> ids = world.placed(std::vector<std::int64_t>(kQueries * 4), memory);
        Placed<DistanceOf<T>> distances = world.placed(std::vector<DistanceOf<T>>(kQueries * 4), memory);
        const auto report = shifted.search_into(queries, 4, {ids.data(), distances.data(), memory}, world.stream());
        ASSERT_TRUE(report.quality.has_value());
        EXPECT_EQ(report.quality->queries, kQueries);
      }
    });
  }
};

// What is refused leaves the answers as they were.
struct RefusesBadInput {
  template <Element T>
  static void check(World<T>& world) {
    using D = DistanceOf<T>;
    const Index<T> index = world.index();
    const std::vector<D> wrong_radius = {std::numeric_limits<D>::quiet_NaN()};
    const std::vector<D> two_radii = {D{1}, D{1}};
    for (const Memory memory : world.memories()) {
      Placed<std::int64_t> ids = world.placed(std::vector<std::int64_t>(kQueries * 2 + 1, -7), memory);
      Placed<D> distances = world.placed(std::vector<D>(kQueries * 2, D{-7}), memory);
      const NeighborsView<D> out{ids.data(), distances.data(), memory};
      const auto refused = [&](ErrorCode code, const std::vector<std::string>& mentions, const auto& work) {
        EXPECT_TRUE(fails_with(code, mentions, work));
        EXPECT_EQ(ids.values(), std::vector<std::int64_t>(kQueries * 2 + 1, -7));
        EXPECT_EQ(distances.values(), std::vector<D>(kQueries * 2, D{-7}));
      };
      Placed<T> given = world.placed(spread(world.sample().queries), memory);
      const MatrixView<T> queries = given.view(kQueries, kDims, kDims + 1);
      const auto invalid = ErrorCode::invalid_argument;
      refused(invalid, {"k = 0"}, [&] { index.search_into(queries, 0, out, world.stream()); });
      refused(invalid, {"k = 71", "70"}, [&] { index.search_into(queries, kRows + 1, out, world.stream()); });
      refused(invalid, {"k = 70", "69"}, [&] { index.search_self_into(kRows, out, world.stream()); });
      refused(invalid, {"k = 70", "69"}, [&] { index.graph(kRows, Symmetrize::none, world.stream()); });
      refused(invalid, {"4 dimensions", "3"},
              [&] { index.search_into(given.view(kQueries, 3, kDims + 1), 1, out, world.stream()); });
      refused(invalid, {"null"}, [&] { index.search_into(queries, 1, {nullptr, nullptr, memory}, world.stream()); });
      refused(invalid, {"nan"}, [&] {
        index.search_radius_into(queries, wrong_radius, {ids.data(), {}, memory}, world.stream());
      });
      refused(invalid, {"2 radii"}, [&] {
        index.search_radius_into(queries, two_radii, {ids.data(), {}, memory}, world.stream());
      });
      refused(invalid, {"rows of values"}, [&] {
        index.reduce_into(queries, 2, world.values().view().rows_from(0, 5), ReduceOp::mean, {distances.data(), memory},
                          world.stream());
      });
      if constexpr (std::is_floating_point_v<T>) {
        Sample<T> spoilt = world.sample();
        spoilt.queries(3, 2) = std::numeric_limits<T>::infinity();
        Placed<T> bad = world.placed(spread(spoilt.queries), memory);
        const MatrixView<T> infinite = bad.view(kQueries, kDims, kDims + 1);
        const std::vector<std::string> where = {"query row 3", "column 2", "inf"};
        refused(ErrorCode::bad_data, where, [&] { index.search_into(infinite, 2, out, world.stream()); });
        refused(ErrorCode::bad_data, where, [&] {
          index.search_radius_into(infinite, std::vector<D>{D{1}}, {ids.data(), {}, memory}, world.stream());
        });
        refused(ErrorCode::bad_data, where, [&] {
          index.reduce_into(infinite, 2, {}, ReduceOp::kth_distance, {distances.data(), memory}, world.stream());
        });
        if (world.metric().kind == MetricKind::cosine) {
          for (std::int64_t c = 0; c < kDims; ++c) spoilt.queries(3, c) = 0;
          Placed<T> zero = world.placed(spread(spoilt.queries), memory);
          refused(ErrorCode::bad_data, {"query row 3", "length zero", "cosine"},
                  [&] { index.search_into(zero.view(kQueries, kDims, kDims + 1), 2, out, world.stream()); });
        }
        refused(ErrorCode::bad_data, {"base row 3", "column 2"},
                [&] { Index<T>(bad.view(kQueries, kDims, kDims + 1), world.options(), world.stream()); });
      }
    }
  }
};

// What lies on a device is not for the CPU, and never goes to the emulator unasked.
struct NeedsADevice {
  template <Element T>
  static void check(World<T>& world) {
    Options options = world.options();
    options.backend = Backend::cpu;
    const auto elsewhere = MatrixView<T>::on_device(world.sample().base.data(), kRows, kDims);
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"cpu", "device"}, [&] { Index<T>(elsewhere, options); }));
    const Index<T> on_cpu(world.sample().base.view(), options);
    EXPECT_TRUE(
        fails_with(ErrorCode::invalid_argument, {"queries", "device", "cpu"}, [&] { on_cpu.search(elsewhere, 1); }));
    TopkOptions topk_options;
    topk_options.backend = Backend::cpu;
    EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, {"cpu"}, [&] { topk(elsewhere, 1, topk_options); }));
    if (!devices(Backend::cuda).empty()) return;
    options.backend = Backend::automatic;
    EXPECT_TRUE(fails_with(ErrorCode::no_device, {"cuda"}, [&] { Index<T>(elsewhere, options); }));
    EXPECT_TRUE(fails_with(ErrorCode::no_device, {"cuda"}, [&] { topk(elsewhere, 1); }));
  }
};

template <class Ability, Element T>
void check_with(const Place& place, MetricKind metric) {
  SCOPED_TRACE(std::string(to_string(dtype_of<T>())) + ", " + kith::to_string(Metric(metric)));
  World<T> world(place, metric);
  Ability::check(world);
}

template <class Ability>
void check_all(const Place& place) {
  check_with<Ability, float>(place, MetricKind::euclidean);
  check_with<Ability, float>(place, MetricKind::inner_product);
  check_with<Ability, double>(place, MetricKind::cosine);
  check_with<Ability, std::uint8_t>(place, MetricKind::euclidean);
  check_with<Ability, std::int8_t>(place, MetricKind::manhattan);
}

struct Row {
  const char* name;
  void (*check)(const Place&);
};

constexpr Row kAbilities[] = {
    {"search", &check_all<Search>},
    {"search_self", &check_all<SearchSelf>},
    {"search_radius", &check_all<SearchRadius<false>>},
    {"search_radius_self", &check_all<SearchRadius<true>>},
    {"graph", &check_all<MakeGraph<Symmetrize::none>>},
    {"graph_union", &check_all<MakeGraph<Symmetrize::either>>},
    {"graph_mutual", &check_all<MakeGraph<Symmetrize::mutual>>},
    {"reduce_mean", &check_all<Reduce<ReduceOp::mean>>},
    {"reduce_weighted_mean", &check_all<Reduce<ReduceOp::weighted_mean>>},
    {"reduce_sum", &check_all<Reduce<ReduceOp::sum>>},
    {"reduce_min", &check_all<Reduce<ReduceOp::min>>},
    {"reduce_max", &check_all<Reduce<ReduceOp::max>>},
    {"reduce_kth_distance", &check_all<Reduce<ReduceOp::kth_distance>>},
    {"reduce_density", &check_all<Reduce<ReduceOp::density>>},
    {"reduce_covariance", &check_all<Reduce<ReduceOp::covariance>>},
    {"topk", &check_all<SelectTopk>},
    {"distances", &check_all<AllDistances>},
    {"explain", &check_all<Explain>},
    {"progress", &check_all<ReportsProgress>},
    {"cancel", &check_all<Cancels>},
    {"statistics", &check_all<Statistics>},
    {"bad_input", &check_all<RefusesBadInput>},
    {"needs_a_device", &check_all<NeedsADevice>},
};

class Abilities : public testing::TestWithParam<std::tuple<Row, Place>> {};

TEST_P(Abilities, AreTheCpus) {
  const auto& [ability, place] = GetParam();
  ability.check(place);
}

INSTANTIATE_TEST_SUITE_P(All, Abilities,
                         testing::Combine(testing::ValuesIn(kAbilities), testing::ValuesIn(all_places())),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param).name) + "_of_" + std::get<1>(row.param).name;
                         });

}  // namespace
}  // namespace kith::test
