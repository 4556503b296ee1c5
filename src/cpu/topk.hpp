// topk.hpp: the k best values of each row of a matrix.
#pragma once

#include "kith/topk.hpp"

namespace kith::cpu {

// By the threshold filter that search uses, or by sorting whole rows ("sort", the baseline).
template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, int threads, Topk<T>& out);

}  // namespace kith::cpu
