// Exact radius search: all base points within a distance of each query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/search.hpp"

namespace kith {

enum class RadiusOutput {
  neighbors,   // ids and distances
  count_only,  // offsets alone, which is faster
};

// Query q has ids[offsets[q]] … ids[offsets[q + 1] − 1] with their distances, sorted by (distance, id); inner products
// by (−product, id). The distances are those that search() returns, bit for bit.
template <class D>
struct RadiusNeighbors {
  std::int64_t queries = 0;
  std::vector<std::int64_t> offsets;  // queries + 1
  std::vector<std::int64_t> ids;      // empty for count_only
  std::vector<D> distances;           // empty for count_only
  SearchReport report;

  std::int64_t count_of(std::int64_t query) const {
    const auto at = static_cast<std::size_t>(query);
    return offsets[at + 1] - offsets[at];
  }
  std::span<const std::int64_t> ids_of(std::int64_t query) const {
    return {ids.data() + offsets[static_cast<std::size_t>(query)], static_cast<std::size_t>(count_of(query))};
  }
  std::span<const D> distances_of(std::int64_t query) const {
    return {distances.data() + offsets[static_cast<std::size_t>(query)], static_cast<std::size_t>(count_of(query))};
  }
};

// Lists whose length only the search finds out: where they go. Once they are counted, allocate(count) says where ids
// and distances are put, in the memory where the offsets lie; without it there are offsets alone. It is called on the
// calling thread, at most once.
template <class D>
struct RadiusLists {
  std::int64_t* offsets = nullptr;  // queries + 1
  std::function<NeighborsView<D>(std::int64_t count)> allocate;
  Memory memory = Memory::host;
};

// The base points whose distance is at most the query's radius; under inner_product those whose product is at least
// that. `radii` holds one for all queries, or one for each; they are not negative (inner_product: any number) and not
// NaN. Index::search_radius does the same for a prepared base.
//
// The memory budget is the search's. How many neighbors there are nobody knows before: while rows are put together,
// up to two copies of the result are held, and Error(out_of_memory) comes when free memory cannot hold them.
// The method is brute, or tree, for few dimensions; distance stages of brute are `register-tiled`, on the CPU `direct`,
// and on devices of compute capability 9 `fp16`, for metrics that are products. Answers are exact, whatever
// Options::epsilon is.
template <Element T>
KITH_API RadiusNeighbors<DistanceOf<T>> search_radius(MatrixView<T> base, MatrixView<T> queries,
                                                      std::span<const DistanceOf<T>> radii,
                                                      RadiusOutput output = RadiusOutput::neighbors,
                                                      const Options& options = {}, void* stream = nullptr);

}  // namespace kith
