// profile.hpp: what `kith tune` does, on a machine that has this program and nothing else of Kith.
#pragma once

#include <string>

namespace kith::search_bench {

// Measures the current device, prints what was known before and what was found, and writes it to the file.
void write_profile(const std::string& path, bool quick);

}  // namespace kith::search_bench
