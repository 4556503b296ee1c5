// same_on_all.hpp: refuses arguments that ranks gave differently, with the same text on all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/options.hpp"
#include "mpi/communicator.hpp"

namespace kith::mpi {

// What ranks must agree on, by names and as text: "k", "12".
using NamedValues = std::vector<std::pair<std::string, std::string>>;

// Throws Error(invalid_argument) for the first value that another rank has otherwise than rank 0.
void require_same(const Communicator& ranks, const NamedValues& mine);

// What of the options decides the answer.
NamedValues values_of(const Options& options);

// Powers of CPUs and devices differ in the last bit: Error(invalid_argument) where ranks search by minkowski on both.
void require_same_powers(const Communicator& ranks, const Metric& metric, Backend backend);

}  // namespace kith::mpi
