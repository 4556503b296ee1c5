// json.hpp: a run as JSON, every sample included; docs/benchmarks.md has the fields.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "environment.hpp"
#include "harness.hpp"

namespace kith::bench {

inline constexpr int kSchemaVersion = 1;

nlohmann::ordered_json to_json(const Environment& environment, int threads, int rounds, bool quick,
                               const std::vector<RowResult>& results);

}  // namespace kith::bench
