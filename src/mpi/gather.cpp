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
  together(ranks,
           [&] { all.resize(here ? size_of(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})) : 0); });
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

// Of lists that follow each other: where they begin among those of all ranks.
std::vector<std::int64_t> gather_offsets(Communicator& ranks, const std::vector<std::int64_t>& mine, int root) {
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 1; i < mine.size(); ++i) lengths.push_back(mine[i] - mine[i - 1]);
  std::vector<std::int64_t> all;
  gather_values(ranks, std::move(lengths), root, all);
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t length : all) offsets.push_back(offsets.back() + length);
  return offsets;
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
  all.offsets = gather_offsets(ranks, mine.offsets, root);
  gather_values(ranks, mine.ids, root, all.ids);
  gather_values(ranks, mine.distances, root, all.distances);
  all.queries = static_cast<std::int64_t>(all.offsets.size()) - 1;
  all.report = mine.report;
  return all;
}

template <class D>
Graph<D> gather(MPI_Comm comm, const Graph<D>& mine, int root) {
  Communicator ranks(comm);
  Graph<D> all;
  all.indptr = gather_offsets(ranks, mine.indptr, root);
  gather_values(ranks, mine.indices, root, all.indices);
  gather_values(ranks, mine.data, root, all.data);
  all.points = static_cast<std::int64_t>(all.indptr.size()) - 1;
  all.report = mine.report;
  return all;
}

template KITH_API Neighbors<float> gather(MPI_Comm, const Neighbors<float>&, int);
template KITH_API Neighbors<double> gather(MPI_Comm, const Neighbors<double>&, int);
template KITH_API RadiusNeighbors<float> gather(MPI_Comm, const RadiusNeighbors<float>&, int);
template KITH_API RadiusNeighbors<double> gather(MPI_Comm, const RadiusNeighbors<double>&, int);
template KITH_API Graph<float> gather(MPI_Comm, const Graph<float>&, int);
template KITH_API Graph<double> gather(MPI_Comm, const Graph<double>&, int);

}  // namespace kith::mpi
