// radius_search.hpp: all points within each query's radius, exact.
// Idea    for each tile of the base and each tile of the queries: one pass, of tensor cores (tensor/tensor_filter.hpp)
//         or in working precision (distance/fused_filter.hpp) → one list of the pairs that scores cannot rule out →
//         their exact keys → those within the radius, sorted by (query, key, id). The pass also counts pairs beyond the
//         list's capacity: then the list grows, as far as the workspace allows, or the tile is split and each part
//         passes again. The pairs found so far decide the size of the next tile. A tile of one query and one point
//         always fits, so the search ends and loses nothing. Pairs that are few are ranked by one block before the host
//         knows their number, which saves small searches a wait and the launches of a sort.
#pragma once

#include <functional>
#include <vector>

#include "cuda/points/base_source.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::radius {

struct RadiusWork {
  Metric metric;
  bool fp16 = false;      // scores of points in fp16, as long as few keys are wasted
  bool expanded = false;  // then squares from products, as long as few keys are wasted
  bool count_only = false;
  bool exclude_self = false;  // queries are the base
  std::int64_t query_tile = 1;
  std::int64_t base_tile = 1;  // at most what the source hands out
  std::int64_t max_pairs = 1;  // of a list
  double integer_range = 0;    // of core::ScoreBounds
};

// The neighbors of some queries in a part of the base, valid until RadiusSink::on_part returns.
template <class F>
struct FoundPart {
  std::int64_t first_query = 0;
  std::vector<unsigned> counts;  // one a query, on the host
  std::int64_t hits = 0;         // the sum of counts
  std::int64_t points = 0;       // in the part of the base
  const unsigned* device_counts = nullptr;
  // On the device, row after row, each sorted by (key, id); null where hits were only counted.
  const F* distances = nullptr;
  const unsigned* ids = nullptr;
};

template <class F>
struct RadiusSink {
  std::function<void(const FoundPart<F>&)> on_part;
  std::function<void(std::int64_t)> on_pairs_done;
};

// Radii are keys on the device, one a query. Enqueues work on the workspace's stream; the host waits once for each
// part of few pairs, and twice for others. Parts of the same queries come in the order of their base rows. Returns the
// number of exact keys.
template <class F>
std::int64_t radius_search(const RadiusWork& work, const PointStore<F>& queries, const F* radii, BaseSource<F>& base,
                           Workspace& workspace, const RadiusSink<F>& sink);

}  // namespace kith::KITH_BACKEND::radius
