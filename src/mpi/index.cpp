// index.cpp: the functions of mpi::Index.
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/neighbor_graph.hpp"
#include "kith/mpi.hpp"
#include "mpi/neighbor_search.hpp"
#include "mpi/radius_search.hpp"
#include "mpi/rank_points.hpp"
#include "mpi/reduction.hpp"

namespace kith::mpi {

template <Element T>
struct Index<T>::State {
  RankPoints<T> points;
  NeighborSearch<T> neighbors;

  State(MPI_Comm comm, MatrixView<T> my_rows, Options options)
      : points(comm, my_rows, std::move(options)), neighbors(points) {}
};

template <Element T>
Index<T>::Index(MPI_Comm comm, MatrixView<T> my_rows, Options options)
    : state_(std::make_unique<State>(comm, my_rows, std::move(options))) {}
template <Element T>
Index<T>::Index(Index&&) noexcept = default;
template <Element T>
Index<T>& Index<T>::operator=(Index&&) noexcept = default;
template <Element T>
Index<T>::~Index() = default;

template <Element T>
std::int64_t Index<T>::rows() const {
  return state_->points.points;
}
template <Element T>
std::int64_t Index<T>::first_row() const {
  return state_->points.first_id();
}
template <Element T>
std::int64_t Index<T>::dims() const {
  return state_->points.dims();
}
template <Element T>
const ExchangeReport& Index<T>::report() const {
  return state_->neighbors.report();
}

template <Element T>
auto Index<T>::search(MatrixView<T> my_queries, std::int64_t k, const SearchOptions& how) -> Neighbors<D> {
  return state_->neighbors.search(my_queries, k, false, how);
}
template <Element T>
auto Index<T>::search_self(std::int64_t k, const SearchOptions& how) -> Neighbors<D> {
  return state_->neighbors.search(state_->points.rows, k, true, how);
}
template <Element T>
auto Index<T>::search_radius(MatrixView<T> my_queries, std::span<const D> radii, const SearchOptions& how)
    -> RadiusNeighbors<D> {
  return RadiusSearch<T>(state_->points).search(my_queries, radii, false, how, state_->neighbors.report());
}
template <Element T>
auto Index<T>::search_radius_self(std::span<const D> radii, const SearchOptions& how) -> RadiusNeighbors<D> {
  return RadiusSearch<T>(state_->points).search(state_->points.rows, radii, true, how, state_->neighbors.report());
}

template <Element T>
auto Index<T>::graph(std::int64_t k, const SearchOptions& how) -> Graph<D> {
  Neighbors<D> found = search_self(k, how);
  Graph<D> made;
  made.points = found.queries;
  made.report = std::move(found.report);
  together(state_->points.ranks, [&] {
    core::SparseRows<D> rows =
        core::rows_of_lists(found.queries, found.k, std::move(found.ids), std::move(found.distances));
    made.indptr = std::move(rows.indptr);
    made.indices = std::move(rows.indices);
    made.data = std::move(rows.data);
  });
  return made;
}

template <Element T>
auto Index<T>::reduce(MatrixView<T> my_queries, std::int64_t k, MatrixView<D> my_values, ReduceOp op,
                      const SearchOptions& how) -> Reduced<D> {
  return ReductionOfNeighbors<T>(state_->points, state_->neighbors).reduce(my_queries, k, my_values, op, how);
}

template <Element T>
LayoutPlan Index<T>::explain(std::int64_t queries, std::int64_t k, const SearchOptions& how) {
  RankPoints<T>& points = state_->points;
  const std::int64_t size = points.ranks.size();
  std::vector<std::int64_t> spread(size_of(size), queries / size);
  for (std::int64_t rank = 0; rank < queries % size; ++rank) ++spread[size_of(rank)];
  require_same(points.ranks, {{"queries", std::to_string(queries)}, {"k", std::to_string(k)}});
  return mpi::explain(points.facts_of(spread, k), how);
}

#define KITH_INSTANTIATE(T) template class Index<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::mpi
