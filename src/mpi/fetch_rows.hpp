// fetch_rows.hpp: rows that other ranks have, by their ids.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"
#include "mpi/exchange_parts.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

// The rows that some lists name, each once, ascending by id.
template <Element V>
struct FetchedRows {
  std::vector<std::int64_t> ids;
  std::vector<V> values;
  std::int64_t cols = 0;

  MatrixView<V> view() const { return {values.data(), static_cast<std::int64_t>(ids.size()), cols}; }
  std::int64_t row_of(std::int64_t id) const { return std::lower_bound(ids.begin(), ids.end(), id) - ids.begin(); }
};

// `own` are this rank's rows, the first of which has the id first_ids[rank].
template <Element V>
FetchedRows<V> fetch_rows(Communicator& ranks, Agreement& agreement, const std::vector<std::int64_t>& named,
                          MatrixView<V> own, std::int64_t cols, const std::vector<std::int64_t>& first_ids) {
  FetchedRows<V> fetched;
  fetched.cols = cols;
  std::vector<std::int64_t> wanted(size_of(ranks.size()));  // of each rank
  agreement.run([&] {
    fetched.ids = named;
    std::sort(fetched.ids.begin(), fetched.ids.end());
    fetched.ids.erase(std::unique(fetched.ids.begin(), fetched.ids.end()), fetched.ids.end());
    fetched.values.resize(fetched.ids.size() * size_of(cols));
    // Ranks without rows begin where the next one does: the last of them has the id.
    for (const std::int64_t id : fetched.ids)
      ++wanted[size_of(std::upper_bound(first_ids.begin(), first_ids.end(), id) - first_ids.begin() - 1)];
  });
  agreement.conclude();
  const std::vector<std::int64_t> asked = ranks.all_to_all(wanted);
  std::vector<std::int64_t> asked_ids;
  std::vector<V> given;
  agreement.run([&] {
    const std::int64_t total = std::accumulate(asked.begin(), asked.end(), std::int64_t{0});
    asked_ids.resize(size_of(total));
    given.resize(size_of(total * cols));
  });
  agreement.conclude();
  exchange_parts(ranks, Tag::ids, fetched.ids, wanted, asked_ids, asked);
  for (std::size_t i = 0; i < asked_ids.size(); ++i)
    pack_rows(own, asked_ids[i] - first_ids[size_of(ranks.rank())], 1, given.data() + i * size_of(cols));
  exchange_parts(ranks, Tag::rows, given, asked, fetched.values, wanted, cols);
  return fetched;
}

}  // namespace kith::mpi
