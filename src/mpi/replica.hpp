// replica.hpp: the rows of several ranks, brought to each of them.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

template <Element T>
struct Replica {
  int replicas = 0;  // of the grid that it was made for; none yet
  std::vector<T> rows;
  std::vector<std::int64_t> ids;
  std::optional<Shard<T>> shard;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(rows.size() * sizeof(T) + ids.size() * sizeof(std::int64_t));
  }
};

// The rows of the ranks of a column. Those of all ranks follow each other, and need no ids of their own.
template <Element T>
void gather_rows(const Group& column, Agreement& agreement, MatrixView<T> own, const std::vector<std::int64_t>& counts,
                 const std::vector<std::int64_t>& first_ids, bool all, Options options, Replica<T>& replica) {
  const std::int64_t cols = own.cols;
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  replica = {};
  agreement.run([&] {
    replica.rows.resize(size_of(total * cols));
    if (!all) replica.ids.reserve(size_of(total));
  });
  agreement.conclude();
  {
    Messages messages(column.ranks, Tag::rows);
    std::int64_t first = 0;
    std::span<T> mine;
    for (int member = 0; member < column.size; ++member) {
      const std::int64_t rows = counts[size_of(member)];
      const std::span<T> place = part(replica.rows, first * cols, rows * cols);
      if (member == column.member()) {
        pack_rows(own, 0, rows, place.data());
        mine = place;
      } else {
        messages.receive(column.rank_of(member), place);
      }
      for (std::int64_t r = 0; !all && r < rows; ++r) replica.ids.push_back(first_ids[size_of(member)] + r);
      first += rows;
    }
    for (int step = 1; step < column.size; ++step)
      messages.send(column.rank_of((column.member() + step) % column.size), mine);
  }
  // The ranks whose they are have looked for NaN.
  options.check_finite = false;
  agreement.run([&] {
    replica.shard.emplace(MatrixView<T>(replica.rows.data(), total, cols), ShardIds{0, replica.ids}, options);
  });
  agreement.conclude();
}

}  // namespace kith::mpi
