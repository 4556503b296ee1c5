// topk.hpp: the k smallest or largest values of each row of a matrix.
#pragma once

#include "kith/topk.hpp"

namespace kith::cpu {

// Selects by the threshold filter that search uses, or by sorting whole rows ("sort", the baseline). Matrix and output
// are host memory. Throws Error(out_of_memory) if the budget is too small for one thread.
template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
          void* stream);

}  // namespace kith::cpu
