#include "search_device/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kith::search_bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "kith-bench-search";

Json plan_json(const Plan& plan) {
  return {{"method", plan.method == Method::fused ? "fused" : "two-stage"},
          {"distance", plan.distance},
          {"expanded", plan.expanded},
          {"candidates", plan.candidates},
          {"query_block", plan.query_block},
          {"base_tile", plan.base_tile},
          {"predicted_ms", plan.seconds * 1e3}};
}

Json measurement_json(const Measurement& measurement, const Run& run) {
  const Problem& problem = measurement.problem;
  Json json = {{"queries", problem.queries},     {"base_rows", problem.base_rows},
               {"dims", problem.dims},           {"k", problem.k},
               {"self", problem.self},           {"metric", kith::to_string(problem.metric)},
               {"data", to_string(problem.data)}};
  json["contender"] = measurement.contender;
  json["status"] = select_bench::to_string(measurement.status);
  if (!measurement.reason.empty()) json["reason"] = measurement.reason;
  if (measurement.status != Status::unsupported) json["plan"] = plan_json(measurement.plan);
  if (measurement.status == Status::timed) {
    json["median_ms"] = measurement.median_ms();
    json["mean_ms"] = select_bench::mean(measurement.samples_ms);
    json["std_ms"] = select_bench::deviation(measurement.samples_ms);
    if (measurement.first_run) json["first_run"] = true;
    json["index_ms"] = measurement.index_ms;
    json["g_distances_per_s"] = problem.pairs() / measurement.median_ms() * 1e-6;
    if (const double fma = best_rate(run.ceilings, "fma"); fma > 0)
      json["fma_fraction"] = problem.pairs() * static_cast<double>(problem.dims) / measurement.median_ms() * 1e-9 / fma;
    json["finalists"] = measurement.report.finalists;
    json["steps"] = Json::array();
    for (const SearchStep& step : measurement.report.steps)
      json["steps"].push_back({{"distance", step.distance}, {"queries", step.queries}});
    json["rows_checked"] = measurement.rows_checked;
    json["samples_ms"] = measurement.samples_ms;
  }
  if (problem.bar_ms > 0 && measurement.contender == "auto")
    json["bar"] = {{"at_most_ms", problem.bar_ms}, {"result", measurement.meets_bar() ? "ok" : "missed"}};
  return json;
}

Json head_json(const Run& run) {
  const select_bench::DeviceFacts& device = run.device;
  Json ceilings = Json::array();
  for (const CeilingResult& result : run.ceilings)
    ceilings.push_back({{"name", result.ceiling.name},
                        {"kind", result.ceiling.is_kernel ? "distance stage" : "ceiling"},
                        {"unit", result.ceiling.unit},
                        {"rate", result.rate()},
                        {"ms", result.ms}});
  return {{"program", "kith_bench_search"},
          {"date", run.date},
          {"commit", run.commit},
          {"device",
           {{"name", device.name},
            {"compute_capability", device.compute_capability},
            {"processors", device.processors},
            {"memory_bytes", device.memory_bytes},
            {"l2_bytes", device.l2_bytes},
            {"driver", run.driver},
            {"cuda_driver", device.cuda_driver},
            {"cuda_runtime", device.cuda_runtime}}},
          {"limits",
           {{"rounds", run.limits.rounds},
            {"budget_ms", run.limits.budget_ms},
            {"slow_ms", run.limits.slow_ms},
            {"skip_ms", run.limits.skip_ms},
            {"check_rows", run.limits.check_rows}}},
          {"quick", run.limits.quick},
          {"complete", run.complete},
          {"ceilings", ceilings}};
}

Json read_file(const std::string& path) {
  if (!std::filesystem::exists(path)) return {{"schema", kSchema}, {"schema_version", 1}, {"runs", Json::array()}};
  std::ifstream file(path);
  Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded() || json.value("schema", "") != kSchema)
    throw std::runtime_error(fmt::format("{} is no file of {}", path, kSchema));
  return json;
}

}  // namespace

double best_rate(const std::vector<CeilingResult>& ceilings, const std::string& name) {
  double best = 0;
  for (const CeilingResult& result : ceilings)
    if (result.ceiling.name.starts_with(name)) best = std::max(best, result.rate());
  return best;
}

void append_run(const std::string& path, const Run& run) {
  Json added = head_json(run);
  added["rows"] = Json::array();
  for (const Measurement& measurement : run.measurements) added["rows"].push_back(measurement_json(measurement, run));
  Json json = read_file(path);
  json["runs"].push_back(std::move(added));
  std::ofstream file(path);
  file << json.dump() << '\n';
  file.close();
  if (!file) throw std::runtime_error(fmt::format("cannot write {}", path));
}

}  // namespace kith::search_bench
