// The k-nearest-neighbor graph of a set of points, as compressed sparse rows.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/search.hpp"

namespace kith {

enum class Symmetrize {
  none,    // an edge from each point to its k nearest
  either,  // an edge i–j when either is a neighbor of the other
  mutual,  // an edge i–j when each is a neighbor of the other
};

KITH_API const char* to_string(Symmetrize symmetrize) noexcept;  // "none", "union", "mutual"
KITH_API Symmetrize parse_symmetrize(std::string_view name);

// Row i holds indices[indptr[i]] … indices[indptr[i + 1] − 1] with their distances.
// Directed rows are sorted by (distance, id), symmetrized rows by id.
template <class D>
struct Graph {
  std::int64_t points = 0;
  std::vector<std::int64_t> indptr;  // points + 1
  std::vector<std::int64_t> indices;
  std::vector<D> data;
  SearchReport report;
};

// Where a graph goes: once its edges are counted, allocate(count) says where indices (ids) and data (distances) are
// put, in the memory where indptr lies. It is called on the calling thread, once.
template <class D>
struct GraphLists {
  std::int64_t* indptr = nullptr;  // points + 1
  std::function<NeighborsView<D>(std::int64_t count)> allocate;
  Memory memory = Memory::host;
};

// Every point's k nearest others, itself left out by id. 1 ≤ k ≤ points.rows − 1.
// The memory budget is the search's; symmetrizing holds up to three copies of the edges while it works.
template <Element T>
KITH_API Graph<DistanceOf<T>> graph(MatrixView<T> points, std::int64_t k, Symmetrize symmetrize = Symmetrize::none,
                                    const Options& options = {}, void* stream = nullptr);

}  // namespace kith
