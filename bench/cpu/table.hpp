// table.hpp: results as text for people.
#pragma once

#include <string>
#include <vector>

#include "common/run_file.hpp"
#include "cpu/harness.hpp"

namespace kith::bench {

// What ran where.
std::string format_header(const Json& environment, int threads, int rounds);
// One row: every contender, the bars, and a warning when the machine was too busy to be believed.
std::string format_row(const RowResult& result);
// All rows, a line each.
std::string format_summary(const std::vector<RowResult>& results);
// A row that has not run: its name, problem and bars.
std::string format_spec(const RowSpec& row);

}  // namespace kith::bench
