// exchange_parts.hpp: something of each rank for each other one.
#pragma once

#include <algorithm>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {

// Parts of `from`, in the order of ranks, away[rank] items of `each` elements, go to the ranks; what comes lies in `to`
// in the same order.
template <class V>
void exchange_parts(const Communicator& ranks, Tag tag, std::vector<V>& from, const std::vector<std::int64_t>& away,
                    std::vector<V>& to, const std::vector<std::int64_t>& arriving, std::int64_t each = 1) {
  Messages messages(ranks, tag);
  std::int64_t first_away = 0;
  std::int64_t first_in = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto sent = part(from, first_away * each, away[size_of(rank)] * each);
    const auto received = part(to, first_in * each, arriving[size_of(rank)] * each);
    if (rank == ranks.rank()) {
      std::copy(sent.begin(), sent.end(), received.begin());
    } else {
      messages.receive(rank, received);
      messages.send(rank, sent);
    }
    first_away += away[size_of(rank)];
    first_in += arriving[size_of(rank)];
  }
}

}  // namespace kith::mpi
