#include "cli/launched_copies.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "kith/error.hpp"

namespace kith::cli {
namespace {

bool was_given(const CLI::App& command, const char* option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

// Those of an index and of a profile have a file to write where none is named.
bool writes(const CLI::App& command) {
  const bool has_output = command.get_option_no_throw("--output") != nullptr;
  const bool by_default = has_output && (command.get_name() == "tune" || (command.get_parent() != nullptr &&
                                                                          command.get_parent()->get_name() == "index"));
  const bool parts =
      command.get_name() == "search" && (was_given(command, "--ids") || was_given(command, "--distances"));
  return by_default || parts || was_given(command, "--output");
}

}  // namespace

int launched_copies() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text = value;
    int copies = 0;
    std::from_chars(text.data(), text.data() + text.size(), copies);
    if (copies > 1) return copies;
  }
  return 1;
}

void refuse_copies(const CLI::App& command) {
  const int copies = launched_copies();
  if (copies < 2 || !writes(command)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} copies of kith were started, which would all write one file; 'mpirun kith-mpi' searches "
                          "with several processes",
                          copies));
}

}  // namespace kith::cli
