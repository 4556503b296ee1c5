// bits_global.cu: bitonic select with its list in global memory, for large k.
// Idea    as bits.cu, but the buffer holds k or more new keys and lies, like the sorted list of the k smallest keys, in
//         global memory. A full buffer is sorted in chunks by the register network; chunks are merged along merge
//         paths, keeping no more than k keys, and the result is merged with the list into a second one.
// Paper   Hanák, 4.1, extended beyond the k that registers hold; merges as in 3.4.2. For comparison only: `auto` never
//         chooses it.
// Cost    each value is read once; 3 + 2 ln(n/k) merges of Θ(k log k) keys that mostly stay in the L2 cache.
//         Workspace of 4k keys per block, for the blocks that the device runs at once; each takes row after row.
// Limits  any k; sensible up to some ten thousands.
#include <algorithm>

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/merge_path.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/select/method.hpp"
#include "cuda/select/papers/block_scan.cuh"

namespace kith::KITH_BACKEND::select {
namespace {

constexpr unsigned kBlocksPerMultiprocessor = 2;

// A block's part of the workspace: two lists of k keys and two buffers of `capacity`.
template <class K>
struct BlockMemory {
  K* lists[2];
  K* buffers[2];

  __host__ __device__ static std::int64_t keys(unsigned k, unsigned capacity) {
    return 2 * (static_cast<std::int64_t>(k) + capacity);
  }
  __device__ BlockMemory(K* memory, unsigned k, unsigned capacity) {
    K* const mine = memory + blockIdx.x * keys(k, capacity);
    lists[0] = mine;
    lists[1] = mine + k;
    buffers[0] = lists[1] + k;
    buffers[1] = buffers[0] + capacity;
  }
};

// A sink of block_scan.cuh. Keys that a thread writes to global memory are read by other threads only after a barrier.
template <class K>
class GlobalList {
 public:
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kItems = 8;
  static constexpr unsigned kTile = kThreads * kItems;
  static constexpr unsigned kVectors = 4;  // of a batch

  __device__ GlobalList(const BlockMemory<K>& memory, unsigned k, unsigned capacity, K* shared, unsigned* count)
      : memory_(memory), k_(k), capacity_(capacity), shared_(shared), count_(count) {
    __syncthreads();
    if (threadIdx.x == 0) *count_ = 0;
    __syncthreads();
  }

  __device__ __forceinline__ const K& threshold() const { return threshold_; }

  __device__ __forceinline__ bool add(const K& key) {
    const unsigned slot = atomicAdd(count_, 1U);
    if (slot >= capacity_) return false;
    memory_.buffers[0][slot] = key;
    return true;
  }

  __device__ void flush() {
    const unsigned count = *count_ < capacity_ ? *count_ : capacity_;
    sort_chunks(count);
    const unsigned fresh = merge_chunks(count);
    const ListPair<K> both{memory_.lists[0], size_, memory_.buffers[0], fresh};
    size_ = size_ + fresh < k_ ? size_ + fresh : k_;
    merge(both, size_, memory_.lists[1]);
    swap(memory_.lists);
    if (size_ == k_) threshold_ = memory_.lists[0][k_ - 1];
    if (threadIdx.x == 0) *count_ = 0;
    __syncthreads();
  }

  // Calls put(rank, key) for the k keys after the scan; consecutive ranks are put by consecutive threads.
  template <class Put>
  __device__ void finish(Put put) {
    if (*count_ > 0) flush();
    for (unsigned rank = threadIdx.x; rank < k_; rank += kThreads) put(rank, memory_.lists[0][rank]);
  }

 private:
  __device__ static void swap(K* (&pair)[2]) {
    K* const first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
  }

  // Sorts each chunk of kTile keys of the buffer.
  __device__ void sort_chunks(unsigned count) {
    K* const buffer = memory_.buffers[0];
    for (unsigned first = 0; first < count; first += kTile) {
      K items[kItems];
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) {
        const unsigned slot = first + i * kThreads + threadIdx.x;
        items[i] = slot < count ? buffer[slot] : last_key<K>();
      }
      using Network = Bitonic<K, kThreads, kItems>;
      Network::sort(items, shared_);
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i)
        if (first + Network::rank(i) < count) buffer[first + Network::rank(i)] = items[i];
    }
    __syncthreads();
  }

  // Merges the sorted chunks into one list of at most k keys and returns its size.
  __device__ unsigned merge_chunks(unsigned count) {
    SortedLists lists{count, kTile, k_};
    for (; lists.count() > 1; lists = lists.merged()) {
      const SortedLists target = lists.merged();
      for (unsigned pair = 0; pair < target.count(); ++pair) {
        const K* a = memory_.buffers[0] + 2 * pair * lists.covered;
        const ListPair<K> both{a, lists.size(2 * pair), a + lists.covered, lists.size(2 * pair + 1)};
        merge(both, target.size(pair), memory_.buffers[1] + pair * target.covered);
      }
      swap(memory_.buffers);
    }
    return lists.size(0);
  }

  // Writes the first `count` keys of the merged lists, tile by tile. Ends with a barrier.
  __device__ void merge(const ListPair<K>& both, unsigned count, K* to) {
    for (unsigned first = 0; first < count; first += kTile) {
      merge_tile<kThreads, kItems>(both, first, count - first < kTile ? count - first : kTile, shared_,
                                   [&](unsigned position, const K& key) { to[position] = key; });
    }
    __syncthreads();
  }

  BlockMemory<K> memory_;
  K threshold_ = last_key<K>();
  unsigned size_ = 0;
  unsigned k_;
  unsigned capacity_;
  K* shared_;
  unsigned* count_;
};

// Each block takes every gridDim.x-th row, so that workspace is needed for the resident blocks only.
template <class T>
__global__ void __launch_bounds__(GlobalList<KeyOf<T>>::kThreads, sizeof(KeyOf<T>) == 8 ? kBlocksPerMultiprocessor : 1)
    bits_global_kernel(Rows<T> rows, Output<T> output, KeyOf<T>* memory, unsigned capacity) {
  using Key = KeyOf<T>;
  using List = GlobalList<Key>;
  KITH_SHARED(Key, shared, List::kTile);
  KITH_SHARED(unsigned, count, 1);
  const BlockMemory<Key> mine(memory, output.k, capacity);
  for (std::int64_t row = blockIdx.x; row < rows.rows; row += gridDim.x) {
    List list(mine, output.k, capacity, shared, count);
    block_scan<List::kThreads, List::kVectors>(ValueSegment<T>(rows, row, 0, rows.length), list);
    list.finish([&](unsigned rank, const Key& key) { output.put(row, rank, key); });
  }
}

}  // namespace

namespace methods {

template <class T>
void bits_global(const SelectCall<T>& call) {
  using Key = KeyOf<T>;
  constexpr unsigned kTile = GlobalList<Key>::kTile;
  const unsigned k = call.k();
  // At least two chunks, and as many new keys as the list has: then each new key pays for at most one key of the merge.
  const auto capacity = static_cast<unsigned>(ceil_div(std::max(k, 2 * kTile), kTile) * kTile);
  const std::int64_t resident = static_cast<std::int64_t>(multiprocessor_count()) * kBlocksPerMultiprocessor;
  const std::int64_t blocks = std::min(call.rows.rows, resident);
  auto* memory =
      call.workspace.template allocate<Key>(static_cast<std::size_t>(blocks * BlockMemory<Key>::keys(k, capacity)));
  launch("bits_global", bits_global_kernel<T>, {.blocks = blocks, .threads = GlobalList<Key>::kThreads}, call.stream(),
         call.rows, call.output, memory, capacity);
}

template void bits_global(const SelectCall<float>& call);
template void bits_global(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
