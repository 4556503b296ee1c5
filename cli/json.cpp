#include "cli/json.hpp"

#include "cli/stdout.hpp"
#include "kith/version.hpp"

namespace kith::cli {

Json json_object(const std::string& command) {
  return {{"schema_version", kSchemaVersion}, {"command", command}, {"version", version()}};
}

Json to_json(const Plan& plan) {
  const Problem& problem = plan.problem;
  Json alternatives = Json::array();
  for (const Plan::Alternative& alternative : plan.alternatives) {
    alternatives.push_back({{"distance", to_string(alternative.distance)}, {"seconds", alternative.seconds}});
  }
  Json stripes = Json::array();
  for (const Plan::Stripe& stripe : plan.stripes) {
    stripes.push_back({{"device", stripe.device},
                       {"name", stripe.name},
                       {"first_row", stripe.first_row},
                       {"rows", stripe.rows},
                       {"seconds", stripe.seconds}});
  }
  return {{"problem",
           {{"base_rows", problem.base_rows},
            {"queries", problem.queries},
            {"dims", problem.dims},
            {"k", problem.k},
            {"dtype", to_string(problem.dtype)}}},
          {"metric", to_string(plan.metric)},
          {"max_distance", plan.max_distance},  // infinity prints as null
          {"period", plan.period},
          {"backend", to_string(plan.backend)},
          {"device", plan.device},
          {"base_fits", plan.base_fits},
          {"method", to_string(plan.method)},
          {"distance", to_string(plan.distance)},
          {"select", to_string(plan.select)},
          {"expanded", plan.expanded},
          {"threads", plan.threads},
          {"threads_reason", plan.threads_reason},
          {"query_block", plan.query_block},
          {"base_tile", plan.base_tile},
          {"base_splits", plan.base_splits},
          {"candidates", plan.candidates},
          {"distinct_rows", plan.distinct_rows},
          {"query_landmarks", plan.triangle.query_landmarks},
          {"base_landmarks", plan.triangle.base_landmarks},
          {"approximate", plan.approximate},
          {"epsilon", plan.epsilon},
          {"shifts", plan.method == Method::shifted_sort ? plan.shifted_sort.shifts : 0},
          {"window", plan.shifted_sort.window},
          {"workspace_bytes", plan.workspace_bytes},
          {"budget_bytes", plan.budget_bytes},
          {"peak_bytes", plan.peak_bytes},
          {"seconds", plan.seconds},
          {"profile", plan.profile},
          {"reason", plan.reason},
          {"alternatives", alternatives},
          {"stripes", stripes}};
}

namespace {

Json triangle_json(const TriangleStatistics& triangle) {
  Json steps = Json::array();
  for (const TriangleStatistics::Step& step : triangle.steps)
    steps.push_back({{"name", step.name}, {"seconds", step.seconds}});
  return {{"query_clusters", triangle.query_clusters},
          {"base_clusters", triangle.base_clusters},
          {"pairs", triangle.pairs},
          {"pairs_level_1", triangle.pairs_level_1},
          {"cluster_pairs_left", triangle.cluster_pairs_left},
          {"clusters_visited", triangle.clusters_visited},
          {"center_distances", triangle.center_distances},
          {"distances", triangle.distances},
          {"saved", triangle.saved()},
          {"steps", steps}};
}

}  // namespace

Json to_json(const DistanceRatios& ratios) {
  Json histogram = Json::array();
  for (const DistanceRatios::Bin& bin : ratios.histogram)
    histogram.push_back({{"from", bin.from}, {"queries", bin.queries}});
  return {{"mean", ratios.mean},
          {"p99", ratios.p99},
          {"p999", ratios.p999},
          {"max", ratios.max},
          {"unbounded_rows", ratios.unbounded},
          {"histogram", histogram}};
}

Json to_json(const SearchReport& report) {
  const Problem& problem = report.plan.problem;
  const auto queries = static_cast<double>(problem.queries);
  const auto distances = queries * static_cast<double>(problem.base_rows);
  Json steps = Json::array();
  for (const SearchStep& step : report.steps)
    steps.push_back({{"distance", to_string(step.pass)}, {"queries", step.queries}});
  // Dividing by a time of zero gives an infinity, which prints as null.
  Json json = {{"seconds", report.seconds},
               {"finalists", report.finalists},
               {"steps", steps},
               {"queries_per_second", queries / report.seconds},
               {"distances_per_second", distances / report.seconds}};
  if (report.triangle) json["triangle"] = triangle_json(*report.triangle);
  if (report.certified) json["certified"] = *report.certified;
  if (report.quality)
    json["quality"] = {{"queries", report.quality->queries},
                       {"recall", report.quality->recall},
                       {"distance_ratio", to_json(report.quality->ratios)}};
  return json;
}

// A path need not be UTF-8; what is not is printed as U+FFFD.
constexpr auto kReplace = Json::error_handler_t::replace;

void print_json(const Json& object) {
  write_stdout(object.dump(2, ' ', false, kReplace) + "\n");
}
void print_json_line(const Json& object) {
  write_stdout(object.dump(-1, ' ', false, kReplace) + "\n");
}

}  // namespace kith::cli
