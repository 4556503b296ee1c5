// run_file.hpp: results on file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/statistics.hpp"

namespace kith::bench {

using Json = nlohmann::ordered_json;

// UTC, as ISO 8601 has it.
std::string now();

// median_ms, min_ms, mean_ms, std_ms and samples_ms.
void put_times(Json& json, const Times& times);

// "unknown" where the build did not see a repository; ends in "-dirty" when sources differ from it.
std::string built_commit();

// Facts of the host: cpu, cores, usable_cores, cache_bytes, memory_bytes.
Json machine_json();

// These throw std::runtime_error when the file cannot be read or written.
void write_json(const std::string& path, const Json& json, int indent = -1);
// Adds a run to the file, which is made where there is none.
void append_run(const std::string& path, const std::string& schema, Json run);

}  // namespace kith::bench
