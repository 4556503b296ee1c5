// exclusive_count.cu: CUB's exclusive prefix sum over flags; a loop in the emulator.
#include "cuda/primitives/exclusive_count.hpp"

#if !defined(KITH_IS_EMULATED)
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>
#endif

namespace kith::KITH_BACKEND::inline primitives {

#if defined(KITH_IS_EMULATED)

void exclusive_count(const unsigned* ids, std::int64_t count, unsigned first, unsigned* before, Workspace& workspace) {
  const auto work = [=] {
    unsigned counted = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      before[i] = counted;
      counted += ids[i] >= first ? 1U : 0U;
    }
  };
  check(::emulator::enqueue("exclusive_count", work, workspace.stream()), "exclusive_count");
}

#else

namespace {

struct IsNotBelow {
  unsigned first;
  __host__ __device__ unsigned operator()(unsigned id) const { return id >= first ? 1U : 0U; }
};

}  // namespace

void exclusive_count(const unsigned* ids, std::int64_t count, unsigned first, unsigned* before, Workspace& workspace) {
  const auto flags = thrust::make_transform_iterator(ids, IsNotBelow{first});
  // CUB's protocol: the first call, without storage, sets its size.
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, flags, before, count, workspace.stream()), "cub scan (size)");
  void* storage = workspace.allocate<unsigned char>(bytes);
  check(cub::DeviceScan::ExclusiveSum(storage, bytes, flags, before, count, workspace.stream()), "cub scan");
}

#endif

}  // namespace kith::KITH_BACKEND::inline primitives
