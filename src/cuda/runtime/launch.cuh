// launch.cuh: the one way kernels are started.
//   launch("bits", bits_kernel<float, 8>, {.blocks = rows, .threads = 256, .shared_bytes = n}, stream, args...);
#pragma once

#include <tuple>
#include <type_traits>

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/platform.cuh"

#if !defined(KITH_IS_EMULATED) && !defined(__CUDACC__)
#error "what starts kernels is compiled by nvcc: call the file .cu"
#endif

namespace kith::KITH_BACKEND::inline runtime {

struct Shape {
  std::int64_t blocks = 1;
  unsigned threads = kWarp;
  std::size_t shared_bytes = 0;   // dynamic
  bool dependent_launch = false;  // may start before the kernel before it in the stream has ended; it waits by itself
};

// One thread for each of so many things; thread_index() numbers them.
inline Shape thread_each(std::int64_t count) {
  constexpr unsigned kThreads = 256;
  return {.blocks = ceil_div(count, kThreads), .threads = kThreads};
}

// Kernels that follow each other at once can hide how long a start takes: one that says trigger_dependent_launch() lets
// the next, launched with `early`, occupy multiprocessors that fall idle; that one says wait_for_previous_kernel()
// before it touches anything that the kernels before it write, back to the last that was not started early: what those
// found done, it finds done too. Devices and builds without that do one after the other.
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

// Lets a kernel have as much dynamic shared memory as the current device gives; once is enough, and threads may meet
// here.
void allow_dynamic_shared(const void* kernel, const char* name);

// Blocks are numbered along x, which has room for 2^31 − 1 of them. No blocks: nothing to do, which is no error.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), const Shape& shape, cudaStream_t stream,
            Arguments&&... arguments) {
  if (shape.blocks == 0) return;
  if (shape.blocks > 0x7FFFFFFF) raise(cudaErrorInvalidConfiguration, name, 0);
  const dim3 grid(static_cast<unsigned>(shape.blocks));
  const dim3 block(shape.threads);
#if defined(KITH_IS_EMULATED)
  check(::emulator::launch(
            name, [kernel, ... values = std::decay_t<Parameters>(arguments)] { kernel(values...); }, grid, block,
            shape.shared_bytes, stream),
        name, shape.shared_bytes);
#else
  // A kernel gets 48 KiB without asking, of which some may be static.
  constexpr std::size_t kWithoutAsking = 16 << 10;
  if (shape.shared_bytes > kWithoutAsking) allow_dynamic_shared(reinterpret_cast<const void*>(kernel), name);
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
