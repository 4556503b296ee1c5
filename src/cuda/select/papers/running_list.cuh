// running_list.cuh: the k smallest keys so far in a block's registers, and a buffer of new keys (Hanák, 4.1).
// A new key below the k-th gets a slot of the shared buffer by an atomic addition; a full buffer is sorted by the
// register network and merged into the list by a reversed separator. The list is as long as the network, which may be
// longer than k; the threshold is the k-th key.
// Cost: on rows in random order about k(1 + ln(n/k)) new keys in 3 + 2 ln(n/k) merges (4.1.6); on descending rows one
// merge per full buffer. For comparison with Hanák only: `auto` never chooses a method that uses it.
#pragma once

#include "cuda/primitives/bitonic.cuh"
#include "cuda/runtime/shared.cuh"

namespace kith::KITH_BACKEND::select {

// A sink of block_scan.cuh. Network is Bitonic or StridedBitonic for the whole block.
template <class Network>
class RunningList {
 public:
  using Key = typename Network::Key;

  // `capacity` is that of the buffer, at most the network's size. Must be called by all threads, once per kernel.
  __device__ RunningList(unsigned k, unsigned capacity) : k_(k), capacity_(capacity) {
    KITH_SHARED(Key, buffer, Network::kSize);
    KITH_SHARED(Key, threshold, 1);
    KITH_SHARED(unsigned, count, 1);
    buffer_ = buffer;
    shared_threshold_ = threshold;
    count_ = count;
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i) list_[i] = last_key<Key>();
    if (threadIdx.x == 0) *count_ = 0;
    __syncthreads();
  }

  __device__ __forceinline__ const Key& threshold() const { return threshold_; }

  __device__ __forceinline__ bool add(const Key& key) {
    const unsigned slot = atomicAdd(count_, 1U);
    if (slot >= capacity_) return false;
    buffer_[slot] = key;
    return true;
  }

  __device__ void flush() {
    const unsigned count = *count_ < capacity_ ? *count_ : capacity_;
    Key fresh[Network::kEach];
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i) {
      const unsigned slot = i * Network::kGroup + threadIdx.x;
      fresh[i] = slot < count ? buffer_[slot] : last_key<Key>();
    }
    // The network's exchanges begin with a barrier, so they can reuse the buffer.
    Network::sort(fresh, buffer_);
    Network::keep_smallest(list_, fresh, buffer_);
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i)
      if (Network::rank(i) + 1 == k_) *shared_threshold_ = list_[i];
    __syncthreads();
    if (threadIdx.x == 0) *count_ = 0;
    threshold_ = *shared_threshold_;
    __syncthreads();
  }

  // Calls put(rank, key) for the k keys after the scan, each from one thread.
  template <class Put>
  __device__ void finish(Put put) {
    if (*count_ > 0) flush();
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i)
      if (Network::rank(i) < k_) put(Network::rank(i), list_[i]);
  }

 private:
  Key list_[Network::kEach];
  Key threshold_ = last_key<Key>();
  unsigned k_;
  unsigned capacity_;
  Key* buffer_;
  Key* shared_threshold_;
  unsigned* count_;
};

// Resident blocks per multiprocessor that the register allocation should allow: several hide each other's merges, but
// the longest lists need all registers.
template <class Network>
constexpr unsigned kResidentBlocks = sizeof(typename Network::Key) == 8 && Network::kEach < 8 ? 1024 / Network::kGroup
                                                                                              : 1;

// The largest k of the methods that keep their list in a block's registers.
constexpr unsigned kLargestBlockList = 2048;

// Calls run(network) with a value of the smallest network type that holds k ≤ kLargestBlockList keys of type K.
template <class K, template <class, unsigned, unsigned> class Network, class Run>
void with_network(unsigned k, Run run) {
  if (k <= 128) return run(Network<K, 128, 1>{});
  if (k <= 256) return run(Network<K, 128, 2>{});
  if (k <= 512) return run(Network<K, 128, 4>{});
  if (k <= 1024) return run(Network<K, 256, 4>{});
  run(Network<K, 256, 8>{});
}

}  // namespace kith::KITH_BACKEND::select
