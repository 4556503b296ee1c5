// neighbor_search.hpp: the k nearest, with the layout that the facts of a search choose.
#pragma once

#include <optional>
#include <vector>

#include "core/fp_environment.hpp"
#include "mpi/exchange_meter.hpp"
#include "mpi/landmarks.hpp"
#include "mpi/rank_points.hpp"
#include "mpi/regional_rows.hpp"
#include "mpi/replica.hpp"
#include "mpi/ring.hpp"
#include "mpi/stationary.hpp"

namespace kith::mpi {

template <Element T>
class NeighborSearch {
 public:
  using D = DistanceOf<T>;

  explicit NeighborSearch(RankPoints<T>& points) : mine_(points) {}

  Neighbors<D> search(MatrixView<T> queries, std::int64_t k, bool self, const SearchOptions& how) {
    const core::DefaultFpEnvironment environment;
    const ExchangeMeter meter(mine_.ranks);
    Asked<T> asked = mine_.asked_of(queries, k, self);
    mine_.check_asked(asked, how);
    check_k(k, mine_.points, self, mine_.options);
    const LayoutCost layout = mpi::explain(mine_.facts_of(asked.counts, k), how).chosen;
    asked.batch_rows = batch_rows_of(layout, asked.counts);
    report_ = {};
    report_.layout = layout.layout;
    Agreement agreement(mine_.ranks);
    Neighbors<D> found = search_by(layout, asked, agreement);
    found.report.seconds = meter.seconds();
    meter.add_to(report_);
    return found;
  }

  const ExchangeReport& report() const { return report_; }
  ExchangeReport& report() { return report_; }

 private:
  Neighbors<D> search_by(const LayoutCost& layout, const Asked<T>& asked, Agreement& agreement) {
    switch (layout.layout) {
      case Layout::ring:
        return search_ring<T>(mine_.ranks, agreement,
                              RingRows<T>{mine_.rows, *mine_.shard, mine_.counts, mine_.first_ids}, asked,
                              mine_.options);
      case Layout::landmarks: return search_landmarks(asked, agreement);
      case Layout::replicated:
      case Layout::grid: return search_grid(layout, asked, agreement);
      default:
        return StationarySearch<T>(agreement, Group{mine_.ranks, 0, 1, mine_.ranks.size()}, *mine_.shard, asked,
                                   mine_.options)
            .search();
    }
  }

  // Groups of ranks that follow each other have all rows; a column is the ranks at the same place of each group.
  Neighbors<D> search_grid(const LayoutCost& layout, const Asked<T>& asked, Agreement& agreement) {
    const int shards = mine_.ranks.size() / layout.replicas;
    if (replica_.replicas != layout.replicas) {
      const Group column{mine_.ranks, mine_.ranks.rank() % shards, shards, layout.replicas};
      std::vector<std::int64_t> column_counts;
      std::vector<std::int64_t> column_ids;
      for (int member = 0; member < column.size; ++member) {
        column_counts.push_back(mine_.counts[size_of(column.rank_of(member))]);
        column_ids.push_back(mine_.first_ids[size_of(column.rank_of(member))]);
      }
      gather_rows(column, agreement, mine_.rows, column_counts, column_ids, shards == 1, mine_.options, replica_);
      replica_.replicas = layout.replicas;
    }
    report_.memory_bytes = replica_.bytes();
    const Group members{mine_.ranks, mine_.ranks.rank() / shards * shards, 1, shards};
    if (shards > 1) return StationarySearch<T>(agreement, members, *replica_.shard, asked, mine_.options).search();
    Neighbors<D> found;
    agreement.run([&] { found = replica_.shard->search(asked.queries, asked.k, ids_of_queries(asked)); });
    agreement.conclude();
    return found;
  }

  Neighbors<D> search_landmarks(const Asked<T>& asked, Agreement& agreement) {
    if (!regions_) {
      RegionalRows<T>& made = regions_.emplace();
      try {
        Regrouping<T>(mine_.ranks, agreement, mine_.rows, mine_.first_id(), mine_.points, mine_.options).run(made);
      } catch (...) {
        regions_.reset();
        throw;
      }
      report_.moved_rows = made.moved_rows;
    }
    LandmarkCounts asked_of_others;
    Neighbors<D> found =
        LandmarkSearch<T>(mine_.ranks, agreement, *regions_, asked, mine_.options).search(asked_of_others);
    report_.memory_bytes = regions_->bytes();
    report_.asked_away = asked_of_others.asked_away;
    report_.forwarded = asked_of_others.forwarded;
    report_.forwards = asked_of_others.forwards;
    return found;
  }

  RankPoints<T>& mine_;
  // Made for a layout when it is first taken, and kept for the next search.
  Replica<T> replica_;
  std::optional<RegionalRows<T>> regions_;
  ExchangeReport report_;
};

}  // namespace kith::mpi
