// stream_pair_test.cpp: tiles of queries that alternate between two streams give the same answer as on one, in every
// order of the streams' work, and a search that is stopped leaves nothing running.
#include <stdexcept>

#include "cuda/brute/brute_work.hpp"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using StreamPair = DeviceTest;

constexpr std::int64_t kPairRows = 150;
constexpr std::int64_t kPairQueries = 24;
constexpr std::int64_t kPairDims = 20;
constexpr std::int64_t kPairK = 5;

struct PairAnswer {
  std::vector<float> keys;
  std::vector<unsigned> ids;

  bool operator==(const PairAnswer&) const = default;
};

class PairSearch {
 public:
  // Points in two clusters with standard deviation `spread`; 0: one normal distribution.
  explicit PairSearch(double spread = 0)
      : spread_(spread),
        base_(kPairRows, kPairDims, metric_, true, stream_),
        queries_(kPairQueries, kPairDims, metric_, true, stream_) {
    Random random(3);
    fill(base_, kPairRows, random);
    fill(queries_, kPairQueries, random);
  }

  PairAnswer run(
      const Plan::Pass& first, std::int64_t overlap_pairs, const std::function<void()>& on_tile_done = [] {}) {
    device::brute::BruteWork work;
    work.metric = metric_;
    work.k = kPairK;
    work.candidates = kPairK + 6;
    work.passes = {first, {DistanceStage::exact}};
    work.query_tile = 7;
    work.base_tile = 90;
    work.overlap_pairs = overlap_pairs;
    device::CachedFp16 fp16;
    device::ResidentBase<float> base(base_, fp16);
    device::Workspace workspace(stream_);
    DeviceArray<float> keys(std::vector<float>(kPairQueries * kPairK, -1), stream_);
    DeviceArray<unsigned> ids(std::vector<unsigned>(kPairQueries * kPairK, 99), stream_);
    device::brute::brute_search(work, queries_, base, keys.data(), ids.data(), workspace, on_tile_done, [] {});
    return {keys.values(), ids.values()};
  }

 private:
  void fill(device::PointStore<float>& store, std::int64_t rows, Random& random) {
    std::vector<float> values(static_cast<std::size_t>(rows * kPairDims));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double center = i / kPairDims % 2 == 0 ? 1 : -1;
      values[i] = static_cast<float>(spread_ > 0 ? center + spread_ * random.gaussian() : random.gaussian());
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

constexpr std::int64_t kNoOverlap = std::int64_t{1} << 60;

TEST_F(StreamPair, GiveTheSameAnswer) {
  PairSearch search;
  const PairAnswer wanted = search.run({DistanceStage::exact}, kNoOverlap);
  for_each_schedule([&] {
    EXPECT_EQ(search.run({DistanceStage::exact}, 1), wanted);
    EXPECT_EQ(search.run({DistanceStage::register_tiled, true}, 1), wanted);
    EXPECT_EQ(search.run({DistanceStage::fp16, true}, 1), wanted);
    EXPECT_EQ(search.run({DistanceStage::register_tiled, false, true}, 1), wanted);
  });
}

TEST_F(StreamPair, StopWithTheSearch) {
  PairSearch search;
  int tiles = 0;
  const auto stop = [&] {
    if (++tiles == 3) throw std::runtime_error("enough");
  };
  EXPECT_THROW(search.run({DistanceStage::register_tiled, true}, 1, stop), std::runtime_error);
  EXPECT_EQ(tiles, 3);
}

// Queries that fail the first pass have their own memory in the second, which is freed when the search stops.
TEST_F(StreamPair, StopInTheSecondPass) {
  for_each_schedule([&] {
    PairSearch search(1e-5);  // too close to each other for fp16
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
