// arguments.hpp: what is checked of the arguments of ranks, and made of them.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/mpi.hpp"
#include "mpi/communicator.hpp"

namespace kith::mpi {

// Where the part of each rank begins.
std::vector<std::int64_t> firsts_of(const std::vector<std::int64_t>& counts);

// Half of a budget that is given for the CPU is the local search's; the other half, or a quarter of what this rank may
// have of the machine's memory, is for buffers and copies.
std::int64_t exchange_budget(const Options& options, Backend backend, int ranks_of_machine);

void refuse_what_depends_on_shards(const Options& options);

// Looks for the failure of another rank, which moves messages on, whenever a search says how far it is.
ProgressCallback until_failure(const Communicator& ranks, ProgressCallback asked);

// Where there are no batches, as on one rank, all queries are one.
std::int64_t batch_rows_of(const LayoutCost& layout, const std::vector<std::int64_t>& queries);

// The same on all ranks, so that all throw.
void check_k(std::int64_t k, std::int64_t points, bool self, const Options& options);

}  // namespace kith::mpi
