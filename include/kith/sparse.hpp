// Exact k-nearest-neighbor search of sparse points: rows of a compressed matrix (CSR), of which only coordinates that
// are not zero are stored. On the CPU.
//
// Neighbors and distances are those of the same points as a dense matrix, bit for bit: a coordinate that is not stored
// is 0, and so is one that is stored as 0. Candidates come from products of a query's coordinates with the columns of
// the base, which lie one after the other in blocks of rows; exact distances decide.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/graph.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/radius.hpp"
#include "kith/search.hpp"

namespace kith {

template <class T>
concept SparseElement = std::same_as<T, float> || std::same_as<T, double>;

// Column numbers of either width.
class CsrIndices {
 public:
  constexpr CsrIndices() = default;
  constexpr CsrIndices(const std::int32_t* narrow) : narrow_(narrow) {}  // NOLINT: a pointer to numbers is what it is
  constexpr CsrIndices(const std::int64_t* wide) : wide_(wide) {}        // NOLINT

  constexpr const std::int32_t* narrow() const { return narrow_; }  // null where they are wide
  constexpr bool is_null() const { return narrow_ == nullptr && wide_ == nullptr; }
  constexpr std::int64_t operator[](std::int64_t at) const { return narrow_ != nullptr ? narrow_[at] : wide_[at]; }

 private:
  const std::int32_t* narrow_ = nullptr;
  const std::int64_t* wide_ = nullptr;
};

// Points as compressed sparse rows: row i has values[j] in column indices[j], for j from indptr[i] to indptr[i + 1]
// − 1. Columns of a row may come in any order, and repeatedly, when their values are added up from left to right; such
// a matrix, and one with wide column numbers, is copied.
template <SparseElement T>
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t cols = 0;                 // up to 2³¹ − 1
  std::int64_t entries = 0;              // how many values and column numbers there are: indptr does not lead beyond
  const std::int64_t* indptr = nullptr;  // rows + 1
  CsrIndices indices{};
  const T* values = nullptr;
};

// With what is returned. Zero vectors are an error under cosine.
enum class SparseMetric {
  euclidean,      // √Σ(x−y)²
  sqeuclidean,    // Σ(x−y)²
  cosine,         // 1 − ⟨x,y⟩ / (‖x‖‖y‖), within [0, 2]
  inner_product,  // ⟨x,y⟩ as it is; the largest come first
  manhattan,      // Σ|x−y|
  jaccard,        // 1 − |X∩Y| / |X∪Y| of the sets of columns that are not 0; 0 for two empty sets
};

KITH_API const char* to_string(SparseMetric metric) noexcept;
// A name or alias of metric.hpp, any case. Error(invalid_argument) lists the names.
KITH_API SparseMetric parse_sparse_metric(std::string_view name);
KITH_API std::vector<std::string> sparse_metric_names();

// Those of kith/options.hpp that sparse points have, with the same meaning.
struct SparseOptions {
  SparseMetric metric = SparseMetric::euclidean;
  Backend backend = Backend::automatic;  // which means cpu; others are refused
  int threads = 0;
  // The base by columns counts too; where it does not fit, every search makes parts of it, one after the other.
  std::int64_t memory_budget = 0;
  double max_distance = std::numeric_limits<double>::infinity();
  bool check_finite = true;
  ProgressCallback progress;
};

// What was done, beside the answer.
struct SparseReport {
  double seconds = 0;
  std::int64_t finalists = 0;        // candidates whose distance was computed in double
  int threads = 1;                   // at most
  std::int64_t base_parts = 1;       // of the base, made by columns one after the other; 1 where the index keeps it
  std::int64_t block_rows = 0;       // base rows whose scores are made at once
  std::int64_t query_block = 0;      // queries of a task
  std::int64_t workspace_bytes = 0;  // at most, with what the index keeps
  std::int64_t budget_bytes = 0;
};

// As kith::Neighbors, whose lists these are.
template <class D>
struct SparseNeighbors {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int64_t> ids;  // queries × k, row-major
  std::vector<D> distances;
  SparseReport report;
};

// As kith::RadiusNeighbors and, with a row for each point, kith::Graph: row i has ids[offsets[i]] … ids[offsets[i + 1]
// − 1] with their distances.
template <class D>
struct SparseLists {
  std::int64_t rows = 0;
  std::vector<std::int64_t> offsets;  // rows + 1
  std::vector<std::int64_t> ids;      // empty where counts were asked for
  std::vector<D> distances;
  SparseReport report;
};

// All functions are thread-safe. What is said of Index (kith/index.hpp) holds here too: answers of functions that end
// in _into go to host memory of the caller.
template <SparseElement T>
class KITH_API SparseIndex {
 public:
  // Checks the base, which must outlive the index and not change, and makes what searches need.
  explicit SparseIndex(const CsrView<T>& base, SparseOptions options = {});
  SparseIndex(SparseIndex&&) noexcept;
  SparseIndex& operator=(SparseIndex&&) noexcept;
  ~SparseIndex();

  std::int64_t rows() const;
  std::int64_t dims() const;
  const SparseOptions& options() const;

  // The k nearest of each query: 1 ≤ k ≤ rows.
  SparseNeighbors<T> search(const CsrView<T>& queries, std::int64_t k) const;
  SparseReport search_into(const CsrView<T>& queries, std::int64_t k, NeighborsView<T> out) const;
  // The k nearest of each base point, itself left out by its id. k ≤ rows − 1.
  SparseNeighbors<T> search_self(std::int64_t k) const;
  SparseReport search_self_into(std::int64_t k, NeighborsView<T> out) const;

  // All base points within the radii (kith/radius.hpp).
  SparseLists<T> search_radius(const CsrView<T>& queries, std::span<const T> radii,
                               RadiusOutput output = RadiusOutput::neighbors) const;
  SparseReport search_radius_into(const CsrView<T>& queries, std::span<const T> radii, const RadiusLists<T>& out) const;
  SparseLists<T> search_radius_self(std::span<const T> radii, RadiusOutput output = RadiusOutput::neighbors) const;
  SparseReport search_radius_self_into(std::span<const T> radii, const RadiusLists<T>& out) const;

  // The graph of every point's k nearest others (kith/graph.hpp). k ≤ rows − 1.
  SparseLists<T> graph(std::int64_t k, Symmetrize symmetrize = Symmetrize::none) const;
  SparseReport graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<T>& out) const;

 private:
  struct State;
  const State& state() const;

  std::unique_ptr<State> state_;
};

// The k nearest base points of each query, without an index.
template <SparseElement T>
KITH_API SparseNeighbors<T> search_sparse(const CsrView<T>& base, const CsrView<T>& queries, std::int64_t k,
                                          const SparseOptions& options = {});

}  // namespace kith
