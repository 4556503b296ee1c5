// asked.hpp: the queries of this rank, and how many all ranks have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kith/matrix.hpp"

namespace kith::mpi {

template <Element T>
struct Asked {
  MatrixView<T> queries;
  std::int64_t first_id = -1;  // where the queries are rows of the base: the first one's id
  std::int64_t k = 0;
  std::int64_t batch_rows = 1;
  std::vector<std::int64_t> counts;     // of queries, of each rank
  std::vector<std::int64_t> first_ids;  // of each rank where the queries are rows

  bool self() const { return first_id >= 0; }
  // Batches of all ranks, the one with most queries included.
  std::int64_t batches() const {
    const std::int64_t most = *std::max_element(counts.begin(), counts.end());
    return (most + batch_rows - 1) / batch_rows;
  }
  // Queries of a rank in a batch.
  std::int64_t rows_in(std::int64_t rank, std::int64_t batch) const {
    return std::clamp<std::int64_t>(counts[static_cast<std::size_t>(rank)] - batch * batch_rows, 0, batch_rows);
  }
};

}  // namespace kith::mpi
