#include "api/device_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kith/error.hpp"
#include "plan/device_planner.hpp"
#include "plan/triangle_costs.hpp"

namespace kith::api {
namespace {

// Seconds of the plan should its fp16 not do.
double without_fp16(const Plan& brute) {
  if (brute.distance != "fp16") return brute.seconds;
  const auto other = std::find_if(brute.alternatives.begin(), brute.alternatives.end(),
                                  [](const auto& stage) { return stage.distance == "register-tiled"; });
  return other == brute.alternatives.end() ? brute.seconds : std::max(brute.seconds, other->seconds);
}

}  // namespace

Plan plan_on_device(const Problem& problem, const Options& options, Backend backend, const DeviceFacts& facts,
                    const DataSamples& ask) {
  Plan brute = plan::plan_device(problem, options, backend, facts);
  const bool few = problem.queries < plan::kTriangleQueries || problem.base_rows < plan::kTrianglePoints;
  if (few || !plan::may_choose_triangle(options)) return brute;
  Options with_triangle = options;
  with_triangle.method = Method::triangle;
  try {
    Plan triangle = plan::plan_device(problem, with_triangle, backend, facts);
    const auto seconds = [&](double share) {
      return plan::triangle_seconds(problem, options.metric, triangle.triangle, share, facts.profile);
    };
    const double worst = plan::kTriangleMargin * without_fp16(brute);
    // Nobody knows yet whether fp16 will do: the search takes something between the two.
    const double likely = std::sqrt(brute.seconds * without_fp16(brute));
    const double probe = plan::sample_seconds(problem, options.metric, triangle.triangle.base_landmarks, facts.profile);
    if (seconds(0) > worst || probe > plan::kDeviceSampleCostLimit * likely) return brute;
    const double share = ask.surviving_fraction(triangle);
    if (seconds(share) > worst) return brute;
    if (seconds(share) > plan::kTriangleMargin * brute.seconds && ask.holds(brute)) return brute;
    triangle.seconds = seconds(share);
    triangle.reason = plan::survivors_reason(share);
    triangle.alternatives = std::move(brute.alternatives);
    triangle.alternatives.insert(triangle.alternatives.begin(), {brute.distance, brute.seconds});
    return triangle;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory && error.code() != ErrorCode::invalid_argument) throw;
    return brute;  // triangle cannot take this problem
  }
}

}  // namespace kith::api
