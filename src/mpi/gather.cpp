// gather.cpp: what ranks do beside searches: work that fails together, and lists that come to one rank.
#include <numeric>

#include "kith/mpi.hpp"
#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"
#include "mpi/shard.hpp"

namespace kith::mpi {
namespace {

// All ranks' values, in the order of ranks, on the root.
template <class V>
void gather_values(Communicator& ranks, std::vector<V> mine, int root, std::vector<V>& all) {
  const auto counts = ranks.all_gather(static_cast<std::int64_t>(mine.size()));
  const bool here = ranks.rank() == root;
  together(ranks, [&] { all.resize(here ? size_of(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})) : 0); });
  Messages messages(ranks, Tag::lists);
  if (!here) {
    messages.send(root, std::span(mine));
    messages.wait();
    return;
  }
  std::int64_t first = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto place = part(all, first, counts[size_of(rank)]);
    if (rank == root) {
      std::copy(mine.begin(), mine.end(), place.begin());
    } else {
      messages.receive(rank, place);
    }
    first += counts[size_of(rank)];
  }
}

}  // namespace

void together(MPI_Comm comm, const std::function<void()>& work) {
  Communicator ranks(comm);
  together(ranks, work);
}

template <class D>
Neighbors<D> gather(MPI_Comm comm, const Neighbors<D>& mine, int root) {
  Communicator ranks(comm);
  Neighbors<D> all;
  all.k = mine.k;
  gather_values(ranks, mine.ids, root, all.ids);
  gather_values(ranks, mine.distances, root, all.distances);
  const auto queries = ranks.all_gather(mine.queries);
  if (ranks.rank() == root) all.queries = std::accumulate(queries.begin(), queries.end(), std::int64_t{0});
  all.report = mine.report;
  return all;
}

template <class D>
RadiusNeighbors<D> gather(MPI_Comm comm, const RadiusNeighbors<D>& mine, int root) {
  Communicator ranks(comm);
  RadiusNeighbors<D> all;
  std::vector<std::int64_t> lengths;
  for (std::int64_t query = 0; query < mine.queries; ++query) lengths.push_back(mine.count_of(query));
  std::vector<std::int64_t> all_lengths;
  gather_values(ranks, std::move(lengths), root, all_lengths);
  gather_values(ranks, mine.ids, root, all.ids);
  gather_values(ranks, mine.distances, root, all.distances);
  all.queries = static_cast<std::int64_t>(all_lengths.size());
  all.offsets = {0};
  for (const std::int64_t length : all_lengths) all.offsets.push_back(all.offsets.back() + length);
  all.report = mine.report;
  return all;
}

template KITH_API Neighbors<float> gather(MPI_Comm, const Neighbors<float>&, int);
template KITH_API Neighbors<double> gather(MPI_Comm, const Neighbors<double>&, int);
template KITH_API RadiusNeighbors<float> gather(MPI_Comm, const RadiusNeighbors<float>&, int);
template KITH_API RadiusNeighbors<double> gather(MPI_Comm, const RadiusNeighbors<double>&, int);

}  // namespace kith::mpi
