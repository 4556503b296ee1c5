// searcher.hpp: a base and its searches: arguments are checked, the search is planned, a backend does it.
#pragma once

#include <memory>
#include <span>

#include "backend/contract.hpp"
#include "kith/index.hpp"

namespace kith::api {

// What is searched for.
template <Element T>
struct Asked {
  MatrixView<T> queries;
  void* stream = nullptr;
  bool exclude_self = false;  // the queries are the base
};

template <Element T>
class Searcher {
 public:
  using D = DistanceOf<T>;

  // `others`: device where something of the only call that is to follow lies there. Throws for options that cannot be
  // met, or a backend that is not there; the values of the base are checked by prepare(), or by the first search.
  Searcher(const MatrixView<T>& base, Options options, void* stream, Memory others = Memory::host);
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  // For more searches than one, and then from any thread.
  void prepare();

  const MatrixView<T>& base() const { return base_; }
  const Options& options() const { return options_; }
  // The base as its own queries.
  Asked<T> self(void* stream) const { return {base_, stream, true}; }

  Neighbors<D> search(const Asked<T>& asked, std::int64_t k) const;
  SearchReport search_into(const Asked<T>& asked, std::int64_t k, const NeighborsView<D>& out) const;
  RadiusNeighbors<D> search_radius(const Asked<T>& asked, std::span<const D> radii, RadiusOutput output) const;
  SearchReport search_radius_into(const Asked<T>& asked, std::span<const D> radii, const RadiusLists<D>& out) const;
  Graph<D> graph(std::int64_t k, Symmetrize symmetrize, void* stream) const;
  SearchReport graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<D>& out, void* stream) const;
  Reduced<D> reduce(const Asked<T>& asked, std::int64_t k, const MatrixView<D>& values, ReduceOp op) const;
  SearchReport reduce_into(const Asked<T>& asked, std::int64_t k, const MatrixView<D>& values, ReduceOp op,
                           const ReducedView<D>& out) const;
  Plan explain(std::int64_t queries, std::int64_t k) const;

 private:
  using Search = backend::BackendSearch<T>;

  // k and queries, or points where queries are the base.
  void check(const Asked<T>& asked, std::int64_t k) const;
  // Values and answers that this backend can reach.
  void check_memory(Memory memory, const char* role) const;
  std::unique_ptr<Search> begin(const Asked<T>& asked, Memory others, const ProgressCallback& progress) const;
  std::unique_ptr<Search> begin(const Asked<T>& asked, Memory others) const {
    return begin(asked, others, options_.progress);
  }
  Problem problem(std::int64_t queries, std::int64_t k) const {
    return {base_.rows, queries, base_.cols, k, dtype_of<T>()};
  }
  // How good the answers to some of the queries are, by an exact search of these.
  SearchQuality sample_quality(const Asked<T>& asked, const Plan& plan) const;

  MatrixView<T> base_;
  Options options_;
  plan::Machine machine_;  // as it was before the index took its part
  std::unique_ptr<backend::BackendIndex<T>> index_;
};

}  // namespace kith::api
