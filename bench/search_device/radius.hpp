// radius.hpp: radius search of points of the host: all neighbors, and their number alone.
//
// Points are nearly Gaussian, metric sqeuclidean; the radius is the one that half of a few queries have `wanted` points
// within. Times are by the host's clock, from the queries to the answer in the host's memory, on an index that has its
// base on the device. The answers of some queries are compared with a plain scan, and the counts with the answers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search_device/harness.hpp"

namespace kith::search_bench {

struct RadiusProblem {
  std::int64_t queries = 0;
  std::int64_t base_rows = 0;
  std::int64_t dims = 0;
  std::int64_t wanted = 0;  // neighbors of a query, about
};

struct RadiusRow {
  RadiusProblem problem;
  float radius = 0;
  std::int64_t neighbors = 0;  // that were found
  std::int64_t finalists = 0;  // that had a key
  Plan plan;
  std::vector<double> all_ms;
  std::vector<double> count_ms;
  std::string fault;  // of an answer; empty: none
};

// Prints rows as they are measured.
std::vector<RadiusRow> measure_radius(const Limits& limits);
nlohmann::ordered_json to_json(const RadiusRow& row);

}  // namespace kith::search_bench
