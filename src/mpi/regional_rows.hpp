// regional_rows.hpp: all rows put together by region, each where its cell belongs, with their ids and what all ranks
// know of all cells.
//
// Memory    the rows of a region with their ids; while they move, those that leave too.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"
#include "mpi/exchange_parts.hpp"
#include "mpi/regions.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

template <Element T>
struct RegionalRows {
  CellTree cells;
  std::vector<std::vector<CellSummary>> of_ranks;
  std::vector<T> rows;
  std::vector<std::int64_t> ids;
  std::optional<Shard<T>> shard;
  std::int64_t moved_rows = 0;  // that came from other ranks

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(rows.size() * sizeof(T) + ids.size() * sizeof(std::int64_t));
  }
};

// Some metric points of each rank, in proportion to its rows, evenly spaced.
template <Element T>
std::vector<double> sample_of(const Metric& metric, MatrixView<T> rows, std::int64_t all_rows, int ranks) {
  constexpr std::int64_t kSamplesOfCell = 64;
  constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
  std::vector<double> sample;
  if (rows.rows == 0) return sample;
  const std::int64_t affordable = std::max<std::int64_t>(1, kMostBytes / (8 * rows.cols));
  const std::int64_t wanted = std::min(affordable, kSamplesOfCell * kCellsOfRank * ranks);
  const auto share = static_cast<double>(rows.rows) / static_cast<double>(all_rows);
  const std::int64_t count =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(wanted) * share), 1, rows.rows);
  sample.resize(size_of(count * rows.cols));
  for (std::int64_t i = 0; i < count; ++i)
    metric_point(metric, rows.row(i * rows.rows / count), rows.col_stride, rows.cols, sample.data() + i * rows.cols);
  return sample;
}

template <Element T>
class Regrouping {
 public:
  Regrouping(Communicator& ranks, Agreement& agreement, MatrixView<T> own, std::int64_t first_id, std::int64_t all_rows,
             const Options& options)
      : ranks_(ranks), agreement_(agreement), own_(own), first_id_(first_id), all_rows_(all_rows), options_(options) {}

  void run(RegionalRows<T>& out) {
    out = {};
    std::vector<double> sample;
    agreement_.run([&] { sample = sample_of(options_.metric, own_, all_rows_, ranks_.size()); });
    agreement_.conclude();
    std::vector<double> samples = ranks_.all_gather_lists(sample);
    agreement_.run([&] {
      out.cells = CellTree(std::move(samples), own_.cols, ranks_.size() * kCellsOfRank);
      choose(out.cells);
    });
    agreement_.conclude();
    move(out);
    summarize(out);
    options_.check_finite = false;
    agreement_.run([&] {
      out.shard.emplace(MatrixView<T>(out.rows.data(), static_cast<std::int64_t>(out.ids.size()), own_.cols),
                        ShardIds{0, out.ids}, options_);
    });
    agreement_.conclude();
  }

 private:
  // Where each row goes: sorted by rank, by id among those of one.
  void choose(const CellTree& cells) {
    leaving_.assign(size_of(ranks_.size()), 0);
    std::vector<int> rank_of(size_of(own_.rows));
    std::vector<double> point(size_of(own_.cols));
    for (std::int64_t r = 0; r < own_.rows; ++r) {
      metric_point(options_.metric, own_.row(r), own_.col_stride, own_.cols, point.data());
      rank_of[size_of(r)] = cells.cell_of(point.data()) / kCellsOfRank;
      ++leaving_[size_of(rank_of[size_of(r)])];
    }
    std::vector<std::int64_t> next(leaving_.size(), 0);
    for (std::size_t rank = 1; rank < next.size(); ++rank) next[rank] = next[rank - 1] + leaving_[rank - 1];
    rows_.resize(size_of(own_.rows * own_.cols));
    ids_.resize(size_of(own_.rows));
    for (std::int64_t r = 0; r < own_.rows; ++r) {
      const std::int64_t place = next[size_of(rank_of[size_of(r)])]++;
      pack_rows(own_, r, 1, rows_.data() + place * own_.cols);
      ids_[size_of(place)] = first_id_ + r;
    }
  }

  void move(RegionalRows<T>& out) {
    const std::vector<std::int64_t> arriving = ranks_.all_to_all(leaving_);
    std::int64_t total = 0;
    for (const std::int64_t rows : arriving) total += rows;
    agreement_.run([&] {
      out.rows.resize(size_of(total * own_.cols));
      out.ids.resize(size_of(total));
    });
    agreement_.conclude();
    exchange_parts(ranks_, Tag::rows, rows_, leaving_, out.rows, arriving, own_.cols);
    exchange_parts(ranks_, Tag::ids, ids_, leaving_, out.ids, arriving);
    out.moved_rows = total - arriving[size_of(ranks_.rank())];
  }

  void summarize(RegionalRows<T>& out) {
    std::vector<double> mine;
    agreement_.run([&] {
      std::vector<CellSummary> cells(kCellsOfRank, CellSummary(own_.cols));
      std::vector<double> point(size_of(own_.cols));
      for (std::size_t r = 0; r < out.ids.size(); ++r) {
        metric_point(options_.metric, out.rows.data() + r * size_of(own_.cols), 1, own_.cols, point.data());
        cells[size_of(out.cells.cell_of(point.data()) % kCellsOfRank)].add(options_.metric, point.data(), own_.cols);
      }
      for (const CellSummary& cell : cells) {
        const std::vector<double> numbers = cell.packed();
        mine.insert(mine.end(), numbers.begin(), numbers.end());
      }
    });
    agreement_.conclude();
    const std::vector<double> all = ranks_.all_gather_lists(mine);
    const std::size_t size = CellSummary::packed_size(own_.cols);
    const double* at = all.data();
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      std::vector<CellSummary>& cells = out.of_ranks.emplace_back();
      for (int cell = 0; cell < kCellsOfRank; ++cell, at += size) cells.push_back(CellSummary::unpacked(at, own_.cols));
    }
  }

  Communicator& ranks_;
  Agreement& agreement_;
  MatrixView<T> own_;
  std::int64_t first_id_;
  std::int64_t all_rows_;
  Options options_;
  std::vector<std::int64_t> leaving_;  // rows for each rank
  std::vector<T> rows_;
  std::vector<std::int64_t> ids_;
};

}  // namespace kith::mpi
