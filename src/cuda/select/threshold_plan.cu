#include "cuda/select/threshold_plan.hpp"

#include <algorithm>
#include <cmath>

namespace kith::KITH_BACKEND {
namespace {

// Of a row one value in so many is sampled, but not too few in all and not too many by one block.
constexpr unsigned kSampledShare = 64;
constexpr unsigned kLargestShare = 16;
constexpr unsigned kLeastSamples = 2048;
constexpr unsigned kMostSamples = 32768;

// Rows up to this length are a block's work each when there are many of them and k is not small; sampling those costs
// no memory traffic.
constexpr unsigned kLongestWholeRow = 65536;
constexpr unsigned kLeastWholeRowK = 64;
constexpr std::int64_t kWholeRowsPerProcessor = 16;
constexpr unsigned kWholeRowShare = 8;

// Few rows that are very long are sampled by many blocks each.
constexpr unsigned kLeastParts = 16;
constexpr unsigned kMostParts = 128;
constexpr unsigned kPartSamples = 8192;

constexpr unsigned kMostShared = 128 << 10;  // bytes of candidates in shared memory

// For large k all samples are sorted, and buckets are to have half of what registers sort.
constexpr unsigned kBucketSampleBytes = 32768;
constexpr unsigned kBucketKeys = 1024;
constexpr unsigned kMostBuckets = 2048;

constexpr unsigned kLongestChunk = 32768;
constexpr unsigned kShortestChunk = 4096;
constexpr double kStagedKeys = 700;  // of a chunk, for which the filter has room with some to spare

unsigned round_down(unsigned value, unsigned step) {
  return value / step * step;
}

// So many samples that the k-th key is among their range but for odds of about one in a million. Those taken together
// may be alike, and of them at most half are kept: so many as to reach beyond the first.
unsigned safe_rank(double expected, unsigned together) {
  return std::max(together / 2 + 2, static_cast<unsigned>(std::ceil(expected + 4.5 * std::sqrt(expected) + 5)));
}

// Keys up to the rank-th of `samples`, with much to spare on either side of what is expected.
unsigned spread(double rank, double spare, unsigned length, double samples) {
  return static_cast<unsigned>(
      std::min<double>(length, std::ceil((rank + spare * (std::sqrt(rank) + 2)) * length / samples)));
}

// The whole row is candidates when the threshold would let most of it pass.
void settle(ThresholdPlan& plan, unsigned length, unsigned k, unsigned together) {
  plan.rank = safe_rank(static_cast<double>(k) * plan.samples / length, together);
  plan.staged = spread(plan.rank, 6, length, plan.samples);
  // As if what is sampled together were one sample.
  plan.room = std::max(plan.staged, spread(static_cast<double>(plan.rank) / together, 6, length,
                                           static_cast<double>(plan.samples) / together));
  if (plan.rank < plan.samples && plan.staged < length) return;
  plan.rank = 0;
  plan.room = plan.staged = length;
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

// For k up to kLargestSmallK; false if the candidates are too many for shared memory.
bool plan_small(ThresholdPlan& plan, std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes,
                unsigned processors) {
  const unsigned together = kSampledBytes / value_bytes;
  const unsigned most_keys = kMostShared / (value_bytes == 4 ? 8 : 16);
  unsigned most = length / kLargestShare;
  plan.samples = std::clamp(length / kSampledShare, kLeastSamples, kMostSamples);
  if (value_bytes == 4 && k >= kLeastWholeRowK && length <= kLongestWholeRow &&
      rows >= kWholeRowsPerProcessor * processors) {
    plan.whole_rows = true;
    most = plan.samples = length / kWholeRowShare;
  } else if (length / kSampledShare >= kLeastParts * kPartSamples && rows < static_cast<std::int64_t>(processors)) {
    plan.parts = std::min(length / kSampledShare / kPartSamples, kMostParts);
    plan.samples = plan.parts * kPartSamples;
  }
  plan.samples = round_down(std::min(plan.samples, most), together);
  settle(plan, length, k, together);
  while (plan.staged > most_keys && plan.parts == 1 && 2 * plan.samples <= most) {
    plan.samples *= 2;
    settle(plan, length, k, together);
  }
  return plan.staged <= most_keys;
}

}  // namespace

ThresholdPlan plan_threshold(std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes,
                             unsigned processors) {
  ThresholdPlan plan;
  const unsigned together = kSampledBytes / value_bytes;
  const bool small = k <= kLargestSmallK;
  if (small && length <= kShortRow) {
    plan.room = plan.staged = length;
    return plan;
  }
  const bool fits = small && plan_small(plan, rows, length, k, value_bytes, processors);
  if (fits && plan.rank == 0) {  // no threshold helps: the row as it is
    plan = {};
    plan.room = plan.staged = length;
    return plan;
  }
  if (!fits) {
    plan = {};
    plan.samples = round_down(std::min(kBucketSampleBytes / value_bytes, length / 2), together);
    settle(plan, length, k, together);
  }
  const unsigned used = plan.rank > 0 ? plan.rank : plan.samples;
  const double expected = static_cast<double>(used) * length / plan.samples;
  if (!fits) {
    plan.buckets = static_cast<unsigned>(
        std::clamp(std::ceil(expected / kBucketKeys), 2.0, static_cast<double>(std::min(kMostBuckets, used))));
  }
  plan.stretch = (static_cast<std::uint64_t>(length) << 16U) / (plan.samples / together);
  plan.chunk = choose_chunk(rows, length, fits ? expected : 0, processors);
  return plan;
}

}  // namespace kith::KITH_BACKEND
