// check.hpp: CUDA errors become kith::Error, with the call, the device and the requested bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace kith::KITH_BACKEND::inline runtime {

// Throws Error(out_of_memory | no_device | internal). `bytes` is the requested size, 0 for calls without one.
[[noreturn]] void raise(cudaError_t status, const char* call, std::size_t bytes);

inline void check(cudaError_t status, const char* call, std::size_t bytes = 0) {
  if (status != cudaSuccess) raise(status, call, bytes);
}

}  // namespace kith::KITH_BACKEND::inline runtime

#define KITH_CUDA(call) ::kith::KITH_BACKEND::check(call, #call)
