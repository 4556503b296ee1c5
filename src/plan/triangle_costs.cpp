#include "plan/triangle_costs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/triangle_bounds.hpp"
#include "core/triangle_sample.hpp"

namespace kith::plan {
namespace {

// Coordinates, in units of those that cost a multiplication or so.
double steps_of(const Problem& problem, const Metric& metric) {
  constexpr double kPower = 40;
  const auto dims = static_cast<double>(problem.dims);
  return core::form_of(metric) == core::Form::power ? kPower * dims : dims;
}

double cost_of(const core::StageCost& cost, double dims) {
  return cost.pair + dims * cost.step;
}

}  // namespace

bool may_choose_triangle(const Options& options) {
  return options.method == Method::automatic && options.distance == "auto" && options.select == "auto" &&
         core::has_triangle_inequality(options.metric);
}

double triangle_seconds(const Problem& problem, const Metric& metric, const TriangleTuning& tuning,
                        const SurvivingFractions& share, const core::CpuFacts& facts, int threads, bool clustered) {
  const auto n = static_cast<double>(problem.base_rows);
  const auto q = static_cast<double>(problem.queries);
  const double d = steps_of(problem, metric);
  const auto k = static_cast<double>(problem.k);
  const auto base_clusters = static_cast<double>(tuning.base_landmarks);
  const auto query_clusters = static_cast<double>(tuning.query_landmarks);
  const double width = problem.dtype == DType::float64 ? 2 : 1;
  const auto clusters_of = [&](double rows, double landmarks) {
    return rows * (landmarks * width * cost_of(facts.center, d) + cost_of(facts.member, d));
  };
  const double clusters = (clustered ? 0 : clusters_of(n, base_clusters)) + clusters_of(q, query_clusters);
  const double level_1 = query_clusters * base_clusters * facts.cluster_pair;
  const double visits = q * base_clusters * share.clusters * facts.visit;
  const double distances = q * n * share.points * width * cost_of(facts.scanned, d);
  const double answers = q * (facts.query + k * cost_of(facts.key, d));
  return (clusters + level_1 + visits + distances + answers) / threads;
}

// Landmarks are compared in registers, as tiles of points are; points of stretches by lanes that each read their own.
double triangle_seconds(const Problem& problem, const Metric& metric, const TriangleTuning& tuning, double share,
                        const core::DeviceProfile& profile) {
  const auto n = static_cast<double>(problem.base_rows);
  const auto q = static_cast<double>(problem.queries);
  const double d = steps_of(problem, metric);
  const auto k = static_cast<double>(problem.k);
  const auto base_clusters = static_cast<double>(tuning.base_landmarks);
  const auto query_clusters = static_cast<double>(tuning.query_landmarks);
  const double assigned = n * base_clusters + q * query_clusters + query_clusters * base_clusters;
  const double width = problem.dtype == DType::float64 ? 2 : 1;
  // As measured, in units of the stage whose memory accesses are alike: what a query costs by itself, a point of a
  // stretch, and one that gets a key and a place among the neighbors.
  constexpr double kStarts = 6;  // kernels one after the other, some waited for
  constexpr double kAssign = 2.8;
  constexpr double kQuery = 34000;
  constexpr double kPoint = 115;
  constexpr double kStep = 6.3;
  constexpr double kFound = 850;
  constexpr double kFoundStep = 85;
  const double query = kQuery + n * share * (kPoint + kStep * d * width) + k * (kFound + kFoundStep * d);
  return assigned * (kAssign * d * width * profile.register_tiled + profile.fused_pair) + q * query * profile.direct +
         kStarts * profile.start;
}

std::string survivors_reason(double share) {
  return fmt::format("a sample says that the triangle inequality leaves {:.2g} % of the distances", 100 * share);
}

double sample_seconds(const Problem& problem, const Metric& metric, std::int64_t landmarks,
                      const core::CpuFacts& facts) {
  const auto points = static_cast<double>(std::min(problem.base_rows, core::kSamplePoints));
  const auto queries = static_cast<double>(std::min(problem.queries, core::kSampleQueries));
  const auto centers = static_cast<double>(landmarks);
  const double pairs = points * centers + queries * (points + centers);
  const double width = problem.dtype == DType::float64 ? 2 : 1;
  return pairs * width * cost_of(facts.center, steps_of(problem, metric)) +
         queries * points * 4e-9;  // of looking for the k-th
}

// As measured: so few pairs leave the device half idle.
double sample_seconds(const Problem& problem, const Metric& metric, std::int64_t landmarks,
                      const core::DeviceProfile& profile) {
  constexpr double kStarts = 1.35;
  constexpr double kStep = 5;
  const auto points = static_cast<double>(std::min(problem.base_rows, core::kSamplePoints));
  const auto members = static_cast<double>(std::min(problem.base_rows, core::kSampleMembers));
  const auto queries = static_cast<double>(std::min(problem.queries, core::kSampleQueries));
  const auto centers = static_cast<double>(std::min(landmarks, core::kSampleLandmarks));
  const double pairs = members * centers + queries * (points + centers);
  return kStarts * profile.start + pairs * kStep * steps_of(problem, metric) * profile.register_tiled;
}

}  // namespace kith::plan
