// pools.cpp: memory pools that keep nothing: what is freed is gone, so that its use is found.
#include <set>

#include "state.hpp"

namespace emulator::cuda {

struct CUmemPoolHandle_st {
  int device = 0;
  std::uint64_t release_threshold = 0;
};

namespace {

// Never destroyed, like all state of the emulator.
std::set<CUmemPoolHandle_st*>& pools() {
  static auto& instance = *new std::set<CUmemPoolHandle_st*>;
  return instance;
}

}  // namespace

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  const Guard guard(lock());
  if (properties->allocType != cudaMemAllocationTypePinned || properties->location.type != cudaMemLocationTypeDevice ||
      properties->location.id < 0 || properties->location.id >= device_count())
    return report(cudaErrorInvalidValue);
  *pool = new CUmemPoolHandle_st{properties->location.id};
  pools().insert(*pool);
  return report(cudaSuccess);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const Guard guard(lock());
  if (pools().erase(pool) == 0) return report(cudaErrorInvalidValue);
  delete pool;
  return report(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  const Guard guard(lock());
  return report(pools().contains(pool) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const Guard guard(lock());
  if (!pools().contains(pool) || attribute != cudaMemPoolAttrReleaseThreshold) return report(cudaErrorInvalidValue);
  pool->release_threshold = *static_cast<const std::uint64_t*>(value);
  return report(cudaSuccess);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  const Guard guard(lock());
  if (!pools().contains(pool)) return report(cudaErrorInvalidValue);
  *static_cast<std::uint64_t*>(value) =
      attribute == cudaMemPoolAttrReleaseThreshold ? pool->release_threshold : live_device_bytes();
  return report(cudaSuccess);
}

cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  const Guard guard(lock());
  if (!pools().contains(pool) || pool->device != current_device()) return report(cudaErrorInvalidValue);
  return cudaMallocAsync(address, bytes, stream);
}

}  // namespace emulator::cuda
