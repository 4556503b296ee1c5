// What every command of kith-mpi has besides those of kith: options of layouts and devices, files read in parts, and a
// report of what went between ranks.
#pragma once

#include <mpi.h>

#include <string>

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/search_input.hpp"
#include "kith/io.hpp"
#include "kith/mpi.hpp"

namespace kith::cli {

int my_rank();
int rank_count();

struct RankSettings {
  mpi::SearchOptions how;
  int ranks_per_device = 0;
  bool explain = false;
  bool stats = false;
  bool quiet = false;
};

void add_rank_options(CLI::App& command, Context& context, RankSettings& settings);

// Before anything asks for a device: so many ranks of a machine have the first of its devices, so many the next.
// Ranks but the first say nothing but errors.
void begin(const RankSettings& settings);

// This rank's rows of the files, converted to a common type. Without queries these are the base.
struct PartsOfInput {
  io::Array base;
  io::Array queries;
};
PartsOfInput load_parts(const SearchInput& input);

// On rank 0: the plan of its last local search, and a line for each rank.
void print_exchange(const Plan& plan, const mpi::ExchangeReport& mine);
void print_layouts(const mpi::LayoutPlan& plan);

}  // namespace kith::cli
