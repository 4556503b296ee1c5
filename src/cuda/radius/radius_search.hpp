// radius_search.hpp: all points within each query's radius, exact.
//
// Data flow, for each tile of the base and each tile of the queries:
//   one fused pass → the pairs whose scores cannot rule them out, in one list → their exact keys → those within the
//   radius, sorted by (query, key, id).
// How many there are nobody knows before. The pass counts also what found no place in the list: then the list is made
// larger, as far as the workspace goes, or the tile is cut and each part passes again. What was found so far says how
// many queries to take next. A tile of one query and one point always fits, so the search ends, with nothing lost.
#pragma once

#include <functional>
#include <vector>

#include "cuda/points/base_source.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::radius {

struct RadiusWork {
  Metric metric;
  bool expanded = false;  // squares from products, as long as they tell points apart
  bool count_only = false;
  bool exclude_self = false;  // queries are the base
  std::int64_t query_tile = 1;
  std::int64_t base_tile = 1;   // at most what the source hands out
  std::int64_t most_pairs = 1;  // of a list
  double integer_range = 0;     // as core::ScoreBounds has it
};

// The neighbors that some queries have in a part of the base, valid until the function that gets them returns.
template <class F>
struct FoundPart {
  std::int64_t first_query = 0;
  std::vector<unsigned> counts;  // one a query, of the host
  std::int64_t hits = 0;         // their sum
  // On the device, row after row by (key, id), as they are returned; null where they were only counted.
  const F* distances = nullptr;
  const unsigned* ids = nullptr;
};

template <class F>
struct RadiusSink {
  std::function<void(const FoundPart<F>&)> take;
  std::function<void(std::int64_t)> done;  // so many pairs
};

// Radii are keys on the device, one a query. Work is enqueued on the workspace's stream; the host waits twice for each
// part. Parts of the same queries come in the order of their base rows. Returns how many keys were computed.
template <class F>
std::int64_t radius_search(const RadiusWork& work, const PointStore<F>& queries, const F* radii, BaseSource<F>& base,
                           Workspace& workspace, const RadiusSink<F>& sink);

}  // namespace kith::KITH_BACKEND::radius
