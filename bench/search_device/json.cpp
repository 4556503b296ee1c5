#include "search_device/json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "device/run_file.hpp"
#include "search_device/figure.hpp"
#include "search_device/stream_report.hpp"

namespace kith::search_bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "kith-bench-search";

Json plan_json(const Plan& plan) {
  const char* method = plan.method == Method::fused      ? "fused"
                       : plan.method == Method::triangle ? "triangle"
                                                         : "two-stage";
  return {{"method", method},
          {"distance", to_string(plan.distance)},
          {"select", to_string(plan.select)},
          {"expanded", plan.expanded},
          {"candidates", plan.candidates},
          {"query_block", plan.query_block},
          {"base_tile", plan.base_tile},
          {"predicted_ms", plan.seconds * 1e3},
          {"profile", plan.profile}};
}

Json triangle_json(const TriangleStatistics& counted) {
  Json json = {{"saved", counted.saved()},
               {"query_clusters", counted.query_clusters},
               {"base_clusters", counted.base_clusters},
               {"pairs_level_1", counted.pairs_level_1},
               {"cluster_pairs_left", counted.cluster_pairs_left},
               {"clusters_visited", counted.clusters_visited},
               {"center_distances", counted.center_distances},
               {"distances", counted.distances}};
  json["steps"] = Json::array();
  for (const TriangleStatistics::Step& step : counted.steps)
    json["steps"].push_back({{"name", step.name}, {"ms", step.seconds * 1e3}});
  return json;
}

Json measurement_json(const Measurement& measurement, const Run& run) {
  const Problem& problem = measurement.problem;
  Json json = {{"queries", problem.queries},     {"base_rows", problem.base_rows},
               {"dims", problem.dims},           {"k", problem.k},
               {"self", problem.self},           {"metric", kith::to_string(problem.metric)},
               {"data", to_string(problem.data)}};
  if (!problem.name.empty()) json["name"] = problem.name;
  if (!measurement.figure.empty()) json["figure"] = measurement.figure;
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
      json["steps"].push_back({{"distance", to_string(step.pass)}, {"queries", step.queries}});
    if (measurement.report.triangle) json["triangle"] = triangle_json(*measurement.report.triangle);
    json["rows_checked"] = measurement.rows_checked;
    json["samples_ms"] = measurement.samples_ms;
  }
  if (problem.bar_ms > 0 && measurement.contender == "auto")
    json["bar"] = {{"at_most_ms", problem.bar_ms}, {"result", measurement.meets_bar() ? "ok" : "missed"}};
  return json;
}

Json head_json(const Run& run) {
  Json ceilings = Json::array();
  for (const CeilingResult& result : run.ceilings)
    ceilings.push_back({{"name", result.ceiling.name},
                        {"kind", result.ceiling.is_kernel ? "distance stage" : "ceiling"},
                        {"unit", result.ceiling.unit},
                        {"rate", result.rate()},
                        {"ms", result.ms}});
  return {{"program", "kith_bench_search"},
          {"suite", run.suite},
          {"date", run.date},
          {"commit", run.commit},
          {"device", device_bench::device_json(run.device, run.driver)},
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

Json stage_json(const StageMeasurement& stage) {
  return {{"figure", stage.figure},
          {"queries", stage.tile.queries},
          {"points", stage.tile.points},
          {"dims", stage.tile.dims},
          {"stage", stage.stage},
          {"median_ms", stage.median_ms()},
          {"g_distances_per_s", stage.tile.pairs() / stage.median_ms() * 1e-6},
          {"samples_ms", stage.samples_ms}};
}

Json figure_json(const Figure& figure) {
  Json json = {{"figure", figure.name}, {"unit", "10^9 distances/s"}, {"contenders", figure.contenders}};
  json["rows"] = Json::array();
  for (const FigureRow& row : figure.rows)
    json["rows"].push_back({{"shape", row.shape}, {"values", row.values}, {"ceiling", row.ceiling}});
  return json;
}

Json grid_json(const std::vector<GridPoint>& points) {
  const GridVerdict verdict = judge(points);
  Json json = {{"factor", kNearBest}, {"points", verdict.points}, {"near_best", verdict.near_best}};
  if (verdict.worst != nullptr)
    json["worst"] = {{"ratio", verdict.worst->ratio()}, {"at", describe(verdict.worst->problem)}};
  json["choices"] = Json::array();
  for (const GridPoint& point : points)
    json["choices"].push_back({{"at", describe(point.problem)},
                               {"choice", point.choice},
                               {"choice_ms", point.choice_ms},
                               {"best", point.best},
                               {"best_ms", point.best_ms},
                               {"ratio", point.ratio()}});
  return json;
}

}  // namespace

void append_run(const std::string& path, const Run& run) {
  Json added = head_json(run);
  added["rows"] = Json::array();
  for (const Measurement& measurement : run.measurements) added["rows"].push_back(measurement_json(measurement, run));
  if (!run.grid.empty()) added["grid"] = grid_json(run.grid);
  for (const StageMeasurement& stage : run.stages) added["stages"].push_back(stage_json(stage));
  for (const Figure& figure : make_figures(run.measurements, run.stages, run.ceilings))
    added["figures"].push_back(figure_json(figure));
  if (run.stream) added["stream"] = to_json(*run.stream);
  for (const RadiusRow& row : run.radius) added["radius"].push_back(to_json(row));
  device_bench::append_run(path, kSchema, std::move(added));
}

}  // namespace kith::search_bench
