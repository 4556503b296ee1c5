// sweet_knn_call.hpp: arguments of the kernels of sweet_knn.hpp.
#pragma once

#include "cuda/primitives/key.cuh"
#include "cuda/triangle/papers/sweet_knn.hpp"

namespace kith::KITH_BACKEND::triangle {

constexpr unsigned kSweetKnnThreads = 256;  // threads of a block at most, as Chen et al. have it

template <class F>
struct SweetKnnCall {
  QueryBatch<F> batch;
  SweetKnnOptions options;
  const unsigned* positions = nullptr;          // of queries by their ids; null where threads follow positions
  unsigned long long* search_bounds = nullptr;  // bits of a double a query, shared by its threads; null for one thread
  KeyOf<F>* slots = nullptr;                    // of lists in global memory
  Survivors<F> survivors;                       // of partial filtering; or lists to merge, k slots a thread
};

// Launches the kernel that the options ask for, in blocks of `threads` threads.
template <class F>
void run_sweet_knn(const SweetKnnCall<F>& call, unsigned threads, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
