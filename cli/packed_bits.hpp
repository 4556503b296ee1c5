// --packed-bits: files of bytes, eight bits in each.
#pragma once

#include <cstdint>
#include <string>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "kith/bits.hpp"
#include "kith/io.hpp"

namespace kith::cli {

void add_packed_bits(CLI::App& command, std::string& bits);

struct PackedSearch {
  std::string bits;  // of a row, or "auto": all of its bytes
  std::string metric;
  std::int64_t k = 0;
  SearchSettings settings;  // but for the metric

  // Without queries, of each row of the base, itself left out. `explain`: prints the plan first.
  BitNeighbors run(const io::Array& base, const io::Array* queries, bool explain) const;
};

Json to_json(const BitPlan& plan);
Json to_json(const BitReport& report);
// "1,000 queries × 100,000 rows × 1024 bits, k = 10 in 85.1 ms: ..."
std::string describe(const BitReport& report);

}  // namespace kith::cli
