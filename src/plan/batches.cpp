// batches.cpp: batches that are so small that a plan for each, and threads woken for each, would cost more than their
// search.
#include <algorithm>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "core/periodic.hpp"
#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "plan/cpu_costs.hpp"
#include "plan/cpu_plans.hpp"
#include "plan/cpu_threads.hpp"
#include "plan/device_plans.hpp"

namespace kith::plan {
namespace {

// Coordinates of all pairs of a batch up to which brute force costs so little that its shape is not looked at.
constexpr double kSurelySmall = 65536;
// Seconds of one thread from which on a batch is shared by all threads: where every thread has several batches to
// search, and where not.
constexpr double kLongestOfMany = 4e-3;
constexpr double kLongestOfFew = 2e-4;
constexpr std::int64_t kManyOfThread = 4;

Options on_one_thread(Options options) {
  options.threads = 1;
  return options;
}

double coordinates_of(const Problem& batch) {
  return static_cast<double>(batch.base_rows) * static_cast<double>(batch.queries) * static_cast<double>(batch.dims);
}

std::optional<Method> choose_small_on(const core::CpuFacts& facts, const Problem& batch, std::int64_t batches,
                                      const Options& options) {
  const bool open = options.method == Method::automatic && !core::is_periodic(options.period);
  if (options.method != Method::automatic && options.method != Method::brute && options.method != Method::tree)
    return std::nullopt;
  // An epsilon makes methods differ: then the planner chooses, as for a search.
  if (open && !(options.epsilon > 0) && coordinates_of(batch) <= kSurelySmall) return Method::brute;
  const int threads = options.threads > 0 ? options.threads : facts.threads;
  try {
    const Plan alone = choose(batch, on_one_thread(options), facts);
    const bool is_small = alone.seconds <= (batches < kManyOfThread * threads ? kLongestOfFew : kLongestOfMany);
    const bool has_way = alone.method == Method::brute || alone.method == Method::tree;
    return is_small && has_way ? std::optional(alone.method) : std::nullopt;
  } catch (const Error&) {
    // The plan for all says why, and names the bytes that the largest needs; where the method is open, the batch's own.
    return options.method == Method::automatic ? std::nullopt : std::optional(options.method);
  }
}

// A device has brute force for them, a warp for each query, where lists fit into registers and no stage was asked for.
std::optional<Method> choose_small_on(const core::DeviceFacts&, const Problem& batch, std::int64_t /*batches*/,
                                      const Options& options) {
  constexpr std::int64_t kMostRows = 4096;
  constexpr std::int64_t kMostNeighbors = 1024;
  const bool open = options.method == Method::automatic || options.method == Method::brute;
  const bool fits = batch.base_rows <= kMostRows && batch.k <= kMostNeighbors;
  const bool no_stage = options.distance == DistanceStage::automatic && options.select == SelectMethod::automatic;
  return open && fits && no_stage ? std::optional(Method::brute) : std::nullopt;
}

Problem usual_batch(const SmallBatches& small) {
  const auto mean = [&](std::int64_t rows) { return std::max<std::int64_t>(rows / small.count, 1); };
  Problem usual = small.all;
  usual.base_rows = mean(small.base_rows);
  usual.queries = mean(small.queries);
  usual.k = std::min(usual.k, usual.base_rows);
  return usual;
}

// A call of BLAS for each batch would cost more than it saves.
DistanceStage stage_for(const std::vector<Plan::Alternative>& stages) {
  const DistanceStage fastest = stages.front().distance;
  return fastest == DistanceStage::gemm ? DistanceStage::register_tiled : fastest;
}

// By this stage, unless another one was asked for or only another one fits the budget.
Plan plan_stage(const core::CpuFacts& facts, const Problem& all, const Options& options, DistanceStage stage,
                const IndexFacts& index, const DataSamples& samples) {
  Options brute = options;
  brute.method = Method::brute;
  if (options.distance != DistanceStage::automatic) return choose(all, brute, facts, index, samples);
  try {
    brute.distance = stage;
    return choose(all, brute, facts, index, samples);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    brute.distance = DistanceStage::automatic;
    return choose(all, brute, facts, index, samples);
  }
}

// As many threads as all batches are worth, of those that the plan has.
void share(Plan& plan, const SmallBatches& small, double batch_seconds, const Options& options,
           const core::CpuFacts& facts) {
  const double seconds = batch_seconds * static_cast<double>(small.count);
  const int worth = threads_worth(seconds, facts.threads);
  if (options.threads == 0 && plan.threads > worth) {
    plan.threads = worth;
    plan.threads_reason = "the work is worth no more";
  }
  plan.seconds = seconds / plan.threads;
  plan.alternatives.clear();
  plan.reason = "batches so small that they are searched together, each by one thread";
}

Plan plan_brute_batches(const core::CpuFacts& facts, const SmallBatches& small, const Options& options,
                        const IndexFacts& index, const DataSamples& samples) {
  const std::vector<Plan::Alternative> stages = brute_alternatives(usual_batch(small), on_one_thread(options), facts);
  Plan plan = plan_stage(facts, small.all, options, stage_for(stages), index, samples);
  plan.base_splits = 1;
  plan.base_tile = std::min(plan.base_tile, small.most_base_rows);
  share(plan, small, stages.front().seconds, options, facts);
  return plan;
}

// The memory of a batch's tree is taken by every thread.
Plan plan_tree_batches(const core::CpuFacts& facts, const SmallBatches& small, const Options& options) {
  Problem largest = small.all;
  largest.base_rows = small.most_base_rows;
  largest.queries = small.most_queries;
  const auto dims = static_cast<double>(largest.dims);
  Plan plan = plan_cpu_tree(largest, on_one_thread(options), facts, dims, false);
  set_threads(plan, options, facts, std::numeric_limits<double>::infinity());
  while (plan.threads > 1 && plan.threads * plan.workspace_bytes > plan.budget_bytes) halve_threads(plan);
  plan.workspace_bytes *= plan.threads;
  share(plan, small, tree_seconds(usual_batch(small), options.metric, dims, facts, 1, false), options, facts);
  return plan;
}

Plan choose_batches_on(const core::CpuFacts& facts, const SmallBatches& small, const Options& options,
                       const IndexFacts& index, const DataSamples& samples) {
  return small.method == Method::tree ? plan_tree_batches(facts, small, options)
                                      : plan_brute_batches(facts, small, options, index, samples);
}

Plan choose_batches_on(const core::DeviceFacts& facts, const SmallBatches& small, const Options& options,
                       const IndexFacts&, const DataSamples&) {
  Plan plan = begin_device_plan(small.all, options, facts);
  plan.method = Method::brute;
  plan.period = options.period;
  plan.distance = DistanceStage::exact;
  plan.query_block = small.all.queries;
  plan.base_tile = small.most_base_rows;
  plan.candidates = small.all.k;
  const double pairs = static_cast<double>(small.queries) * static_cast<double>(small.base_rows) /
                       static_cast<double>(small.count) * static_cast<double>(small.all.dims);
  plan.seconds = facts.profile.start + pairs * facts.profile.keys;
  plan.reason = "batches so small that one kernel searches them, a warp for each query";
  return plan;
}

}  // namespace

std::optional<Method> choose_small_batch(const Problem& batch, std::int64_t batches, const Options& options,
                                         const Machine& machine) {
  return std::visit([&](const auto& facts) { return choose_small_on(facts, batch, batches, options); }, machine);
}

Plan choose_batches(const SmallBatches& small, const Options& options, const Machine& machine, const IndexFacts& index,
                    const DataSamples& samples) {
  return std::visit([&](const auto& facts) { return choose_batches_on(facts, small, options, index, samples); },
                    machine);
}

}  // namespace kith::plan
