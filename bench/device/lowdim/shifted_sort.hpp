// shifted_sort.hpp: times of shifted sorting on a device, and how good its answers are.
//
// Points and queries are on the device when the clock starts, and the answer stays there. Orders of the base, which an
// index makes once, and the search, which sorts the queries, are timed apart. A sample of the queries is searched
// exactly too: recall, and how ε = d_k / true d_k is distributed; sampled answers are checked for distances, order and
// duplicates.
#pragma once

#include <string>
#include <vector>

#include "common/space_sets.hpp"
#include "device/harness/suite.hpp"
#include "kith/options.hpp"

namespace kith::bench::device::lowdim {

struct Problem {
  std::string set;
  std::int64_t base_rows = 0;
  std::int64_t queries = 0;
  std::int64_t k = 0;
  ShiftedSortTuning tuning = {};
};

// With the limits that all of them have.
Suite make_suite(const std::string& name, const std::string& what, const std::vector<Problem>& problems,
                 const Settings& settings);

// must      the rates and qualities that are asked for
// figure-3  rates by the number of points (with figure 4, a closer look at the same), -5 by that of queries, -6 by k
// figure-7  how ε is distributed, k = 100
// variants  merges, positions, curves, shifts and windows beside each other
std::vector<Suite> all_suites(const Settings& settings);

}  // namespace kith::bench::device::lowdim
