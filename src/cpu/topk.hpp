// topk.hpp: the k best values of each row of a matrix.
#pragma once

#include "kith/topk.hpp"

namespace kith::cpu {

// Bytes one thread needs while it works on a row of `cols` values of F.
template <class F>
std::int64_t topk_workspace(std::int64_t cols, std::int64_t k, const TopkOptions& options);

// By the threshold filter that search uses, or by sorting whole rows ("sort", the baseline).
template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, int threads, Topk<T>& out);

}  // namespace kith::cpu
