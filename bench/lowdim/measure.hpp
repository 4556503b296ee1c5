// measure.hpp: times of shifted sorting on a device, and how good its answers are.
#pragma once

#include <string>
#include <vector>

#include "kith/options.hpp"
#include "kith/quality.hpp"
#include "lowdim/sets.hpp"

namespace kith::lowdim_bench {

struct Case {
  std::string table;
  std::string set = "uniform";
  std::int64_t base = 1000000;
  std::int64_t queries = 1000000;
  std::int64_t k = 50;
  ShiftedSortTuning tuning;
};

struct Result {
  Case of;
  ShiftedSortTuning tuning;  // as the plan has it
  double orders_ms = 0;      // medians: the base's orders, or its frame where queries and points are sorted together
  double search_ms = 0;      // the queries' order and their search
  std::int64_t sample = 0;
  double recall = 0;
  DistanceRatios ratios;  // of the sample
  std::string fault;      // where an answer is wrong beyond being approximate

  double queries_a_ms() const { return static_cast<double>(of.queries) / (orders_ms + search_ms); }
};

struct Rounds {
  int warm_up = 2;
  int timed = 7;
  std::int64_t sample = 20000;  // queries whose true neighbors are searched
};

// Everything is on the device when the clock starts, and stays there. Throws where the device has no room.
Result measure(const Case& one, const Points& base, const Points& queries, const Rounds& rounds);

}  // namespace kith::lowdim_bench
