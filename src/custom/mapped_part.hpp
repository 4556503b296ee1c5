// mapped_part.hpp: what a PairIndex has for searches by images (mapped_search.hpp): whether they pay, and the images,
// made once.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "custom/mapped_search.hpp"

namespace kith::custom {

// Where every distance is computed, and where images are asked for by a method or a backend.
bool wants_brute(const Options& options);
bool wants_images(const Options& options);

class MappedPart {
 public:
  // Throws Error(invalid_argument) where images are asked for and the metric has none.
  MappedPart(const PairMetric& metric, std::int64_t dims, const Options& options);

  // Images for a search of so many queries, 0 where the base is kept for many searches; null where all distances are to
  // be computed. `k`: 0 for a radius search.
  template <Element T>
  const ImageIndex* images_for(const PairProblem<T>& problem, std::int64_t queries, std::int64_t k,
                               const Options& options);

 private:
  const Mappable* mappable_;  // null where every distance is computed
  std::shared_ptr<const RowMapping> mapping_;
  std::mutex mutex_;
  std::unique_ptr<const ImageIndex> images_;
  bool is_tried_ = false;
};

// The report of a search by images, of the plan that made candidates.
SearchReport mapped_report(const PairMetric& metric, MappedReport&& done, const Problem& problem, double max_distance);

}  // namespace kith::custom
