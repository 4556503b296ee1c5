#include "cuda/radius/radius_search.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "cuda/distance/exact_keys.hpp"
#include "cuda/distance/fused_filter.hpp"
#include "cuda/radius/radius_hits.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::radius {
namespace {

struct RadiusTuning {
  // Kernels compute tiles of so many queries, however few there are.
  static constexpr std::int64_t kSide = 128;
  // Pairs that a list has place for at first.
  static constexpr std::int64_t kFirstPairs = std::int64_t{1} << 20;
  // The first tile, of a part of the queries, tells how many neighbors the others may have.
  static constexpr std::int64_t kFirstQueries = 256;
  static constexpr std::int64_t kFirstShare = 8;
  // A key in vain takes as long as so many pairs take longer by differences than by products.
  static constexpr std::int64_t kVainKeys = 64;
};

// Rows of a tile.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

template <class F>
class RadiusSearch {
 public:
  RadiusSearch(const RadiusWork& work, const PointStore<F>& queries, const F* radii, const BaseSource<F>& base,
               Workspace& workspace, const RadiusSink<F>& sink)
      : work_(work),
        queries_(queries),
        radii_(radii),
        max_squared_norm_(base.max_squared_norm()),
        workspace_(workspace),
        sink_(sink),
        expanded_(work.expanded),
        most_pairs_(work.most_pairs),
        room_(std::min(work.most_pairs, RadiusTuning::kFirstPairs)),
        query_tile_(std::min(work.query_tile,
                             std::max(RadiusTuning::kFirstQueries, queries.count() / RadiusTuning::kFirstShare))) {}

  // All queries against one tile of the base.
  void take(const BaseTile<F>& tile) {
    for (std::int64_t first = 0; first < queries_.count();) {
      const std::int64_t count = std::min(query_tile_, queries_.count() - first);
      const std::int64_t found = take_part(tile, {first, count}, {0, tile.count});
      first += count;
      expect(static_cast<double>(found) / static_cast<double>(count));
    }
  }

  std::int64_t keys() const { return keys_; }

 private:
  // Makes the next tile one that should fit, and the list one that should do.
  void expect(double pairs_of_query) {
    const double twice = 2 * std::max(pairs_of_query, 1e-3);
    query_tile_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(most_pairs_) / twice),
                                           std::min(RadiusTuning::kSide, work_.query_tile), work_.query_tile);
    grow(static_cast<std::int64_t>(twice * static_cast<double>(query_tile_)));
  }

  void grow(std::int64_t pairs) {
    if (pairs <= room_) return;
    room_ = std::min<std::int64_t>(most_pairs_, static_cast<std::int64_t>(std::bit_ceil(as_size(pairs))));
    workspace_.clear();
  }

  // Returns how many pairs passed.
  std::int64_t take_part(const BaseTile<F>& tile, const Range& queries, const Range& points) {
    std::int64_t passed = 0;
    const std::optional<FoundPart<F>> part = find_part(tile, queries, points, passed);
    if (!part) return take_parts(tile, queries, points, passed);
    sink_.take(*part);
    sink_.done(queries.count * points.count);
    return passed;
  }

  // Nothing where the list has no place for all that passed. A list that leaves too little for the rest is halved.
  std::optional<FoundPart<F>> find_part(const BaseTile<F>& tile, const Range& queries, const Range& points,
                                        std::int64_t& passed) {
    for (;;) {
      try {
        passed = find_pairs(tile, queries, points);
        if (passed > room_ && room_ < most_pairs_) {
          grow(passed);
          passed = find_pairs(tile, queries, points);
        }
        if (passed > room_) return std::nullopt;
        return decide(tile, queries, points, passed);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || room_ == 1) throw;
        most_pairs_ = room_ = room_ / 2;
        workspace_.clear();
      }
    }
  }

  // Cut so that each part should fit: the queries, or, where they are few, the points.
  std::int64_t take_parts(const BaseTile<F>& tile, const Range& queries, const Range& points, std::int64_t found) {
    const std::int64_t parts = 2 * ceil_div(found, room_);
    std::int64_t passed = 0;
    if (queries.count > RadiusTuning::kSide || points.count == 1) {
      const std::int64_t least = queries.count > RadiusTuning::kSide ? RadiusTuning::kSide : 1;
      const std::int64_t step = std::max(least, queries.count / parts);
      for (std::int64_t done = 0; done < queries.count; done += step)
        passed += take_part(tile, {queries.first + done, std::min(step, queries.count - done)}, points);
    } else {
      const std::int64_t step = std::max<std::int64_t>(1, points.count / parts);
      for (std::int64_t done = 0; done < points.count; done += step)
        passed += take_part(tile, queries, {points.first + done, std::min(step, points.count - done)});
    }
    return passed;
  }

  // Into the list, as far as it has place; returns how many there are.
  std::int64_t find_pairs(const BaseTile<F>& tile, const Range& queries, const Range& points) {
    workspace_.reset();
    const std::int64_t first = tile.first + points.first;
    pairs_ = {limits_of(queries),
              workspace_.allocate<unsigned>(as_size(room_)),
              workspace_.allocate<unsigned>(as_size(room_)),
              static_cast<unsigned long long>(room_),
              0,
              workspace_.allocate<unsigned long long>(1)};
    KITH_CUDA(cudaMemsetAsync(pairs_.count, 0, sizeof(unsigned long long), stream()));
    distance::fused_filter(distance::FilterCall<F, distance::PairList<F>>{
        queries_.working(queries.first, queries.count), tile.store->working(first, points.count), queries_.dims(),
        core::form_of(work_.metric), work_.metric.p, expanded_ ? tile.store->bias(first) : nullptr, pairs_,
        workspace_});
    unsigned long long found = 0;
    KITH_CUDA(cudaMemcpyAsync(&found, pairs_.count, sizeof(found), cudaMemcpyDeviceToHost, stream()));
    KITH_CUDA(cudaStreamSynchronize(stream()));
    return static_cast<std::int64_t>(found);
  }

  const F* limits_of(const Range& queries) {
    const core::ScoreBounds<F> bounds(work_.metric, queries_.dims(), expanded_, work_.integer_range);
    RadiusLimits<F> what{bounds, radii_ + queries.first, nullptr, nullptr,
                         workspace_.allocate<F>(as_size(queries.count))};
    if (expanded_ || bounds.is_absolute()) {
      what.query_square_norms = queries_.square_norms(queries.first);
      what.max_squared_norm = max_squared_norm_;
    }
    find_radius_limits(what, queries.count, stream());
    return what.limits;
  }

  // Keys for the pairs of the list say what is within.
  FoundPart<F> decide(const BaseTile<F>& tile, const Range& queries, const Range& points, std::int64_t found) {
    FoundPart<F> part;
    part.first_query = queries.first;
    part.counts.resize(as_size(queries.count));
    auto* counts = workspace_.allocate<unsigned>(as_size(queries.count));
    KITH_CUDA(cudaMemsetAsync(counts, 0, part.counts.size() * sizeof(unsigned), stream()));
    // As large as the list: the next part finds the same memory.
    F* keys = workspace_.allocate<F>(as_size(room_));
    LabeledKey<OrderOf<F>>* hits = nullptr;
    LabeledKey<OrderOf<F>>* other = nullptr;
    if (!work_.count_only) {
      hits = workspace_.allocate<LabeledKey<OrderOf<F>>>(as_size(room_));
      other = workspace_.allocate<LabeledKey<OrderOf<F>>>(as_size(room_));
    }
    distance::pair_keys(distance::KeyCall<F>{queries_.exact(queries.first, queries.count),
                                             tile.store->exact(tile.first + points.first, points.count),
                                             queries_.dims(), work_.metric, stream()},
                        pairs_.queries, pairs_.ids, found, keys);
    label_hits<F>({pairs_.queries, pairs_.ids, keys, found},
                  {radii_ + queries.first, static_cast<unsigned>(tile.first_id + points.first),
                   work_.exclude_self ? queries.first : -1},
                  queries.count, counts, hits, stream());
    if (hits != nullptr) hits = sort_labeled(hits, other, found, queries.count + 1, workspace_);
    KITH_CUDA(cudaMemcpyAsync(part.counts.data(), counts, part.counts.size() * sizeof(unsigned), cudaMemcpyDeviceToHost,
                              stream()));
    KITH_CUDA(cudaStreamSynchronize(stream()));
    part.hits = std::accumulate(part.counts.begin(), part.counts.end(), std::int64_t{0});
    if (hits != nullptr) {
      // Neither the list nor the keys are wanted any more.
      split_hits<F>(work_.metric, hits, part.hits, keys, pairs_.ids, stream());
      part.distances = keys;
      part.ids = pairs_.ids;
    }
    keys_ += found;
    // Points may lie closer together than products can tell.
    if (found - part.hits > queries.count * points.count / RadiusTuning::kVainKeys) expanded_ = false;
    return part;
  }

  cudaStream_t stream() const { return workspace_.stream(); }

  const RadiusWork& work_;
  const PointStore<F>& queries_;
  const F* radii_;
  const unsigned long long* max_squared_norm_;
  Workspace& workspace_;
  const RadiusSink<F>& sink_;
  bool expanded_;
  std::int64_t most_pairs_;
  std::int64_t room_;
  std::int64_t query_tile_;
  distance::PairList<F> pairs_;
  std::int64_t keys_ = 0;
};

}  // namespace

template <class F>
std::int64_t radius_search(const RadiusWork& work, const PointStore<F>& queries, const F* radii, BaseSource<F>& base,
                           Workspace& workspace, const RadiusSink<F>& sink) {
  RadiusSearch<F> search(work, queries, radii, base, workspace, sink);
  base.for_each_tile(work.base_tile, [&](const BaseTile<F>& tile) { search.take(tile); });
  return search.keys();
}

template std::int64_t radius_search(const RadiusWork&, const PointStore<float>&, const float*, BaseSource<float>&,
                                    Workspace&, const RadiusSink<float>&);
template std::int64_t radius_search(const RadiusWork&, const PointStore<double>&, const double*, BaseSource<double>&,
                                    Workspace&, const RadiusSink<double>&);

}  // namespace kith::KITH_BACKEND::radius
