// radius_search.hpp: all points within radii, with layout stationary.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <vector>

#include "core/fp_environment.hpp"
#include "mpi/exchange_meter.hpp"
#include "mpi/radius_batches.hpp"
#include "mpi/rank_points.hpp"

namespace kith::mpi {

template <Element T>
class RadiusSearch {
 public:
  using D = DistanceOf<T>;

  explicit RadiusSearch(RankPoints<T>& points) : mine_(points) {}

  RadiusNeighbors<D> search(MatrixView<T> queries, std::span<const D> radii, bool self, const SearchOptions& how,
                            ExchangeReport& report) {
    const core::DefaultFpEnvironment environment;
    const ExchangeMeter meter(mine_.ranks);
    Asked<T> asked = mine_.asked_of(queries, 1, self);
    mine_.check_asked(asked, how);
    if (how.layout != Layout::automatic && how.layout != Layout::stationary)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("layout {} for a search by radius, which has layout stationary", to_string(how.layout)));
    SearchOptions stationary = how;
    stationary.layout = Layout::stationary;
    asked.batch_rows = batch_rows_of(mpi::explain(mine_.facts_of(asked.counts, 1), stationary).chosen, asked.counts);
    std::vector<D> of_each;
    together(mine_.ranks, [&] { of_each = checked_radii(radii, asked.queries.rows); });
    report = {};
    Agreement agreement(mine_.ranks);
    RadiusNeighbors<D> found =
        RadiusBatches<T>(mine_.ranks, agreement, *mine_.shard, asked, std::span<const D>(of_each), mine_.options)
            .search();
    found.report.seconds = meter.seconds();
    meter.add_to(report);
    return found;
  }

 private:
  // One for each query: what one process says of them, its ranks say.
  std::vector<D> checked_radii(std::span<const D> radii, std::int64_t queries) const {
    const auto count = static_cast<std::int64_t>(radii.size());
    const bool products = mine_.options.metric.kind == MetricKind::inner_product;
    if (std::isfinite(mine_.options.max_distance))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("max_distance = {} is for the k nearest; a radius search has its radius",
                              mine_.options.max_distance));
    if (count != 1 && count != queries)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} radii for {} queries; one for all or one for each is needed", count, queries));
    for (std::size_t i = 0; i < radii.size(); ++i)
      if (std::isnan(radii[i]) || (radii[i] < 0 && !products))
        throw Error(ErrorCode::invalid_argument, fmt::format("radius = {} of query {}; it must be {}", radii[i], i,
                                                             products ? "a number" : "0 or more"));
    std::vector<D> of_each(radii.begin(), radii.end());
    if (count == 1) of_each.assign(size_of(queries), radii.front());
    return of_each;
  }

  RankPoints<T>& mine_;
};

}  // namespace kith::mpi
