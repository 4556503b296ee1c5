#include "cuda/select/threshold_plan.hpp"

#include <algorithm>
#include <cmath>

namespace kith::KITH_BACKEND {
namespace {

constexpr unsigned kSampledShare = 64;    // one value in this many is sampled …
constexpr unsigned kLeastSamples = 2048;  // … but not fewer than this,
constexpr unsigned kMostShare = 16;       // unless that were more than one in this many,
constexpr unsigned kMostSamples = 32768;  // nor more by one block
constexpr unsigned kParts = 128;          // of a row when rows are few and long
constexpr unsigned kPartSamples = 8192;
constexpr unsigned kBucketSampleBytes = 32768;  // for large k, all of them sorted
constexpr unsigned kBucketKeys = 1024;          // aimed at, half of what registers sort
constexpr unsigned kMostBuckets = 2048;
constexpr unsigned kMostShared = 128 << 10;  // bytes of candidates in shared memory
constexpr unsigned kLongestChunk = 32768;
constexpr unsigned kShortestChunk = 4096;
constexpr double kStagedKeys = 700;  // of a chunk, what the filter has room for beside itself

unsigned round_down(unsigned value, unsigned step) {
  return value / step * step;
}

// So many samples that the k-th key is among their range but for odds of about one in a million, and two sectors at
// least, since the values of one may be alike.
unsigned safe_rank(double expected, unsigned sector) {
  return std::max(2 * sector, static_cast<unsigned>(std::ceil(expected + 5 * std::sqrt(expected) + 8)));
}

unsigned safe_room(unsigned rank, unsigned length, unsigned samples) {
  const double ranks = rank + 6 * std::sqrt(static_cast<double>(rank)) + 12;
  return static_cast<unsigned>(std::min<double>(length, std::ceil(ranks * length / samples)));
}

// The whole row is candidates when the threshold would let most of it pass.
void settle(ThresholdPlan& plan, unsigned length, unsigned k, unsigned sector) {
  plan.rank = safe_rank(static_cast<double>(k) * plan.samples / length, sector);
  plan.room = safe_room(plan.rank, length, plan.samples);
  if (plan.rank < plan.samples && plan.room < length) return;
  plan.rank = 0;
  plan.room = length;
}

// Chunks short enough to fill the device and to leave no more candidates than the filter stages at once.
unsigned choose_chunk(std::int64_t rows, unsigned length, double expected, unsigned processors) {
  constexpr std::int64_t kBlocksPerProcessor = 16;
  const std::int64_t values = rows * static_cast<std::int64_t>(length);
  unsigned chunk = kLongestChunk;
  while (chunk > kShortestChunk &&
         (values / chunk < processors * kBlocksPerProcessor || expected * chunk / length > kStagedKeys)) {
    chunk /= 2;
  }
  return chunk;
}

}  // namespace

ThresholdPlan plan_threshold(std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes,
                             unsigned processors) {
  ThresholdPlan plan;
  const unsigned sector = 32 / value_bytes;
  const bool small = k <= kLargestSmallK;
  if (small && length <= kShortRow) {
    plan.room = length;
    return plan;
  }
  bool fits = false;
  if (small) {
    const unsigned key_bytes = value_bytes == 4 ? 8 : 16;
    const unsigned most = round_down(length / kMostShare, sector);
    plan.samples = std::min(round_down(std::clamp(length / kSampledShare, kLeastSamples, kMostSamples), sector), most);
    if (length / kSampledShare >= kParts * kPartSamples && rows < static_cast<std::int64_t>(processors)) {
      plan.parts = kParts;
      plan.samples = kParts * kPartSamples;
    }
    settle(plan, length, k, sector);
    while (plan.room * key_bytes > kMostShared && plan.parts == 1 && 2 * plan.samples <= most) {
      plan.samples *= 2;
      settle(plan, length, k, sector);
    }
    fits = plan.room * key_bytes <= kMostShared;
    if (fits && plan.rank == 0) {
      plan.samples = 0;
      return plan;
    }
  }
  if (!fits) {
    plan.parts = 1;
    plan.samples = std::min(kBucketSampleBytes / value_bytes, round_down(length / 2, sector));
    settle(plan, length, k, sector);
  }
  const unsigned used = plan.rank > 0 ? plan.rank : plan.samples;
  const double expected = static_cast<double>(used) * length / plan.samples;
  if (!fits) {
    plan.buckets = static_cast<unsigned>(
        std::clamp(std::ceil(expected / kBucketKeys), 2.0, static_cast<double>(std::min(kMostBuckets, used))));
  }
  plan.stretch = (static_cast<std::uint64_t>(length) << 16U) / (plan.samples / sector);
  plan.chunk = choose_chunk(rows, length, fits ? expected : 0, processors);
  return plan;
}

}  // namespace kith::KITH_BACKEND
