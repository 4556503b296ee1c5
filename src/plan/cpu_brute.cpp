// cpu_brute.cpp: all distances on the CPU: the fastest stage, and the largest tiles that fit the budget.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/sizes.hpp"
#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/cpu_plans.hpp"
#include "plan/cpu_threads.hpp"
#include "plan/product_stages.hpp"
#include "plan/products.hpp"

namespace kith::plan {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// Offsets within a part of the base are 32 bits wide.
constexpr std::int64_t kMaxPartRows = std::numeric_limits<std::uint32_t>::max() - (std::int64_t{1} << 20);

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

struct Shape {
  std::int64_t n;
  std::int64_t q;
  std::int64_t d;
  std::int64_t k;
  std::int64_t element;  // bytes of working precision
  std::int64_t stored;   // bytes of a coordinate of the points
  bool norms;
};

std::vector<Plan::Alternative> rank_stages(const Problem& problem, const Metric& metric, int threads,
                                           const core::CpuFacts& facts) {
  std::vector<Plan::Alternative> stages;
  for (const DistanceStage stage : {DistanceStage::direct, DistanceStage::register_tiled, DistanceStage::gemm,
                                    DistanceStage::int8, DistanceStage::bf16})
    if (why_not_on_cpu(stage, problem, metric).empty() && (stage != DistanceStage::gemm || facts.has_blas))
      stages.push_back({stage, stage_seconds(stage, problem, core::form_of(metric), threads, facts)});
  std::stable_sort(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return stages;
}

// The least that one thread would take by the stages that may be chosen, of what threads can share.
double one_thread_seconds(const Problem& problem, const Metric& metric, DistanceStage asked,
                          const core::CpuFacts& facts) {
  if (asked != DistanceStage::automatic)
    return stage_seconds(asked, problem, core::form_of(metric), 1, facts) - facts.start;
  return rank_stages(problem, metric, 1, facts).front().seconds - facts.start;
}

// Bytes of a thread for stage int8: queries and a tile of the base in groups of coordinates, copies of their rows where
// these are strided, and what is added to scores.
std::int64_t byte_buffers(const Shape& s, std::int64_t tile, std::int64_t block, std::int64_t group) {
  return (block + tile) * ceil_div(s.d, group) * 4 + std::max(block, tile) * s.d + tile * 4 + block * 8;
}

// The same for stage bf16: queries and a tile of the base as pairs of coordinates, beside those of other stages.
std::int64_t bf16_buffers(const Shape& s, std::int64_t tile, std::int64_t block) {
  return (block + tile) * ceil_div(s.d, 2) * 4;
}

// The same for other stages: queries and a tile of the base in working precision (needed unless they lie ready), norms.
std::int64_t working_buffers(const Shape& s, std::int64_t tile, std::int64_t block) {
  return (block + tile) * s.d * s.element + tile * s.element;
}

// Bytes of everything the search allocates beside its output.
std::int64_t workspace(const Plan& plan, const Shape& s, const core::CpuFacts& facts) {
  const std::int64_t tile = ceil_div(plan.base_tile, core::kSlack) * core::kSlack;
  const std::int64_t block = plan.query_block;
  const bool bytes = plan.distance == DistanceStage::int8;
  std::int64_t per_thread = bytes ? byte_buffers(s, tile, block, facts.int8_group) : working_buffers(s, tile, block);
  per_thread += block * tile * s.element;  // scores
  if (plan.distance == DistanceStage::register_tiled) per_thread += tile * s.d * s.element;
  if (plan.distance == DistanceStage::bf16) per_thread += bf16_buffers(s, tile, block);
  if (plan.distance == DistanceStage::register_tiled || plan.distance == DistanceStage::bf16 || bytes) {
    const std::int64_t rows = s.element == 8 ? facts.block_rows_double : facts.block_rows;
    constexpr auto kListed = static_cast<std::int64_t>(sizeof(core::BlockHit) + sizeof(std::uint32_t));
    per_thread += block * (ceil_div(tile, rows) * kListed + s.element + 4);
  }
  per_thread += block * plan.candidates * 2 * s.element;                // scores and offsets
  per_thread += block * 128 + (plan.candidates + s.k) * (16 + 8 + 16);  // settling: ids, raw sums, keys, hits
  per_thread += block * s.k * 16;                                       // hits settled early
  std::int64_t shared = 0;
  if (plan.base_splits > 1)
    shared += s.q * plan.base_splits * (std::min(s.k, ceil_div(s.n, plan.base_splits)) * 16 + 24);
  if (s.norms) shared += (s.n + s.q) * (plan.metric.kind == MetricKind::correlation ? 16 : 8);
  return per_thread * plan.threads + shared;
}

// Queries are spread over threads; when there are too few for that, the base is split too.
void spread(Plan& plan, const Shape& s, std::int64_t largest_block) {
  const std::int64_t threads = plan.threads;
  const std::int64_t smallest_block = std::min(kSmallestBlock, largest_block);
  std::int64_t blocks = ceil_div(s.q, largest_block);
  if (blocks < threads && s.q >= threads * smallest_block) blocks = threads;
  if (blocks > threads) blocks = ceil_div(blocks, threads) * threads;
  plan.query_block = ceil_div(s.q, blocks);
  blocks = ceil_div(s.q, plan.query_block);
  std::int64_t splits = blocks >= threads ? 1 : ceil_div(threads, blocks);
  splits = std::min(splits, ceil_div(s.n, 1024));  // a part worth starting a thread for
  plan.base_splits = std::max(splits, ceil_div(s.n, kMaxPartRows));
}

std::int64_t preferred_tile(DistanceStage stage, const Shape& s) {
  // Rows of the tile stay in a core's own cache while the block of queries passes over them; BLAS packs its operands
  // and wants them large.
  if (stage == DistanceStage::gemm) return std::clamp<std::int64_t>(512 * 1024 / (s.d * s.element), 256, 1024);
  // A single query uses no row twice: long tiles keep its streams from memory running.
  const std::int64_t bytes = stage == DistanceStage::direct && s.q == 1 ? 2 * kMiB : 256 * 1024;
  const bool as_stored = stage == DistanceStage::direct || stage == DistanceStage::int8;
  const std::int64_t coordinate = as_stored ? s.stored : s.element;
  const std::int64_t rows = bytes / (s.d * coordinate) / core::kSlack * core::kSlack;
  return std::clamp<std::int64_t>(rows, core::kSlack, stage == DistanceStage::direct ? 8192 : 1024);
}

// The largest tiling that fits the budget: first as fast as can be, then smaller blocks, then smaller buffers. Returns
// false where none does; workspace_bytes is then the least.
bool fit(Plan& plan, const Shape& s, const core::CpuFacts& facts) {
  const std::int64_t part_limit = std::min(s.n, kMaxPartRows);
  const auto capacity = [&](double factor) {
    const auto wanted = static_cast<std::int64_t>(static_cast<double>(s.k) * factor) + core::kSlack;
    return std::min(wanted, part_limit + s.k) + 2 * core::kSlack;
  };
  plan.base_tile = std::min(preferred_tile(plan.distance, s), s.n);
  for (const double factor : {2.0, 1.25}) {
    plan.candidates = capacity(factor);
    for (std::int64_t block = kLargestBlock; block >= 1; block /= 2) {
      spread(plan, s, block);
      plan.workspace_bytes = workspace(plan, s, facts);
      if (plan.workspace_bytes <= plan.budget_bytes) return true;
    }
  }
  // Last resorts: the smallest tiles, then fewer threads.
  for (plan.base_tile = std::min(plan.base_tile, core::kSlack); plan.threads > 1; halve_threads(plan)) {
    spread(plan, s, 1);
    plan.workspace_bytes = workspace(plan, s, facts);
    if (plan.workspace_bytes <= plan.budget_bytes) return true;
  }
  spread(plan, s, 1);
  plan.workspace_bytes = workspace(plan, s, facts);
  return plan.workspace_bytes <= plan.budget_bytes;
}

// A stage, and whether squares come from norms and products: one multiplication a coordinate instead of a subtraction
// and a multiplication.
struct Variant {
  DistanceStage distance;
  bool expanded;
};

// What may run, the fastest first, in the order of `stages`. Without norms squares come from differences.
std::vector<Variant> variants_of(const std::vector<Plan::Alternative>& stages, core::Form form, std::int64_t dims,
                                 bool has_norms) {
  std::vector<Variant> variants;
  for (const Plan::Alternative& stage : stages) {
    const bool multiplies = stage.distance == DistanceStage::gemm || stage.distance == DistanceStage::bf16;
    const bool expands = form == core::Form::squared &&
                         (multiplies || (stage.distance == DistanceStage::register_tiled && dims >= kExpandFrom));
    if (expands && has_norms) variants.push_back({stage.distance, true});
    if (!expands || !multiplies) variants.push_back({stage.distance, false});
    if (expands && multiplies && !has_norms) variants.push_back({DistanceStage::register_tiled, false});
  }
  return variants;
}

std::string reason_for(const Plan& plan, bool forced) {
  if (forced) return fmt::format("distance stage {} asked for by name", to_string(plan.distance));
  if (plan.distance == DistanceStage::gemm)
    return "enough dimensions and queries for a matrix product to pay; keys decide what it finds";
  if (plan.distance == DistanceStage::direct) return "few queries: rows are read once, as they lie";
  if (plan.distance == DistanceStage::int8) return "products of 8-bit integers, of which an instruction has many";
  if (plan.distance == DistanceStage::bf16)
    return "products of points rounded to bfloat16, of which an instruction has two; keys decide what they find";
  return can_multiply(core::form_of(plan.metric))
             ? "sums kept in registers beat a matrix product that has to be read again"
             : "the metric is no matrix product";
}

}  // namespace

Plan begin_cpu_plan(const Problem& problem, const Options& options, const core::CpuFacts& facts) {
  Plan plan;
  plan.problem = problem;
  plan.metric = options.metric;
  plan.max_distance = options.max_distance;
  plan.backend = Backend::cpu;
  plan.budget_bytes = options.memory_budget > 0 ? options.memory_budget : std::max(64 * kMiB, facts.free_memory / 4);
  return plan;
}

std::vector<Plan::Alternative> brute_alternatives(const Problem& problem, const Options& options,
                                                  const core::CpuFacts& facts) {
  const int threads =
      options.threads > 0
          ? options.threads
          : threads_worth(one_thread_seconds(problem, options.metric, options.distance, facts), facts.threads);
  return rank_stages(problem, options.metric, threads, facts);
}

Plan plan_cpu(const Problem& problem, const Options& options, const core::CpuFacts& facts, const IndexFacts& index) {
  if (options.method == Method::triangle)
    return plan_cpu_triangle(problem, options, facts, core::kUsualSurvivors, index.has_clusters);
  if (options.method == Method::tree)
    return plan_cpu_tree(problem, options, facts, static_cast<double>(problem.dims), index.has_tree);
  if (options.method == Method::shifted_sort) return plan_cpu_shifted_sort(problem, options, facts);
  const core::Form form = core::form_of(options.metric);
  Plan begun = begin_cpu_plan(problem, options, facts);
  set_threads(begun, options, facts, one_thread_seconds(problem, options.metric, options.distance, facts));
  const std::vector<Plan::Alternative> stages = rank_stages(problem, options.metric, begun.threads, facts);
  const bool forced = options.distance != DistanceStage::automatic;
  const auto is_chosen = [&](const Plan::Alternative& stage) { return stage.distance == options.distance; };
  std::vector<Plan::Alternative> allowed;
  std::copy_if(stages.begin(), stages.end(), std::back_inserter(allowed),
               [&](const auto& stage) { return !forced || is_chosen(stage); });
  if (const std::string reason = why_not_on_cpu(options.distance, problem, options.metric); !reason.empty())
    throw Error(ErrorCode::invalid_argument, reason);
  if (allowed.empty())
    throw Error(ErrorCode::out_of_memory,
                fmt::format("distance stage gemm needs {} bytes of address space for each thread, which its limit "
                            "(ulimit -v) has not left",
                            core::kBlasSpace));

  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Variant& variant : variants_of(allowed, form, problem.dims, index.has_norms)) {
    Plan plan = begun;
    plan.method = Method::brute;
    plan.select = SelectMethod::threshold_filter;
    plan.distance = variant.distance;
    plan.expanded = variant.expanded;
    for (const Plan::Alternative& stage : stages) {
      if (stage.distance == variant.distance) {
        plan.seconds = stage.seconds;
      } else {
        plan.alternatives.push_back(stage);
      }
    }
    const Shape shape{problem.base_rows,      problem.queries,  problem.dims, problem.k, core::element_bytes(problem),
                      size_of(problem.dtype), needs_norms(plan)};
    if (fit(plan, shape, facts)) {
      plan.reason = least == std::numeric_limits<std::int64_t>::max() ? reason_for(plan, forced)
                                                                      : "faster stages do not fit the budget";
      return plan;
    }
    least = std::min(least, plan.workspace_bytes);
  }
  throw Error(ErrorCode::out_of_memory,
              fmt::format("a memory budget of {} bytes is too small: k = {} over {} points of {} dimensions needs at "
                          "least {} bytes",
                          begun.budget_bytes, problem.k, problem.base_rows, problem.dims, least));
}

}  // namespace kith::plan
