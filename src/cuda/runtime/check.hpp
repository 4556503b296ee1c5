// check.hpp: CUDA errors become the library's exception, with the call, the device and the size that was asked for.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kith::KITH_BACKEND::inline runtime {

// Throws Error(out_of_memory | no_device | internal). `bytes` is what the call asked for, 0 where that means nothing.
[[noreturn]] void raise(cudaError_t status, const char* call, std::size_t bytes);

inline void check(cudaError_t status, const char* call, std::size_t bytes = 0) {
  if (status != cudaSuccess) raise(status, call, bytes);
}

}  // namespace kith::KITH_BACKEND::inline runtime

#define KITH_CUDA(call) ::kith::KITH_BACKEND::check(call, #call)
