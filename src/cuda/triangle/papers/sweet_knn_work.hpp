// sweet_knn_work.hpp: what the kernels of paper.hpp are given.
#pragma once

#include "cuda/primitives/key.cuh"
#include "cuda/triangle/papers/sweet_knn.hpp"

namespace kith::KITH_BACKEND::triangle {

constexpr unsigned kPaperThreads = 256;  // of a block at most, as the paper has it

template <class F>
struct SweetKnnWork {
  Level2<F> level2;
  SweetKnnShape shape;
  const unsigned* positions = nullptr;    // of queries by their numbers; null where threads follow positions
  unsigned long long* reaches = nullptr;  // by query, as bits, that its threads share; null for one thread
  KeyOf<F>* slots = nullptr;              // of lists in global memory
  Survivors<F> survivors;                 // partial filtering; or lists that are to be merged, k a thread
};

// Blocks of `threads` threads.
template <class F>
void run_paper(const SweetKnnWork<F>& work, unsigned threads, cudaStream_t stream);

}  // namespace kith::KITH_BACKEND::triangle
