// json.hpp: results on file. A file holds runs; each program that measures adds one.
#pragma once

#include <string>
#include <vector>

#include "search_device/harness.hpp"
#include "select/device.hpp"

namespace kith::search_bench {

struct Run {
  std::string date;
  std::string commit;
  std::string driver;
  select_bench::DeviceFacts device;
  Limits limits;
  bool complete = false;  // false: it broke off, or only some problems were asked for
  std::vector<CeilingResult> ceilings;
  std::vector<Measurement> measurements;
};

// The best of the ceilings whose name begins with this; 0 where there is none.
double best_rate(const std::vector<CeilingResult>& ceilings, const std::string& name);

// Adds the run to the file, which is made where there is none. Throws std::runtime_error when it cannot be read or
// written.
void append_run(const std::string& path, const Run& run);

}  // namespace kith::search_bench
