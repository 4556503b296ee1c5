#include "device/search/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kith::bench::device::search {
namespace {

constexpr Data kData[] = {Data::gaussian, Data::clustered, Data::manifold,       Data::uniform,  Data::table,
                          Data::copies,   Data::tight,     Data::tight_shuffled, Data::low_rank, Data::bytes};

}  // namespace

const char* to_string(Data data) {
  switch (data) {
    case Data::gaussian: return "gaussian";
    case Data::clustered: return "clustered";
    case Data::manifold: return "manifold";
    case Data::uniform: return "uniform";
    case Data::table: return "table";
    case Data::copies: return "copies";
    case Data::tight: return "tight";
    case Data::tight_shuffled: return "tight-shuffled";
    case Data::low_rank: return "low-rank";
    case Data::bytes: return "bytes";
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
  return *std::find_if(std::begin(kData), std::end(kData) - 1, [&](Data data) { return name == to_string(data); });
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
  const bool has_stages = plan.method != Method::fused && plan.method != Method::triangle;
  return has_stages ? kith::to_string(plan.distance) : kith::to_string(plan.method);
}

Variant forced(const std::string& name, Method method, DistanceStage distance, SelectMethod select) {
  Variant variant{name, {}};
  variant.options.method = method;
  variant.options.distance = distance;
  variant.options.select = select;
  return variant;
}

}  // namespace kith::bench::device::search
