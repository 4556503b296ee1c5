// report.hpp: what several searches did, as one report.
#pragma once

#include "kith/search.hpp"

namespace kith::api {

// Adds what a search counted. Plan and seconds stay.
void add_counts(SearchReport& sum, const SearchReport& part);

}  // namespace kith::api
