// scan.cuh: a block visits all elements of an array, with 16-byte loads.
#pragma once

#include "cuda/runtime/platform.cuh"

namespace kith::KITH_BACKEND::inline primitives {

// The elements of one 16-byte load.
template <class E>
struct alignas(16) Pack {
  static constexpr unsigned kSize = 16 / sizeof(E);
  E elements[kSize];
};

// Loads that each thread has in flight.
constexpr unsigned kPacksInFlight = 2;

// Calls visit(index, element, valid) for every element, by whole warps: lanes without an element call with valid =
// false, so that visit may vote. Must be called by all threads of the block. With kInPlace, visit may overwrite as many
// elements from the start of the array as have been visited, because the block loads before it visits; the array must
// then start at a multiple of 16 bytes.
template <unsigned kThreads, bool kInPlace = false, class E, class Visit>
__device__ void scan(const E* elements, unsigned count, Visit&& visit) {
  using Load = Pack<E>;
  constexpr unsigned kTile = kThreads * kPacksInFlight;
  const auto past_line = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(elements) % sizeof(Load) / sizeof(E));
  const unsigned head = min((Load::kSize - past_line) % Load::kSize, count);
  const unsigned packs = (count - head) / Load::kSize;
  const auto* const aligned = reinterpret_cast<const Load*>(elements + head);
  for (unsigned tile = 0; tile < packs; tile += kTile) {
    Load loads[kPacksInFlight] = {};
    KITH_UNROLL
    for (unsigned p = 0; p < kPacksInFlight; ++p) {
      const unsigned at = tile + p * kThreads + threadIdx.x;
      if (at < packs) loads[p] = aligned[at];
    }
    if constexpr (kInPlace) __syncthreads();
    KITH_UNROLL
    for (unsigned p = 0; p < kPacksInFlight; ++p) {
      const unsigned at = tile + p * kThreads + threadIdx.x;
      KITH_UNROLL
      for (unsigned i = 0; i < Load::kSize; ++i) visit(head + at * Load::kSize + i, loads[p].elements[i], at < packs);
    }
  }
  // The few elements before the first whole pack and after the last, one per thread.
  const unsigned tail = head + packs * Load::kSize;
  const unsigned edges = head + count - tail;
  const unsigned at = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
  const bool valid = threadIdx.x < edges;
  const E element = valid ? elements[at] : E{};
  if constexpr (kInPlace) __syncthreads();
  visit(at, element, valid);
}

}  // namespace kith::KITH_BACKEND::inline primitives
