// report.hpp: results for people and on file. A file holds runs; each program that measures adds one.
#pragma once

#include "device/harness/suite.hpp"

namespace kith::bench::device {

inline constexpr const char* kSchema = "kith-bench-device";

// Of the current device; null where there is none.
Json device_json();

void list(const Suite& suite);
void print(const std::vector<CeilingResult>& ceilings);
void print(const Row& row);

// What a run has of its suite: left_out, quick, seconds, limits, ceilings and rows.
Json to_json(const Suite& suite, const Harness& harness);

}  // namespace kith::bench::device
