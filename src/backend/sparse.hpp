// sparse.hpp: what src/cpu does for searches of sparse points.
#pragma once

#include <cstdint>
#include <memory>

#include "core/radius_query.hpp"
#include "kith/sparse.hpp"

namespace kith::backend {

// A base that was checked. Arguments of its functions were checked too, but for the rows of queries.
template <SparseElement T>
class SparseSearcher {
 public:
  SparseSearcher() = default;
  SparseSearcher(const SparseSearcher&) = delete;
  SparseSearcher& operator=(const SparseSearcher&) = delete;
  virtual ~SparseSearcher() = default;

  // Null queries are the base, of which no point is its own neighbor; the same below.
  virtual void search(const CsrView<T>* queries, std::int64_t k, const NeighborsView<T>& out,
                      SparseReport& report) const = 0;
  virtual void search_radius(const CsrView<T>* queries, const core::RadiusQuery<T>& query, const RadiusLists<T>& out,
                             SparseReport& report) const = 0;
};

}  // namespace kith::backend

namespace kith::cpu {

// Throws for a base that is no matrix, or that options.metric cannot take.
template <SparseElement T>
std::unique_ptr<backend::SparseSearcher<T>> make_sparse_index(const CsrView<T>& base, const SparseOptions& options);

}  // namespace kith::cpu
