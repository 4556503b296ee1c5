// problem.hpp: what is measured, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/plan.hpp"

namespace kith::search_bench {

enum class Data {
  gaussian,
  clustered,  // 500 clusters, spread 0.1 around centers with coordinates of about 10
  manifold,   // smooth functions of 8 coordinates
  uniform,    // in the unit cube
  table,  // as the columns of a table: 300 clusters of uneven sizes and spreads, each in a few directions of its own
  file,   // Problem::file
};

const char* to_string(Data data);
std::vector<std::string> data_names();
Data parse_data(const std::string& name);

struct Problem {
  std::int64_t queries = 0;
  std::int64_t base_rows = 0;
  std::int64_t dims = 0;
  std::int64_t k = 0;
  Metric metric = MetricKind::sqeuclidean;  // or manhattan or inner_product: what the check knows
  double bar_ms = 0;                        // at most, on an H200; 0: nothing is asked
  bool self = false;                        // all-kNN: queries are the base, and the answer has the point itself too
  Data data = Data::gaussian;
  bool queries_are_base = false;  // its first points; the answer has the point itself, as one of k
  std::string name = {};          // of a set of points; empty: what it is like says enough
  std::string file = {};          // fbin

  // What the search is asked for.
  std::int64_t answers() const { return self ? k + 1 : k; }
  double pairs() const { return static_cast<double>(queries) * static_cast<double>(base_rows); }
};

// "10000 × 1000000 × 128, k 10, gaussian"
std::string describe(const Problem& problem);

// A search as it is asked for: what is not forced the planner chooses.
struct Contender {
  std::string name = "auto";
  Method method = Method::automatic;
  DistanceStage distance = DistanceStage::automatic;
  SelectMethod select = SelectMethod::automatic;
  TriangleTuning triangle = {};
};

// How a search was done: a method without stages, or its distance stage.
std::string describe(const Plan& plan);

// The same kinds of work, a thousandth of it, without a bar.
Problem shrunk(Problem problem);

}  // namespace kith::search_bench
