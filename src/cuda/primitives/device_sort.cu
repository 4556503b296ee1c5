// device_sort.cu: segmented sorts by CUB, which only this file, sort_pairs.cu and exclusive_count.cu include.
// PackedKey   few long segments: one device-wide radix sort each; many: CUB's segmented sort, one block per segment.
// WideKey     CUB's segmented sort has no composite keys, so each key is labeled with its segment, in its `zero`, and
//             one device-wide radix sort orders by (segment, order, id).
// LabeledKey  has its segment already: one device-wide radix sort.
#include "cuda/primitives/device_sort.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"

#if !defined(KITH_IS_EMULATED)
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cuda/std/tuple>
#endif

namespace kith::KITH_BACKEND::inline primitives {

#if defined(KITH_IS_EMULATED)

namespace {

template <class K>
void sort_segments_on_host(K* keys, std::int64_t segments, std::int64_t length, cudaStream_t stream) {
  const auto work = [=] {
    for (std::int64_t s = 0; s < segments; ++s) std::sort(keys + s * length, keys + (s + 1) * length);
  };
  check(::emulator::enqueue("sort_segments", work, stream), "sort_segments");
}

template <class Order>
void sort_labeled_on_host(LabeledKey<Order>* keys, std::int64_t count, cudaStream_t stream) {
  const auto work = [=] { std::sort(keys, keys + count); };
  check(::emulator::enqueue("sort_labeled", work, stream), "sort_labeled");
}

}  // namespace

void sort_segments(PackedKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace, IdOrder) {
  sort_segments_on_host(keys, segments, length, workspace.stream());
}

// Takes the memory of the device's sort, so that plans can be held to it.
void sort_segments(WideKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace, IdOrder) {
  workspace.allocate<LabeledKey<unsigned long long>>(static_cast<std::size_t>(segments * length));
  sort_segments_on_host(keys, segments, length, workspace.stream());
}

LabeledKey<unsigned>* sort_labeled(LabeledKey<unsigned>* keys, LabeledKey<unsigned>* /*other*/, std::int64_t count,
                                   std::int64_t /*segments*/, Workspace& workspace) {
  sort_labeled_on_host(keys, count, workspace.stream());
  return keys;
}

LabeledKey<unsigned long long>* sort_labeled(LabeledKey<unsigned long long>* keys,
                                             LabeledKey<unsigned long long>* /*other*/, std::int64_t count,
                                             std::int64_t /*segments*/, Workspace& workspace) {
  sort_labeled_on_host(keys, count, workspace.stream());
  return keys;
}

#else

namespace {

constexpr int kIdBits = 32;

// CUB's protocol: sort(nullptr, bytes) sets the size of its storage, sort(storage, bytes) sorts.
template <class Sort>
void with_storage(Workspace& workspace, Sort&& sort) {
  std::size_t bytes = 0;
  check(sort(nullptr, bytes), "cub radix sort (size)");
  void* storage = workspace.allocate<unsigned char>(bytes);
  check(sort(storage, bytes), "cub radix sort");
}

// Copies the sorted keys to `keys` if CUB left them in the other buffer.
template <class K>
void copy_sorted_keys(K* keys, cub::DoubleBuffer<K>& buffers, std::int64_t count, cudaStream_t stream) {
  if (buffers.Current() == keys) return;
  KITH_CUDA(cudaMemcpyAsync(keys, buffers.Current(), static_cast<std::size_t>(count) * sizeof(K),
                            cudaMemcpyDeviceToDevice, stream));
}

void sort_each_segment(PackedKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace,
                       int first_bit) {
  auto* other = workspace.allocate<PackedKey>(static_cast<std::size_t>(length));
  with_storage(workspace, [&](void* storage, std::size_t& bytes) {
    for (std::int64_t s = 0; s < segments; ++s) {
      cub::DoubleBuffer<PackedKey> buffers(keys + s * length, other);
      const cudaError_t status =
          cub::DeviceRadixSort::SortKeys(storage, bytes, buffers, length, first_bit, 64, workspace.stream());
      if (status != cudaSuccess || storage == nullptr) return status;
      copy_sorted_keys(keys + s * length, buffers, length, workspace.stream());
    }
    return cudaSuccess;
  });
}

// The start of a segment.
struct SegmentOffset {
  int length;
  __host__ __device__ int operator()(int segment) const { return segment * length; }
};

// CUB counts the items of one call with an int, so the segments are sorted in batches of at most that many keys.
void sort_all_segments(PackedKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace,
                       int first_bit) {
  const std::int64_t batch = std::min(segments, std::numeric_limits<int>::max() / length);
  auto* other = workspace.allocate<PackedKey>(static_cast<std::size_t>(batch * length));
  const auto offsets =
      thrust::make_transform_iterator(thrust::counting_iterator<int>(0), SegmentOffset{static_cast<int>(length)});
  with_storage(workspace, [&](void* storage, std::size_t& bytes) {
    for (std::int64_t s = 0; s < segments; s += batch) {
      const std::int64_t now = std::min(batch, segments - s);
      cub::DoubleBuffer<PackedKey> buffers(keys + s * length, other);
      const cudaError_t status = cub::DeviceSegmentedRadixSort::SortKeys(
          storage, bytes, buffers, static_cast<int>(now * length), static_cast<int>(now), offsets, offsets + 1,
          first_bit, 64, workspace.stream());
      if (status != cudaSuccess || storage == nullptr) return status;
      copy_sorted_keys(keys + s * length, buffers, now * length, workspace.stream());
    }
    return cudaSuccess;
  });
}

template <class Order>
struct LabeledDecomposer {
  __host__ __device__ ::cuda::std::tuple<unsigned&, Order&, unsigned&> operator()(LabeledKey<Order>& key) const {
    return {key.segment, key.order, key.id};
  }
};

// Sorts from `first_bit` on; the bits below are in order already.
template <class Order>
void sort_labeled_buffers(cub::DoubleBuffer<LabeledKey<Order>>& buffers, std::int64_t count, std::int64_t segments,
                          int first_bit, Workspace& workspace) {
  const int end_bit =
      kIdBits + static_cast<int>(8 * sizeof(Order)) + std::bit_width(static_cast<unsigned>(segments - 1));
  with_storage(workspace, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(storage, bytes, buffers, count, LabeledDecomposer<Order>{}, first_bit,
                                          end_bit, workspace.stream());
  });
}

template <class Order>
LabeledKey<Order>* sort_labeled_keys(LabeledKey<Order>* keys, LabeledKey<Order>* other, std::int64_t count,
                                     std::int64_t segments, Workspace& workspace) {
  if (count <= 1) return keys;
  cub::DoubleBuffer<LabeledKey<Order>> buffers(keys, other);
  sort_labeled_buffers(buffers, count, segments, 0, workspace);
  return buffers.Current();
}

// A WideKey with its segment in place of the zero, so that both can use the same memory.
using WideLabeled = LabeledKey<unsigned long long>;
static_assert(sizeof(WideLabeled) == sizeof(WideKey) && alignof(WideLabeled) == alignof(WideKey));

__global__ void label_kernel(const WideKey* keys, std::int64_t count, std::int64_t length, WideLabeled* labeled) {
  const std::int64_t i = thread_index();
  if (i < count) labeled[i] = {keys[i].order, keys[i].id, static_cast<unsigned>(i / length)};
}

__global__ void strip_kernel(const WideLabeled* labeled, std::int64_t count, WideKey* keys) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const WideLabeled key = labeled[i];
  keys[i] = {key.order, key.id, 0U};
}

}  // namespace

void sort_segments(PackedKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace, IdOrder ids) {
  if (segments == 0 || length <= 1) return;
  const int first_bit = ids == IdOrder::ascending ? kIdBits : 0;
  if (segments < device_policy().sort_segments && segments * device_policy().sort_keys_per_launch < length)
    sort_each_segment(keys, segments, length, workspace, first_bit);
  else
    sort_all_segments(keys, segments, length, workspace, first_bit);
}

void sort_segments(WideKey* keys, std::int64_t segments, std::int64_t length, Workspace& workspace, IdOrder ids) {
  if (segments == 0 || length <= 1) return;
  const std::int64_t count = segments * length;
  const int first_bit = ids == IdOrder::ascending ? kIdBits : 0;
  auto* labeled = workspace.allocate<WideLabeled>(static_cast<std::size_t>(count));
  launch("label", label_kernel, thread_each(count), workspace.stream(), keys, count, length, labeled);
  // `keys` has been read and serves as the second buffer.
  cub::DoubleBuffer<WideLabeled> buffers(labeled, reinterpret_cast<WideLabeled*>(keys));
  sort_labeled_buffers(buffers, count, segments, first_bit, workspace);
  launch("strip", strip_kernel, thread_each(count), workspace.stream(), buffers.Current(), count, keys);
}

LabeledKey<unsigned>* sort_labeled(LabeledKey<unsigned>* keys, LabeledKey<unsigned>* other, std::int64_t count,
                                   std::int64_t segments, Workspace& workspace) {
  return sort_labeled_keys(keys, other, count, segments, workspace);
}

LabeledKey<unsigned long long>* sort_labeled(LabeledKey<unsigned long long>* keys,
                                             LabeledKey<unsigned long long>* other, std::int64_t count,
                                             std::int64_t segments, Workspace& workspace) {
  return sort_labeled_keys(keys, other, count, segments, workspace);
}

#endif

}  // namespace kith::KITH_BACKEND::inline primitives
