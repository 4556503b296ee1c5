// rerank.cu: a warp or a block takes a query from its candidates to its neighbors.
#include "cuda/brute/rerank.hpp"

#include <algorithm>
#include <limits>

#include "cuda/distance/key_group.cuh"
#include "cuda/primitives/append.cuh"
#include "cuda/primitives/block_merge_sort.cuh"
#include "cuda/primitives/kth_key.cuh"
#include "cuda/primitives/warp_smallest.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

struct RerankShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kWarps = kThreads / kWarp;
  static constexpr unsigned kSortItems = 4;  // keys of a thread, in the sort of a block
  static constexpr unsigned kTile = kThreads * kSortItems;
  static constexpr unsigned kGroups = kWarp / core::kLanes;  // of lanes, in a warp
  static constexpr unsigned kGroupRows = 4;                  // base rows that a group reads at once
  static constexpr unsigned kWarpRows = kGroups * kGroupRows;
  static constexpr unsigned kSmallWarp = 1;  // keys of a lane, where a warp takes a query
  static constexpr unsigned kLargeWarp = 4;
  // Four blocks a multiprocessor are what registers allow; shared memory should, too.
  static constexpr unsigned kBlocks = 4;
  static constexpr std::int64_t kKeysOfBlock = 7000;
  // Where warps would leave the device idle, and have a list each that takes them long, blocks take queries.
  static constexpr std::int64_t kFewQueries = 16;
  static constexpr unsigned kLongList = 1024;
};

// The candidates of a query as keys of (score, row of the base tile).
struct ScoredRows {
  const float* scores;
  const unsigned* ids;
  unsigned first_id;
  unsigned passed;  // those beyond the capacity included
  unsigned count;

  __device__ ScoredRows(const distance::CandidateLists<float>& lists, std::int64_t query)
      : scores(lists.scores + query * lists.capacity),
        ids(lists.ids + query * lists.capacity),
        first_id(lists.first_id),
        passed(lists.counts[query]),
        count(min(passed, lists.capacity)) {}

  __device__ PackedKey operator()(unsigned i) const {
    return make_key(ordered_bits(scores[i], false), ids[i] - first_id);
  }
};

// The i-th entry of a query's running list.
__device__ PackedKey running_entry(const RunningLists<float>& running, std::int64_t query, unsigned i) {
  const unsigned id = running.ids[query * running.k + i];
  return id == kNoNeighbor ? last_key<PackedKey>()
                           : make_key(ordered_bits(running.keys[query * running.k + i], false), id);
}

__device__ void put_entry(const RunningLists<float>& running, std::int64_t query, unsigned i, PackedKey key) {
  const bool exists = key != last_key<PackedKey>();
  running.keys[query * running.k + i] =
      exists ? value_of<float>(order_of(key), false) : std::numeric_limits<float>::infinity();
  running.ids[query * running.k + i] = id_of(key);
}

// `last` is the order of the last score that got a key.
__device__ void lower_left_out(const RerankCall& call, std::int64_t query, unsigned passed, unsigned last) {
  const std::int64_t points = call.keys.base.rows.count;
  const bool fails =
      passed > call.lists.capacity || (call.bounded ? passed > call.width : passed < min(call.width, points));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float left_out = call.first ? kInfinity : call.left_out[query];
  if (fails) {
    left_out = -kInfinity;
  } else if (!call.bounded && call.width < points) {
    const float score = value_of<float>(last, false);
    if (!(left_out <= score)) left_out = score;
  }
  call.left_out[query] = left_out;
  if (call.first && query == 0) *call.failed_count = 0;
}

// Replaces (score, row) by (exact key, id) in all keys of shared memory, by `warps` warps of which this is one.
template <class Terms>
__device__ void compute_keys(const RerankCall& call, std::int64_t query, PackedKey* keys, unsigned count, unsigned warp,
                             unsigned warps) {
  using Shape = RerankShape;
  const unsigned group = lane_id() / core::kLanes;
  for (unsigned first = warp * Shape::kWarpRows; first < count; first += warps * Shape::kWarpRows) {
    std::int64_t rows[Shape::kGroupRows];
    KITH_UNROLL
    for (unsigned i = 0; i < Shape::kGroupRows; ++i) {
      const unsigned at = first + i * Shape::kGroups + group;
      rows[i] = at < count ? id_of(keys[at]) : 0;
    }
    const float key = distance::group_keys<Terms, Shape::kGroupRows>(call.keys, query, rows);
    const unsigned mine = first + group_lane() * Shape::kGroups + group;
    if (group_lane() < Shape::kGroupRows && mine < count)
      keys[mine] = make_key(ordered_bits(key, false), call.first_id + id_of(keys[mine]));
  }
}

// A warp takes a query; `width` and k are at most 32 · kItems.
template <class Terms, unsigned kItems>
__global__ void __launch_bounds__(RerankShape::kThreads, RerankShape::kBlocks) rerank_by_warp_kernel(RerankCall call) {
  using Network = Bitonic<PackedKey, kWarp, kItems>;
  KITH_SHARED(PackedKey, keys_of_warps, RerankShape::kWarps * Network::kSize);
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * RerankShape::kWarps + warp_id();
  if (query >= call.keys.queries.rows.count) return;
  PackedKey* const keys = keys_of_warps + warp_id() * Network::kSize;
  const ScoredRows source(call.lists, query);
  const auto width = static_cast<unsigned>(call.width);
  const unsigned taken = min(source.count, width);
  PackedKey best[kItems];
  warp_smallest(source, source.count, width, best);
  const PackedKey last = warp_rank(best, width);
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i)
    keys[Network::rank(i)] = Network::rank(i) < taken ? best[i] : last_key<PackedKey>();
  __syncwarp();
  compute_keys<Terms>(call, query, keys, taken, 0, 1);
  __syncwarp();
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i) best[i] = keys[Network::rank(i)];
  Network::sort(best, nullptr);
  const RunningLists<float>& running = call.running;
  if (running.count > 0) {
    PackedKey before[kItems];
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i)
      before[i] =
          Network::rank(i) < running.count ? running_entry(running, query, Network::rank(i)) : last_key<PackedKey>();
    Network::keep_smallest(best, before, nullptr);
  }
  KITH_UNROLL
  for (unsigned i = 0; i < kItems; ++i)
    if (Network::rank(i) < running.k) put_entry(running, query, Network::rank(i), best[i]);
  if (lane_id() == 0) lower_left_out(call, query, source.passed, order_of(last));
}

// What the threads of a block know of the candidates that get keys.
struct Chosen {
  unsigned count;
  unsigned last;  // order of the last score
};

// Copies the `taken` smallest of source(0 … count − 1) to `keys`, in any order. *chosen starts with zeros. Must be
// called by all threads of the block; starts and ends with a barrier.
template <class Source>
__device__ void choose_smallest(const Source& source, unsigned count, unsigned taken, PackedKey* keys, Chosen* chosen) {
  constexpr unsigned kThreads = RerankShape::kThreads;
  using Scratch = KthScratch<PackedKey, kThreads>;
  KITH_SHARED(Scratch, scratch, 1);
  __syncthreads();
  const PackedKey bound =
      taken == count ? last_key<PackedKey>() : kth_key_bound<kThreads, PackedKey>(source, count, taken, scratch[0]);
  unsigned last = 0;
  for (unsigned first = 0; first < count; first += kThreads) {
    const unsigned i = first + threadIdx.x;
    const PackedKey key = i < count ? source(i) : last_key<PackedKey>();
    const bool wanted = i < count && key <= bound;
    const unsigned at = warp_append(wanted, &chosen->count);
    if (!wanted) continue;
    keys[at] = key;
    last = max(last, order_of(key));
  }
  last = __reduce_max_sync(kFullMask, last);
  if (lane_id() == 0) atomicMax(&chosen->last, last);
  __syncthreads();
}

// Calls use(i, source(i)) for all i below count, by a block, with several loads of a thread in flight.
template <class Source, class Use>
__device__ __forceinline__ void for_each_loaded(const Source& source, unsigned count, Use use) {
  constexpr unsigned kLoads = 8;
  constexpr unsigned kThreads = RerankShape::kThreads;
  for (unsigned first = threadIdx.x; first < count; first += kLoads * kThreads) {
    PackedKey batch[kLoads];
    KITH_UNROLL
    for (unsigned i = 0; i < kLoads; ++i)
      if (first + i * kThreads < count) batch[i] = source(first + i * kThreads);
    KITH_UNROLL
    for (unsigned i = 0; i < kLoads; ++i)
      if (first + i * kThreads < count) use(first + i * kThreads, batch[i]);
  }
}

// Where keys go, and how many of them have room.
struct KeyRoom {
  PackedKey* keys;
  unsigned capacity;
};

// Of source(0 … count − 1), those up to a bound that at least `taken` do not exceed, and seldom many more: the taken-th
// of the threads' smallest keys. Where all have room in `all`, they are copied there, and those up to the bound to
// `few`, which has room for a key of each thread; else the latter to `all`. In any order. Returns the number of those
// up to the bound, or 0 where they have no room, or there is no such bound. *copied starts with 0. Must be called by
// all threads of the block; ends with a barrier.
template <class Source>
__device__ unsigned copy_smallest(const Source& source, unsigned count, unsigned taken, const KeyRoom& all,
                                  PackedKey* few, unsigned* copied) {
  constexpr unsigned kThreads = RerankShape::kThreads;
  using Scratch = KthScratch<PackedKey, kThreads>;
  KITH_SHARED(Scratch, scratch, 1);
  const bool fits = count <= all.capacity;
  auto mine = last_key<PackedKey>();
  for_each_loaded(source, count, [&](unsigned i, PackedKey key) {
    mine = min(mine, key);
    if (fits) all.keys[i] = key;
  });
  few[threadIdx.x] = mine;
  __syncthreads();
  if (taken == 0 || taken > kThreads) return 0;
  const PackedKey bound =
      kth_key_bound<kThreads, PackedKey>([&](unsigned i) { return few[i]; }, kThreads, taken, scratch[0]);
  __syncthreads();  // all have read the keys of threads
  const KeyRoom to = fits ? KeyRoom{few, kThreads} : all;
  const auto copy = [&](unsigned /*i*/, PackedKey key) {
    if (key > bound) return;
    const unsigned at = atomicAdd(copied, 1U);
    if (at < to.capacity) to.keys[at] = key;
  };
  if (fits) {
    for_each_loaded([&](unsigned i) { return all.keys[i]; }, count, copy);
  } else {
    for_each_loaded(source, count, copy);
  }
  __syncthreads();
  return *copied <= to.capacity ? *copied : 0;
}

// Sizes of dynamic shared memory, in keys: the candidates with keys and the list; then as many to merge them and a tile
// to sort them, in whose place the first `staged` candidates lie before.
struct RerankMemory {
  unsigned joined = 0;
  unsigned staged = 0;

  RerankMemory(std::int64_t width, std::int64_t running, std::int64_t capacity)
      : joined(static_cast<unsigned>(width + running)),
        staged(static_cast<unsigned>(std::max(width + running + RerankShape::kTile,
                                              std::min(capacity, RerankShape::kKeysOfBlock - width - running)))) {}

  std::size_t bytes() const { return (std::size_t{joined} + staged) * sizeof(PackedKey); }
};

// Few enough for a warp to sort, which takes less time than a block does.
using FewKeys = Bitonic<PackedKey, kWarp, 2>;

// Writes the `taken` smallest of `count` ≤ FewKeys::kSize keys, sorted. `to` may be `from`. Must be called by all
// lanes.
__device__ void sort_few(const PackedKey* from, unsigned count, unsigned taken, PackedKey* to) {
  PackedKey mine[2];
  KITH_UNROLL
  for (unsigned i = 0; i < 2; ++i) mine[i] = FewKeys::rank(i) < count ? from[FewKeys::rank(i)] : last_key<PackedKey>();
  FewKeys::sort(mine, nullptr);
  KITH_UNROLL
  for (unsigned i = 0; i < 2; ++i)
    if (FewKeys::rank(i) < taken) to[FewKeys::rank(i)] = mine[i];
}

// A block takes a query.
template <class Terms>
__global__ void __launch_bounds__(RerankShape::kThreads, RerankShape::kBlocks)
    rerank_by_block_kernel(RerankCall call, RerankMemory memory) {
  constexpr unsigned kThreads = RerankShape::kThreads;
  KITH_SHARED(Chosen, chosen, 1);
  KITH_SHARED(unsigned, copied, 1);
  KITH_SHARED(PackedKey, few, kThreads);
  auto* const keys = dynamic_shared<PackedKey>();
  PackedKey* const spare = keys + memory.joined;
  const std::int64_t query = blockIdx.x;
  const ScoredRows source(call.lists, query);
  const unsigned taken = min(source.count, static_cast<unsigned>(call.width));
  if (threadIdx.x == 0) {
    chosen[0] = {0, 0};
    copied[0] = 0;
  }
  __syncthreads();
  const bool fits = source.count <= memory.staged;
  if (const unsigned smallest = copy_smallest(source, source.count, taken, {spare, memory.staged}, few, copied);
      smallest > 0) {
    const PackedKey* const from = fits ? few : spare;
    if (smallest <= FewKeys::kSize) {
      if (warp_id() == 0) {
        sort_few(from, smallest, taken, keys);
        __syncwarp();
        if (lane_id() == 0) chosen->last = order_of(keys[taken - 1]);
      }
      __syncthreads();
    } else {
      choose_smallest([&](unsigned i) { return from[i]; }, smallest, taken, keys, chosen);
    }
  } else if (fits) {
    choose_smallest([&](unsigned i) { return spare[i]; }, source.count, taken, keys, chosen);
  } else {
    choose_smallest(source, source.count, taken, keys, chosen);
  }
  const RunningLists<float>& running = call.running;
  for (unsigned i = threadIdx.x; i < running.count; i += kThreads) keys[taken + i] = running_entry(running, query, i);
  compute_keys<Terms>(call, query, keys, taken, warp_id(), RerankShape::kWarps);
  __syncthreads();
  const unsigned count = taken + static_cast<unsigned>(running.count);
  const PackedKey* sorted = keys;
  if (count <= FewKeys::kSize) {
    if (warp_id() == 0) sort_few(keys, count, count, keys);
    __syncthreads();
  } else {
    sorted = block_merge_sort<PackedKey, kThreads, RerankShape::kSortItems>(keys, spare, count, spare + memory.joined);
  }
  for (unsigned i = threadIdx.x; i < running.k; i += kThreads)
    put_entry(running, query, i, i < count ? sorted[i] : last_key<PackedKey>());
  if (threadIdx.x == 0) lower_left_out(call, query, source.passed, chosen->last);
}

template <class Terms, unsigned kItems>
void rerank_by_warps(const RerankCall& call) {
  launch("rerank_by_warp", rerank_by_warp_kernel<Terms, kItems>,
         {.blocks = ceil_div(call.keys.queries.rows.count, RerankShape::kWarps), .threads = RerankShape::kThreads},
         call.keys.stream, call);
}

template <class Terms>
void rerank_by_blocks(const RerankCall& call) {
  const RerankMemory memory(call.width, call.running.count, call.lists.capacity);
  launch("rerank_by_block", rerank_by_block_kernel<Terms>,
         {.blocks = call.keys.queries.rows.count, .threads = RerankShape::kThreads, .shared_bytes = memory.bytes()},
         call.keys.stream, call, memory);
}

}  // namespace

bool can_rerank(std::int64_t k, std::int64_t width) {
  constexpr std::size_t kStatic = 2 * sizeof(KthScratch<PackedKey, RerankShape::kThreads>) + sizeof(Chosen) +
                                  RerankShape::kThreads * sizeof(PackedKey) + 1024;
  const auto most = static_cast<std::size_t>(device_policy().hardware.shared_per_block);
  // Compared first, so that no sum overflows.
  return k < 0x7FFFFFFF && width < 0x7FFFFFFF && RerankMemory(width, k, 0).bytes() + kStatic <= most;
}

void rerank(const RerankCall& call) {
  const std::int64_t longest = std::max(call.width, call.running.k);
  const std::int64_t queries = call.keys.queries.rows.count;
  const bool few = queries <= RerankShape::kFewQueries;
  // A block has the rows of a query sooner than a warp, and as long as all blocks run at once nobody waits for it.
  const bool blocks_have_room = queries <= std::int64_t{RerankShape::kBlocks} * multiprocessor_count();
  distance::with_group_terms(call.keys, [&](auto terms) {
    using Terms = typename decltype(terms)::type;
    if (few && call.lists.capacity >= RerankShape::kLongList) return rerank_by_blocks<Terms>(call);
    if (longest <= RerankShape::kSmallWarp * kWarp) return rerank_by_warps<Terms, RerankShape::kSmallWarp>(call);
    if (blocks_have_room) return rerank_by_blocks<Terms>(call);
    if (longest <= RerankShape::kLargeWarp * kWarp) return rerank_by_warps<Terms, RerankShape::kLargeWarp>(call);
    rerank_by_blocks<Terms>(call);
  });
}

}  // namespace kith::KITH_BACKEND::brute
