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
  const double distances = queries * static_cast<double>(problem.base_rows);
  std::string steps;
  for (const SearchStep& step : report.steps)
    steps += fmt::format("{}{} {}", steps.empty() ? "; " : ", ", step.distance, format_integer(step.queries));
  return fmt::format("{} queries × {} points × {} dims, k = {} in {}: {} queries/s, {} distances/s, {} finalists{}",
                     format_integer(problem.queries), format_integer(problem.base_rows), problem.dims, problem.k,
                     format_seconds(report.seconds), format_count(queries / report.seconds),
                     format_count(distances / report.seconds), format_integer(report.finalists), steps);
}

}  // namespace kith::cli
