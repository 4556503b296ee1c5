// launch.cuh: launch(), the one way kernels are started, and programmatic dependent launch.
//   launch("bits", bits_kernel<float, 8>, {.blocks = rows, .threads = 256, .shared_bytes = n}, stream, args...);
#pragma once

#include <tuple>
#include <type_traits>

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/platform.cuh"

#if !defined(KITH_IS_EMULATED) && !defined(__CUDACC__)
#error "a source that launches kernels is compiled by nvcc: call the file .cu"
#endif

namespace kith::KITH_BACKEND::inline runtime {

struct LaunchShape {
  std::int64_t blocks = 1;
  unsigned threads = kWarp;
  std::size_t shared_bytes = 0;   // of dynamic shared memory
  bool dependent_launch = false;  // may start before the previous kernel of the stream ends; the kernel itself waits
};

// One thread for each of `count` items; the kernel finds its item with thread_index().
inline LaunchShape thread_each(std::int64_t count) {
  constexpr unsigned kThreads = 256;
  return {.blocks = ceil_div(count, kThreads), .threads = kThreads};
}

// Programmatic dependent launch hides the launch latency of consecutive kernels. A kernel that calls
// trigger_dependent_launch() lets the next one, launched with dependent_launch, occupy idle multiprocessors; that one
// calls wait_for_previous_kernel() before it touches anything written since the last kernel that was launched without
// it. Devices before sm_90, and builds for them, run the kernels one after the other.
#if defined(__CUDA_ARCH_LIST__)
constexpr bool supports_dependent_launch() {
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture < 900) return false;
  return true;
}
#else
constexpr bool supports_dependent_launch() {
  return false;
}
#endif

__device__ __forceinline__ void trigger_dependent_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__device__ __forceinline__ void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Raises a kernel's limit of dynamic shared memory to what the current device allows. Thread-safe; later calls for the
// same kernel and device return at once.
void allow_dynamic_shared(const void* kernel, const char* name);

// Launches on a grid along x, of at most 2^31 − 1 blocks. No blocks: nothing to do, which is no error.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            Arguments&&... arguments) {
  if (shape.blocks == 0) return;
  if (shape.blocks > 0x7FFFFFFF) raise(cudaErrorInvalidConfiguration, name, 0);
  const dim3 grid(static_cast<unsigned>(shape.blocks));
  const dim3 block(shape.threads);
  // 48 KiB need no attribute, but static shared memory counts among them.
  constexpr std::size_t kNeedsNoAttribute = 16 << 10;
  if (shape.shared_bytes > kNeedsNoAttribute) allow_dynamic_shared(reinterpret_cast<const void*>(kernel), name);
#if defined(KITH_IS_EMULATED)
  check(::emulator::launch(
            name, [kernel, ... values = std::decay_t<Parameters>(arguments)] { kernel(values...); }, grid, block,
            shape.shared_bytes, stream, reinterpret_cast<const void*>(kernel)),
        name, shape.shared_bytes);
#else
  std::tuple<std::decay_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
  std::apply(
      [&](auto&... value) {
        void* addresses[] = {const_cast<void*>(static_cast<const void*>(&value))...};
        cudaLaunchAttribute dependent{};
        dependent.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        dependent.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = grid;
        config.blockDim = block;
        config.dynamicSmemBytes = shape.shared_bytes;
        config.stream = stream;
        config.attrs = &dependent;
        config.numAttrs = shape.dependent_launch && supports_dependent_launch() ? 1 : 0;
        check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), addresses), name, shape.shared_bytes);
      },
      values);
#endif
}

}  // namespace kith::KITH_BACKEND::inline runtime
