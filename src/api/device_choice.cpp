#include "api/device_choice.hpp"

#include <utility>

#include "kith/error.hpp"
#include "plan/device_planner.hpp"
#include "plan/triangle_costs.hpp"

namespace kith::api {
Plan plan_on_device(const Problem& problem, const Options& options, Backend backend, const DeviceFacts& facts,
                    const std::function<double()>& triangle_share) {
  Plan brute = plan::plan_device(problem, options, backend, facts);
  if (!plan::may_choose_triangle(options)) return brute;
  Options with_triangle = options;
  with_triangle.method = Method::triangle;
  try {
    Plan triangle = plan::plan_device(problem, with_triangle, backend, facts);
    const auto seconds = [&](double share) {
      return plan::triangle_seconds(problem, triangle.triangle, share, facts.profile);
    };
    const double most = plan::kTriangleMargin * brute.seconds;
    if (seconds(0) > most) return brute;
    const double share = triangle_share();
    if (seconds(share) > most) return brute;
    triangle.seconds = seconds(share);
    triangle.reason = plan::reason_of_share(share);
    triangle.alternatives = std::move(brute.alternatives);
    triangle.alternatives.insert(triangle.alternatives.begin(), {brute.distance, brute.seconds});
    return triangle;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory && error.code() != ErrorCode::invalid_argument) throw;
    return brute;  // triangle cannot take this problem
  }
}

}  // namespace kith::api
