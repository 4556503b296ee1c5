// How good an answer is, judged by distances recomputed from its ids: what the answer says of distances is only
// compared.
//
// A neighbor is right when its distance is at most that of the last true one, so any choice among ties is right. An id
// that is out of range or comes twice in a row is wrong. Rows may have fewer than k true neighbors, where a largest
// distance was asked for: id −1 with an infinite distance, or without one, is a place without a neighbor, which is
// right where the truth has as few. The distance ratio of a row is the worst of its distances over that of the last
// true one: 1 when both are 0 or there are none, unbounded when only the true one is 0, when an id is out of range,
// when neighbors are missing, or when there are some but no true ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kith/io.hpp"
#include "kith/options.hpp"
#include "kith/quality.hpp"

namespace kith::cli {

struct Quality {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::int64_t true_neighbors = 0;  // queries × k, or fewer
  std::int64_t right = 0;           // of the true neighbors
  std::int64_t right_rows = 0;      // rows with all true neighbors and nothing else
  std::int64_t identical_rows = 0;  // rows with the same ids in the same order as the truth
  std::int64_t missing_ids = 0;     // places without a neighbor, beyond those that the truth has
  std::int64_t invalid_ids = 0;     // out of range
  std::int64_t repeated_ids = 0;
  std::optional<DistanceRatios> ratios;  // none for inner products, which may have any sign
  std::optional<double> distance_error;  // the largest |reported − recomputed|, when distances were reported

  double recall() const {
    return true_neighbors == 0 ? 1 : static_cast<double>(right) / static_cast<double>(true_neighbors);
  }
};

// The k nearest of each query as they should be, best first: queries × k ids, −1 where there is no neighbor.
struct Truth {
  std::vector<std::int64_t> ids;
};

// The first k columns of `ids` (and `distances`, if given) against the truth, all queries × at least k, by the metric,
// the period and the largest distance of the options. Ids of the truth must be in range or −1: Error(bad_data). Both
// arrays of points have one type.
Quality judge(const io::Array& base, const io::Array& queries, std::int64_t k, const Options& options,
              const Truth& truth, const std::vector<std::int64_t>& ids, const std::vector<double>* distances);

}  // namespace kith::cli
