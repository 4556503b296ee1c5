// mapped_search.hpp: searches by a metric that has a mapping (row_mapping.hpp), whose answers are those of
// pair_search.hpp bit for bit.
//
// Idea    the nearest images are candidates; their distances are computed by the definition. The k-th of these is a
//         proof where reach() of it ends before the farthest candidate's image. Queries without one are given more
//         candidates, and in the end every distance.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "custom/image_index.hpp"
#include "custom/pair_search.hpp"

namespace kith::custom {

// How many candidates a query of k neighbors begins with.
std::int64_t first_candidates(std::int64_t k);

// Images of the base; null where they cannot be made.
template <Element T>
std::unique_ptr<const ImageIndex> make_images(const PairProblem<T>& problem, std::shared_ptr<const RowMapping> mapping,
                                              const Options& options);

// What was done beside the search of images, whose report the first search made.
struct MappedReport {
  SearchReport images;
  std::int64_t distances = 0;  // by the definition
  std::int64_t unproven = 0;   // queries of which every distance was computed
  std::int64_t threads = 1;
};

template <Element T>
MappedReport nearest_mapped(const PairProblem<T>& problem, const ImageIndex& images, std::int64_t k,
                            const Options& options, const NeighborsView<DistanceOf<T>>& out);

// Throws Error(out_of_memory) for more than `most` hits of all queries.
template <Element T>
MappedReport within_mapped(const PairProblem<T>& problem, const ImageIndex& images,
                           std::span<const DistanceOf<T>> radii, std::int64_t most, const Options& options,
                           const RadiusLists<DistanceOf<T>>& out);

}  // namespace kith::custom
