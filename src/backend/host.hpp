// host.hpp: what src/cpu tells of host points and of the CPU, whatever backend searches.
#pragma once

#include <string>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/options.hpp"

namespace kith::cpu {

// The best first, as Highway calls them.
std::vector<std::string> simd_targets();

// Throws Error(bad_data) for base points of the host that options.metric cannot take.
template <Element T>
void check_base(const MatrixView<T>& base, const Options& options);
// The same of queries.
template <Element T>
void check_queries(const MatrixView<T>& queries, const Options& options);

}  // namespace kith::cpu
