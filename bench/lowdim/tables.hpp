// tables.hpp: what is measured, table by table.
#pragma once

#include "lowdim/measure.hpp"

namespace kith::lowdim_bench {

// must      the rates and qualities that are asked for
// figure-3  rates by the number of points (with figure 4, a closer look at the same), -5 by that of queries, -6 by k
// figure-7  how ε is distributed, k = 100
// variants  merges, places, curves, shifts and windows beside each other
const std::vector<std::string>& table_names();

// `quick` takes a tenth of all points and queries.
std::vector<Case> cases_of(const std::string& table, bool quick);

}  // namespace kith::lowdim_bench
