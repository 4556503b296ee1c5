// Whether an MPI launcher started several copies of the program, which would all write the same file.
#pragma once

#include <CLI/CLI.hpp>

namespace kith::cli {

// Processes of the program as their launcher's environment has them: Open MPI's, or that of MPICH and its relatives; 1
// without one.
int launched_copies();

// Throws Error(invalid_argument), which names kith-mpi, where there are several and the command writes a file.
void refuse_copies(const CLI::App& command);

}  // namespace kith::cli
