// reduction.hpp: reductions of neighbors: lists first, then the rows that they name, then the function of one process.
#pragma once

#include <algorithm>
#include <vector>

#include "api/checked_reduction.hpp"
#include "core/fp_environment.hpp"
#include "core/reduce_lists.hpp"
#include "mpi/exchange_meter.hpp"
#include "mpi/fetch_rows.hpp"
#include "mpi/neighbor_search.hpp"
#include "mpi/rank_points.hpp"

namespace kith::mpi {

template <Element T>
class ReductionOfNeighbors {
 public:
  using D = DistanceOf<T>;

  ReductionOfNeighbors(RankPoints<T>& points, NeighborSearch<T>& neighbors) : mine_(points), neighbors_(neighbors) {}

  Reduced<D> reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                    const SearchOptions& how) {
    const core::DefaultFpEnvironment environment;
    const std::int64_t columns = columns_of(values);
    require_same(mine_.ranks,
                 {{"op", to_string(op)}, {"columns of values", std::to_string(core::has_values(op) ? columns : 0)}});
    core::Reduction reduction;
    together(mine_.ranks, [&] {
      // What a rank without rows has in their place.
      const MatrixView<D> none(&kNothing, 1, columns);
      reduction = api::checked_reduction(std::max<std::int64_t>(1, mine_.rows.rows), mine_.dims(), k,
                                         mine_.rows.rows > 0 ? values : none, op, mine_.options);
    });
    if (mine_.options.pad_missing) check_k(k, mine_.points, false, Options{});
    Neighbors<D> found = neighbors_.search(queries, k, false, how);
    const ExchangeMeter meter(mine_.ranks);
    Reduced<D> reduced;
    Agreement agreement(mine_.ranks);
    if (core::has_values(op)) {
      reduced.values = reduce_fetched(reduction, found, values, reduction.columns, agreement);
    } else if (op == ReduceOp::covariance) {
      reduced.values = reduce_fetched(reduction, found, mine_.rows, mine_.dims(), agreement);
    } else {
      agreement.run([&] { reduced.values = reduce_found(reduction, found, MatrixView<T>{}, MatrixView<D>{}); });
      agreement.conclude();
    }
    reduced.report = found.report;
    meter.add_to(neighbors_.report());
    return reduced;
  }

 private:
  // Ranks without rows have no values: theirs are as many as the others have.
  std::int64_t columns_of(MatrixView<D> values) const {
    const auto cols = mine_.ranks.all_gather(mine_.rows.rows > 0 ? values.cols : std::int64_t{0});
    return mine_.rows.rows > 0 ? values.cols : *std::max_element(cols.begin(), cols.end());
  }

  // Of values, or of the neighbors' own coordinates.
  template <Element V>
  Matrix<D> reduce_fetched(const core::Reduction& reduction, Neighbors<D>& found, MatrixView<V> own, std::int64_t cols,
                           Agreement& agreement) {
    const FetchedRows<V> fetched = fetch_rows(mine_.ranks, agreement, found.ids, own, cols, mine_.first_ids);
    Matrix<D> reduced;
    agreement.run([&] {
      for (std::int64_t& id : found.ids) id = fetched.row_of(id);
      if constexpr (std::is_same_v<V, D>) {
        reduced = reduction.op == ReduceOp::covariance
                      ? reduce_found(reduction, found, covariance_base(fetched.view()), MatrixView<D>{})
                      : reduce_found(reduction, found, MatrixView<T>{}, fetched.view());
      } else {
        reduced = reduce_found(reduction, found, fetched.view(), MatrixView<D>{});
      }
    });
    agreement.conclude();
    return reduced;
  }

  // Where points are of the type of distances, those are rows of points.
  static MatrixView<T> covariance_base(MatrixView<D> rows) {
    if constexpr (std::is_same_v<T, D>) return rows;
    return {};
  }

  static Matrix<D> reduce_found(const core::Reduction& reduction, Neighbors<D>& found, MatrixView<T> base,
                                MatrixView<D> values) {
    Matrix<D> reduced(found.queries, core::reduced_columns(reduction));
    core::reduce_lists<T>(reduction, base, values, {found.ids.data(), found.distances.data()}, 0, found.queries,
                          reduced.data());
    return reduced;
  }

  static constexpr D kNothing = 0;
  RankPoints<T>& mine_;
  NeighborSearch<T>& neighbors_;
};

}  // namespace kith::mpi
