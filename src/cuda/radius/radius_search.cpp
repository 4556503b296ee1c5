// radius_search.cpp: tiles of queries whose size follows the number of pairs found so far.
#include "cuda/radius/radius_search.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "cuda/brute/bounded_limits.hpp"
#include "cuda/distance/exact_keys.hpp"
#include "cuda/distance/fused_filter.hpp"
#include "cuda/radius/radius_hits.hpp"
#include "cuda/tensor/tensor_rows.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::radius {
namespace {

struct RadiusTuning {
  // Kernels compute tiles of so many queries, however few there are: smaller parts save nothing.
  static constexpr std::int64_t kTileQueries = 128;
  // Capacity of the first list.
  static constexpr std::int64_t kFirstPairs = std::int64_t{1} << 20;
  // The first tile has a fraction of the queries; their hits predict those of the others.
  static constexpr std::int64_t kFirstQueries = 256;
  static constexpr std::int64_t kFirstFraction = 8;
  // A wasted key, of a pair outside the radius, costs as much time as products save over differences for so many pairs.
  static constexpr std::int64_t kWastedKeys = 64;
  // The same for fp16, which takes a tenth of the time of products.
  static constexpr std::int64_t kWastedFp16Keys = 48;
};

// Rows first … first + count − 1 of a tile.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

template <class F>
class RadiusSearch {
 public:
  RadiusSearch(const RadiusWork& work, const PointStore<F>& queries, const F* radii, BaseSource<F>& base,
               Workspace& workspace, const RadiusSink<F>& sink)
      : work_(work),
        squares_(core::form_of(work.metric) == core::Form::squared),
        queries_(queries),
        base_(base),
        radii_(radii),
        max_squared_norm_(base.max_squared_norm()),
        workspace_(workspace),
        sink_(sink),
        expanded_(work.expanded),
        max_pairs_(work.max_pairs),
        capacity_(std::min(work.max_pairs, RadiusTuning::kFirstPairs)),
        query_tile_(std::min(work.query_tile,
                             std::max(RadiusTuning::kFirstQueries, queries.count() / RadiusTuning::kFirstFraction))) {
    if (work.fp16 && tensor::has_tensor_filter(tensor::Element::fp16, queries.dims())) round_queries();
  }

  // Searches one tile of the base for all queries.
  void search_tile(const BaseTile<F>& tile) {
    for (std::int64_t first = 0; first < queries_.count();) {
      const std::int64_t count = std::min(query_tile_, queries_.count() - first);
      const std::int64_t found = search_part(tile, {first, count}, {0, tile.count});
      first += count;
      adapt_tile(static_cast<double>(found) / static_cast<double>(count));
    }
  }

  std::int64_t keys() const { return keys_; }

 private:
  // Scores that are no numbers pass no limit, and infinite points make them so.
  void round_queries() {
    const Fp16Frame& frame = base_.fp16_frame();
    if (!frame.is_finite) return;
    fp16_.emplace(queries_.count(), queries_.dims(), false, stream());
    fp16_->prepare(as_floats(queries_.working(0, queries_.count())), frame);
    fp16_max_norms_ = base_.fp16_max_norms();
  }

  // Chooses the next tile of queries, and the capacity of the list, so that the pairs should fit.
  void adapt_tile(double pairs_of_query) {
    const double twice = 2 * std::max(pairs_of_query, 1e-3);
    query_tile_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(max_pairs_) / twice),
                                           std::min(RadiusTuning::kTileQueries, work_.query_tile), work_.query_tile);
    grow_list(static_cast<std::int64_t>(twice * static_cast<double>(query_tile_)));
  }

  void grow_list(std::int64_t pairs) {
    if (pairs <= capacity_) return;
    capacity_ = std::min<std::int64_t>(max_pairs_, static_cast<std::int64_t>(std::bit_ceil(as_size(pairs))));
    workspace_.clear();
  }

  // Whether the tile has what scores are computed from.
  bool has_rows(const BaseTile<F>& tile) const { return fp16_ || tile.store->has_working(); }

  // Of points that stay as they are stored: some of them in working precision at a time.
  std::int64_t search_widened(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points) {
    std::int64_t passed = 0;
    for (std::int64_t done = 0; done < points.count;) {
      const BaseTile<F> part = base_.with_rows(tile, points.first + done, points.count - done);
      passed += search_part(part, queries, {0, part.count});
      done += part.count;
    }
    return passed;
  }

  // Returns the number of pairs that passed.
  std::int64_t search_part(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points) {
    if (!has_rows(tile)) return search_widened(tile, queries, points);
    std::int64_t passed = 0;
    const std::optional<FoundPart<F>> part = find_part(tile, queries, points, passed);
    if (!part)
      return has_rows(tile) ? search_split_parts(tile, queries, points, passed) : search_widened(tile, queries, points);
    sink_.on_part(*part);
    sink_.on_pairs_done(queries.count * points.count);
    return passed;
  }

  // Returns nothing where the list cannot grow to hold all pairs that passed, or the tile has no rows for other scores.
  // Where it leaves too little memory for the next steps, it is halved.
  std::optional<FoundPart<F>> find_part(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points,
                                        std::int64_t& passed) {
    for (;;) {
      try {
        passed = find_pairs(tile, queries, points);
        if (passed > capacity_ && capacity_ < max_pairs_) {
          grow_list(passed);
          passed = find_pairs(tile, queries, points);
        }
        if (passed > capacity_ && fp16_ && passed > wasted_limit(queries, points)) {
          fp16_.reset();
          if (!has_rows(tile)) return std::nullopt;
          continue;
        }
        if (passed > capacity_) return std::nullopt;
        return rank_pairs(tile, queries, points, passed);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || capacity_ == 1) throw;
        max_pairs_ = capacity_ = capacity_ / 2;
        workspace_.clear();
      }
    }
  }

  // Splits the queries, or, where they are few, the points, so that each part should fit.
  std::int64_t search_split_parts(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points,
                                  std::int64_t found) {
    const std::int64_t parts = 2 * ceil_div(found, capacity_);
    std::int64_t passed = 0;
    if (queries.count > RadiusTuning::kTileQueries || points.count == 1) {
      const std::int64_t least = queries.count > RadiusTuning::kTileQueries ? RadiusTuning::kTileQueries : 1;
      const std::int64_t step = std::max(least, queries.count / parts);
      for (std::int64_t done = 0; done < queries.count; done += step)
        passed += search_part(tile, {queries.first + done, std::min(step, queries.count - done)}, points);
    } else {
      const std::int64_t step = std::max<std::int64_t>(1, points.count / parts);
      for (std::int64_t done = 0; done < points.count; done += step)
        passed += search_part(tile, queries, {points.first + done, std::min(step, points.count - done)});
    }
    return passed;
  }

  // Memory of a part. Buffers of pairs are as large as the list, so that the next part reuses them.
  void make_list(const RowRange& queries) {
    workspace_.reset();
    const std::size_t capacity = as_size(capacity_);
    const F* const limits = limits_of(queries);
    // The counts of hits follow the number of pairs, so that one copy brings both.
    auto* const passed = static_cast<unsigned long long*>(
        static_cast<void*>(workspace_.allocate<unsigned char>(count_bytes(queries.count))));
    pairs_ = {limits,
              workspace_.allocate<unsigned>(capacity),
              workspace_.allocate<unsigned>(capacity),
              static_cast<unsigned long long>(capacity_),
              0,
              passed};
    counts_ = reinterpret_cast<unsigned*>(passed + 1);
    keys_of_pairs_ = workspace_.allocate<F>(capacity);
    if (!work_.count_only) {
      hits_ = workspace_.allocate<LabeledKey<OrderOf<F>>>(capacity);
      spare_hits_ = workspace_.allocate<LabeledKey<OrderOf<F>>>(capacity);
    }
    KITH_CUDA(cudaMemsetAsync(passed, 0, count_bytes(queries.count), stream()));
  }

  // Of the number of pairs and of the hits of so many queries.
  static std::size_t count_bytes(std::int64_t queries) {
    return sizeof(unsigned long long) + as_size(queries) * sizeof(unsigned);
  }

  // Waits for them; returns the number of pairs.
  std::int64_t read_counts(std::int64_t queries) {
    const std::size_t bytes = count_bytes(queries);
    if (read_.size() < bytes) read_ = PinnedLoan(bytes);
    KITH_CUDA(cudaMemcpyAsync(read_.as<void>(), pairs_.count, bytes, cudaMemcpyDeviceToHost, stream()));
    KITH_CUDA(cudaStreamSynchronize(stream()));
    return static_cast<std::int64_t>(*read_.as<unsigned long long>());
  }

  // Writes the pairs that pass to the list, up to its capacity, and ranks them if they are few; returns how many pass.
  std::int64_t find_pairs(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points) {
    make_list(queries);
    const std::int64_t first = tile.first + points.first;
    if (fp16_) {
      filter_fp16(*tile.fp16, queries, {first, points.count});
    } else {
      distance::fused_filter(distance::FilterCall<F, distance::PairList<F>>{
          queries_.working(queries.first, queries.count), tile.store->working(first, points.count), queries_.dims(),
          core::form_of(work_.metric), work_.metric.p, expanded_ ? tile.store->bias(first) : nullptr, pairs_,
          workspace_});
    }
    const std::int64_t few = may_be_few_ ? std::min(capacity_, FewPairs<F>::kMost) : 0;
    if (few > 0) rank_few(tile, queries, points, few);
    const std::int64_t passed = read_counts(few > 0 ? queries.count : 0);
    ranked_ = few > 0 && passed <= few;
    may_be_few_ = passed <= FewPairs<F>::kMost;
    return passed;
  }

  // Before the host knows how many pairs there are, which saves it a wait.
  void rank_few(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points, std::int64_t few) {
    distance::few_pair_keys(key_call(tile, queries, points), pairs_.queries, pairs_.ids, pairs_.count, few,
                            keys_of_pairs_);
    rank_few_hits<F>({pairs_.count, few, pairs_.queries, pairs_.ids, keys_of_pairs_, hits_, spare_hits_},
                     hit_rule(tile, queries, points), work_.metric, counts_, stream());
  }

  distance::KeyCall<F> key_call(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points) const {
    return {queries_.exact(queries.first, queries.count), tile.store->exact(tile.first + points.first, points.count),
            queries_.dims(), work_.metric, stream()};
  }

  HitRule<F> hit_rule(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points) const {
    return {radii_ + queries.first, static_cast<unsigned>(tile.first_id + points.first),
            work_.exclude_self ? queries.first : -1, static_cast<unsigned>(queries.count)};
  }

  void filter_fp16(const Fp16Store& base, const RowRange& queries, const RowRange& points) const {
    if constexpr (std::is_same_v<F, float>)
      tensor::tensor_filter(
          {.product = tensor::fp16_product(fp16_->rows(queries.first, queries.count),
                                           base.rows(points.first, points.count), base.bias(points.first)),
           .lists = {},
           .pairs = pairs_,
           .stream = stream()});
  }

  // Points of query q with scores above limits[q] have keys above the radius for certain: radii are lists of one key.
  const F* limits_of(const RowRange& queries) {
    F* const limits = workspace_.allocate<F>(as_size(queries.count));
    const F* const radii = radii_ + queries.first;
    if constexpr (std::is_same_v<F, float>) {
      if (fp16_) {
        const Fp16Rows rows = fp16_->rows(queries.first, queries.count);
        brute::bounded_limits({core::ScoreBounds<F>(work_.metric, queries_.dims(), squares_, 0),
                               core::Fp16Bounds(rows.stride, squares_), radii, 1, nullptr, rows, fp16_max_norms_},
                              limits, stream());
        return limits;
      }
    }
    const core::ScoreBounds<F> bounds(work_.metric, queries_.dims(), expanded_, work_.integer_range);
    brute::Certificate<F> certificate{bounds, radii, 1, nullptr, nullptr, nullptr};
    if (expanded_ || bounds.is_absolute()) {
      certificate.query_square_norms = queries_.square_norms(queries.first);
      certificate.max_squared_norm = max_squared_norm_;
    }
    brute::bounded_limits(certificate, queries.count, limits, stream());
    return limits;
  }

  // Computes the keys of the listed pairs, sorts those within the radius and counts them.
  void rank_many(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points, std::int64_t found) {
    distance::pair_keys(key_call(tile, queries, points), pairs_.queries, pairs_.ids, found, keys_of_pairs_);
    label_hits<F>({pairs_.queries, pairs_.ids, keys_of_pairs_, found}, hit_rule(tile, queries, points), counts_, hits_,
                  stream());
    // The list and the keys are no longer needed: their memory holds the result.
    if (hits_ != nullptr)
      split_hits<F>(work_.metric, sort_labeled(hits_, spare_hits_, found, queries.count + 1, workspace_), found,
                    keys_of_pairs_, pairs_.ids, stream());
    read_counts(queries.count);
  }

  FoundPart<F> rank_pairs(const BaseTile<F>& tile, const RowRange& queries, const RowRange& points,
                          std::int64_t found) {
    if (!ranked_) rank_many(tile, queries, points, found);
    FoundPart<F> part;
    part.first_query = queries.first;
    part.points = points.count;
    part.device_counts = counts_;
    const auto* const counts = reinterpret_cast<const unsigned*>(read_.as<unsigned long long>() + 1);
    part.counts.assign(counts, counts + queries.count);
    part.hits = std::accumulate(part.counts.begin(), part.counts.end(), std::int64_t{0});
    if (!work_.count_only) {
      part.distances = keys_of_pairs_;
      part.ids = pairs_.ids;
    }
    keys_ += found;
    if (found - part.hits > wasted_limit(queries, points)) give_up_scores();
    return part;
  }

  // Keys that may be wasted before better scores are faster.
  std::int64_t wasted_limit(const RowRange& queries, const RowRange& points) const {
    return std::max(queries.count, RadiusTuning::kTileQueries) * points.count /
           (fp16_ ? RadiusTuning::kWastedFp16Keys : RadiusTuning::kWastedKeys);
  }

  // Points lie closer together than these scores can tell: fp16 gives way to products, and these to differences.
  void give_up_scores() {
    if (fp16_) {
      fp16_.reset();
    } else {
      expanded_ = false;
    }
  }

  cudaStream_t stream() const { return workspace_.stream(); }

  const RadiusWork& work_;
  bool squares_;
  const PointStore<F>& queries_;
  BaseSource<F>& base_;
  const F* radii_;
  const unsigned long long* max_squared_norm_;
  Workspace& workspace_;
  const RadiusSink<F>& sink_;
  std::optional<Fp16Store> fp16_;  // the queries, as long as scores are of fp16
  const Fp16MaxNorms* fp16_max_norms_ = nullptr;
  bool expanded_;
  std::int64_t max_pairs_;
  std::int64_t capacity_;
  std::int64_t query_tile_;
  distance::PairList<F> pairs_;
  unsigned* counts_ = nullptr;  // of hits, one a query
  F* keys_of_pairs_ = nullptr;
  LabeledKey<OrderOf<F>>* hits_ = nullptr;  // null where they are only counted
  LabeledKey<OrderOf<F>>* spare_hits_ = nullptr;
  PinnedLoan read_;         // the number of pairs and the counts, on the host
  bool may_be_few_ = true;  // unless those of the last part were not
  bool ranked_ = false;     // the pairs of this part
  std::int64_t keys_ = 0;
};

}  // namespace

template <class F>
std::int64_t radius_search(const RadiusWork& work, const PointStore<F>& queries, const F* radii, BaseSource<F>& base,
                           Workspace& workspace, const RadiusSink<F>& sink) {
  RadiusSearch<F> search(work, queries, radii, base, workspace, sink);
  base.for_each_tile(work.base_tile, [&](const BaseTile<F>& tile) { search.search_tile(tile); });
  return search.keys();
}

template std::int64_t radius_search(const RadiusWork&, const PointStore<float>&, const float*, BaseSource<float>&,
                                    Workspace&, const RadiusSink<float>&);
template std::int64_t radius_search(const RadiusWork&, const PointStore<double>&, const double*, BaseSource<double>&,
                                    Workspace&, const RadiusSink<double>&);

}  // namespace kith::KITH_BACKEND::radius
