// sparse_index.hpp: a base of sparse rows, by columns where memory holds that, and its searches.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/sparse.hpp"
#include "cpu/sparse/postings.hpp"
#include "cpu/sparse/sparse_layout.hpp"

namespace kith::cpu {

template <SparseElement T>
class SparseCpuIndex final : public backend::SparseSearcher<T> {
 public:
  SparseCpuIndex(const CsrView<T>& base, const SparseOptions& options);

  void search(const CsrView<T>* queries, std::int64_t k, const NeighborsView<T>& out,
              SparseReport& report) const override;
  void search_radius(const CsrView<T>* queries, const core::RadiusQuery<T>& query, const RadiusLists<T>& out,
                     SparseReport& report) const override;

 private:
  // Blocks `first` to first + count − 1 of the base.
  using Blocks = std::vector<Postings<T>>;
  Blocks make_blocks(std::int64_t first, std::int64_t count, std::int64_t block_rows, int threads,
                     ProgressMeter& progress) const;
  // Calls work(blocks) for parts of the base, in order.
  template <class Work>
  void each_part(const SparseLayout& layout, ProgressMeter& progress, Work work) const;

  CsrRows<T> prepared_queries(const CsrView<T>* queries, ProgressMeter& progress) const;  // none for null
  SparseLayout layout(const CsrRows<T>& queries, std::int64_t k, SparseReport& report) const;
  SparseBudget<T> budget() const;

  SparseOptions options_;
  CsrRows<T> base_;
  double scale_ = 1;
  std::int64_t budget_bytes_ = 0;
  Blocks blocks_;  // of the whole base; empty where memory does not hold them
};

}  // namespace kith::cpu
