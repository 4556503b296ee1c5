// A base prepared for many searches: every ability of the library, for points of the host and of a device alike.
//
// Views say where values lie. The base stays where it is; queries, values and answers may lie in host memory or on the
// device, in any mix, and are brought to where the search runs. What is on a device is of backend cuda, which automatic
// then means, or of `emulated` where options say so; backend cpu takes host memory only, else Error(invalid_argument).
//
// `stream` is a cudaStream_t, as void*, of the device that is current; it is ignored where nothing lies on a device.
// Work is enqueued on it, with a workspace from the device's memory pool in the stream's order: a pool with a high
// release threshold keeps it for the next search. A call whose answer lies on the device returns when the last of it is
// enqueued: index, queries and answer must stay until the stream is done, and the report's seconds end with the call.
// It waits for the stream after each pass of the fallback chain (SearchReport::steps) to learn which queries have no
// proof yet, for a sample of the points where the method is left open and triangle might pay, for the clusters of that
// method the first time, for the check of the queries, which searches of all streams take one after the other, for
// lists whose length must be known, and for options.progress.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kith/export.hpp"
#include "kith/graph.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "kith/radius.hpp"
#include "kith/reduce.hpp"
#include "kith/search.hpp"

namespace kith {

struct OneSearch;  // what the free functions make

// All functions are thread-safe. Answers of functions that end in _into go to the caller's memory: queries that are
// refused leave it as it was, after other errors it is unspecified. The others return host memory.
template <Element T>
class KITH_API Index {
 public:
  using D = DistanceOf<T>;

  // Keeps a view: the base must outlive the index and not change. It is checked here, once the stream comes to it, and
  // what searches need is made: norms where the metric needs them; on a device, under cosine and correlation, points
  // scaled to unit length, and points of bytes as floats. options.metric is fixed here.
  explicit Index(MatrixView<T> base, Options options = {}, void* stream = nullptr);
  // Keeps the matrix.
  explicit Index(Matrix<T>&& base, Options options = {});
  // An index that was moved from has no points: all but assignment and destruction throw Error(invalid_argument).
  Index(Index&&) noexcept;
  Index& operator=(Index&&) noexcept;
  ~Index();

  std::int64_t rows() const;
  std::int64_t dims() const;
  const Options& options() const;
  Memory memory() const;  // of the base

  // The k nearest of each query: 1 ≤ k ≤ rows.
  Neighbors<D> search(MatrixView<T> queries, std::int64_t k, void* stream = nullptr) const;
  SearchReport search_into(MatrixView<T> queries, std::int64_t k, NeighborsView<D> out, void* stream = nullptr) const;
  // The same within limits of this search's own, in the place of the options'.
  SearchReport search_into(MatrixView<T> queries, std::int64_t k, NeighborsView<D> out, const SearchLimits& limits,
                           void* stream = nullptr) const;
  // The k nearest of each base point, itself left out by its id (so right under duplicates). k ≤ rows − 1.
  Neighbors<D> search_self(std::int64_t k, void* stream = nullptr) const;
  SearchReport search_self_into(std::int64_t k, NeighborsView<D> out, void* stream = nullptr) const;

  // All base points within the radii, which are host memory: one for all queries, or one for each (kith/radius.hpp).
  RadiusNeighbors<D> search_radius(MatrixView<T> queries, std::span<const D> radii,
                                   RadiusOutput output = RadiusOutput::neighbors, void* stream = nullptr) const;
  SearchReport search_radius_into(MatrixView<T> queries, std::span<const D> radii, const RadiusLists<D>& out,
                                  void* stream = nullptr) const;
  // The same of each base point, itself left out by its id.
  RadiusNeighbors<D> search_radius_self(std::span<const D> radii, RadiusOutput output = RadiusOutput::neighbors,
                                        void* stream = nullptr) const;
  SearchReport search_radius_self_into(std::span<const D> radii, const RadiusLists<D>& out,
                                       void* stream = nullptr) const;

  // The graph of every point's k nearest others (kith/graph.hpp). k ≤ rows − 1.
  Graph<D> graph(std::int64_t k, Symmetrize symmetrize = Symmetrize::none, void* stream = nullptr) const;
  SearchReport graph_into(std::int64_t k, Symmetrize symmetrize, const GraphLists<D>& out,
                          void* stream = nullptr) const;

  // What is made of the k nearest of each query (kith/reduce.hpp); the bits are the same wherever it is made. Queries
  // are refused batch by batch: rows of earlier ones may have been written.
  Reduced<D> reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                    void* stream = nullptr) const;
  SearchReport reduce_into(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op, ReducedView<D> out,
                           void* stream = nullptr) const;

  // The plan of a search of so many queries, without doing it.
  Plan explain(std::int64_t queries, std::int64_t k) const;

 private:
  struct State;
  friend struct OneSearch;
  explicit Index(std::unique_ptr<State> state);
  const State& state() const;

  std::unique_ptr<State> state_;
};

}  // namespace kith
