// threshold.cpp: sizes of samples, chunks and buckets such that a threshold hardly ever fails.
#include <algorithm>
#include <cmath>

#include "plan/select.hpp"

namespace kith::plan {
namespace {

using core::ThresholdPlan;

// Samples are at most this part of a row; of a row that one block selects from, sampling costs no memory traffic.
constexpr unsigned kMaxSampleDivisor = 16;
constexpr unsigned kWholeRowDivisor = 8;
// Few rows that are very long are sampled by many blocks, each of which takes so many.
constexpr unsigned kPartSamples = 8192;

// For large k the samples are sorted, and a bucket should have half of the keys that registers can sort.
constexpr unsigned kBucketSampleBytes = 32768;
constexpr unsigned kMostBucketMinima = 256;  // the last rank for which threads keep their smallest only
constexpr unsigned kBucketKeys = 1024;

constexpr double kStagedKeys = 700;  // candidates expected of a chunk; the filter can stage 1024

unsigned round_down(unsigned value, unsigned step) {
  return value / step * step;
}

// Standard deviations between the expected counts and failure: odds of one in a million, or of one in some hundred
// where a row that fails costs little.
constexpr double kCautious = 4.5;
constexpr double kBold = 3;

unsigned at_most(unsigned length, double count) {
  return static_cast<unsigned>(std::min<double>(length, std::ceil(count)));
}

// Sets rank, staged and capacity from plan.samples, plan.samples_per_load and plan.minima. The whole row becomes
// candidates where the threshold would let most of it pass.
void settle(ThresholdPlan& plan, unsigned length, unsigned k, unsigned width, double caution) {
  const double each = plan.minima ? width : 1;  // values behind one counted sample
  const double counted = plan.samples / each;
  const double share = static_cast<double>(k) / length;
  const double positions = static_cast<double>(plan.samples) / plan.samples_per_load;
  const double correlated = counted / positions;  // counted samples of one position, which may be equal
  // The rank of a sample that is beyond the k-th key, if `expected` samples are below that.
  const auto beyond = [&](double expected, double least) { return expected + caution * std::sqrt(expected) + least; };
  const double if_random = beyond(counted * (1 - std::pow(1 - share, each)), 5);
  const double if_correlated = correlated * beyond(positions * share, 2);
  const double rank = std::ceil(std::max(if_random, if_correlated));
  // Upper bounds on the fraction of the row below the threshold, for random and for correlated values.
  const double reached = (rank + caution * 4 / 3 * (std::sqrt(rank) + 2)) / counted;
  const double reached_correlated = (rank / correlated + caution * (std::sqrt(rank / correlated) + 2)) / positions;
  plan.rank = at_most(plan.samples, rank);
  plan.staged = reached < 1 ? at_most(length, (1 - std::pow(1 - reached, 1 / each)) * length) : length;
  plan.capacity = std::max(plan.staged, at_most(length, reached_correlated * length));
  if (rank < counted && plan.staged < length) return;
  plan.rank = 0;
  plan.capacity = plan.staged = length;
}

// Chunks short enough to fill the device and to leave no more candidates than the filter stages at once.
unsigned choose_chunk(std::int64_t rows, unsigned length, double expected, const core::DevicePolicy& policy) {
  const std::int64_t values = rows * static_cast<std::int64_t>(length);
  const std::int64_t blocks = policy.hardware.multiprocessors * policy.filter_blocks_each;
  std::int64_t chunk = policy.max_chunk;
  while (chunk > policy.min_chunk &&
         (values / chunk < blocks || expected * static_cast<double>(chunk) / length > kStagedKeys))
    chunk /= 2;
  return static_cast<unsigned>(chunk);
}

// For k up to kLargestSmallK; false if the candidates are too many for shared memory.
bool plan_small(ThresholdPlan& plan, std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes,
                const core::DevicePolicy& policy) {
  const unsigned width = 16 / value_bytes;
  const std::int64_t processors = policy.hardware.multiprocessors;
  plan.samples_per_load = static_cast<unsigned>(policy.sample_load_bytes) / value_bytes;
  const auto most_keys = static_cast<unsigned>(policy.candidate_bytes / (value_bytes == 4 ? 8 : 16));
  const auto usual = static_cast<unsigned>(length / policy.sample_divisor);
  unsigned most = length / kMaxSampleDivisor;
  plan.samples = static_cast<unsigned>(std::clamp<std::int64_t>(usual, policy.min_samples, policy.max_samples));
  if (value_bytes == 4 && k >= policy.whole_row_min_k && length <= policy.whole_row_max_length &&
      rows >= policy.whole_row_rows_each * processors) {
    plan.whole_rows = true;
    most = plan.samples = length / kWholeRowDivisor;
  } else if (usual >= policy.min_sample_parts * kPartSamples && rows < processors) {
    plan.parts = std::min(usual / kPartSamples, static_cast<unsigned>(policy.max_sample_parts));
    plan.samples = plan.parts * kPartSamples;
  }
  plan.samples = round_down(std::min(plan.samples, most), plan.samples_per_load);
  settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
  if (plan.whole_rows) {
    ThresholdPlan again = plan;
    again.minima = false;
    again.samples_per_load = width;
    settle(again, length, k, width, kBold);
    plan.second_rank = again.rank;
    plan.capacity = plan.staged = std::max(plan.staged, again.capacity);
  }
  while (plan.staged > most_keys && plan.parts == 1 && 2 * plan.samples <= most) {
    plan.samples *= 2;
    settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
  }
  return plan.staged <= most_keys;
}

}  // namespace

ThresholdPlan plan_threshold(std::int64_t rows, unsigned length, unsigned k, unsigned value_bytes,
                             const core::DevicePolicy& policy) {
  ThresholdPlan plan;
  const unsigned width = 16 / value_bytes;
  const bool small = k <= core::kLargestSmallK;
  if (small && length <= core::kShortRow) {
    plan.capacity = plan.staged = length;
    return plan;
  }
  const bool fits = small && plan_small(plan, rows, length, k, value_bytes, policy);
  if (fits && plan.rank == 0) {  // no threshold would exclude much: the row is the candidates
    plan = {};
    plan.capacity = plan.staged = length;
    return plan;
  }
  if (!fits) {
    plan = {};
    plan.samples_per_load = width;
    plan.samples = round_down(std::min(kBucketSampleBytes / value_bytes, length / 2), plan.samples_per_load);
    settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
    plan.minima = plan.rank > 0 && plan.rank <= kMostBucketMinima;
    if (!plan.minima) settle(plan, length, k, width, plan.whole_rows ? kBold : kCautious);
  }
  const unsigned counted = plan.counted(width);
  const unsigned used = plan.rank > 0 ? plan.rank : counted;
  const double expected = static_cast<double>(used) * length / counted / (plan.minima ? width : 1);
  if (!fits) {
    plan.buckets = static_cast<unsigned>(
        std::clamp(std::ceil(expected / kBucketKeys), 2.0, static_cast<double>(std::min(core::kMostBuckets, used))));
  }
  plan.sample_interval = (static_cast<std::uint64_t>(length) << 16U) / (plan.samples / plan.samples_per_load);
  plan.chunk = choose_chunk(rows, length, fits ? expected : 0, policy);
  return plan;
}

}  // namespace kith::plan
