// rerank_test.cpp: from candidates to neighbors, against sorts of the host.
#include "cuda/brute/rerank.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "cuda/points/point_store.hpp"
#include "cuda/runtime/properties.hpp"
#include "device_test.hpp"
#include "point_set.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"

namespace kith::test::rerank {
namespace {

using Rerank = DeviceTest;
using Entry = Neighbor<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr unsigned kListFirstId = 1000;
constexpr unsigned kFirstId = 20000;  // ids of running lists are below

enum class Scores { random, few, equal, special };

struct Sizes {
  unsigned k;
  unsigned width;
  unsigned capacity;
  unsigned passed;
  unsigned points;
  unsigned running;  // entries so far
  unsigned queries = 3;
};

struct Options {
  Scores scores = Scores::random;
  bool bounded = false;
  Metric metric = MetricKind::sqeuclidean;
  std::int64_t dims = 3;
  bool finite = true;  // else every third point has a coordinate that is no number
  bool first = false;  // no tiles before: what left_out and the number of failures are counts for nothing
};

// (value, id) in the order of the library: −0 = +0, NaN last.
bool comes_before(const Entry& a, const Entry& b) {
  if (std::isnan(a.distance) || std::isnan(b.distance))
    return std::isnan(a.distance) == std::isnan(b.distance) ? a.id < b.id : std::isnan(b.distance);
  return a < b;
}

bool same(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

float make_score(Scores kind, Random& random) {
  constexpr float kSpecial[] = {kInfinity, -kInfinity, 0.0F, -0.0F, 1.5F, -1.5F, kNan, -kNan};
  switch (kind) {
    case Scores::random: return static_cast<float>(random.gaussian());
    case Scores::few: return static_cast<float>(random.below(4)) - 2;
    case Scores::equal: return 7;
    case Scores::special: return kSpecial[random.below(8)];
  }
  return 0;
}

// The candidates of all queries as they lie on the device, and what must come of them.
class Problem {
 public:
  Problem(const Sizes& sizes, const Options& options, std::uint64_t seed)
      : sizes_(sizes),
        options_(options),
        random_(seed),
        base_(cloud<float>(Cloud::ties, sizes.points, options.dims, static_cast<unsigned>(seed), {1, 2})),
        queries_(cloud<float>(Cloud::ties, sizes.queries, options.dims, static_cast<unsigned>(seed) + 1)) {
    for (unsigned i = 0; i < sizes.points && !options.finite; i += 3) base_.at(i, 0) = kNan;
    for (unsigned q = 0; q < sizes.queries; ++q) add_query(q);
  }

  void check() {
    for (const auto arithmetic :
         {device::distance::KeyArithmetic::doubles, device::distance::KeyArithmetic::float_pairs}) {
      SCOPED_TRACE(testing::Message() << "arithmetic " << static_cast<int>(arithmetic));
      check(arithmetic);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

 private:
  void check(device::distance::KeyArithmetic arithmetic) {
    device::Stream stream;
    const Points base(base_, options_.metric, stream);
    const Points queries(queries_, options_.metric, stream);
    DeviceArray<float> scores(scores_, stream);
    DeviceArray<unsigned> ids(ids_, stream);
    DeviceArray<unsigned> counts(std::vector<unsigned>(sizes_.queries, sizes_.passed), stream);
    DeviceArray<float> keys(running_keys_, stream);
    DeviceArray<unsigned> neighbors(running_ids_, stream);
    DeviceArray<float> left_out(left_out_, stream);
    constexpr unsigned kFailed = 5;
    DeviceArray<unsigned> failed_count(std::vector<unsigned>(1, kFailed), stream);
    device::brute::rerank({.keys = {queries.exact(), base.exact(), options_.dims, options_.metric, stream, arithmetic},
                           .lists = {.limits = nullptr,
                                     .capacity = sizes_.capacity,
                                     .scores = scores.data(),
                                     .ids = ids.data(),
                                     .first_id = kListFirstId,
                                     .counts = counts.data()},
                           .width = sizes_.width,
                           .bounded = options_.bounded,
                           .running = {keys.data(), neighbors.data(), sizes_.k, sizes_.running},
                           .first = options_.first,
                           .failed_count = failed_count.data(),
                           .first_id = kFirstId,
                           .left_out = left_out.data()});
    ASSERT_EQ(failed_count.values().front(), options_.first ? 0 : kFailed);
    compare(keys.values(), neighbors.values(), left_out.values());
  }

  // Points on the device that lie as the host has them.
  class Points {
   public:
    Points(const PointSet<float>& points, const Metric& metric, cudaStream_t stream)
        : values_(points.values, stream),
          store_({values_.data() + points.offset, points.rows, points.stride}, points.dims, metric, false, stream) {
      store_.prepare(points.rows);
    }
    device::ExactSet<float> exact() const { return store_.exact(0, store_.count()); }

   private:
    DeviceArray<float> values_;
    device::PointStore<float> store_;
  };

  float key(unsigned query, std::int64_t row) const {
    const auto distance =
        static_cast<float>(key_distance(queries_.row(query), base_.row(row), options_.dims, options_.metric));
    return options_.metric.kind == MetricKind::inner_product ? -distance : distance;
  }

  void add_query(unsigned query) {
    std::vector<std::int64_t> rows(sizes_.points);
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t i = rows.size(); i > 1; --i)
      std::swap(rows[i - 1], rows[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(i)))]);

    std::vector<Entry> candidates;
    for (unsigned i = 0; i < sizes_.capacity; ++i) {
      const bool exists = i < sizes_.passed;
      if (exists) candidates.push_back({make_score(options_.scores, random_), rows[i]});
      // What no query has would win, from a row that no base has.
      scores_.push_back(exists ? candidates.back().distance : -kInfinity);
      ids_.push_back(exists ? kListFirstId + static_cast<unsigned>(rows[i]) : 0xFFFFFF00U);
    }
    std::sort(candidates.begin(), candidates.end(), comes_before);
    const std::size_t taken = std::min<std::size_t>(candidates.size(), sizes_.width);
    add_left_out(taken < sizes_.width ? kNan : candidates[taken - 1].distance);

    std::vector<Entry> list = add_running(query);
    for (std::size_t i = 0; i < taken; ++i) list.push_back({key(query, candidates[i].id), candidates[i].id + kFirstId});
    std::sort(list.begin(), list.end(), comes_before);
    list.resize(sizes_.k, {kInfinity, device::brute::kNoNeighbor});
    expected_.push_back(std::move(list));
  }

  // Keys are those of some base points, so that they mix with the candidates'; the last entries of a list may be
  // missing. Returns those that exist.
  std::vector<Entry> add_running(unsigned query) {
    std::vector<Entry> list;
    const unsigned missing = query % 2 == 0 ? 0 : sizes_.running / 3;
    for (unsigned i = missing; i < sizes_.running; ++i)
      list.push_back({key(query, random_.below(sizes_.points)), static_cast<std::int64_t>(i) * 3 % kFirstId});
    std::sort(list.begin(), list.end(), comes_before);
    for (unsigned i = 0; i < sizes_.k; ++i) {
      const bool counts = i < sizes_.running;
      running_keys_.push_back(i < list.size() ? list[i].distance : counts ? kInfinity : -kInfinity);
      running_ids_.push_back(i < list.size() ? static_cast<unsigned>(list[i].id)
                             : counts        ? device::brute::kNoNeighbor
                                             : 5U);
    }
    return list;
  }

  void add_left_out(float last) {
    const float before = options_.first || random_.below(2) == 0 ? kInfinity : -0.25F;
    left_out_.push_back(options_.first ? kNan : before);
    const bool overflows = sizes_.passed > sizes_.capacity;
    const bool fails = overflows || (options_.bounded ? sizes_.passed > sizes_.width
                                                      : sizes_.passed < std::min(sizes_.width, sizes_.points));
    const bool lowers = !options_.bounded && sizes_.width < sizes_.points && !(before <= last);
    expected_left_out_.push_back(fails ? -kInfinity : lowers ? last : before);
  }

  void compare(const std::vector<float>& keys, const std::vector<unsigned>& ids, const std::vector<float>& left_out) {
    for (unsigned q = 0; q < sizes_.queries; ++q) {
      for (unsigned i = 0; i < sizes_.k; ++i) {
        const std::size_t at = std::size_t{q} * sizes_.k + i;
        const Entry& right = expected_[q][i];
        ASSERT_EQ(ids[at], right.id) << "query " << q << ", rank " << i << ", key " << keys[at];
        ASSERT_TRUE(same(keys[at], right.distance))
            << "query " << q << ", rank " << i << ": " << keys[at] << " instead of " << right.distance;
      }
      ASSERT_TRUE(same(left_out[q], expected_left_out_[q]))
          << "query " << q << ": left out " << left_out[q] << " instead of " << expected_left_out_[q];
    }
  }

  Sizes sizes_;
  Options options_;
  Random random_;
  PointSet<float> base_;
  PointSet<float> queries_;
  std::vector<float> scores_;
  std::vector<unsigned> ids_;
  std::vector<float> running_keys_;
  std::vector<unsigned> running_ids_;
  std::vector<float> left_out_;
  std::vector<std::vector<Entry>> expected_;
  std::vector<float> expected_left_out_;
};

const Metric kMetrics[] = {MetricKind::sqeuclidean, MetricKind::cosine,        MetricKind::correlation,
                           MetricKind::manhattan,   MetricKind::inner_product, MetricKind::euclidean,
                           MetricKind::chebyshev,   MetricKind::hamming,       MetricKind::canberra};
constexpr std::int64_t kDims[] = {1, 3, 8, 13, 31, 64, 129, 300};

void check(const Sizes& sizes, const Options& options, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "k " << sizes.k << ", width " << sizes.width << ", capacity " << sizes.capacity
                                  << ", passed " << sizes.passed << ", points " << sizes.points << ", running "
                                  << sizes.running << ", scores " << static_cast<int>(options.scores)
                                  << (options.bounded ? ", bounded, metric " : ", metric ")
                                  << static_cast<int>(options.metric.kind) << ", dims " << options.dims);
  Problem(sizes, options, seed).check();
}

// All scores and both meanings of left_out, with metrics, dimensions and schedules in turn.
void check_all(std::initializer_list<Sizes> table) {
  std::uint64_t turn = 0;
  for (const Sizes& sizes : table) {
    for (const Scores scores : {Scores::random, Scores::few, Scores::equal, Scores::special}) {
      for (const bool bounded : {false, true}) {
        // One coordinate has no correlation; large problems have few dimensions.
        const Metric& metric = kMetrics[turn % std::size(kMetrics)];
        const std::int64_t dims = kDims[turn % (sizes.points > 500 ? 3 : std::size(kDims))];
        set_schedule(turn % kSchedules);
        check(sizes, {scores, bounded, metric, dims == 1 && core::has_directions(metric) ? 2 : dims}, turn);
        if (testing::Test::HasFatalFailure()) return;
        ++turn;
      }
    }
  }
}

//                                         k  width  capacity  passed  points  running
TEST_F(Rerank, ByWarps) {
  check_all({Sizes{10, 16, 40, 30, 60, 0, 11},    // more queries than warps of a block
             Sizes{10, 16, 40, 30, 60, 10, 11},   //
             Sizes{10, 16, 40, 16, 60, 4},        // no more than the width
             Sizes{10, 16, 40, 41, 60, 10},       // too many
             Sizes{10, 16, 40, 15, 60, 0},        // too few
             Sizes{10, 16, 40, 3, 60, 5},         // fewer than k
             Sizes{10, 16, 40, 0, 60, 3},         // none
             Sizes{10, 16, 20, 16, 16, 0},        // all points
             Sizes{10, 16, 20, 9, 9, 0},          // and fewer than the width
             Sizes{10, 16, 8, 9, 60, 0},          // a capacity below the width
             Sizes{1, 1, 8, 5, 9, 1},             //
             Sizes{20, 16, 40, 30, 60, 20},       // a width below k
             Sizes{32, 32, 300, 290, 400, 32}});  // several loads
}

// Four keys a lane, for more queries than there is room for blocks.
TEST_F(Rerank, ByWarpsWhereQueriesAreMany) {
  const unsigned queries = 4 * device::multiprocessor_count() + 1;
  check_all({Sizes{33, 41, 90, 80, 100, 33, queries}, Sizes{100, 125, 320, 300, 400, 60, queries},
             Sizes{128, 128, 400, 401, 450, 0, queries}});
}

TEST_F(Rerank, ByBlocks) {
  check_all({Sizes{33, 41, 90, 80, 100, 33},       // few queries, for which warps would do
             Sizes{100, 125, 320, 300, 400, 60},   //
             Sizes{129, 10, 60, 50, 80, 0},        // k above the width
             Sizes{129, 161, 400, 390, 450, 129},  //
             Sizes{150, 200, 400, 200, 450, 70},   // no more than the width
             Sizes{150, 200, 400, 401, 450, 150},  // too many
             Sizes{150, 200, 400, 199, 450, 10},   // too few
             Sizes{150, 200, 400, 0, 450, 20},     // none
             Sizes{150, 200, 400, 0, 450, 0}});
}

// Sorts that merge tiles, and more candidates than shared memory takes at first.
TEST_F(Rerank, LongLists) {
  check_all({Sizes{1024, 1280, 2800, 2700, 3000, 0, 1}, Sizes{1024, 1280, 2800, 2700, 3000, 1024, 1},
             Sizes{150, 200, 7500, 7300, 7600, 150, 1}});
  if (!small_problems()) check_all({Sizes{2048, 2560, 7000, 4500, 9000, 2048, 20}});
}

// Few queries whose lists are long, though widths are those of warps.
TEST_F(Rerank, ByBlocksWhereListsAreLong) {
  check_all({Sizes{10, 16, 1100, 1090, 1200, 0, 2}, Sizes{10, 16, 4000, 3900, 4100, 10, 1},
             Sizes{100, 125, 7600, 7600, 8000, 60, 1}, Sizes{256, 256, 7600, 7500, 7600, 0, 1}});
}

TEST_F(Rerank, EveryScheduleGivesTheSame) {
  for_each_schedule([] {
    check({10, 16, 40, 30, 60, 10, 9}, {.scores = Scores::few, .dims = 20}, 1);
    check({200, 250, 600, 580, 700, 100, 2}, {.scores = Scores::few, .dims = 20}, 2);
  });
}

// Keys that are no numbers come last, but before entries that do not exist.
TEST_F(Rerank, KeysThatAreNoNumbers) {
  for (const bool bounded : {false, true}) {
    check({20, 16, 40, 12, 60, 15}, {.bounded = bounded, .dims = 5, .finite = false}, 1);
    check({200, 100, 150, 90, 200, 150}, {.bounded = bounded, .dims = 5, .finite = false}, 2);
  }
}

TEST_F(Rerank, TheFirstTileNeedsNoValuesBefore) {
  for (const bool bounded : {false, true})
    for (const unsigned passed : {0U, 30U, 41U}) {
      check({10, 16, 40, passed, 60, 0, 11}, {.bounded = bounded, .first = true}, 1);
      check({100, 125, 40, passed, 60, 0}, {.bounded = bounded, .first = true}, 2);
    }
}

TEST_F(Rerank, SaysWhatFits) {
  const std::int64_t most = device::device_policy().hardware.shared_per_block;
  for (const std::int64_t k : {1, 10, 1024, 2048}) EXPECT_TRUE(device::brute::can_rerank(k, k + k / 4)) << k;
  EXPECT_EQ(device::brute::can_rerank(4096, 5120), most >= 160 << 10) << most << " bytes of shared memory";
  for (const std::int64_t k : {std::int64_t{20000}, std::int64_t{1} << 31U, std::int64_t{1} << 62U})
    EXPECT_FALSE(device::brute::can_rerank(k, k)) << k;
}

TEST_F(Rerank, NoQueries) {
  const device::Stream stream;
  device::brute::RerankCall call{};
  for (const std::int64_t k : {3, 300}) {
    call.keys.stream = stream;
    call.running.k = k;
    device::brute::rerank(call);
  }
  stream.synchronize();
}

}  // namespace
}  // namespace kith::test::rerank
