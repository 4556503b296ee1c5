#include "search_device/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kith::search_bench {
namespace {

constexpr Data kData[] = {Data::gaussian, Data::clustered, Data::manifold, Data::uniform, Data::table};

}  // namespace

const char* to_string(Data data) {
  switch (data) {
    case Data::gaussian: return "gaussian";
    case Data::clustered: return "clustered";
    case Data::manifold: return "manifold";
    case Data::uniform: return "uniform";
    case Data::table: return "table";
    case Data::file: return "file";
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
  const std::string metric =
      problem.metric.kind == MetricKind::sqeuclidean ? "" : ", " + kith::to_string(problem.metric);
  const std::string what = problem.name.empty() ? "" : problem.name + " ";
  return fmt::format("{}{}, k {}{}, {}", what, shape, problem.k, metric, to_string(problem.data));
}

std::string describe(const Plan& plan) {
  if (plan.method == Method::fused) return "fused";
  if (plan.method == Method::triangle) return "triangle";
  return to_string(plan.distance);
}

Problem shrunk(Problem problem) {
  problem.queries = std::max<std::int64_t>(1, problem.queries / 20);
  problem.base_rows = problem.self ? problem.queries : std::max(problem.base_rows / 50, 4 * problem.k);
  problem.bar_ms = 0;
  return problem;
}

}  // namespace kith::search_bench
