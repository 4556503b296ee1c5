// json.hpp: a run as JSON, every sample included; docs/benchmarks.md has the fields.
#pragma once

#include <string>
#include <vector>

#include "common/run_file.hpp"
#include "cpu/harness.hpp"

namespace kith::bench {

inline constexpr int kSchemaVersion = 1;

// `environment` as inspect_environment() has it.
Json to_json(const Json& environment, int threads, int rounds, bool quick, const std::vector<RowResult>& results);

}  // namespace kith::bench
