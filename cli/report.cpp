#include "cli/report.hpp"

#include <fmt/format.h>

#include "cli/message.hpp"
#include "cli/sizes.hpp"

namespace kith::cli {

void print_plan(const Plan& plan) {
  std::string text = to_string(plan);
  if (text.empty() || text.back() != '\n') text += '\n';
  print_to_stderr(text);
}

std::string describe(const SearchReport& report) {
  const Problem& problem = report.plan.problem;
  const auto queries = static_cast<double>(problem.queries);
  const double pairs = queries * static_cast<double>(problem.base_rows);
  // Others look at some of the pairs only.
  const bool all = report.plan.method != Method::triangle && report.plan.method != Method::shifted_sort &&
                   report.plan.method != Method::tree;
  const std::string rate = all ? fmt::format(" {} distances/s,", format_count(pairs / report.seconds)) : "";
  std::string steps;
  for (const SearchStep& step : report.steps)
    steps += fmt::format("{}{} {}", steps.empty() ? "; " : ", ", to_string(step.pass), format_integer(step.queries));
  return fmt::format("{} queries × {} points × {} dims, k = {} in {}: {} queries/s,{} {} finalists{}",
                     format_integer(problem.queries), format_integer(problem.base_rows), problem.dims, problem.k,
                     format_seconds(report.seconds), format_count(queries / report.seconds), rate,
                     format_integer(report.finalists), steps);
}

std::string describe(const DistanceRatios& ratios) {
  std::string text = fmt::format("distance ratio  mean {:.6f}  p99 {:.6f}  p99.9 {:.6f}  max {:.6f}\n", ratios.mean,
                                 ratios.p99, ratios.p999, ratios.max);
  if (ratios.unbounded > 0) text += fmt::format("unbounded ratio {} rows, not counted above\n", ratios.unbounded);
  return ratios.max > 1 ? text + histogram_text(ratios) : text;
}

namespace {

std::string triangle_text(const TriangleStatistics& triangle) {
  const auto percent = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0.0; };
  const auto pairs = static_cast<double>(triangle.pairs);
  std::string text = fmt::format(
      "triangle: {} clusters of queries, {} of points\n"
      "  level 1 leaves {} of {} pairs of clusters, {:.3g} % of all distances\n"
      "  level 2 visits {} clusters, computes {} distances to centers and {} to points: {:.4g} % saved\n",
      format_integer(triangle.query_clusters), format_integer(triangle.base_clusters),
      format_integer(triangle.cluster_pairs_left), format_integer(triangle.query_clusters * triangle.base_clusters),
      percent(static_cast<double>(triangle.pairs_level_1), pairs), format_integer(triangle.clusters_visited),
      format_integer(triangle.center_distances), format_integer(triangle.distances), 100 * triangle.saved());
  std::string steps;
  for (const TriangleStatistics::Step& step : triangle.steps)
    steps += fmt::format("{}{} {}", steps.empty() ? "  time: " : ", ", step.name, format_seconds(step.seconds));
  return text + steps;
}

std::string quality_text(const SearchQuality& quality) {
  return fmt::format("approximate: recall {:.6f} of {} queries that were searched exactly too\n{}", quality.recall,
                     format_integer(quality.queries), describe(quality.ratios));
}

}  // namespace

std::string certified_text(const SearchReport& report) {
  const auto certified = static_cast<double>(report.certified.value_or(0));
  const std::int64_t queries = report.plan.problem.queries;
  return fmt::format("certified: {} of {} queries, {:.4g} %, have the neighbors of an exact search\n",
                     format_integer(report.certified.value_or(0)), format_integer(queries),
                     100 * certified / static_cast<double>(queries));
}

void print_report(const SearchReport& report) {
  std::string text = describe(report) + "\n";
  if (report.triangle) text += triangle_text(*report.triangle) + "\n";
  if (report.quality) text += quality_text(*report.quality);
  print_to_stderr(text);
}

}  // namespace kith::cli
