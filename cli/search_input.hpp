// --base and --queries: the two sets of points that search and eval read.
#pragma once

#include <string>

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "kith/io.hpp"

namespace kith::cli {

struct SearchInput {
  std::string base;
  std::string base_array;
  std::string queries;
  std::string queries_array;
  std::string queries_format = "auto";  // auto: --format
  InputSettings files;

  io::Array load_base() const;
  io::Array load_queries() const;
};

void add_base(CLI::App& command, std::string& base, std::string& base_array);
void add_search_input(CLI::App& command, Context& context, SearchInput& input);

// The arrays that base and queries are when a file holds several and none is named.
inline const std::vector<std::string> kBaseArrays = {"base", "train", "points"};
inline const std::vector<std::string> kQueriesArrays = {"queries", "test"};

}  // namespace kith::cli
