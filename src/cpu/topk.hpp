// topk.hpp: the k best values of each row of a matrix.
#pragma once

#include "kith/topk.hpp"

namespace kith::cpu {

// By the threshold filter that search uses, or by sorting whole rows ("sort", the baseline). Matrix and answer are host
// memory. Throws Error(out_of_memory) where the budget cannot hold one thread's work.
template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
          void* stream);

}  // namespace kith::cpu
