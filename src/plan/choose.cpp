#include "plan/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "core/key.hpp"
#include "core/periodic.hpp"
#include "core/sizes.hpp"
#include "core/triangle_bounds.hpp"
#include "kith/error.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/cpu_plans.hpp"
#include "plan/device_costs.hpp"
#include "plan/device_memory.hpp"
#include "plan/device_plans.hpp"
#include "plan/shifted_sort.hpp"

namespace kith::plan {
namespace {

// A prediction must be this much better before triangle is taken: fractions are estimates.
constexpr double kTriangleMargin = 0.95;
constexpr double kDeviceTriangleMargin = 0.8;
// Where brute force was timed, triangle is tried where it may be faster, and then timed as well.
constexpr double kTimedTriangleMargin = 1.15;

// The same for a tree.
constexpr double kTreeMargin = 0.9;
// On a device its costs were worked out and not measured.
constexpr double kDeviceTreeMargin = 0.4;
constexpr double kDimensionsMargin = 1.25;
constexpr std::int64_t kMostTreeDims = 32;
// Radius searches with more dimensions than this meet most boxes. A tree may cost this fraction of brute force, of
// whose pairs nobody knows how many a radius leaves.
constexpr std::int64_t kRadiusTreeDims = 8;
constexpr double kRadiusTreeCost = 0.25;

// A sample may cost this fraction of the search it is for. On a device less: what a search takes there is not known
// before fp16 has been tried.
constexpr double kSampleCostLimit = 0.08;
constexpr double kDeviceSampleCostLimit = 0.035;
// Where the index keeps the sample for the searches to come, in dimensions so few that triangle often pays.
constexpr double kKeptSampleCostLimit = 0.25;
constexpr std::int64_t kLowDims = 16;

// Whether the choice of triangle is left to the data, and there is data.
bool may_choose_triangle(const Options& options, const DataSamples& samples) {
  return samples.surviving_fractions && options.method == Method::automatic &&
         options.distance == DistanceStage::automatic && options.select == SelectMethod::automatic &&
         core::has_triangle_inequality(options.metric);
}

// Whether a plan of triangle was refused since it cannot take this problem.
bool is_refusal(const Error& error) {
  return error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::invalid_argument;
}

// Whether a tree may be taken: it was not ruled out by name, and the metric has what it needs.
bool may_choose_tree(const Problem& problem, const Options& options) {
  return options.method == Method::automatic && options.distance == DistanceStage::automatic &&
         options.select == SelectMethod::automatic && core::has_box_bounds(options.metric) &&
         problem.dims <= kMostTreeDims;
}

// What was preferred to brute force.
void list_alternative(Plan& plan, Plan brute) {
  plan.alternatives = std::move(brute.alternatives);
  plan.alternatives.insert(plan.alternatives.begin(), {brute.distance, brute.seconds, brute.method});
}

// Makes the choice of triangle known.
void prefer(Plan& plan, double surviving, Plan brute) {
  plan.reason =
      fmt::format("a sample says that the triangle inequality leaves {:.2g} % of the distances", 100 * surviving);
  list_alternative(plan, std::move(brute));
}

// A tree, where it is so much better than brute force for points that fill so many dimensions. What earlier searches of
// an index have spent on brute force counts for the tree: it comes once it would have paid.
std::optional<Plan> better_tree(const Problem& problem, const Options& options, const core::CpuFacts& facts,
                                const IndexFacts& index, double dimensions) {
  try {
    Plan tree = plan_cpu_tree(problem, options, facts, dimensions, index.has_tree);
    const double searching =
        index.has_tree ? tree.seconds : tree_seconds(problem, options.metric, dimensions, facts, tree.threads, true);
    const bool has_paid = tree.seconds - searching <= index.spent;
    tree.alternatives = brute_alternatives(problem, options, facts);
    if ((has_paid ? searching : tree.seconds) > kTreeMargin * tree.alternatives.front().seconds) return std::nullopt;
    tree.alternatives.front().method = Method::brute;
    tree.reason = dimensions < static_cast<double>(problem.dims)
                      ? fmt::format("a sample says that the points fill {:.2g} of their dimensions", dimensions)
                      : "few dimensions: boxes rule out most points";
    return tree;
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return std::nullopt;
  }
}

// The shape may ask for products where the data ask for differences.
Plan plan_cpu_by_data(const Problem& problem, const Options& options, const core::CpuFacts& facts,
                      const IndexFacts& index, const DataSamples& samples) {
  Plan plan = plan_cpu(problem, options, facts, index);
  if (plan.distance == DistanceStage::bf16) {
    if (options.distance == DistanceStage::bf16 || !samples.bf16_candidates) return plan;
    core::CpuFacts known = facts;
    known.bf16_candidates = samples.bf16_candidates();
    Plan informed = plan_cpu(problem, options, known, index);
    if (informed.distance == DistanceStage::bf16) return plan;
    plan = std::move(informed);
  }
  if (!plan.expanded || options.distance == DistanceStage::gemm || !samples.products_are_sharp ||
      samples.products_are_sharp())
    return plan;
  if (plan.distance == DistanceStage::gemm) {
    Options tiled = options;
    tiled.distance = DistanceStage::register_tiled;
    try {
      plan = plan_cpu(problem, tiled, facts, {.has_norms = false});
    } catch (const Error&) {
      return plan;  // slower, and as exact
    }
  }
  plan.expanded = false;
  plan.reason = "points lie closer together than products can resolve at their distance from the origin";
  return plan;
}

// The one method that has periodic axes.
Plan periodic_tree(const Problem& problem, const Options& options, const core::CpuFacts& facts,
                   const IndexFacts& index) {
  Plan plan = plan_cpu_tree(problem, options, facts, static_cast<double>(problem.dims), index.has_tree);
  if (options.method == Method::automatic) plan.reason = "periodic axes";
  return plan;
}

// Brute force, unless a sample says that most of it is waste. What earlier searches of an index have spent on brute
// force counts for the sample and for the clusters: whoever searches often, but for few queries at a time, gets them
// once they would have paid, and has spent at most twice what they cost.
Plan choose_on(const core::CpuFacts& facts, const Problem& problem, const Options& options, const IndexFacts& index,
               const DataSamples& samples) {
  if (core::is_periodic(options.period)) return periodic_tree(problem, options, facts, index);
  const bool tree_fits = may_choose_tree(problem, options);
  if (tree_fits)
    if (auto tree = better_tree(problem, options, facts, index, static_cast<double>(problem.dims)))
      return *std::move(tree);
  Plan brute = plan_cpu_by_data(problem, options, facts, index, samples);
  if (!may_choose_triangle(options, samples)) return brute;
  try {
    const Plan usual = plan_cpu_triangle(problem, options, facts);
    const double cost = sample_seconds(problem, options.metric, usual.triangle.base_landmarks, facts);
    if (index.sampled_k < problem.k && cost > kSampleCostLimit * (brute.seconds + index.spent)) return brute;
    const core::SurvivingFractions survivors = samples.surviving_fractions(usual);
    Plan triangle = plan_cpu_triangle(problem, options, facts, survivors, index.has_clusters);
    const double searching = plan_cpu_triangle(problem, options, facts, survivors, true).seconds;
    const bool clusters_have_paid = triangle.seconds - searching <= index.spent;
    const double fewest = std::min((clusters_have_paid ? searching : triangle.seconds), brute.seconds);
    // Of a few queries' neighbors the dimensions are but roughly known.
    const double filled = std::min(kDimensionsMargin * survivors.dimensions, static_cast<double>(problem.dims));
    if (tree_fits && filled > 0)
      if (auto tree = better_tree(problem, options, facts, index, filled); tree && tree->seconds < fewest)
        return *std::move(tree);
    if ((clusters_have_paid ? searching : triangle.seconds) > kTriangleMargin * brute.seconds) return brute;
    // An index is not given clusters where it will have a tree that is better.
    const auto dims = static_cast<double>(problem.dims);
    if (tree_fits && !index.has_clusters && triangle.seconds > kTriangleMargin * brute.seconds &&
        tree_seconds(problem, options.metric, dims, facts, triangle.threads, true) < searching)
      return brute;
    prefer(triangle, survivors.points, std::move(brute));
    return triangle;
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return brute;
  }
}

// Seconds of the plan should fp16 not tell neighbors apart.
double without_fp16(const Plan& brute, const IndexFacts& index) {
  const bool known = find_timed(index, brute.method, brute.distance) != nullptr;
  if (known || brute.distance != DistanceStage::fp16) return brute.seconds;
  const auto other = std::find_if(brute.alternatives.begin(), brute.alternatives.end(),
                                  [](const auto& stage) { return stage.distance == DistanceStage::register_tiled; });
  return other == brute.alternatives.end() ? brute.seconds : std::max(brute.seconds, other->seconds);
}

// Copies of rows leave queries without a proof where one is needed: they are looked for where that costs little beside
// the search.
Plan plan_device_by_data(const Problem& problem, const Options& options, const core::DeviceFacts& facts,
                         const IndexFacts& index, const DataSamples& samples) {
  if (index.distinct_rows > 0) return plan_device_distinct(problem, options, facts, index, index.distinct_rows);
  Plan plan = plan_device(problem, options, facts, index);
  const double cost = static_cast<double>(facts.policy.duplicates_microseconds) / 1e6;
  if (index.distinct_limit == 0 || !samples.distinct_rows || plan.passes.size() < 2 ||
      cost > kDeviceSampleCostLimit * (plan.seconds + index.bring_seconds))
    return plan;
  const std::int64_t distinct_rows = samples.distinct_rows();
  return distinct_rows > 0 ? plan_device_distinct(problem, options, facts, index, distinct_rows) : plan;
}

// A tree, where it is predicted to take at most that fraction of brute force for points that fill all their dimensions,
// or was timed and is better.
std::optional<Plan> better_device_tree(const core::DeviceFacts& facts, const Problem& problem, const Options& options,
                                       const IndexFacts& index, const Plan& brute, double fraction) {
  if (!may_choose_tree(problem, options) || problem.dims > facts.policy.tree_max_dims) return std::nullopt;
  try {
    Plan tree = plan_device_tree(problem, options, facts, index.has_tree);
    const TimedStage* const timed = find_timed(index, tree.method, tree.distance);
    if (timed != nullptr) tree.seconds = timed->seconds;
    if (tree.seconds > (timed != nullptr ? 1 : fraction) * brute.seconds) return std::nullopt;
    tree.reason = "few dimensions: boxes rule out most points";
    if (timed != nullptr) tree.reason += took_before(timed->seconds);
    list_alternative(tree, brute);
    return tree;
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return std::nullopt;
  }
}

// The plan, or triangle where a sample says that it is better. Points that the triangle inequality tells apart may lie
// too close together for fp16, whose plan is then slower than it looks.
Plan or_triangle(const core::DeviceFacts& facts, const Problem& problem, const Options& options,
                 const IndexFacts& index, const DataSamples& samples, Plan other) {
  const bool few =
      problem.queries < facts.policy.triangle_min_queries || problem.base_rows < facts.policy.triangle_min_points;
  // A second pass is as long as the first. Triangle may take ten times as long as its sample says where many dimensions
  // are in clusters whose points lie in no order: 153 ms for 2,000 of them, where two passes take 12. In the cache any
  // order will do.
  constexpr std::int64_t kSampledDims = 32;
  const bool cached = problem.base_rows * problem.dims * core::element_bytes(problem) <= facts.policy.hardware.l2_bytes;
  if (few || !may_choose_triangle(options, samples)) return other;
  if (index.many_need_second_pass && !index.fp16_fails && problem.dims > kSampledDims && !cached) return other;
  try {
    Plan triangle = plan_device_triangle(problem, options, facts);
    // Who searches so for the third time will do so again: clusters pay, and so does a sample that costs a search.
    const bool repeated = !index.timed.empty();
    const auto seconds = [&](double surviving) {
      return triangle_seconds(facts.profile, problem, options.metric, triangle.triangle, surviving, repeated);
    };
    if (const TimedStage* timed = find_timed(index, triangle.method, triangle.distance)) {
      if (timed->seconds > other.seconds) return other;
      triangle.seconds = timed->seconds;
      triangle.reason = "the triangle inequality leaves few distances" + took_before(timed->seconds);
      list_alternative(triangle, std::move(other));
      return triangle;
    }
    const double margin = repeated ? kTimedTriangleMargin : kDeviceTriangleMargin;
    const double worst = margin * without_fp16(other, index);
    // Nobody knows yet whether fp16 will do: the search takes something between the two.
    const double likely = std::sqrt(other.seconds * without_fp16(other, index));
    const double cost = sample_seconds(facts.profile, problem, options.metric, triangle.triangle.base_landmarks);
    const bool sampled = index.sampled_k == problem.k;
    const bool serves_all = !index.serves_once && (repeated || problem.dims <= kLowDims);
    const double limit = !serves_all ? kDeviceSampleCostLimit : repeated ? 1 : kKeptSampleCostLimit;
    if (seconds(0) > worst || (!sampled && cost > limit * likely)) return other;
    const double surviving = samples.surviving_fractions(triangle).points;
    if (seconds(surviving) > worst) return other;
    if (seconds(surviving) > margin * other.seconds && samples.first_pass_suffices(other)) return other;
    triangle.seconds = seconds(surviving);
    prefer(triangle, surviving, std::move(other));
    return triangle;
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return other;
  }
}

Plan choose_method(const core::DeviceFacts& facts, const Problem& problem, const Options& options,
                   const IndexFacts& index, const DataSamples& samples) {
  if (core::is_periodic(options.period)) return plan_device_tree(problem, options, facts, index.has_tree);
  Plan brute = plan_device_by_data(problem, options, facts, index, samples);
  std::optional<Plan> tree = better_device_tree(facts, problem, options, index, brute, kDeviceTreeMargin);
  return or_triangle(facts, problem, options, index, samples, std::move(tree ? *tree : brute));
}

Plan choose_on(const core::DeviceFacts& facts, const Problem& problem, const Options& options, const IndexFacts& index,
               const DataSamples& samples) {
  Plan plan = choose_method(facts, problem, options, index, samples);
  plan.base_fits = is_resident(problem, options, facts);
  plan.peak_bytes = peak_bytes(plan, index, plan.base_fits, facts.policy);
  return plan;
}

// Refuses methods and stages that a radius search does not have.
void check_radius_options(const Options& options, std::initializer_list<DistanceStage> stages) {
  if (options.method != Method::automatic && options.method != Method::brute && options.method != Method::tree)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("method {} finds the k nearest; a radius search has brute, tree", to_string(options.method)));
  if (options.distance == DistanceStage::automatic || std::count(stages.begin(), stages.end(), options.distance) > 0)
    return;
  std::string known = "auto";
  for (const DistanceStage stage : stages) known += fmt::format(", {}", to_string(stage));
  throw Error(ErrorCode::invalid_argument, fmt::format("distance stage '{}' is not one of a radius search; it has {}",
                                                       to_string(options.distance), known));
}

Plan choose_radius_on(const core::CpuFacts& facts, const Problem& problem, const Options& options,
                      const IndexFacts& index, const DataSamples& samples) {
  check_radius_options(options, {DistanceStage::direct, DistanceStage::register_tiled});
  if (core::is_periodic(options.period)) return periodic_tree(problem, options, facts, index);
  if (options.method == Method::tree)
    return plan_cpu_tree(problem, options, facts, static_cast<double>(problem.dims), index.has_tree);
  Plan plan = plan_cpu_radius(problem, options, facts, index.has_norms);
  if (may_choose_tree(problem, options) && problem.dims <= kRadiusTreeDims) {
    try {
      Plan tree = plan_cpu_tree(problem, options, facts, static_cast<double>(problem.dims), index.has_tree);
      if (tree.seconds <= kRadiusTreeCost * (plan.seconds + index.spent)) {
        tree.reason = "few dimensions: boxes rule out points beyond the radius";
        list_alternative(tree, plan);
        return tree;
      }
    } catch (const Error& error) {
      if (!is_refusal(error)) throw;
    }
  }
  if (plan.expanded && samples.products_are_sharp) plan.expanded = samples.products_are_sharp();
  return plan;
}

Plan choose_radius_on(const core::DeviceFacts& facts, const Problem& problem, const Options& options,
                      const IndexFacts& index, const DataSamples&) {
  check_radius_options(options, {DistanceStage::register_tiled, DistanceStage::fp16});
  Plan plan = options.method == Method::tree || core::is_periodic(options.period)
                  ? plan_device_tree(problem, options, facts, index.has_tree)
                  : plan_device_radius(problem, options, facts);
  if (plan.method != Method::tree)
    if (auto tree = better_device_tree(facts, problem, options, index, plan, kRadiusTreeCost)) plan = *std::move(tree);
  plan.base_fits = is_resident(problem, options, facts);
  plan.peak_bytes = peak_bytes(plan, index, plan.base_fits, facts.policy);
  return plan;
}

// Norms may take half of the budget: without them Euclidean distances come from differences.
IndexFacts index_on(const core::CpuFacts&, const Problem& problem, const Options& options) {
  constexpr std::int64_t kBytes = 16;
  return {.has_norms = options.memory_budget == 0 || problem.base_rows * kBytes <= options.memory_budget};
}

IndexFacts index_on(const core::DeviceFacts& facts, const Problem& problem, const Options& options) {
  return {.resident = is_resident(problem, options, facts),
          .narrow = stays_narrow(problem, options, facts.policy),
          .may_widen = has_room_for_all(problem, options, facts),
          .distinct_limit = distinct_limit(problem, options, facts)};
}

std::string obstacle_of(const Machine& machine) {
  const auto* const cpu = std::get_if<core::CpuFacts>(&machine);
  return cpu == nullptr ? "" : cpu->device_obstacle;
}

}  // namespace

const TimedStage* find_timed(const IndexFacts& index, Method method, DistanceStage distance) {
  for (const TimedStage& one : index.timed)
    if (one.method == method && one.distance == distance) return &one;
  return nullptr;
}

IndexFacts choose_index(const Problem& problem, const Options& options, const Machine& machine) {
  if (options.method == Method::shifted_sort) check_shifted_sort(options, problem.dims);
  return std::visit([&](const auto& facts) { return index_on(facts, problem, options); }, machine);
}

void note_obstacle(Plan& plan, const std::string& obstacle) {
  if (!obstacle.empty()) plan.reason += fmt::format("; on the CPU since {}", obstacle);
}

Plan choose(const Problem& problem, const Options& options, const Machine& machine, const IndexFacts& index,
            const DataSamples& samples) {
  Plan plan =
      std::visit([&](const auto& facts) { return choose_on(facts, problem, options, index, samples); }, machine);
  note_obstacle(plan, obstacle_of(machine));
  return plan;
}

Plan choose_radius(const Problem& problem, const Options& options, const Machine& machine, const IndexFacts& index,
                   const DataSamples& samples) {
  Plan plan =
      std::visit([&](const auto& facts) { return choose_radius_on(facts, problem, options, index, samples); }, machine);
  note_obstacle(plan, obstacle_of(machine));
  return plan;
}

void set_limits(Plan& plan, const SearchLimits& limits) {
  plan.max_distance = limits.max_distance;
  if (plan.method != Method::tree) return;
  plan.epsilon = limits.epsilon;
  plan.approximate = limits.epsilon > 0;
}

bool needs_norms(const Plan& plan) {
  // Triangle has those of cosine and correlation in any case.
  if (plan.method == Method::shifted_sort || plan.method == Method::triangle || plan.method == Method::tree)
    return false;
  return plan.expanded || core::form_of(plan.metric) == core::Form::dot;
}

}  // namespace kith::plan
