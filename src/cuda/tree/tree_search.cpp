// tree_search.cpp: the host's side of method tree: blocks of queries are put in order and walk.
#include "cuda/tree/tree_search.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/max_distance.hpp"
#include "cuda/radius/radius_hits.hpp"
#include "cuda/tree/nearest.hpp"
#include "cuda/tree/query_order.hpp"
#include "cuda/tree/within.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::tree {
namespace {

// Queries first … first + count − 1 in the order of the points, numbered from the first.
template <class F>
TreeQueries<F> ordered_queries(const TreeWork& work, const TreeSets<F>& sets, std::int64_t first, std::int64_t count,
                               Workspace& workspace) {
  const TreeView<F>& tree = sets.tree.view();
  const core::ScoreBounds<F> bounds(work.metric, sets.base.dims(), false,
                                    tree.scale == 1 && !tree.is_periodic() ? work.integer_range : 0,
                                    static_cast<double>(tree.scale));
  TreeQueries<F> queries{.tree = tree,
                         .base = sets.base.exact(0, sets.base.count()).rows,
                         .queries = sets.queries.exact(first, count).rows,
                         .order = tree.ids,
                         .first = 0,
                         .count = count,
                         .metric = work.metric,
                         .form = core::form_of(work.metric),
                         .bounds = bounds,
                         .periodic_bounds = core::PeriodicBounds<F>(work.metric, sets.base.dims()),
                         .square_limit = SquareLimit<F>(work.metric, bounds)};
  if (sets.same() && count == sets.base.count()) return queries;
  queries.order = query_order(queries, workspace);
  return queries;
}

// The counts of a block's hits, and parts of it whose hits fit the memory that there is for them.
template <class F>
class RadiusBlock {
 public:
  RadiusBlock(const TreeRadiusWork& work, const TreeSets<F>& sets, const F* radii, Workspace& workspace,
              const radius::RadiusSink<F>& sink)
      : work_(work), sets_(sets), radii_(radii), workspace_(workspace), sink_(sink) {}

  void search(std::int64_t first, std::int64_t count) {
    workspace_.reset();
    const WithinCall<F> call = call_for(first, count);
    auto* const device_counts = workspace_.allocate<unsigned>(as_size(count));
    count_within(call, work_.count_only, device_counts, stream());
    std::vector<unsigned> counts(as_size(count));
    KITH_CUDA(cudaMemcpyAsync(counts.data(), device_counts, counts.size() * sizeof(unsigned), cudaMemcpyDeviceToHost,
                              stream()));
    KITH_CUDA(cudaStreamSynchronize(stream()));
    const std::int64_t hits = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (work_.count_only || hits <= work_.max_hits) return put(call, first, std::move(counts), hits, device_counts);
    if (count == 1)
      throw Error(ErrorCode::out_of_memory, "query " + std::to_string(first) + " has " + std::to_string(hits) +
                                                " points within its radius; the memory budget has room for " +
                                                std::to_string(work_.max_hits));
    // So many queries that their hits should fit, and half of them at most.
    const std::int64_t step = std::clamp<std::int64_t>(work_.max_hits / (hits / count + 1), 1, (count + 1) / 2);
    for (std::int64_t done = 0; done < count; done += step) search(first + done, std::min(step, count - done));
  }

 private:
  WithinCall<F> call_for(std::int64_t first, std::int64_t count) {
    return {ordered_queries(work_.work, sets_, first, count, workspace_), radii_ + first,
            work_.exclude_self ? first : -1};
  }

  void put(const WithinCall<F>& call, std::int64_t first, std::vector<unsigned> counts, std::int64_t hits,
           const unsigned* device_counts) {
    radius::FoundPart<F> part;
    part.first_query = first;
    part.hits = hits;
    part.points = sets_.base.count();
    part.device_counts = device_counts;
    const auto queries = static_cast<std::int64_t>(counts.size());
    if (!work_.count_only && hits > 0) rank(call, counts, hits, part);
    part.counts = std::move(counts);
    sink_.on_part(part);
    sink_.on_pairs_done(queries * sets_.base.count());
  }

  // Lists the hits and sorts them by (query, key, id).
  void rank(const WithinCall<F>& call, const std::vector<unsigned>& counts, std::int64_t hits,
            radius::FoundPart<F>& part) {
    offsets_.resize(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), offsets_.begin(), 0ULL);
    auto* const offsets = workspace_.allocate<unsigned long long>(offsets_.size());
    KITH_CUDA(cudaMemcpyAsync(offsets, offsets_.data(), offsets_.size() * sizeof(unsigned long long),
                              cudaMemcpyHostToDevice, stream()));
    auto* const listed = workspace_.allocate<LabeledKey<OrderOf<F>>>(as_size(hits));
    auto* const spare = workspace_.allocate<LabeledKey<OrderOf<F>>>(as_size(hits));
    auto* const distances = workspace_.allocate<F>(as_size(hits));
    auto* const ids = workspace_.allocate<unsigned>(as_size(hits));
    list_within(call, offsets, listed, stream());
    const auto* const sorted = sort_labeled(listed, spare, hits, static_cast<std::int64_t>(counts.size()), workspace_);
    radius::split_hits<F>(work_.work.metric, sorted, hits, distances, ids, stream());
    part.distances = distances;
    part.ids = ids;
  }

  cudaStream_t stream() const { return workspace_.stream(); }

  const TreeRadiusWork& work_;
  const TreeSets<F>& sets_;
  const F* radii_;
  Workspace& workspace_;
  const radius::RadiusSink<F>& sink_;
  std::vector<unsigned long long> offsets_;  // stay until they are copied
};

}  // namespace

template <class F>
void tree_search(const TreeWork& work, const TreeSets<F>& sets, std::int64_t k, F* keys, unsigned* ids,
                 Workspace& workspace, const std::function<void(std::int64_t)>& on_batch_done) {
  // Queries that are the base are in order already, however many they are.
  const std::int64_t all = sets.queries.count();
  const std::int64_t block = sets.same() ? all : work.query_block;
  for (std::int64_t first = 0; first < all; first += block) {
    workspace.reset();
    const std::int64_t count = std::min(block, all - first);
    NearestCall<F> call{.queries = ordered_queries(work, sets, first, count, workspace),
                        .stride = k,
                        .max_key = core::largest_within<F>(work.max_distance),
                        .limits = sets.limits == nullptr ? nullptr : sets.limits + first,
                        // What a walk passes over the next one would not come back to.
                        .epsilon = k <= kMostNearest ? work.epsilon : 0,
                        .keys = keys + first * k,
                        .ids = ids + first * k};
    for (call.from_rank = 0; call.from_rank < k; call.from_rank += kMostNearest) {
      call.k = static_cast<unsigned>(std::min<std::int64_t>(kMostNearest, k - call.from_rank));
      find_nearest(call, workspace.stream());
    }
    on_batch_done(count);
  }
}

template <class F>
void tree_radius(const TreeRadiusWork& work, const TreeSets<F>& sets, const F* radii, Workspace& workspace,
                 const radius::RadiusSink<F>& sink) {
  RadiusBlock<F> block(work, sets, radii, workspace, sink);
  const std::int64_t all = sets.queries.count();
  const std::int64_t step = work.work.query_block;
  for (std::int64_t first = 0; first < all; first += step) block.search(first, std::min(step, all - first));
}

#define KITH_INSTANTIATE(F)                                                                               \
  template void tree_search(const TreeWork&, const TreeSets<F>&, std::int64_t, F*, unsigned*, Workspace&, \
                            const std::function<void(std::int64_t)>&);                                    \
  template void tree_radius(const TreeRadiusWork&, const TreeSets<F>&, const F*, Workspace&,              \
                            const radius::RadiusSink<F>&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::tree
