// index_parts.hpp: trees and clusters as parts of a file. What a file has is used where it lies; numbers that lead to
// others are checked first.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/parts.hpp"
#include "cpu/tree/tree.hpp"
#include "cpu/triangle/clusters.hpp"

namespace kith::cpu {

inline constexpr const char* kTreePart = "tree";
inline constexpr const char* kClustersPart = "clusters";

template <class F>
void add_tree(const Tree<F>& tree, backend::Parts& parts);
// Of a base of so many rows and dimensions, and of these periods, as Options has them. Error(bad_data) for what is
// none.
template <class F>
Tree<F> tree_of(const backend::Parts& parts, std::int64_t rows, std::int64_t dims, const std::vector<double>& period);

template <class F>
void add_clusters(const Clusters<F>& clusters, backend::Parts& parts);
template <class F>
Clusters<F> clusters_of(const backend::Parts& parts, std::int64_t rows, std::int64_t dims);

}  // namespace kith::cpu
