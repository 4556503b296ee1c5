// radius_batches.hpp: radius search with layout stationary: batches of queries with their radii go to all ranks, lists
// of any length come back, and are merged at the queries' ranks.
#pragma once

#include <span>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/asked.hpp"
#include "mpi/communicator.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

template <Element T>
class RadiusBatches {
 public:
  using D = DistanceOf<T>;

  // A radius for each query.
  RadiusBatches(Communicator& ranks, Agreement& agreement, const Shard<T>& shard, const Asked<T>& asked,
                std::span<const D> radii, const Options& options)
      : ranks_(ranks), agreement_(agreement), shard_(shard), asked_(asked), radii_(radii), options_(options) {}

  RadiusNeighbors<D> search() {
    answer_.queries = asked_.queries.rows;
    answer_.offsets = {0};
    for (std::int64_t batch = 0; batch < asked_.batches(); ++batch) {
      gather(batch);
      RadiusNeighbors<D> found;
      agreement_.run([&] {
        const MatrixView<T> queries(rows_.data(), static_cast<std::int64_t>(batch_radii_.size()), asked_.queries.cols);
        found = shard_.search_radius(queries, batch_radii_, self_);
      });
      agreement_.conclude();
      give_back(batch, found);
    }
    return std::move(answer_);
  }

 private:
  std::int64_t size() const { return ranks_.size(); }

  void gather(std::int64_t batch) {
    const std::int64_t cols = asked_.queries.cols;
    std::int64_t total = 0;
    for (int rank = 0; rank < size(); ++rank) total += asked_.rows_in(rank, batch);
    agreement_.run([&] {
      rows_.resize(size_of(total * cols));
      batch_radii_.resize(size_of(total));
      self_.clear();
    });
    agreement_.conclude();
    Messages messages(ranks_, Tag::queries);
    std::int64_t first = 0;
    std::span<T> own;
    for (int rank = 0; rank < size(); ++rank) {
      const std::int64_t rows = asked_.rows_in(rank, batch);
      for (std::int64_t r = 0; asked_.self() && r < rows; ++r)
        self_.push_back(asked_.first_ids[size_of(rank)] + batch * asked_.batch_rows + r);
      const auto place = part(rows_, first * cols, rows * cols);
      const auto radii = part(batch_radii_, first, rows);
      if (rank == ranks_.rank()) {
        pack_rows(asked_.queries, batch * asked_.batch_rows, rows, place.data());
        const auto from =
            radii_.subspan(size_of(std::min(batch * asked_.batch_rows, asked_.queries.rows)), radii.size());
        std::copy(from.begin(), from.end(), radii.begin());
        own = place;
        own_radii_ = radii;
      } else {
        messages.receive(rank, place);
        messages.receive(rank, radii);
      }
      first += rows;
    }
    for (int step = 1; step < size(); ++step) {
      const int to = (ranks_.rank() + step) % ranks_.size();
      messages.send(to, own);
      messages.send(to, own_radii_);
    }
    messages.wait();
  }

  // Lengths first, then the lists.
  void give_back(std::int64_t batch, RadiusNeighbors<D>& found) {
    const std::int64_t mine = asked_.rows_in(ranks_.rank(), batch);
    std::vector<RadiusNeighbors<D>> parts(size_of(size()));
    {
      Messages messages(ranks_, Tag::lists);
      for_each_rank(batch, [&](int rank, std::int64_t first, std::int64_t rows) {
        RadiusNeighbors<D>& from = parts[size_of(rank)];
        from.queries = mine;
        from.offsets.resize(size_of(mine) + 1);
        if (rank == ranks_.rank()) {
          std::copy_n(found.offsets.begin() + first, rows + 1, from.offsets.begin());
        } else {
          messages.receive(rank, std::span(from.offsets));
          messages.send(rank, part(found.offsets, first, rows + 1));
        }
      });
    }
    agreement_.run([&] {
      for (RadiusNeighbors<D>& from : parts) {
        const std::int64_t begin = from.offsets.front();
        for (std::int64_t& offset : from.offsets) offset -= begin;
        from.ids.resize(size_of(from.offsets.back()));
        from.distances.resize(from.ids.size());
      }
    });
    agreement_.conclude();
    {
      Messages messages(ranks_, Tag::lists);
      for_each_rank(batch, [&](int rank, std::int64_t first, std::int64_t rows) {
        RadiusNeighbors<D>& from = parts[size_of(rank)];
        const std::int64_t begin = found.offsets[size_of(first)];
        const std::int64_t count = found.offsets[size_of(first + rows)] - begin;
        const auto ids = part(found.ids, begin, count);
        const auto distances = part(found.distances, begin, count);
        if (rank == ranks_.rank()) {
          std::copy(ids.begin(), ids.end(), from.ids.begin());
          std::copy(distances.begin(), distances.end(), from.distances.begin());
        } else {
          messages.receive(rank, std::span(from.ids));
          messages.receive(rank, std::span(from.distances));
          messages.send(rank, ids);
          messages.send(rank, distances);
        }
      });
    }
    agreement_.run([&] { append(merge_radius<D>(parts, options_.metric)); });
    agreement_.conclude();
  }

  template <class Visit>
  void for_each_rank(std::int64_t batch, Visit visit) {
    std::int64_t first = 0;
    for (int rank = 0; rank < size(); ++rank) {
      const std::int64_t rows = asked_.rows_in(rank, batch);
      visit(rank, first, rows);
      first += rows;
    }
  }

  void append(const RadiusNeighbors<D>& merged) {
    const std::int64_t begin = answer_.offsets.back();
    for (std::size_t q = 1; q < merged.offsets.size(); ++q) answer_.offsets.push_back(begin + merged.offsets[q]);
    answer_.ids.insert(answer_.ids.end(), merged.ids.begin(), merged.ids.end());
    answer_.distances.insert(answer_.distances.end(), merged.distances.begin(), merged.distances.end());
  }

  Communicator& ranks_;
  Agreement& agreement_;
  const Shard<T>& shard_;
  const Asked<T>& asked_;
  std::span<const D> radii_;
  const Options& options_;
  std::vector<T> rows_;  // of a batch of all ranks
  std::vector<D> batch_radii_;
  std::span<D> own_radii_;
  std::vector<std::int64_t> self_;
  RadiusNeighbors<D> answer_;
};

}  // namespace kith::mpi
