// ring.hpp: queries and lists stay, rows go round: each rank searches its own rows, then those of the next rank, and so
// on, and begins each search with the lists of those before.
//
// Overlap   the rows of the next step arrive in one slot while those of the other are searched, and leave for the rank
//           before.
// Memory    two slots of the largest rank's rows.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/asked.hpp"
#include "mpi/communicator.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

// The ids of this rank's rows where they are the queries; else none.
template <Element T>
std::vector<std::int64_t> ids_of_queries(const Asked<T>& asked) {
  std::vector<std::int64_t> ids(asked.self() ? size_of(asked.queries.rows) : 0);
  std::iota(ids.begin(), ids.end(), asked.first_id);
  return ids;
}

template <Element T>
struct RingRows {
  MatrixView<T> own;
  const Shard<T>& own_shard;
  const std::vector<std::int64_t>& counts;     // of each rank
  const std::vector<std::int64_t>& first_ids;  // of each rank
};

template <Element T>
Neighbors<DistanceOf<T>> search_ring(Communicator& ranks, Agreement& agreement, const RingRows<T>& rows,
                                     const Asked<T>& asked, Options options) {
  using D = DistanceOf<T>;
  const std::int64_t cols = asked.queries.cols;
  const int size = ranks.size();
  const int before = (ranks.rank() + size - 1) % size;
  const int after = (ranks.rank() + 1) % size;
  // The ranks whose they are have looked for NaN.
  options.check_finite = false;
  std::vector<std::int64_t> self;
  std::vector<T> slots[2];
  Neighbors<D> found;
  agreement.run([&] {
    const std::int64_t most = *std::max_element(rows.counts.begin(), rows.counts.end());
    for (std::vector<T>& slot : slots) slot.resize(size > 1 ? size_of(most * cols) : 0);
    if (size > 1) pack_rows(rows.own, 0, rows.own.rows, slots[0].data());
    self = ids_of_queries(asked);
  });
  agreement.conclude();
  for (int step = 0; step < size; ++step) {
    const std::size_t holder = size_of((ranks.rank() + step) % size);
    std::vector<T>& here = slots[step % 2];
    Messages messages(ranks, Tag::rows);
    if (step + 1 < size) {
      const std::size_t next = (holder + 1) % size_of(size);
      messages.receive(after, part(slots[(step + 1) % 2], 0, rows.counts[next] * cols));
      messages.send(before, part(here, 0, rows.counts[holder] * cols));
    }
    agreement.run([&] {
      if (step == 0) {
        found = rows.own_shard.search(asked.queries, asked.k, self);
        return;
      }
      // Nothing is made of rows for which there are no queries.
      if (asked.queries.rows == 0) return;
      const Shard<T> shard(MatrixView<T>(here.data(), rows.counts[holder], cols), {rows.first_ids[holder], {}},
                           options);
      found = shard.search(asked.queries, asked.k, self, &found);
    });
    messages.wait();
    agreement.conclude();
  }
  return found;
}

}  // namespace kith::mpi
