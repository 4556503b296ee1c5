#include "cuda/select/threshold_plan.hpp"

#include <algorithm>
#include <cmath>

namespace kith::KITH_BACKEND::select {
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

// What few places sample next to each other: as many bytes as memory delivers at once.
constexpr unsigned kSectorBytes = 64;

constexpr unsigned kMostShared = 128 << 10;  // bytes of candidates in shared memory

// For large k the samples are sorted, and buckets are to have half of what registers sort.
constexpr unsigned kBucketSampleBytes = 32768;
constexpr unsigned kMostBucketMinima = 256;  // the last rank for which threads keep their smallest only
constexpr unsigned kBucketKeys = 1024;
constexpr unsigned kMostBuckets = 2048;

constexpr unsigned kLongestChunk = 32768;
constexpr unsigned kShortestChunk = 4096;
constexpr double kStagedKeys = 700;  // of a chunk, for which the filter has room with some to spare

unsigned round_down(unsigned value, unsigned step) {
  return value / step * step;
}

// How many standard deviations are kept from failure: odds of one in a million, or of one in some hundred where a row
// that fails costs little.
constexpr double kCautious = 4.5;
constexpr double kBold = 3;

unsigned at_most(unsigned length, double count) {
  return static_cast<unsigned>(std::min<double>(length, std::ceil(count)));
}

// Rank and room for what plan.samples, plan.together and plan.minima say. The whole row is candidates when the
// threshold would let most of it pass.
void settle(ThresholdPlan& plan, unsigned length, unsigned k, unsigned width, double caution) {
  const double each = plan.minima ? width : 1;  // values that count as one
  const double counted = plan.samples / each;
  const double share = static_cast<double>(k) / length;
  const double places = static_cast<double>(plan.samples) / plan.together;
  const double alike = counted / places;
  // Of things of which so many are up to the k-th key, the rank of one that is beyond it.
  const auto beyond = [&](double expected, double least) { return expected + caution * std::sqrt(expected) + least; };
  const double if_random = beyond(counted * (1 - std::pow(1 - share, each)), 5);
  const double if_alike = alike * beyond(places * share, 2);
  const double rank = std::ceil(std::max(if_random, if_alike));
  // Much more than a rank promises.
  const double reached = (rank + caution * 4 / 3 * (std::sqrt(rank) + 2)) / counted;
  const double reached_alike = (rank / alike + caution * (std::sqrt(rank / alike) + 2)) / places;
  plan.rank = at_most(plan.samples, rank);
  plan.staged = reached < 1 ? at_most(length, (1 - std::pow(1 - reached, 1 / each)) * length) : length;
  plan.room = std::max(plan.staged, at_most(length, reached_alike * length));
  if (rank < counted && plan.staged < length) return;
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
  const unsigned width = 16 / value_bytes;
  plan.together = kSectorBytes / value_bytes;
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
  plan.samples = round_down(std::min(plan.samples, most), plan.together);
  settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
  if (plan.whole_rows) {
    ThresholdPlan again = plan;
    again.minima = false;
    again.together = width;
    settle(again, length, k, width, kBold);
    plan.again_rank = again.rank;
    plan.room = plan.staged = std::max(plan.staged, again.room);
  }
  while (plan.staged > most_keys && plan.parts == 1 && 2 * plan.samples <= most) {
    plan.samples *= 2;
    settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
  }
  return plan.staged <= most_keys;
}

}  // namespace

ThresholdPlan plan_threshold(std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes,
                             unsigned processors) {
  ThresholdPlan plan;
  const unsigned width = 16 / value_bytes;
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
    plan.together = width;
    plan.samples = round_down(std::min(kBucketSampleBytes / value_bytes, length / 2), plan.together);
    settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
    plan.minima = plan.rank > 0 && plan.rank <= kMostBucketMinima;
    if (!plan.minima) settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
  }
  const unsigned counted = plan.counted(width);
  const unsigned used = plan.rank > 0 ? plan.rank : counted;
  const double expected = static_cast<double>(used) * length / counted / (plan.minima ? width : 1);
  if (!fits) {
    plan.buckets = static_cast<unsigned>(
        std::clamp(std::ceil(expected / kBucketKeys), 2.0, static_cast<double>(std::min(kMostBuckets, used))));
  }
  plan.stretch = (static_cast<std::uint64_t>(length) << 16U) / (plan.samples / plan.together);
  plan.chunk = choose_chunk(rows, length, fits ? expected : 0, processors);
  return plan;
}

}  // namespace kith::KITH_BACKEND::select
