// The commands of kith-mpi: each adds itself to the tree.
#pragma once

#include "cli/context.hpp"

namespace kith::cli {

void add_mpi_search(CLI::App& app, Context& context);
void add_mpi_graph(CLI::App& app, Context& context);
void add_mpi_radius(CLI::App& app, Context& context);
void add_mpi_explain(CLI::App& app, Context& context);

}  // namespace kith::cli
