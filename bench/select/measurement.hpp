// measurement.hpp: what was found out about an entry, and what it says about its bar.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite.hpp"

namespace kith::select_bench {

enum class Status {
  timed,
  skipped,      // it would have taken too long, or too much memory
  unsupported,  // the method does not do this k
  wrong,        // its answer is, so its time means nothing
};

const char* to_string(Status status);

struct Measurement {
  std::string suite;
  std::string figure;
  Shape shape;
  Entry entry;
  std::string chosen;  // what "auto" was
  Status status = Status::timed;
  std::string reason;      // where it was not timed
  bool first_run = false;  // the sample is the first run, which also allocates the workspace
  std::vector<double> samples_ms;
  double read_ms = 0;  // a plain read of the same bytes, in the same rounds; 0: none was asked for

  double median_ms() const;
  double terabytes_a_second() const;  // of one read of the matrix
};

struct UpdateMeasurement {
  UpdateCount count;
  std::string skipped;          // why
  std::vector<double> updates;  // of each slot, the head first, mean of a row
};

double median(std::vector<double> values);
double mean(const std::vector<double>& values);
double deviation(const std::vector<double>& values);  // of the sample; 0 for fewer than two

struct BarResult {
  std::string asked;    // "≥ 0.88 of the read bandwidth"
  std::string reached;  // "0.91"
  bool ok = false;
};

// Nothing where no bar was asked for. `all` has the random rows that a bar may refer to; `read_rate` is in TB/s.
std::optional<BarResult> judge(const Measurement& measurement, const std::vector<Measurement>& all, double read_rate);

}  // namespace kith::select_bench
