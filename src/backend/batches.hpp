// batches.hpp: a search done for some queries after the other, with the progress of all.
#pragma once

#include <algorithm>

#include "kith/options.hpp"

namespace kith::backend {

// Reports of a search of queries first … first + count − 1 of `all`, as parts of the whole.
inline ProgressCallback part_of(const ProgressCallback& progress, std::int64_t first, std::int64_t count,
                                std::int64_t all, std::int64_t base_rows) {
  if (!progress) return {};
  return [&progress, first, count, all, base_rows](const Progress& part) {
    return progress({first * base_rows + std::min(part.done, count * base_rows), all * base_rows});
  };
}

}  // namespace kith::backend
