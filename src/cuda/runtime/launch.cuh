// launch.cuh: the one way kernels are started.
//   launch("bits", bits_kernel<float, 8>, {.blocks = rows, .threads = 256, .shared_bytes = n}, stream, args...);
#pragma once

#include <tuple>
#include <type_traits>

#include "cuda/runtime/check.hpp"
#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND {

struct Shape {
  std::int64_t blocks = 1;
  unsigned threads = kWarp;
  std::size_t shared_bytes = 0;  // dynamic
};

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
  if (shape.shared_bytes > kWithoutAsking) {
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          name, shape.shared_bytes);
  }
  std::tuple<std::decay_t<Parameters>...> values(std::forward<Arguments>(arguments)...);
  std::apply(
      [&](auto&... value) {
        void* addresses[] = {const_cast<void*>(static_cast<const void*>(&value))...};
        check(
            cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, addresses, shape.shared_bytes, stream),
            name, shape.shared_bytes);
      },
      values);
#endif
}

}  // namespace kith::KITH_BACKEND
