// exact_keys.cu: exact keys of listed pairs, by a group of lanes each (key_group.cuh), or of all pairs.
// Cost    a listed pair: its base point, from memory where candidates are scattered. All pairs of one query take no
//         longer than reading the base.
#include "cuda/distance/exact_keys.hpp"

#include <algorithm>

#include "cuda/distance/key_group.cuh"
#include "cuda/runtime/async_copy.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::distance {
namespace {

// Pairs that get keys: base point ids[i] with query queries[i], or, where that is null, with query i / width.
struct KeyPairs {
  const unsigned* queries;
  const unsigned* ids;
  std::int64_t width;
  std::int64_t count;
  const unsigned long long* listed = nullptr;  // the number of pairs where the host does not know it

  // None where more are listed than `count`.
  __device__ std::int64_t size() const {
    if (listed == nullptr) return count;
    return *listed <= static_cast<unsigned long long>(count) ? static_cast<std::int64_t>(*listed) : 0;
  }
  __device__ std::int64_t query(std::int64_t i) const { return queries == nullptr ? i / width : queries[i]; }
};

// A group of lanes takes a pair.
template <class Terms, class F>
__global__ void __launch_bounds__(KeyLanes::kThreads) candidate_keys_kernel(KeyCall<F> call, KeyPairs wanted, F* keys) {
  const std::int64_t pairs = wanted.size();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * KeyLanes::kGroups;
  if (first >= pairs) return;
  const std::int64_t pair = first + threadIdx.x / core::kLanes;
  const std::int64_t mine = pair < pairs ? pair : pairs - 1;  // the last groups of a warp may repeat a pair
  const F key = group_keys<Terms, 1>(call, wanted.query(mine), {wanted.ids[mine]});
  if (pair < pairs && group_lane() == 0) keys[pair] = key;
}

// Shape of all_keys_kernel. A warp takes kSets × kRows base points and copies them to shared memory, kRows rows and
// kDepth coordinates at a time, while it works on the previous ones: in whole lines of memory, although lanes need
// every eighth coordinate. The query's coordinates are converted once for all points. Neighboring blocks have the same
// points and other queries, which share the cache.
template <class F>
struct KeyStages {
  static constexpr unsigned kRows = 8;
  static constexpr unsigned kSets = 4;
  static constexpr unsigned kDepth = 128;
  static constexpr unsigned kEach = kDepth / core::kLanes;                // coordinates of a lane
  static constexpr unsigned kGroupRows = kRows / (kWarp / core::kLanes);  // rows of a group of lanes, at a time
  // Rows that the four groups read at once lie in different banks.
  static constexpr unsigned kPitch = kDepth + 8;
  static constexpr unsigned kStage = kRows * kPitch;
  static constexpr unsigned kPoints = kSets * kRows;                              // of a warp
  static constexpr std::size_t kWarpBytes = std::size_t{2} * kStage * sizeof(F);  // of shared memory

  // The r-th row of a group: row i of a set belongs to group i % 4.
  __device__ static unsigned row(unsigned group, unsigned r) { return r * (kWarp / core::kLanes) + group; }

  // Starts to copy kDepth coordinates, from `c` on, of rows first … first + kRows − 1. Missing rows and coordinates
  // become zeros; nothing is copied where c ≥ dims.
  __device__ static void copy(const PointRows<F>& rows, std::int64_t dims, std::int64_t first, std::int64_t c, F* to) {
    if (c < dims) {
      KITH_UNROLL
      for (unsigned r = 0; r < kRows; ++r) {
        const F* from = rows.data + (first + r) * rows.stride + c + lane_id();
        const SharedAddress<F> target(to + r * kPitch + lane_id());
        KITH_UNROLL
        for (unsigned i = 0; i < kDepth; i += kWarp)
          target.copy_async_or_zero(i, from + i, first + r < rows.count && c + i + lane_id() < dims);
      }
    }
    commit_copies();
  }
};

template <class Terms, class F>
__global__ void __launch_bounds__(KeyLanes::kThreads) all_keys_kernel(KeyCall<F> call, F* keys, std::int64_t stride) {
  using Stages = KeyStages<F>;
  constexpr unsigned kGroupRows = Stages::kGroupRows;
  const Terms terms(call.metric);
  F* const stages = dynamic_shared<F>() + warp_id() * 2 * Stages::kStage;
  const std::int64_t query = blockIdx.x % call.queries.rows.count;
  const std::int64_t first =
      (blockIdx.x / call.queries.rows.count * (blockDim.x / kWarp) + warp_id()) * Stages::kPoints;
  const F* x = call.queries.rows.data + query * call.queries.rows.stride;
  const core::RowFacts x_facts = facts_of(call.queries, query);
  const unsigned group = lane_id() / core::kLanes;
  double sums[Stages::kSets][kGroupRows] = {};
  unsigned stage = 0;
  Stages::copy(call.base.rows, call.dims, first, 0, stages);
  for (std::int64_t c = 0; c < call.dims; c += Stages::kDepth) {
    double of[Stages::kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < Stages::kEach; ++i) {
      const std::int64_t at = c + i * core::kLanes + group_lane();
      of[i] = at < call.dims ? terms.less_mean(static_cast<double>(x[at]), x_facts.mean) : 0.0;
    }
    KITH_UNROLL
    for (unsigned set = 0; set < Stages::kSets; ++set) {
      const bool last = set + 1 == Stages::kSets;
      Stages::copy(call.base.rows, call.dims, first + (last ? 0 : set + 1) * Stages::kRows,
                   last ? c + Stages::kDepth : c, stages + (1 - stage) * Stages::kStage);
      wait_for_copies<1>();
      __syncwarp();
      KITH_UNROLL
      for (unsigned r = 0; r < kGroupRows; ++r) {
        const std::int64_t point = first + set * Stages::kRows + Stages::row(group, r);
        const double mean = facts_of(call.base, min(point, call.base.rows.count - 1)).mean;
        const F* y = stages + stage * Stages::kStage + Stages::row(group, r) * Stages::kPitch + group_lane();
        KITH_UNROLL
        for (unsigned i = 0; i < Stages::kEach; ++i)
          if (c + i * core::kLanes + group_lane() < call.dims)
            sums[set][r] =
                terms.add(sums[set][r], of[i], terms.less_mean(static_cast<double>(y[i * core::kLanes]), mean));
      }
      __syncwarp();  // the next copy overwrites this stage
      stage = 1 - stage;
    }
  }
  wait_for_copies<0>();
  KITH_UNROLL
  for (unsigned set = 0; set < Stages::kSets; ++set) KITH_UNROLL
  for (unsigned r = 0; r < kGroupRows; ++r) {
    const double raw = combine_group(sums[set][r], terms.form());
    const std::int64_t point = first + set * Stages::kRows + Stages::row(group, r);
    if (point < call.base.rows.count && group_lane() == 0)
      keys[query * stride + point] =
          static_cast<F>(finish_key(call.metric, raw, x_facts, facts_of(call.base, point), call.dims));
  }
}

template <class F>
void launch_candidate_keys(const KeyCall<F>& call, const KeyPairs& wanted, F* keys) {
  with_group_terms(call, [&](auto terms) {
    launch("candidate_keys", candidate_keys_kernel<typename decltype(terms)::type, F>,
           {.blocks = ceil_div(wanted.count, KeyLanes::kGroups), .threads = KeyLanes::kThreads}, call.stream, call,
           wanted, keys);
  });
}

// Warps do not wait for each other, so a block has as many as its shared memory holds.
template <class Terms, class F>
void launch_all_keys(const KeyCall<F>& call, F* keys, std::int64_t stride) {
  using Stages = KeyStages<F>;
  const auto room = static_cast<std::size_t>(device_policy().hardware.shared_per_block) / Stages::kWarpBytes;
  const auto warps = static_cast<unsigned>(std::min<std::size_t>(room, KeyLanes::kThreads / kWarp));
  const std::int64_t blocks = ceil_div(call.base.rows.count, warps * Stages::kPoints);
  launch("all_keys", all_keys_kernel<Terms, F>,
         {.blocks = call.queries.rows.count * blocks,
          .threads = warps * kWarp,
          .shared_bytes = warps * Stages::kWarpBytes},
         call.stream, call, keys, stride);
}

}  // namespace

template <class F>
void candidate_keys(const KeyCall<F>& call, const unsigned* ids, std::int64_t count, F* keys) {
  launch_candidate_keys(call, {nullptr, ids, count, call.queries.rows.count * count}, keys);
}

template <class F>
void pair_keys(const KeyCall<F>& call, const unsigned* queries, const unsigned* ids, std::int64_t count, F* keys) {
  launch_candidate_keys(call, {queries, ids, 1, count}, keys);
}

template <class F>
void few_pair_keys(const KeyCall<F>& call, const unsigned* queries, const unsigned* ids,
                   const unsigned long long* count, std::int64_t most, F* keys) {
  launch_candidate_keys(call, {queries, ids, 1, most, count}, keys);
}

template <class F>
void all_keys(const KeyCall<F>& call, F* keys, std::int64_t stride) {
  with_terms(call, [&](auto terms) { launch_all_keys<typename decltype(terms)::type>(call, keys, stride); });
}

#define KITH_INSTANTIATE(F)                                                                                   \
  template void candidate_keys(const KeyCall<F>&, const unsigned*, std::int64_t, F*);                         \
  template void pair_keys(const KeyCall<F>&, const unsigned*, const unsigned*, std::int64_t, F*);             \
  template void few_pair_keys(const KeyCall<F>&, const unsigned*, const unsigned*, const unsigned long long*, \
                              std::int64_t, F*);                                                              \
  template void all_keys(const KeyCall<F>&, F*, std::int64_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::distance
