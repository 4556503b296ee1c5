// topk_work.hpp: what selections from matrices of the host and of the device have in common.
#pragma once

#include "cuda/runtime/workspace.hpp"
#include "kith/topk.hpp"

namespace kith::KITH_BACKEND {

// A matrix on the device and where its answer goes: rows × k values and ids (rows × 1 for kth_only; null for no ids).
template <class F>
struct TopkWork {
  const F* values = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t k = 0;
  F* values_out = nullptr;
  std::int64_t* ids_out = nullptr;
};

// Sizes of a call in working precision F.
template <class F>
struct Sizes {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t k;
  std::int64_t values_out;  // a row
  std::int64_t ids_out;     // a row

  Sizes(std::int64_t rows_, std::int64_t cols_, std::int64_t k_, TopkOutput form)
      : rows(rows_),
        cols(cols_),
        k(k_),
        values_out(form == TopkOutput::kth_only ? 1 : k_),
        ids_out(form == TopkOutput::sorted || form == TopkOutput::unsorted ? k_ : 0) {}

  // Of device memory: the row and its answer.
  std::int64_t row_bytes() const {
    constexpr auto kValue = static_cast<std::int64_t>(sizeof(F));
    return (cols + values_out) * kValue + ids_out * static_cast<std::int64_t>(sizeof(std::int64_t));
  }
};

// Everything is enqueued on the workspace's stream.
template <class F>
void select_topk(const TopkWork<F>& work, const TopkOptions& options, Workspace& workspace);

// A matrix of the host, in tiles; the answer lies anywhere. Waits for it where that is the host.
template <Element T>
void topk_of_host(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
                  cudaStream_t stream);

}  // namespace kith::KITH_BACKEND
