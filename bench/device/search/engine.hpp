// engine.hpp: cases of suite search/engine that are no search of k neighbors among points of the device.
#pragma once

#include "device/search/problem.hpp"

namespace kith::bench::device::search {

// Adds to a timed row what share it reaches of matrix products of fp16 (int8 for bytes) and of reading the base once in
// elements of so many bytes, by its time on the device.
void add_shares(const Harness& harness, double store_bytes, Row& row);

// Radius search on the device, Gaussian points, by a radius that gives a query `wanted` neighbors in the mean.
Case engine_radius_case(const std::string& name, const Problem& problem, std::int64_t wanted, const Settings& settings);

// Queries and answers in the host's memory, of an index on the device, beside both on the device and a plain copy.
Case engine_host_case(const std::string& name, const Problem& problem, const Settings& settings);

}  // namespace kith::bench::device::search
