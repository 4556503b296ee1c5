// stationary.hpp: rows stay, queries come in batches. The ranks of a group have all rows together, and each searches
// its shard for the queries of all; lists go back to the queries' ranks, which merge them.
//
// Overlap   while batch i is searched, the queries of i + 1 arrive and the lists of i − 1 leave.
// Memory    per batch row of a rank: its row twice and its list three times, for each rank of the group.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/asked.hpp"
#include "mpi/communicator.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

template <Element T>
class StationarySearch {
 public:
  using D = DistanceOf<T>;

  StationarySearch(Agreement& agreement, Group group, const Shard<T>& shard, const Asked<T>& asked,
                   const Options& options)
      : agreement_(agreement), group_(group), shard_(shard), asked_(asked), options_(options) {}

  // Memory is taken, and agreed on, before the first message.
  Neighbors<D> search() {
    agreement_.run([&] { allocate(); });
    agreement_.conclude();
    const std::int64_t batches = asked_.batches();
    if (batches > 0) gather(0);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      slot(batch).queries_under_way->wait();
      if (batch + 1 < batches) gather(batch + 1);
      agreement_.run([&] { search_batch(batch); });
      agreement_.finish();
      agreement_.start();
      if (batch > 0) merge(batch - 1);
      give_lists(batch);
    }
    if (batches > 0) merge(batches - 1);
    agreement_.finish();
    agreement_.conclude();
    return std::move(answer_);
  }

 private:
  struct Slot {
    std::vector<T> rows;             // of all ranks of the group, packed
    std::vector<std::int64_t> self;  // their ids, where they are points of the base
    Neighbors<D> found;
    std::unique_ptr<Messages> queries_under_way;
    std::unique_ptr<Messages> lists_under_way;
  };

  Slot& slot(std::int64_t batch) { return slots_[batch % 2]; }
  int size() const { return group_.size; }
  int me() const { return group_.member(); }
  std::int64_t rows_in(int member, std::int64_t batch) const { return asked_.rows_in(group_.rank_of(member), batch); }
  std::int64_t rows_in_all(std::int64_t batch) const {
    std::int64_t rows = 0;
    for (int member = 0; member < size(); ++member) rows += rows_in(member, batch);
    return rows;
  }

  void allocate() {
    const std::int64_t rows = rows_in_all(0);
    for (Slot& each : slots_) {
      each.rows.resize(size_of(rows * asked_.queries.cols));
      if (asked_.self()) each.self.resize(size_of(rows));
    }
    const std::int64_t mine = rows_in(me(), 0);
    arrived_ids_.resize(size_of(mine * asked_.k * size()));
    arrived_distances_.resize(arrived_ids_.size());
    answer_ = no_neighbors<D>(asked_.queries.rows, asked_.k, options_.metric);
  }

  void gather(std::int64_t batch) {
    Slot& to = slot(batch);
    const std::int64_t cols = asked_.queries.cols;
    to.queries_under_way = std::make_unique<Messages>(group_.ranks, Tag::queries);
    std::int64_t first = 0;
    std::int64_t first_own = 0;
    for (int member = 0; member < size(); ++member) {
      const std::int64_t rows = rows_in(member, batch);
      for (std::int64_t r = 0; asked_.self() && r < rows; ++r)
        to.self[size_of(first + r)] = asked_.first_ids[size_of(group_.rank_of(member))] + batch * asked_.batch_rows + r;
      if (member == me()) {
        pack_rows(asked_.queries, batch * asked_.batch_rows, rows, to.rows.data() + first * cols);
        first_own = first;
      } else {
        to.queries_under_way->receive(group_.rank_of(member), part(to.rows, first * cols, rows * cols));
      }
      first += rows;
    }
    // Ranks begin with different ones, so that no rank is sent to by all at once.
    const auto own = part(to.rows, first_own * cols, rows_in(me(), batch) * cols);
    for (int step = 1; step < size(); ++step) to.queries_under_way->send(group_.rank_of((me() + step) % size()), own);
  }

  void search_batch(std::int64_t batch) {
    Slot& at = slot(batch);
    const std::int64_t rows = rows_in_all(batch);
    const MatrixView<T> queries(at.rows.data(), rows, asked_.queries.cols);
    at.found = {};
    at.found = shard_.search(queries, asked_.k, asked_.self() ? part(at.self, 0, rows) : std::span<std::int64_t>());
  }

  // Ranks that failed give lists too, of nothing: the others count on them until all have agreed.
  void give_lists(std::int64_t batch) {
    Slot& from = slot(batch);
    const std::int64_t k = asked_.k;
    if (agreement_.failed()) from.found = no_neighbors<D>(rows_in_all(batch), k, options_.metric);
    from.lists_under_way = std::make_unique<Messages>(group_.ranks, Tag::lists);
    Messages& messages = *from.lists_under_way;
    const std::int64_t mine = rows_in(me(), batch) * k;
    std::int64_t first = 0;
    for (int member = 0; member < size(); ++member) {
      const std::int64_t places = rows_in(member, batch) * k;
      if (member == me()) {
        own_first_[batch % 2] = first;
      } else {
        messages.receive(group_.rank_of(member), part(arrived_ids_, member * mine, mine));
        messages.receive(group_.rank_of(member), part(arrived_distances_, member * mine, mine));
        messages.send(group_.rank_of(member), part(from.found.ids, first, places));
        messages.send(group_.rank_of(member), part(from.found.distances, first, places));
      }
      first += places;
    }
  }

  void merge(std::int64_t batch) {
    Slot& from = slot(batch);
    from.lists_under_way->wait();
    answer_.report = std::move(from.found.report);
    const std::int64_t rows = rows_in(me(), batch);
    const std::int64_t k = asked_.k;
    if (rows == 0) return;
    agreement_.run([&] {
      std::vector<NeighborLists<D>> lists;
      for (int member = 0; member < size(); ++member) {
        const std::int64_t at = member * rows * k;
        if (member == me()) {
          const std::int64_t own = own_first_[batch % 2];
          lists.push_back({from.found.ids.data() + own, from.found.distances.data() + own, k});
        } else {
          lists.push_back({arrived_ids_.data() + at, arrived_distances_.data() + at, k});
        }
      }
      const std::int64_t place = batch * asked_.batch_rows * k;
      merge_neighbors<D>(lists, rows, k, options_.metric,
                         {answer_.ids.data() + place, answer_.distances.data() + place}, options_.threads);
    });
  }

  Agreement& agreement_;
  Group group_;
  const Shard<T>& shard_;
  const Asked<T>& asked_;
  const Options& options_;
  // Before the slots: their messages end first.
  std::vector<std::int64_t> arrived_ids_;
  std::vector<D> arrived_distances_;
  Slot slots_[2];
  std::int64_t own_first_[2] = {0, 0};  // where this rank's own lists begin in what it found
  Neighbors<D> answer_;
};

}  // namespace kith::mpi
