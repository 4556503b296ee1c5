#include "plan/cpu_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/sizes.hpp"

namespace kith::plan {
namespace {

// How much dearer a coordinate's step is than a square's.
double step_cost(core::Form form) {
  switch (form) {
    case core::Form::absolute:
    case core::Form::maximum: return 1.55;
    case core::Form::mismatch: return 1.5;
    case core::Form::ratio: return 4.5;
    case core::Form::power: return 40;
    case core::Form::squared:
    case core::Form::dot: return 1;
  }
  return 1;
}

// How much longer double takes.
double width_of(const Problem& problem) {
  return problem.dtype == DType::float64 ? 2 : 1;
}

double pair_seconds(const core::StageCost& cost, double dims) {
  return cost.pair + dims * cost.step;
}

double all_pairs_seconds(const core::StageCost& cost, const Problem& problem) {
  return static_cast<double>(problem.queries) * static_cast<double>(problem.base_rows) * width_of(problem) *
         (static_cast<double>(problem.dims) * cost.step + cost.pair);
}

// Of the sample that says whether products of bfloat16 leave few candidates.
double bf16_sample_seconds(const Problem& problem, const core::CpuFacts& facts) {
  constexpr double kStart = 5e-6;
  const auto pairs = static_cast<double>(std::min(problem.queries, core::kBf16SampleQueries) *
                                         std::min(problem.base_rows, core::kBf16SampleRows));
  return kStart + pairs * pair_seconds(facts.key, static_cast<double>(problem.dims));
}

// Coordinates, in units of those that cost a multiplication or so.
double steps_of(const Problem& problem, const Metric& metric) {
  const core::Form form = core::form_of(metric);
  return static_cast<double>(problem.dims) * (core::is_long(form) ? step_cost(form) : 1);
}

}  // namespace

double stage_seconds(DistanceStage stage, const Problem& problem, core::Form form, int threads,
                     const core::CpuFacts& facts) {
  const auto n = static_cast<double>(problem.base_rows);
  const auto q = static_cast<double>(problem.queries);
  const auto d = static_cast<double>(problem.dims);
  const auto k = static_cast<double>(problem.k);
  const double blocks = std::ceil(q / static_cast<double>(kLargestBlock));
  // Every thread packs the whole base for its queries, unless there are so few that the base is split.
  const bool split = problem.queries < threads * kSmallestBlock;
  const double packed = n * d * (split ? 1 : std::max<double>(blocks, threads));
  double work = 0;
  if (stage == DistanceStage::gemm) {
    work = all_pairs_seconds(facts.gemm, problem) + packed * facts.multiply_packing;
  } else if (stage == DistanceStage::register_tiled) {
    work = all_pairs_seconds({facts.register_tiled.step * step_cost(form), facts.register_tiled.pair}, problem) +
           packed * facts.panel_packing;
  } else if (stage == DistanceStage::int8) {
    work = all_pairs_seconds(facts.int8, problem) + packed * facts.byte_packing;
  } else if (stage == DistanceStage::bf16) {
    // Without the instruction a product takes two of floats, and more to make floats of.
    const core::StageCost slow{4 * facts.register_tiled.step, facts.register_tiled.pair};
    work = all_pairs_seconds(facts.has_bf16 ? facts.bf16 : slow, problem) + packed * facts.bf16_packing;
  } else {
    // The pair's part is the same for both widths: the sum of a vector's lanes.
    const double pair = facts.direct.pair / width_of(problem);
    work = all_pairs_seconds({facts.direct.step * step_cost(form), pair}, problem);
  }
  const bool as_stored = stage == DistanceStage::direct || stage == DistanceStage::int8;
  if (!as_stored && size_of(problem.dtype) < core::element_bytes(problem)) work += packed * facts.conversion;
  const double read = n * d * static_cast<double>(size_of(problem.dtype)) * blocks / facts.read_bandwidth;
  const bool in_cache = n * d * static_cast<double>(size_of(problem.dtype)) <= facts.cache_bytes;
  const double ranked = std::min(n, k * (stage == DistanceStage::bf16 ? std::max(1.0, facts.bf16_candidates) : 1));
  const double keys = q * ranked * pair_seconds({facts.key.step, in_cache ? 0 : facts.key.pair}, d);
  const core::QueryCost& selection = problem.dtype == DType::float64 ? facts.selection_double : facts.selection;
  const double selections = q * (std::log2(n) * selection.doubling + k * std::log2(1 + n / k) * selection.candidate);
  const double sample = stage == DistanceStage::bf16 ? bf16_sample_seconds(problem, facts) : 0;
  return facts.start + sample + (std::max(read, work) + selections + keys) / threads;
}

double radius_seconds(DistanceStage stage, const Problem& problem, int threads, const core::CpuFacts& facts) {
  if (stage == DistanceStage::direct) return all_pairs_seconds(facts.direct, problem) / threads;
  const std::int64_t blocks = (problem.queries + kRadiusBlock - 1) / kRadiusBlock;
  const double packed = static_cast<double>(problem.base_rows) * static_cast<double>(problem.dims) *
                        static_cast<double>(blocks) * facts.panel_packing;
  return (all_pairs_seconds(facts.register_tiled, problem) + packed) / threads;
}

double triangle_seconds(const Problem& problem, const Metric& metric, const TriangleTuning& tuning,
                        const core::SurvivingFractions& survivors, const core::CpuFacts& facts, int threads,
                        bool clustered) {
  const auto n = static_cast<double>(problem.base_rows);
  const auto q = static_cast<double>(problem.queries);
  const double d = steps_of(problem, metric);
  const auto k = static_cast<double>(problem.k);
  const auto base_clusters = static_cast<double>(tuning.base_landmarks);
  const auto query_clusters = static_cast<double>(tuning.query_landmarks);
  const double width = width_of(problem);
  const auto clusters_of = [&](double rows, double landmarks) {
    return rows * (landmarks * width * pair_seconds(facts.center, d) + pair_seconds(facts.member, d));
  };
  const double clusters = (clustered ? 0 : clusters_of(n, base_clusters)) + clusters_of(q, query_clusters);
  const double level_1 = query_clusters * base_clusters * facts.cluster_pair;
  const double visits = q * base_clusters * survivors.clusters * facts.visit;
  const double distances = q * n * survivors.points * width * pair_seconds(facts.scanned, d);
  const double answers = q * (facts.query + k * pair_seconds(facts.key, d));
  const double start = facts.start + (clustered ? 0 : facts.clusters_start);
  return start + (clusters + level_1 + visits + distances + answers) / threads;
}

double visited_leaves(double points, double k, double dimensions) {
  constexpr double kPi = 3.14159265358979;
  constexpr auto kLeaf = static_cast<double>(core::TreeLimits::kLeaf);
  constexpr int kMost = 64;
  // Volumes of balls of radius 1.
  static const std::array<double, kMost + 2> volumes = [] {
    std::array<double, kMost + 2> all{1, 2};
    for (std::size_t j = 2; j < all.size(); ++j) all[j] = all[j - 2] * 2 * kPi / static_cast<double>(j);
    return all;
  }();
  // What lies within a radius of a cube whose side is 1 (Steiner).
  const auto cubes = [&](int d) {
    const double radius = std::pow(k / volumes[static_cast<std::size_t>(d)] / kLeaf, 1.0 / d);
    double sum = 0;
    double factor = 1;  // choices of j of the d sides, times the radius to the power of j
    for (int j = 0; j <= d; ++j) {
      sum += factor * volumes[static_cast<std::size_t>(j)];
      factor *= radius * (d - j) / (j + 1);
    }
    return sum;
  };
  const double d = std::clamp<double>(dimensions, 1, kMost);
  const auto below = static_cast<int>(d);
  const double part = d - below;
  const double visited = part > 0 ? std::pow(cubes(below), 1 - part) * std::pow(cubes(below + 1), part) : cubes(below);
  return std::min(std::ceil(points / kLeaf), visited);
}

double tree_seconds(const Problem& problem, const Metric& metric, double dimensions, const core::CpuFacts& facts,
                    int threads, bool has_tree) {
  const auto n = static_cast<double>(problem.base_rows);
  const auto q = static_cast<double>(problem.queries);
  const auto k = static_cast<double>(problem.k);
  const double d = steps_of(problem, metric);
  const double width = width_of(problem);
  const double doublings = std::log2(1 + n / static_cast<double>(core::TreeLimits::kLeaf));
  const double made =
      has_tree ? 0 : n * (doublings + 1) * pair_seconds(facts.tree_row, static_cast<double>(problem.dims));
  const double leaf =
      facts.tree_leaf + static_cast<double>(core::TreeLimits::kLeaf) * width * pair_seconds(facts.tree_point, d);
  const double query = facts.tree_query + visited_leaves(n, k, dimensions) * leaf + k * facts.tree_candidate;
  return facts.start + (made + q * query) / threads;
}

double sample_seconds(const Problem& problem, const Metric& metric, std::int64_t landmarks,
                      const core::CpuFacts& facts) {
  constexpr double kStart = 5e-6;
  constexpr double kPoint = 7e-9;     // a query and a point, while the k-th is looked for and bounds are compared
  constexpr double kCenter = 1.5e-8;  // a query and a landmark
  const auto points = static_cast<double>(core::cpu_sample_points(problem.base_rows));
  const auto queries = static_cast<double>(std::min(problem.queries, core::kCpuSampleQueries));
  const auto centers = static_cast<double>(landmarks);
  const double pairs = points * centers + queries * (points + centers);
  return kStart + pairs * width_of(problem) * pair_seconds(facts.center, steps_of(problem, metric)) +
         queries * (points * kPoint + centers * kCenter);
}

}  // namespace kith::plan
