// A program with rows of its own on each rank.
#include <kith/mpi.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int wrong = 0;
  {
    // The points 0, 1, 2, … on a line, two for each rank.
    const float rows[] = {2.0F * static_cast<float>(rank), 2.0F * static_cast<float>(rank) + 1};
    kith::mpi::Index<float> index(MPI_COMM_WORLD, {rows, 2, 1});
    const float query[] = {static_cast<float>(size)};
    const auto found = index.search({query, 1, 1}, 2);
    wrong = found.ids[0] == size && found.ids[1] == size - 1 ? 0 : 1;
    if (wrong != 0) std::printf("rank %d found %lld\n", rank, static_cast<long long>(found.ids[0]));
  }
  MPI_Finalize();
  return wrong;
}
