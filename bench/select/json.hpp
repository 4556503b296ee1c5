// json.hpp: results on file. A file holds runs; each program that measures adds one.
#pragma once

#include <string>
#include <vector>

#include "device.hpp"
#include "harness.hpp"
#include "measurement.hpp"

namespace kith::select_bench {

struct SuiteResult {
  std::string name;
  std::string left_out;
  double seconds = 0;
  bool complete = false;  // false: it broke off, or only some figures were asked for
};

struct Run {
  std::string date;
  std::string commit;
  std::string driver;
  DeviceFacts device;
  Limits limits;
  ReadRate read_rate;
  std::vector<SuiteResult> suites;
  std::vector<Measurement> measurements;
  std::vector<UpdateMeasurement> updates;
};

// Adds the run to the file, which is made where there is none. Throws std::runtime_error when it cannot be read or
// written.
void append_run(const std::string& path, const Run& run);

}  // namespace kith::select_bench
