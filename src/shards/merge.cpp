// merge.cpp: lists of several shards, each in the order of neighbors, become one.
// Idea    the first places of all lists compete; the least goes out, and its list moves on. An id that comes twice has
//         the same distance, and so follows itself.
// Cost    one comparison a list for each place of the answer.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "backend/machine.hpp"
#include "backend/registry.hpp"
#include "core/key.hpp"
#include "core/max_distance.hpp"
#include "core/order.hpp"
#include "cpu/parallel.hpp"
#include "kith/shards.hpp"
#include "plan/cpu_threads.hpp"

namespace kith {
namespace {

constexpr std::int64_t kTaskPlaces = 1 << 14;
constexpr double kPlaceSeconds = 5e-9;  // of a place and a list

// Where a list has come to.
template <class D>
struct Cursor {
  const std::int64_t* id;
  const D* distance;
  const std::int64_t* end;
  core::Hit<D> hit;  // at hand, if there is one

  bool is_done() const { return id == end; }
};

template <class D>
class RowMerge {
 public:
  RowMerge(std::span<const NeighborLists<D>> lists, std::int64_t k, const Metric& metric)
      : lists_(lists), k_(k), metric_(metric) {}

  void run(std::int64_t query, std::int64_t* ids, D* distances) {
    cursors_.clear();
    for (const NeighborLists<D>& list : lists_) {
      Cursor<D> cursor{list.ids + query * list.k, list.distances + query * list.k, list.ids + (query + 1) * list.k, {}};
      if (load(cursor)) cursors_.push_back(cursor);
    }
    std::int64_t found = 0;
    while (found < k_ && !cursors_.empty()) {
      auto least = cursors_.begin();
      for (auto each = least + 1; each != cursors_.end(); ++each)
        if (each->hit < least->hit) least = each;
      const bool is_known = found > 0 && ids[found - 1] == least->hit.id && !(last_ < least->hit);
      if (!is_known) {
        last_ = least->hit;
        ids[found] = last_.id;
        distances[found] = *least->distance;
        ++found;
      }
      ++least->id;
      ++least->distance;
      if (!load(*least)) cursors_.erase(least);
    }
    if (lists_.size() > 1) check_ids(query, ids, distances, found);
    std::fill(ids + found, ids + k_, core::kNoNeighbor);
    std::fill(distances + found, distances + k_, core::missing_distance<D>(metric_));
  }

 private:
  // False at the end of the neighbors of a list.
  bool load(Cursor<D>& cursor) const {
    if (cursor.is_done() || *cursor.id == core::kNoNeighbor) return false;
    cursor.hit = {core::key_of(metric_, *cursor.distance), *cursor.id};
    return true;
  }

  void check_ids(std::int64_t query, const std::int64_t* ids, const D* distances, std::int64_t found) {
    sorted_.assign(ids, ids + found);
    std::sort(sorted_.begin(), sorted_.end());
    const auto twice = std::adjacent_find(sorted_.begin(), sorted_.end());
    if (twice == sorted_.end()) return;
    const std::int64_t* const first = std::find(ids, ids + found, *twice);
    const std::int64_t* const second = std::find(first + 1, ids + found, *twice);
    throw Error(ErrorCode::bad_data,
                fmt::format("point {} is at distance {} from query {} in one list and at {} in another: its shard "
                            "changed between two searches, or two points have this id",
                            *twice, distances[first - ids], query, distances[second - ids]));
  }

  std::span<const NeighborLists<D>> lists_;
  std::int64_t k_;
  const Metric& metric_;
  std::vector<Cursor<D>> cursors_;
  core::Hit<D> last_{};
  std::vector<std::int64_t> sorted_;
};

template <class D>
void check_merge(std::span<const NeighborLists<D>> lists, std::int64_t queries, std::int64_t k,
                 const NeighborsView<D>& out, Memory memory) {
  if (queries < 0 || k < 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("lists of {} queries, {} places each: at least one place is needed", queries, k));
  if (out.memory != memory)
    throw Error(ErrorCode::invalid_argument, fmt::format("lists in {} memory are merged into an answer in {} memory",
                                                         to_string(memory), to_string(out.memory)));
  if (queries == 0) return;
  api::check_outputs(out.ids, out.distances);
  for (const NeighborLists<D>& list : lists)
    if (list.k < 0 || (list.k > 0 && (list.ids == nullptr || list.distances == nullptr)))
      throw Error(ErrorCode::invalid_argument, "a list of neighbors has no memory (null pointer)");
}

// Lists of hits within a radius, joined: sorted, each once.
template <class D>
void join_hits(std::vector<core::Hit<D>>& hits) {
  std::sort(hits.begin(), hits.end());
  const auto equal = [](const core::Hit<D>& a, const core::Hit<D>& b) { return a.id == b.id && !(a < b) && !(b < a); };
  hits.erase(std::unique(hits.begin(), hits.end(), equal), hits.end());
}

}  // namespace

template <class D>
void merge_neighbors(std::span<const NeighborLists<D>> lists, std::int64_t queries, std::int64_t k,
                     const Metric& metric, NeighborsView<D> out, int threads) {
  api::guarded([&] {
    check_merge(lists, queries, k, out, Memory::host);
    if (queries == 0) return;
    const double places = static_cast<double>(queries) * static_cast<double>(k);
    const double seconds = places * kPlaceSeconds * static_cast<double>(lists.size() + 1);
    const bool is_small = seconds < 2 * plan::kSecondsOfAThread;
    const int most = threads > 0 ? threads : is_small ? 1 : backend::available_threads().threads;
    const int used = plan::threads_worth(seconds, most);
    const std::int64_t step = std::max<std::int64_t>(1, kTaskPlaces / k);
    cpu::parallel_for(used, (queries + step - 1) / step, [&](std::int64_t task, int) {
      RowMerge<D> merge(lists, k, metric);
      const std::int64_t last = std::min(queries, (task + 1) * step);
      for (std::int64_t query = task * step; query < last; ++query)
        merge.run(query, out.ids + query * k, out.distances + query * k);
    });
  });
}

template <class D>
void merge_neighbors_on_device(std::span<const NeighborLists<D>> lists, std::int64_t queries, std::int64_t k,
                               const Metric& metric, NeighborsView<D> out, Backend backend, void* stream) {
  api::guarded([&] {
    check_merge(lists, queries, k, out, Memory::device);
    Options options;
    options.backend = backend;
    const backend::BackendTable& table = backend::table_of(api::check_options(options, Memory::device));
    if (queries > 0) table.of<D>().merge(lists, queries, k, metric, out, stream);
  });
}

template <class D>
RadiusNeighbors<D> merge_radius(std::span<const RadiusNeighbors<D>> parts, const Metric& metric) {
  return api::guarded([&] {
    RadiusNeighbors<D> merged;
    if (parts.empty()) throw Error(ErrorCode::invalid_argument, "no lists to merge");
    merged.queries = parts.front().queries;
    merged.offsets.assign(static_cast<std::size_t>(merged.queries) + 1, 0);
    bool counts = true;  // numbers alone
    for (const RadiusNeighbors<D>& part : parts) {
      if (part.queries != merged.queries)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("lists of {} queries beside lists of {}", part.queries, merged.queries));
      counts = counts && part.ids.empty();
    }
    for (const RadiusNeighbors<D>& part : parts)
      if (!counts && part.ids.empty() && part.offsets.back() > 0)
        throw Error(ErrorCode::invalid_argument, "numbers of neighbors beside lists of them");
    std::vector<core::Hit<D>> hits;
    for (std::int64_t query = 0; query < merged.queries; ++query) {
      const auto at = static_cast<std::size_t>(query);
      std::int64_t count = 0;
      hits.clear();
      for (const RadiusNeighbors<D>& part : parts) {
        count += part.count_of(query);
        if (counts || part.ids.empty()) continue;
        const auto ids = part.ids_of(query);
        const auto distances = part.distances_of(query);
        for (std::size_t i = 0; i < ids.size(); ++i) hits.push_back({core::key_of(metric, distances[i]), ids[i]});
      }
      if (!counts) {
        join_hits(hits);
        count = static_cast<std::int64_t>(hits.size());
        for (const core::Hit<D>& hit : hits) {
          merged.ids.push_back(hit.id);
          merged.distances.push_back(core::returned_value(metric, hit.key));
        }
      }
      merged.offsets[at + 1] = merged.offsets[at] + count;
    }
    return merged;
  });
}

#define KITH_INSTANTIATE(D)                                                                                            \
  template KITH_API void merge_neighbors(std::span<const NeighborLists<D>>, std::int64_t, std::int64_t, const Metric&, \
                                         NeighborsView<D>, int);                                                       \
  template KITH_API void merge_neighbors_on_device(std::span<const NeighborLists<D>>, std::int64_t, std::int64_t,      \
                                                   const Metric&, NeighborsView<D>, Backend, void*);                   \
  template KITH_API RadiusNeighbors<D> merge_radius(std::span<const RadiusNeighbors<D>>, const Metric&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith
