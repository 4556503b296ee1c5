// scan_candidates.cu: the kernel that reads rows, tests their scores and keeps the best of a block.
#include "cuda/brute/scan_candidates.hpp"

#include <algorithm>
#include <type_traits>

#include "cuda/brute/scan_products.cuh"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

struct ScanShape {
  static constexpr unsigned kWarps = core::kScanWarps;
  static constexpr unsigned kThreads = kWarps * kWarp;
  static constexpr unsigned kFull = core::kScanFull;
  static constexpr unsigned kQueries = core::kMaxScanQueries;
};
static_assert(core::kMaxScanWidth < ScanShape::kFull);

struct ScanWork {
  ScanRows queries;
  ScanRows base;
  const float* bias;
  std::int64_t bias_step;
  float factor;
  unsigned width;
  unsigned chunks;  // of a row, in whole parts
  distance::CandidateLists<float> lists;
};

// The best keys of a block for each query, in shared memory: at most kCapacity.
template <unsigned kRoundRows>
struct ScanBuffers {
  static constexpr unsigned kCapacity = ScanShape::kFull + kRoundRows;
  static constexpr unsigned kEach = kCapacity / ScanShape::kThreads + (kCapacity % ScanShape::kThreads != 0 ? 1 : 0);
  using Scratch = KthScratch<PackedKey, ScanShape::kThreads>;

  PackedKey* keys;
  unsigned* counts;
  unsigned* limits;  // the largest order that may be among the best
  Scratch* scratch;

  // Must be called by all threads of the block, with a barrier after it.
  __device__ void clear(unsigned queries) const {
    if (threadIdx.x >= ScanShape::kQueries) return;
    counts[threadIdx.x] = 0;
    limits[threadIdx.x] = threadIdx.x < queries ? ~0U : 0;  // no order is 0
  }

  // Returns whether another round might not fit.
  __device__ __forceinline__ bool append(unsigned query, PackedKey key) const {
    const unsigned at = atomicAdd(&counts[query], 1U);
    keys[query * kCapacity + at] = key;
    return at + 1 > ScanShape::kFull;
  }

  // Keeps the `width` smallest keys of a query. Rows come in ascending order, so that later ones lose all ties. Must be
  // called by all threads of the block, after a barrier; ends with one if anything changes.
  __device__ void keep_smallest(unsigned query, unsigned width) const {
    const unsigned count = counts[query];
    if (count <= width) return;
    PackedKey* const all = keys + query * kCapacity;
    const PackedKey bound =
        kth_key_bound<ScanShape::kThreads, PackedKey>([&](unsigned i) { return all[i]; }, count, width, *scratch);
    PackedKey mine[kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < kEach; ++i) {
      const unsigned at = i * ScanShape::kThreads + threadIdx.x;
      mine[i] = at < count ? all[at] : last_key<PackedKey>();
    }
    if (threadIdx.x == 0) limits[query] = order_of(bound) - 1;
    __syncthreads();
    if (threadIdx.x == 0) counts[query] = 0;
    __syncthreads();
    KITH_UNROLL
    for (unsigned i = 0; i < kEach; ++i)
      if (mine[i] <= bound) all[atomicAdd(&counts[query], 1U)] = mine[i];
    __syncthreads();
  }
};

// The lane's vectors of the queries for each chunk.
__device__ void load_scan_queries(const ScanRows& queries, unsigned chunks, uint4* to) {
  for (unsigned chunk = warp_id(); chunk < chunks; chunk += ScanShape::kWarps)
    to[chunk * kWarp + lane_id()] = queries.vector(lane_id() / 4, chunk);
}

// Biases of the lane's rows, two in each set.
template <unsigned kSets>
struct ScanBias {
  float values[kSets][2];

  template <class Sums>
  __device__ __forceinline__ void load(const ScanWork& work, unsigned first) {
    KITH_UNROLL
    for (unsigned set = 0; set < kSets; ++set) KITH_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned row = first + Sums::row(set, 2 * half);
      values[set][half] = work.bias != nullptr && row < work.base.count ? __ldg(work.bias + row * work.bias_step) : 0;
    }
  }
};

// A round of a block are rows of all its warps, one after the other in memory.
template <tensor::Element kElement, unsigned kSets>
__global__ void __launch_bounds__(ScanShape::kThreads, core::kScanBlocksEach) scan_candidates_kernel(ScanWork work) {
  using Sums = ScanSums<kElement, kSets>;
  using Nearness = tensor::Nearness<typename Sums::Sum>;
  constexpr unsigned kRoundRows = ScanShape::kWarps * Sums::kRows;
  using Buffers = ScanBuffers<kRoundRows>;
  KITH_SHARED(unsigned, counts, ScanShape::kQueries);
  KITH_SHARED(unsigned, limits, ScanShape::kQueries);
  KITH_SHARED(typename Buffers::Scratch, scratch, 1);
  auto* const queries = dynamic_shared<uint4>();
  const Buffers buffers{reinterpret_cast<PackedKey*>(queries + work.chunks * kWarp), counts, limits, scratch};
  const unsigned step = gridDim.x * kRoundRows;
  const float inverse = 1 / work.factor;

  unsigned first = blockIdx.x * kRoundRows + warp_id() * Sums::kRows;  // of the warp
  typename Sums::Part part;
  ScanBias<kSets> bias;
  part.load(work.base, first, 0);
  bias.template load<Sums>(work, first);
  load_scan_queries(work.queries, work.chunks, queries);
  buffers.clear(work.queries.count);
  __syncthreads();
  unsigned limit[2] = {limits[Sums::query(0)], limits[Sums::query(1)]};

  for (unsigned round = blockIdx.x * kRoundRows; round < work.base.count; round += step) {
    Sums sums;
    sums.clear();
    sums.add(part, queries, 0);
    for (unsigned chunk = Sums::kChunks; chunk < work.chunks; chunk += Sums::kChunks) {
      part.load(work.base, first, chunk);
      sums.add(part, queries, chunk);
    }
    unsigned orders[kSets][Sums::kItems];
    KITH_UNROLL
    for (unsigned set = 0; set < kSets; ++set) KITH_UNROLL
    for (unsigned i = 0; i < Sums::kItems; ++i)
      orders[set][i] = ordered_bits(
          Nearness::score(Nearness::add(sums.sums[set][i], Nearness::of_bias(bias.values[set][i / 2], inverse)),
                          work.factor),
          false);
    const unsigned before = first;
    first += step;
    part.load(work.base, first, 0);
    bias.template load<Sums>(work, first);

    bool full = false;
    KITH_UNROLL
    for (unsigned set = 0; set < kSets; ++set) KITH_UNROLL
    for (unsigned i = 0; i < Sums::kItems; ++i) {
      const unsigned row = before + Sums::row(set, i);
      if (orders[set][i] <= limit[i % 2] && row < work.base.count)
        full = buffers.append(Sums::query(i), make_key(orders[set][i], row)) || full;
    }
    if (__syncthreads_or(full ? 1 : 0) == 0) continue;
    for (unsigned query = 0; query < work.queries.count; ++query) buffers.keep_smallest(query, work.width);
    __syncthreads();  // all have seen the counts before the next round changes them
    limit[0] = limits[Sums::query(0)];
    limit[1] = limits[Sums::query(1)];
  }

  for (unsigned query = 0; query < work.queries.count; ++query) {
    buffers.keep_smallest(query, work.width);
    const std::size_t to = std::size_t{query} * work.lists.capacity + std::size_t{blockIdx.x} * work.width;
    for (unsigned i = threadIdx.x; i < work.width; i += ScanShape::kThreads) {
      const PackedKey key = i < counts[query] ? buffers.keys[query * Buffers::kCapacity + i] : last_key<PackedKey>();
      work.lists.scores[to + i] = value_of<float>(order_of(key), false);
      work.lists.ids[to + i] = id_of(key);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) work.lists.counts[query] = work.lists.capacity;
  }
}

ScanRows scan_rows(const tensor::TensorRows& rows, std::int64_t bytes) {
  return {static_cast<const unsigned char*>(rows.data), static_cast<unsigned>(rows.count), static_cast<unsigned>(bytes),
          as_size(rows.row_bytes)};
}

template <tensor::Element kElement, unsigned kSets>
distance::CandidateLists<float> scan_with(const ScanCandidatesCall& call, const core::ScanPlan& plan) {
  const tensor::TensorProduct& product = call.product;
  const std::int64_t bytes = product.dims * element_bytes(kElement);
  const std::int64_t queries = product.queries.count;
  Workspace& workspace = call.workspace;
  ScanWork work{};
  work.queries = scan_rows(product.queries, bytes);
  work.base = scan_rows(product.base, bytes);
  work.bias = product.bias;
  work.bias_step = product.bias_step;
  work.factor = product.factor;
  work.width = static_cast<unsigned>(call.width);
  work.chunks = static_cast<unsigned>(plan.chunks);

  const std::int64_t blocks = call.blocks == 0 ? plan.blocks : std::min(call.blocks, plan.blocks);
  work.lists.capacity = static_cast<unsigned>(blocks * call.width);
  work.lists.scores = workspace.allocate<float>(as_size(queries) * work.lists.capacity);
  work.lists.ids = workspace.allocate<unsigned>(as_size(queries) * work.lists.capacity);
  work.lists.counts = workspace.allocate<unsigned>(as_size(queries));
  launch("scan_candidates", scan_candidates_kernel<kElement, kSets>,
         {.blocks = blocks, .threads = ScanShape::kThreads, .shared_bytes = as_size(plan.shared_bytes)},
         workspace.stream(), work);
  return work.lists;
}

template <tensor::Element kElement>
distance::CandidateLists<float> scan_elements(const ScanCandidatesCall& call) {
  const core::ScanPlan plan = core::plan_scan(call.product.base.count, call.product.queries.count,
                                              call.product.dims * element_bytes(kElement), device_policy().hardware);
  if (plan.sets == 4) return scan_with<kElement, 4>(call, plan);
  if (plan.sets == 2) return scan_with<kElement, 2>(call, plan);
  return scan_with<kElement, 1>(call, plan);
}

}  // namespace

distance::CandidateLists<float> scan_candidates(const ScanCandidatesCall& call) {
  using tensor::Element;
  switch (call.product.element) {
    case Element::fp16: return scan_elements<Element::fp16>(call);
    case Element::int8: return scan_elements<Element::int8>(call);
    case Element::uint8: return scan_elements<Element::uint8>(call);
  }
  return {};
}

}  // namespace kith::KITH_BACKEND::brute
