// problem.hpp: what is searched, and how, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/harness/suite.hpp"
#include "device/search/points.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"

namespace kith::bench::device::search {

struct Problem {
  std::int64_t queries = 0;
  std::int64_t base_rows = 0;
  std::int64_t dims = 0;
  std::int64_t k = 0;
  Metric metric = MetricKind::sqeuclidean;  // or manhattan, inner_product or cosine: what the check knows
  double bar_ms = 0;                        // at most, on an H200; 0: nothing is asked
  bool self = false;                        // all-kNN: the others that are nearest to each point of the base
  Data data = Data::gaussian;
  bool queries_are_base = false;  // its first points; the answer has the point itself, as one of k
  std::string name = {};          // of a set of points; empty: what it is like says enough
  std::string file = {};          // fbin

  double pairs() const { return static_cast<double>(queries) * static_cast<double>(base_rows); }
};

// Short, for tables of problems.
inline constexpr MetricKind kL2 = MetricKind::sqeuclidean;

// "10000 × 1000000 × 128, k 10, gaussian"
std::string describe(const Problem& problem);

// A search as it is asked for: what is not forced the planner chooses.
struct Variant {
  std::string name = "auto";
  Options options = {};
};

Variant forced(const std::string& name, Method method, DistanceStage distance = DistanceStage::automatic,
               SelectMethod select = SelectMethod::automatic);

// How a search was done: a method without stages, or its distance stage.
std::string describe(const Plan& plan);

struct SearchRules {
  bool fresh_index = false;     // every run makes its own
  bool all_stages = false;      // where no variants are given: every stage that the planner ranks besides its choice
  bool compare_choice = false;  // how near the planner's choice is to the best
  bool both_clocks = false;     // the host's besides, by which bars are judged then
};

class PointSet;

// Searches of points that are there, in turns, a row each. `variants` empty: the planner's choice.
std::vector<Row> search_rows(const PointSet& points, const Problem& problem, const std::vector<Variant>& variants,
                             const SearchRules& rules, Harness& harness);

// `variants` empty: the planner's choice.
Case search_case(const std::string& figure, Problem problem, std::vector<Variant> variants, const SearchRules& rules,
                 const Settings& settings);

// Distance stages alone on a tile of the distance matrix, side by side.
Case stage_case(const std::string& figure, std::int64_t queries, std::int64_t points, std::int64_t dims,
                const Settings& settings);

// Those of the device, and each distance stage on a tile of its own.
std::vector<Ceiling> search_ceilings(bool quick, const cuda::Stream& stream);

// engine    the shapes that tensor cores decide, each with a bound and its share of the device's ceilings
// memory    what a search takes of the device's memory beside what its plan says
// passes    the fused pass in fp16 alone, with wgmma and without
// tree      points in few dimensions among themselves, by method tree and by the others
// must      the shapes a search has to be good at, with bars for well-spread points
// grid      how near the planner's choice is to the best of all methods and stages, over shapes and kinds of points
// figures   what Hanák's chapter 5 compares: figures 5.1, 5.8, 5.9 and 5.12, on today's sizes
// triangle  method triangle against the others, on sets shaped as those of Chen et al.: their Tables III to V and
//           Figures 10 to 12
// radius    radius search of points of the host: all neighbors, and their number alone
// stream    a base of the host that is larger than the device's budget
// types     the same points in narrower types: time, and the memory of an index
// bits      rows of packed bits
// filter    searches among some of the points of a collection
// devices   several workers, each with a stripe of the base
Suite engine_suite(const Settings& settings);
Suite memory_suite(const Settings& settings);
Suite passes_suite(const Settings& settings);
Suite tree_suite(const Settings& settings);
Suite must_suite(const Settings& settings);
Suite grid_suite(const Settings& settings);
Suite figures_suite(const Settings& settings);
Suite triangle_suite(const Settings& settings);
Suite radius_suite(const Settings& settings);
Suite stream_suite(const Settings& settings);
Suite types_suite(const Settings& settings);
Suite bits_suite(const Settings& settings);
Suite custom_suite(const Settings& settings);
Suite filter_suite(const Settings& settings);
Suite devices_suite(const Settings& settings);

}  // namespace kith::bench::device::search
