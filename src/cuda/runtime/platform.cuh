// platform.cuh: the backend's name, warp constants and thread numbers, which every device source includes.
// The sources of src/cuda/ are compiled twice: by nvcc into namespace kith::cuda, and by the host compiler against
// emulator/ into kith::emulated. KITH_BACKEND is that name; KITH_IS_EMULATED marks the few lines that differ.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#ifndef KITH_BACKEND
#error "compile device sources with -DKITH_BACKEND=cuda or -DKITH_BACKEND=emulated"
#endif

#if !defined(KITH_IS_EMULATED) && !defined(__CUDACC__)
#include "cuda/runtime/host_compiler.hpp"
#endif

#if defined(KITH_IS_EMULATED)
#define KITH_UNROLL
#define KITH_NOINLINE
#else
#define KITH_UNROLL _Pragma("unroll")
#define KITH_NOINLINE __noinline__
#endif

namespace kith::KITH_BACKEND::inline runtime {

constexpr unsigned kWarp = 32;
constexpr unsigned kFullMask = 0xFFFFFFFFU;

__device__ __forceinline__ unsigned lane_id() {
  return threadIdx.x % kWarp;
}

__device__ __forceinline__ unsigned warp_id() {
  return threadIdx.x / kWarp;
}

__device__ __forceinline__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// A compiler barrier: values loaded before are loaded and computed again after it, instead of occupying registers.
__device__ __forceinline__ void discard_cached_loads() {
#if !defined(KITH_IS_EMULATED)
  asm volatile("" ::: "memory");
#endif
}

__host__ __device__ constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace kith::KITH_BACKEND::inline runtime
