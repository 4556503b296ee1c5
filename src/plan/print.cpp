// The plan as text.
#include <fmt/format.h>

#include <cmath>
#include <ostream>

#include "core/periodic.hpp"
#include "core/sizes.hpp"
#include "kith/plan.hpp"

namespace kith {
namespace {

std::string bytes_text(std::int64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.1f} s", seconds);
}

std::string method_text(const Plan& plan) {
  if (plan.method == Method::triangle)
    return fmt::format("method    triangle, form {}: clusters and points are ruled out by the triangle inequality\n",
                       to_string(plan.triangle.form));
  if (plan.method == Method::tree)
    return fmt::format("method    tree{}: boxes around points that lie together are ruled out as a whole\n",
                       plan.approximate ? fmt::format(", approximate within a factor 1 + {}", plan.epsilon) : "");
  if (plan.method == Method::shifted_sort)
    return fmt::format(
        "method    shifted-sort, approximate: {} orders along the {} curve, {} candidates on either side{}{}\n",
        plan.shifted_sort.shifts, to_string(plan.shifted_sort.curve), plan.shifted_sort.window,
        plan.shifted_sort.positions == CurvePositions::sort ? ", points and queries sorted together" : "",
        plan.shifted_sort.certify ? ", rows that are exact are certified" : "");
  return fmt::format("method    {}: {} distances{}, {} selection\n", to_string(plan.method), to_string(plan.distance),
                     plan.expanded ? " from norms and products" : "", to_string(plan.select));
}

std::string work_text(const Plan& plan) {
  if (plan.method == Method::triangle)
    return fmt::format("clusters  {} of the points, {} of {} queries\n", plan.triangle.base_landmarks,
                       plan.triangle.query_landmarks, plan.query_block);
  if (plan.method == Method::tree)
    return fmt::format("batches   {} queries in the order of the tree, leaves of {} points\n", plan.query_block,
                       core::TreeLimits::kLeaf);
  if (plan.method == Method::shifted_sort)
    return fmt::format("batches   {} queries, {} candidates per query\n", plan.query_block, plan.candidates);
  return fmt::format("tiles     {} queries × {} points, base in {} part{}, {} candidates per query\n", plan.query_block,
                     plan.base_tile, plan.base_splits, plan.base_splits == 1 ? "" : "s", plan.candidates);
}

std::string memory_text(const Plan& plan) {
  const std::string budget = bytes_text(plan.budget_bytes);
  if (plan.backend == Backend::cpu)
    return fmt::format("memory    {} of a budget of {}\n", bytes_text(plan.workspace_bytes), budget);
  return fmt::format("memory    {} beside the base{}; the budget is {}\n", bytes_text(plan.peak_bytes),
                     plan.base_fits ? "" : ", which the budget has no room for", budget);
}

// What follows is of the slowest.
std::string stripes_text(const Plan& plan) {
  if (plan.stripes.empty()) return "";
  std::string text = "devices   ";
  for (const Plan::Stripe& stripe : plan.stripes)
    text += fmt::format("{}{}: {} points in {}", &stripe == &plan.stripes.front() ? "" : ", ", stripe.device,
                        stripe.rows, seconds_text(stripe.seconds));
  return text + "; merged on the host\n";
}

}  // namespace

std::string to_string(const Plan::Pass& pass) {
  if (!pass.fused) return to_string(pass.distance);
  if (pass.distance == DistanceStage::register_tiled) return "fused";
  return fmt::format("fused {}{}", to_string(pass.distance), pass.bounded ? ", bounded" : "");
}

std::string to_string(const Plan& plan) {
  const Problem& p = plan.problem;
  std::string text;
  std::string wanted = p.k > 0 ? fmt::format("k = {}", p.k) : "within a radius";
  if (std::isfinite(plan.max_distance)) wanted += fmt::format(" up to a distance of {}", plan.max_distance);
  text += fmt::format("search    {} queries × {} points × {} dimensions ({}), {}, {}\n", p.queries, p.base_rows, p.dims,
                      to_string(p.dtype), wanted, to_string(plan.metric));
  if (core::is_periodic(plan.period)) text += fmt::format("period    {}\n", fmt::join(plan.period, ", "));
  text +=
      fmt::format("backend   {}, {} thread{}{}\n", to_string(plan.backend), plan.threads, plan.threads == 1 ? "" : "s",
                  plan.threads_reason.empty() ? "" : fmt::format(" ({})", plan.threads_reason));
  text += stripes_text(plan);
  if (!plan.device.empty()) text += fmt::format("device    {}\n", plan.device);
  text += method_text(plan);
  text += fmt::format("why       {}\n", plan.reason);
  text += work_text(plan);
  text += memory_text(plan);
  if (!plan.profile.empty()) text += fmt::format("costs     {}\n", plan.profile);
  text += fmt::format("expected  {}", seconds_text(plan.seconds));
  for (const Plan::Alternative& other : plan.alternatives)
    text += fmt::format("{} {} {}", &other == &plan.alternatives.front() ? "; instead of" : ",",
                        to_string(other.distance), seconds_text(other.seconds));
  return text + "\n";
}

std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  return out << to_string(plan);
}

}  // namespace kith
