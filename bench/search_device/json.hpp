// json.hpp: results on file. A file holds runs; each program that measures adds one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search_device/grid.hpp"
#include "search_device/harness.hpp"
#include "search_device/radius.hpp"
#include "search_device/stream.hpp"
#include "select/device.hpp"

namespace kith::search_bench {

struct Run {
  std::string suite;
  std::string date;
  std::string commit;
  std::string driver;
  select_bench::DeviceFacts device;
  Limits limits;
  bool complete = false;  // false: it broke off, or only some problems were asked for
  std::vector<CeilingResult> ceilings;
  std::vector<Measurement> measurements;
  std::vector<StageMeasurement> stages;
  std::vector<GridPoint> grid;
  std::optional<StreamResult> stream = {};
  std::vector<RadiusRow> radius = {};
};

// Adds the run to the file, which is made where there is none. Throws std::runtime_error when it cannot be read or
// written.
void append_run(const std::string& path, const Run& run);

}  // namespace kith::search_bench
