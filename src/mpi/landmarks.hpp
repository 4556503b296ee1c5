// landmarks.hpp: search of rows that lie by region: each query is asked of the rank of its cell, then, with the list
// that was found there, of those ranks for which the bounds of some cell leave a neighbor possible.
//
// Memory    queries of a batch and their lists, here and where they are asked.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/asked.hpp"
#include "mpi/communicator.hpp"
#include "mpi/exchange_parts.hpp"
#include "mpi/regional_rows.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

struct LandmarkCounts {
  std::int64_t asked_away = 0;  // queries whose cell is another rank's
  std::int64_t forwarded = 0;   // queries that more ranks were asked of
  std::int64_t forwards = 0;    // of queries to other ranks, beyond their cells' ranks
};

template <Element T>
class LandmarkSearch {
 public:
  using D = DistanceOf<T>;

  LandmarkSearch(Communicator& ranks, Agreement& agreement, const RegionalRows<T>& regions, const Asked<T>& asked,
                 const Options& options)
      : ranks_(ranks),
        agreement_(agreement),
        regions_(regions),
        asked_(asked),
        options_(options),
        bounds_(options.metric, asked.queries.cols),
        point_(size_of(asked.queries.cols)) {}

  Neighbors<D> search(LandmarkCounts& counts) {
    agreement_.run([&] { answer_ = no_neighbors<D>(asked_.queries.rows, asked_.k, options_.metric); });
    agreement_.conclude();
    for (std::int64_t batch = 0; batch < asked_.batches(); ++batch) {
      first_ = batch * asked_.batch_rows;
      rows_ = asked_.rows_in(ranks_.rank(), batch);
      ask(homes(counts), false);
      ask(forwards(counts), true);
    }
    return std::move(answer_);
  }

 private:
  using Items = std::vector<std::vector<std::int64_t>>;  // queries for each rank

  Items homes(LandmarkCounts& counts) {
    Items items(size_of(ranks_.size()));
    home_.resize(size_of(rows_));
    for (std::int64_t q = 0; q < rows_; ++q) {
      const int rank = regions_.cells.cell_of(point_of(first_ + q)) / kCellsOfRank;
      home_[size_of(q)] = rank;
      items[size_of(rank)].push_back(first_ + q);
      counts.asked_away += rank == ranks_.rank() ? 0 : 1;
    }
    return items;
  }

  Items forwards(LandmarkCounts& counts) {
    Items items(size_of(ranks_.size()));
    for (std::int64_t q = 0; q < rows_; ++q) {
      bool forwarded = false;
      const double* point = point_of(first_ + q);
      const double theta = bounds_.theta(answer_.distances[size_of((first_ + q + 1) * asked_.k - 1)]);
      for (int rank = 0; rank < ranks_.size(); ++rank) {
        if (rank == home_[size_of(q)] || !may_hold(rank, point, theta)) continue;
        items[size_of(rank)].push_back(first_ + q);
        forwarded = true;
        counts.forwards += rank == ranks_.rank() ? 0 : 1;
      }
      counts.forwarded += forwarded ? 1 : 0;
    }
    return items;
  }

  bool may_hold(int rank, const double* point, double theta) const {
    const auto& cells = regions_.of_ranks[size_of(rank)];
    return std::any_of(cells.begin(), cells.end(),
                       [&](const CellSummary& cell) { return bounds_.may_hold(cell, point, theta); });
  }

  const double* point_of(std::int64_t query) {
    metric_point(options_.metric, asked_.queries.row(query), asked_.queries.col_stride, asked_.queries.cols,
                 point_.data());
    return point_.data();
  }

  // Queries of all ranks that this one is asked, and what comes of them.
  struct Visit {
    std::vector<std::int64_t> counts;  // from each rank
    std::int64_t total = 0;
    std::vector<T> rows;
    std::vector<std::int64_t> self;
    Neighbors<D> lists;
  };

  // Asks each rank its items, and merges what it answers; `seeded` sends lists along.
  void ask(const Items& items, bool seeded) {
    std::vector<std::int64_t> sizes;
    for (const auto& of_rank : items) sizes.push_back(static_cast<std::int64_t>(of_rank.size()));
    const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    Visit out{sizes, total, {}, {}, {}};
    Visit in{ranks_.all_to_all(sizes), 0, {}, {}, {}};
    in.total = std::accumulate(in.counts.begin(), in.counts.end(), std::int64_t{0});
    agreement_.run([&] {
      pack(items, out);
      in.rows.resize(size_of(in.total * asked_.queries.cols));
      if (asked_.self()) in.self.resize(size_of(in.total));
      in.lists = no_neighbors<D>(in.total, asked_.k, options_.metric);
    });
    agreement_.conclude();
    exchange_parts(ranks_, Tag::queries, out.rows, out.counts, in.rows, in.counts, asked_.queries.cols);
    if (asked_.self()) exchange_parts(ranks_, Tag::ids, out.self, out.counts, in.self, in.counts);
    if (seeded) exchange_lists(out, in);
    agreement_.run([&] {
      const MatrixView<T> queries(in.rows.data(), in.total, asked_.queries.cols);
      in.lists = regions_.shard->search(queries, asked_.k, in.self, &in.lists);
      if (in.total > 0) answer_.report = in.lists.report;
    });
    agreement_.conclude();
    exchange_lists(in, out);
    agreement_.run([&] { merge(items, out); });
    agreement_.conclude();
  }

  void pack(const Items& items, Visit& out) {
    const std::int64_t k = asked_.k;
    out.rows.resize(size_of(out.total * asked_.queries.cols));
    out.lists = no_neighbors<D>(out.total, k, options_.metric);
    std::int64_t at = 0;
    for (const auto& of_rank : items)
      for (const std::int64_t query : of_rank) {
        pack_rows(asked_.queries, query, 1, out.rows.data() + at * asked_.queries.cols);
        if (asked_.self()) out.self.push_back(asked_.first_id + query);
        std::copy_n(answer_.ids.begin() + query * k, k, out.lists.ids.begin() + at * k);
        std::copy_n(answer_.distances.begin() + query * k, k, out.lists.distances.begin() + at * k);
        ++at;
      }
  }

  void exchange_lists(Visit& from, Visit& to) {
    exchange_parts(ranks_, Tag::lists, from.lists.ids, from.counts, to.lists.ids, to.counts, asked_.k);
    exchange_parts(ranks_, Tag::lists, from.lists.distances, from.counts, to.lists.distances, to.counts, asked_.k);
  }

  // One rank's answers after the other: no query is asked twice of the same.
  void merge(const Items& items, const Visit& out) {
    const std::int64_t k = asked_.k;
    std::int64_t first = 0;
    for (const auto& of_rank : items) {
      const auto count = static_cast<std::int64_t>(of_rank.size());
      Neighbors<D> before = no_neighbors<D>(count, k, options_.metric);
      Neighbors<D> merged = before;
      for (std::int64_t i = 0; i < count; ++i) {
        std::copy_n(answer_.ids.begin() + of_rank[size_of(i)] * k, k, before.ids.begin() + i * k);
        std::copy_n(answer_.distances.begin() + of_rank[size_of(i)] * k, k, before.distances.begin() + i * k);
      }
      const NeighborLists<D> lists[] = {{before.ids.data(), before.distances.data(), k},
                                        {out.lists.ids.data() + first * k, out.lists.distances.data() + first * k, k}};
      if (count > 0)
        merge_neighbors<D>(lists, count, k, options_.metric, {merged.ids.data(), merged.distances.data()},
                           options_.threads);
      for (std::int64_t i = 0; i < count; ++i) {
        std::copy_n(merged.ids.begin() + i * k, k, answer_.ids.begin() + of_rank[size_of(i)] * k);
        std::copy_n(merged.distances.begin() + i * k, k, answer_.distances.begin() + of_rank[size_of(i)] * k);
      }
      first += count;
    }
  }

  Communicator& ranks_;
  Agreement& agreement_;
  const RegionalRows<T>& regions_;
  const Asked<T>& asked_;
  const Options& options_;
  CellBounds<D> bounds_;
  std::vector<double> point_;
  std::vector<int> home_;
  std::int64_t first_ = 0;
  std::int64_t rows_ = 0;
  Neighbors<D> answer_;
};

}  // namespace kith::mpi
