// run_file.hpp: what every program that measures on a device writes: when, on what, and a file of runs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "select/device.hpp"

namespace kith::device_bench {

// UTC, as ISO 8601 has it.
std::string now();

nlohmann::ordered_json device_json(const select_bench::DeviceFacts& device, const std::string& driver);

// Adds the run to the file, which is made where there is none. Throws std::runtime_error when it is no file of the
// schema, or cannot be read or written.
void append_run(const std::string& path, const std::string& schema, nlohmann::ordered_json run);

}  // namespace kith::device_bench
