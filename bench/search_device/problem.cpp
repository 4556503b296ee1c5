#include "search_device/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kith::search_bench {
namespace {

constexpr Data kData[] = {Data::gaussian, Data::clustered, Data::manifold};

std::vector<Problem> must() {
  constexpr MetricKind kL2 = MetricKind::sqeuclidean;
  return {
      {10000, 1000000, 128, 10, kL2, 30},
      {10000, 1000000, 128, 100, kL2, 34},
      {10000, 1000000, 128, 1024, kL2, 45},
      {10000, 1000000, 768, 10, kL2, 48},
      {10000, 1000000, 32, 10, kL2, 20},
      {10000, 1000000, 16, 32, kL2, 14},
      {10000, 1000000, 3, 10, kL2, 7},
      {1000, 1000000, 128, 10, kL2, 3.5},
      {1, 1000000, 128, 10, kL2, 0.17},
      {100000, 100000, 96, 32, kL2, 28, true},
      {10000, 1000000, 64, 10, MetricKind::manhattan, 70},
  };
}

// The same kinds of work, a thousandth of it.
Problem shrunk(Problem problem) {
  problem.queries = std::max<std::int64_t>(1, problem.queries / 20);
  problem.base_rows = problem.self ? problem.queries : problem.base_rows / 50;
  problem.bar_ms = 0;
  return problem;
}

}  // namespace

const char* to_string(Data data) {
  switch (data) {
    case Data::gaussian: return "gaussian";
    case Data::clustered: return "clustered";
    case Data::manifold: return "manifold";
  }
  return "";
}

std::vector<std::string> data_names() {
  std::vector<std::string> names;
  for (const Data data : kData) names.emplace_back(to_string(data));
  return names;
}

Data parse_data(const std::string& name) {
  for (const Data data : kData)
    if (name == to_string(data)) return data;
  return Data::gaussian;
}

std::string describe(const Problem& problem) {
  const std::string shape = problem.self
                                ? fmt::format("all-kNN {} × {}", problem.base_rows, problem.dims)
                                : fmt::format("{} × {} × {}", problem.queries, problem.base_rows, problem.dims);
  const char* metric = problem.metric.kind == MetricKind::manhattan ? ", manhattan" : "";
  return fmt::format("{}, k {}{}, {}", shape, problem.k, metric, to_string(problem.data));
}

// A bar is for well-spread points; what others cost is shown beside it.
std::vector<Problem> all_problems(Data data, bool quick) {
  std::vector<Problem> problems = must();
  for (Problem& problem : problems) {
    problem.data = data;
    if (data != Data::gaussian) problem.bar_ms = 0;
    if (quick) problem = shrunk(problem);
  }
  return problems;
}

}  // namespace kith::search_bench
