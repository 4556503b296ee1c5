// bits_global.cu: bitonic select with its list in global memory, for large k.
// Idea    as bits.cu, but the buffer has room for k or more newcomers and lies, like the sorted list of the k smallest
//         keys, in global memory. A full buffer is sorted in chunks by the register network; chunks are merged along
//         merge paths, keeping no more than k keys, and the result is merged with the list into a second one.
// Paper   Hanák, 4.1, carried on beyond the k that registers hold; merges as in 3.4.2.
// Cost    each value is read once; 3 + 2 ln(n/k) merges of Θ(k log k) keys that mostly stay in the L2 cache.
//         Workspace of 4k keys a block; there are as many blocks as the device runs at once, and rows take turns.
// Limits  any k; sensible up to some ten thousands.
#include <algorithm>

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/merge_path.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/select/block_scan.cuh"
#include "cuda/select/method.hpp"

namespace kith::KITH_BACKEND::select {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kItems = 8;
constexpr unsigned kTile = kThreads * kItems;
constexpr unsigned kVectors = 4;
constexpr unsigned kBlocksAProcessor = 2;

// What a block has in global memory: two lists of k keys and two buffers of `capacity`.
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

// A sink of block_scan.cuh. What threads leave in global memory is read by the others only behind a barrier.
template <class K>
class GlobalList {
 public:
  __device__ GlobalList(const BlockMemory<K>& memory, unsigned k, unsigned capacity, K* shared, unsigned* count)
      : memory_(memory), k_(k), capacity_(capacity), shared_(shared), count_(count) {
    __syncthreads();
    if (threadIdx.x == 0) *count_ = 0;
    __syncthreads();
  }

  __device__ __forceinline__ const K& threshold() const { return threshold_; }

  __device__ __forceinline__ bool add(const K& key) {
    const unsigned place = atomicAdd(count_, 1U);
    if (place >= capacity_) return false;
    memory_.buffers[0][place] = key;
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

  // After the scan: calls put(rank, key) for the k keys, neighbors in neighboring threads.
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

  // Chunks of kTile keys of the buffer become ascending.
  __device__ void sort_chunks(unsigned count) {
    K* const buffer = memory_.buffers[0];
    for (unsigned first = 0; first < count; first += kTile) {
      K items[kItems];
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i) {
        const unsigned place = first + i * kThreads + threadIdx.x;
        items[i] = place < count ? buffer[place] : last_key<K>();
      }
      using Network = Bitonic<K, kThreads, kItems>;
      Network::sort(items, shared_);
      KITH_UNROLL
      for (unsigned i = 0; i < kItems; ++i)
        if (first + Network::rank(i) < count) buffer[first + Network::rank(i)] = items[i];
    }
    __syncthreads();
  }

  // Sorted chunks become one list of at most k keys, whose size is returned.
  __device__ unsigned merge_chunks(unsigned count) {
    SortedLists lists{count, kTile, k_};
    for (; lists.count() > 1; lists = lists.merged()) {
      const SortedLists target = lists.merged();
      for (unsigned pair = 0; pair < target.count(); ++pair) {
        const K* a = memory_.buffers[0] + 2 * pair * lists.span;
        const ListPair<K> both{a, lists.size(2 * pair), a + lists.span, lists.size(2 * pair + 1)};
        merge(both, target.size(pair), memory_.buffers[1] + pair * target.span);
      }
      swap(memory_.buffers);
    }
    return lists.size(0);
  }

  // The first `count` keys of both lists, tile by tile. Ends with a barrier.
  __device__ void merge(const ListPair<K>& both, unsigned count, K* to) {
    for (unsigned first = 0; first < count; first += kTile) {
      merge_tile<kThreads, kItems>(both, first, count - first < kTile ? count - first : kTile, shared_,
                                   [&](unsigned place, const K& key) { to[place] = key; });
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

// Blocks take rows in turns.
template <class T>
__global__ void __launch_bounds__(kThreads, sizeof(KeyOf<T>) == 8 ? kBlocksAProcessor : 1)
    bits_global_kernel(Rows<T> rows, Output<T> output, KeyOf<T>* memory, unsigned capacity) {
  using Key = KeyOf<T>;
  KITH_SHARED(Key, shared, kTile);
  KITH_SHARED(unsigned, count, 1);
  const BlockMemory<Key> mine(memory, output.k, capacity);
  for (std::int64_t row = blockIdx.x; row < rows.rows; row += gridDim.x) {
    GlobalList<Key> list(mine, output.k, capacity, shared, count);
    block_scan<kThreads, kVectors>(ValueSegment<T>(rows, row, 0, rows.length), list);
    list.finish([&](unsigned rank, const Key& key) { output.put(row, rank, key); });
  }
}

}  // namespace

namespace methods {

template <class T>
void bits_global(const SelectCall<T>& call) {
  using Key = KeyOf<T>;
  const unsigned k = call.k();
  // Two chunks at least, and as many newcomers as the list has keys: then a merge costs each of them no more than that.
  const auto capacity = static_cast<unsigned>(ceil_div(std::max(k, 2 * kTile), kTile) * kTile);
  const std::int64_t resident = static_cast<std::int64_t>(multiprocessor_count()) * kBlocksAProcessor;
  const std::int64_t blocks = std::min(call.rows.rows, resident);
  auto* memory =
      call.workspace.template allocate<Key>(static_cast<std::size_t>(blocks * BlockMemory<Key>::keys(k, capacity)));
  launch("bits_global", bits_global_kernel<T>, {.blocks = blocks, .threads = kThreads}, call.stream(), call.rows,
         call.output, memory, capacity);
}

template void bits_global(const SelectCall<float>& call);
template void bits_global(const SelectCall<double>& call);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
