// Tiles of queries that take turns on two streams: the answer of tiles on one, in every order of the streams' work, and
// a search that is stopped half-way leaves nothing running.
#include <stdexcept>

#include "cuda/brute/brute_work.hpp"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using StreamPair = DeviceTest;

constexpr std::int64_t kLaneRows = 150;
constexpr std::int64_t kLaneQueries = 24;
constexpr std::int64_t kLaneDims = 20;
constexpr std::int64_t kLaneK = 5;

struct LaneAnswer {
  std::vector<float> keys;
  std::vector<unsigned> ids;

  bool operator==(const LaneAnswer&) const = default;
};

class LaneSearch {
 public:
  // Points lie around two places, `spread` apart; or all over.
  explicit LaneSearch(double spread = 0)
      : spread_(spread),
        base_(kLaneRows, kLaneDims, metric_, true, stream_),
        queries_(kLaneQueries, kLaneDims, metric_, true, stream_) {
    Random random(3);
    fill(base_, kLaneRows, random);
    fill(queries_, kLaneQueries, random);
  }

  LaneAnswer run(
      const Plan::Pass& first, std::int64_t overlap_pairs, const std::function<void()>& between = [] {}) {
    device::brute::BruteWork work;
    work.metric = metric_;
    work.k = kLaneK;
    work.candidates = kLaneK + 6;
    work.passes = {first, {DistanceStage::exact}};
    work.query_tile = 7;
    work.base_tile = 90;
    work.overlap_pairs = overlap_pairs;
    device::CachedFp16 fp16;
    device::ResidentBase<float> base(base_, fp16);
    device::Workspace workspace(stream_);
    DeviceArray<float> keys(std::vector<float>(kLaneQueries * kLaneK, -1), stream_);
    DeviceArray<unsigned> ids(std::vector<unsigned>(kLaneQueries * kLaneK, 99), stream_);
    device::brute::brute_search(work, queries_, base, keys.data(), ids.data(), workspace, between);
    return {keys.values(), ids.values()};
  }

 private:
  void fill(device::PointStore<float>& store, std::int64_t rows, Random& random) {
    std::vector<float> values(static_cast<std::size_t>(rows * kLaneDims));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double place = i / kLaneDims % 2 == 0 ? 1 : -1;
      values[i] = static_cast<float>(spread_ > 0 ? place + spread_ * random.gaussian() : random.gaussian());
    }
    KITH_CUDA(
        cudaMemcpyAsync(store.rows(), values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice, stream_));
    stream_.synchronize();
    store.prepare(rows);
  }

  double spread_;
  const Metric metric_ = MetricKind::euclidean;
  device::Stream stream_;
  device::PointStore<float> base_;
  device::PointStore<float> queries_;
};

constexpr std::int64_t kNoLanes = std::int64_t{1} << 60;

TEST_F(StreamPair, GiveTheSameAnswer) {
  LaneSearch search;
  const LaneAnswer wanted = search.run({DistanceStage::exact}, kNoLanes);
  for_each_schedule([&] {
    EXPECT_EQ(search.run({DistanceStage::exact}, 1), wanted);
    EXPECT_EQ(search.run({DistanceStage::register_tiled, true}, 1), wanted);
    EXPECT_EQ(search.run({DistanceStage::fp16, true}, 1), wanted);
    EXPECT_EQ(search.run({DistanceStage::register_tiled, false, true}, 1), wanted);
  });
}

TEST_F(StreamPair, StopWithTheSearch) {
  LaneSearch search;
  int tiles = 0;
  const auto stop = [&] {
    if (++tiles == 3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(search.run({DistanceStage::register_tiled, true}, 1, stop), std::runtime_error);
  EXPECT_EQ(tiles, 3);
}

// Queries that failed go on with memory of their own, which the search gives back when it stops.
TEST_F(StreamPair, StopOnTheSecondRung) {
  for_each_schedule([&] {
    LaneSearch search(1e-5);  // too near each other for fp16
    int tiles = 0;
    search.run({DistanceStage::fp16, true}, 1, [&] { ++tiles; });
    ASSERT_EQ(tiles, 16) << "two passes, each of 2 x 4 tiles";
    tiles = 0;
    const auto stop = [&] {
      if (++tiles == 11) throw std::runtime_error("enough");
    };
    EXPECT_THROW(search.run({DistanceStage::fp16, true}, 1, stop), std::runtime_error);
    EXPECT_EQ(tiles, 11);
  });
}

}  // namespace
}  // namespace kith::test
