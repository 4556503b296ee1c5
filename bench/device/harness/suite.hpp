// suite.hpp: what is measured: problems that are described before there is a device, and measured when one is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/harness/harness.hpp"

namespace kith::bench::device {

// One problem, and who solves it.
struct Case {
  std::string figure;  // that it belongs to, or the name that --row asks for; may be empty
  std::string problem;
  std::string contenders;  // and bars, for --list
  std::function<std::vector<Row>(Harness& harness)> measure;
};

struct Suite {
  std::string name;  // "select/must"
  std::string what;
  std::string left_out;  // of the source's tables and figures, and why
  Limits limits;
  std::function<std::vector<Ceiling>(bool quick, const cuda::Stream& stream)> ceilings;  // what rows are judged by
  std::vector<Case> cases;
  std::function<void(Harness& harness)> conclude = nullptr;         // after the last case: bars between rows
  std::function<void(const Harness& harness)> summarize = nullptr;  // prints what all rows say together
};

// What the command line sets; suites take from it what concerns them.
struct Settings {
  bool quick = false;                            // small problems, to test the benchmark itself; no bars
  std::string contender = {};                    // only those of this name; empty: all
  bool all_stages = false;                       // search: every distance stage besides
  std::vector<std::string> data = {"gaussian"};  // search/must: what points are like
  std::string points = {};                       // search/triangle: a file of points (fbin) besides
  std::string surface = {};                      // lowdim: the folder of a surface
  std::int64_t stream_bytes = 60'000'000'000;    // search/stream: of the base
  bool profile = false;                          // each contender once, for a profiler; nothing is timed or checked
  int part = 1;                                  // search/grid: this one …
  int parts = 1;                                 // … of so many
};

}  // namespace kith::bench::device
