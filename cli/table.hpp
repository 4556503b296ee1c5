// Answers as aligned text, one neighbor a line under a header: easy on the eye, and on awk.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/stdout.hpp"

namespace kith::cli {

// Columns: `row_name`, rank (from 1), id, certified, `value_name`. Without `ids`, or flags of the rows in `certified`,
// these have no column.
template <class T>
void print_ranked(std::string_view row_name, std::string_view value_name, std::int64_t rows, std::int64_t k,
                  const std::vector<std::int64_t>& ids, const std::vector<T>& values, std::int64_t first_row = 0,
                  const std::vector<std::uint8_t>& certified = {}) {
  const bool has_ids = !ids.empty();
  const bool has_flags = !certified.empty();
  std::string text = fmt::format("{:>8} {:>5}", row_name, "rank");
  if (has_ids) text += fmt::format(" {:>10}", "id");
  if (has_flags) text += fmt::format(" {:>9}", "certified");
  write_stdout(text + fmt::format("  {}\n", value_name));
  for (std::int64_t row = 0; row < rows; ++row) {
    text.clear();
    for (std::int64_t rank = 0; rank < k; ++rank) {
      const auto at = static_cast<std::size_t>(row * k + rank);
      fmt::format_to(std::back_inserter(text), "{:>8} {:>5}", first_row + row, rank + 1);
      if (has_ids) fmt::format_to(std::back_inserter(text), " {:>10}", ids[at]);
      if (has_flags) fmt::format_to(std::back_inserter(text), " {:>9}", certified[static_cast<std::size_t>(row)]);
      fmt::format_to(std::back_inserter(text), "  {}\n", values[at]);
    }
    write_stdout(text);
  }
}

}  // namespace kith::cli
