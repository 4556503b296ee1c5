// choose.hpp: the planner's door: what a search will do, as a function of the problem's shape, the options, the
// machine, what the index has, and, only where that decides, samples of the data. Nothing here reads files, clocks or
// devices.
#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "core/facts.hpp"
#include "core/triangle_sample.hpp"
#include "kith/plan.hpp"

namespace kith::plan {

using core::SurvivingFractions;

// What runs the search. options.backend is not looked at.
using Machine = std::variant<core::CpuFacts, core::DeviceFacts>;

// What searches by a method and stage took.
struct TimedStage {
  Method method;
  DistanceStage distance;
  double seconds;

  bool operator==(const TimedStage&) const = default;
};

// What the index of the base has at hand.
struct IndexFacts {
  bool has_norms = true;       // CPU: norms of the points, or memory to make them
  bool has_clusters = false;   // of method triangle
  bool has_tree = false;       // of method tree
  std::int64_t sampled_k = 0;  // a sample of method triangle for so many neighbors is there, 0 for none
  double spent = 0;            // CPU: seconds that searches by brute force should have taken so far
  bool resident = true;        // device: all points stay there; else every search streams them through
  // Device: points narrower than floats stay there as they are stored; and what needs floats of all may have them, too.
  bool narrow = false;
  bool may_widen = true;
  // Device: brute force searches each distinct row once where there are at most so many; 0 where nobody is to look.
  std::int64_t distinct_limit = 0;
  std::int64_t distinct_rows = 0;  // device: those that were found; 0 where there are more, or nobody has looked
  bool serves_once = false;        // device: what it makes of the base serves this search alone
  double bring_seconds = 0;        // device: for the base's way there, where it is still to go
  // Device: what searches of the index have shown of scores by fp16: most of few queries, or of many, have a proof only
  // once a second pass is bounded by the first; many have none from either.
  bool few_need_second_pass = false;
  bool many_need_second_pass = false;
  bool fp16_fails = false;
  bool split_fp16_fails = false;
  // Device: times of earlier searches for about as many neighbors of about as many queries. They replace predictions.
  std::vector<TimedStage> timed{};
  // Device: queries, and answers, lie on the host, and the search has memory for them on the device.
  bool brings_queries = true;
  bool brings_answers = true;

  bool operator==(const IndexFacts&) const = default;
};

// Null where no search by these was timed.
const TimedStage* find_timed(const IndexFacts& index, Method method, DistanceStage distance);

// What only the data can tell, by a few of the queries. A function that is empty stands for data that is not there: the
// shape alone decides, as explain() wants it. They are called at most once each, and after everything that can be
// refused by the shape has been refused.
struct DataSamples {
  std::function<SurvivingFractions(const Plan&)> surviving_fractions;  // left by this plan, of method triangle
  std::function<bool(const Plan&)> first_pass_suffices;                // device: whether queries pass this plan's first
  std::function<bool()> products_are_sharp;                            // CPU: whether norms and products resolve these
  std::function<std::int64_t()> distinct_rows{};                       // device: as in IndexFacts, once looked for
  std::function<double()> bf16_candidates{};                           // CPU: as in core::CpuFacts
};

// What an index of these points should have, whatever searches follow. problem.queries and problem.k are not looked at.
// Throws Error(invalid_argument) for options that no search of such points can meet.
IndexFacts choose_index(const Problem& problem, const Options& options, const Machine& machine);

// Throws Error(invalid_argument) for options that cannot be met, Error(out_of_memory) when nothing fits the budget.
Plan choose(const Problem& problem, const Options& options, const Machine& machine, const IndexFacts& index = {},
            const DataSamples& samples = {});

// The same of a radius search; problem.k is 0.
Plan choose_radius(const Problem& problem, const Options& options, const Machine& machine, const IndexFacts& index = {},
                   const DataSamples& samples = {});

// Adds to the plan's reason what kept a device from being used, where something did.
void note_obstacle(Plan& plan, const std::string& obstacle);

// Gives a plan of a search limits of its own.
void set_limits(Plan& plan, const SearchLimits& limits);

// Of a search of so many batches: the method by which one of this shape is searched together with others, each by one
// thread, or on a device each query by a warp; none where it is searched by itself. On the CPU brute or tree, where
// that is the best method, or the one that was asked for, and too little work to be shared by threads; on a device
// brute.
std::optional<Method> choose_small_batch(const Problem& batch, std::int64_t batches, const Options& options,
                                         const Machine& machine);

// Batches that are searched together, by one method.
struct SmallBatches {
  Method method = Method::brute;
  Problem all;  // rows and queries of the whole call, whose norms are made at once; k of the batch that has the most
  std::int64_t count = 0;
  std::int64_t base_rows = 0;  // of these batches
  std::int64_t queries = 0;
  std::int64_t most_base_rows = 0;  // of one of them
  std::int64_t most_queries = 0;
};

// A plan for all of them, whose tasks are batches.
Plan choose_batches(const SmallBatches& small, const Options& options, const Machine& machine,
                    const IndexFacts& index = {}, const DataSamples& samples = {});

// Whether the CPU's search by this plan needs the norms of rows.
bool needs_norms(const Plan& plan);

}  // namespace kith::plan
