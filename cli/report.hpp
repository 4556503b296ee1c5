// Telling people about plans and what became of them.
#pragma once

#include <string>

#include "kith/plan.hpp"
#include "kith/search.hpp"

namespace kith::cli {

// The plan on stderr.
void print_plan(const Plan& plan);

// "1,000 queries × 100,000 points × 64 dims, k = 10 in 85.1 ms: 11.8 k queries/s, 1.2 G distances/s, 12,345 finalists"
std::string describe(const SearchReport& report);

// Mean, quantiles and, where one is above 1, the histogram.
std::string describe(const DistanceRatios& ratios);

// How many queries have a proof, of a search that was asked for it.
std::string certified_text(const SearchReport& report);

// The first on stderr, what method triangle counted, and how good a sample of an approximate answer is.
void print_report(const SearchReport& report);

}  // namespace kith::cli
