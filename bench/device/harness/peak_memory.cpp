#include "device/harness/peak_memory.hpp"

#include <algorithm>
#include <vector>

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/search_memory.hpp"

namespace kith::bench::device {

#if defined(KITH_IS_EMULATED)

std::int64_t device_bytes_in_use() {
  return 0;
}

PeakMemory::PeakMemory() = default;

PeakMemory::Bytes PeakMemory::bytes() const {
  return {used_, outside_};
}

#else

namespace {

int current_device() {
  int device = 0;
  KITH_CUDA(cudaGetDevice(&device));
  return device;
}

std::vector<cudaMemPool_t> pools_in_use() {
  cudaMemPool_t pool = nullptr;
  KITH_CUDA(cudaDeviceGetDefaultMemPool(&pool, current_device()));
  std::vector<cudaMemPool_t> pools = {pool};
  if (cudaMemPool_t own = cuda::device_pool()) pools.push_back(own);
  return pools;
}

std::int64_t sum_of(cudaMemPoolAttr attribute) {
  std::int64_t sum = 0;
  for (cudaMemPool_t pool : pools_in_use()) {
    std::uint64_t value = 0;
    KITH_CUDA(cudaMemPoolGetAttribute(pool, attribute, &value));
    sum += static_cast<std::int64_t>(value);
  }
  return sum;
}

std::int64_t outside_pools() {
  std::size_t free = 0;
  std::size_t total = 0;
  KITH_CUDA(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(total - free) - sum_of(cudaMemPoolAttrReservedMemCurrent);
}

}  // namespace

std::int64_t device_bytes_in_use() {
  KITH_CUDA(cudaDeviceSynchronize());
  // What waits for a search is the library's own, and the search's where it takes it.
  return sum_of(cudaMemPoolAttrUsedMemCurrent) - static_cast<std::int64_t>(cuda::bytes_handed_on(current_device()));
}

PeakMemory::PeakMemory() {
  used_ = device_bytes_in_use();
  std::uint64_t zero = 0;
  for (cudaMemPool_t pool : pools_in_use()) KITH_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  outside_ = outside_pools();
}

PeakMemory::Bytes PeakMemory::bytes() const {
  KITH_CUDA(cudaDeviceSynchronize());
  return {sum_of(cudaMemPoolAttrUsedMemHigh) - used_, std::max<std::int64_t>(0, outside_pools() - outside_)};
}

#endif

}  // namespace kith::bench::device
