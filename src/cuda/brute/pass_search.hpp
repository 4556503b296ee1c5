// pass_search.hpp: all queries of a pass against tiles of the base, one after the other or in turns on two streams.
// A tile gives each query candidates by their scores, with the least score that was left out, which a certificate needs
// later; candidates get keys, and keys join the query's list.
#pragma once

#include <algorithm>
#include <optional>

#include "cuda/brute/brute_search.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/brute/fused_candidates.hpp"
#include "cuda/distance/exact_keys.hpp"
#include "cuda/primitives/move_rows.hpp"
#include "cuda/runtime/stream_pair.hpp"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::brute {

template <class F>
void compute_scores(DistanceStage stage, const distance::ScoreCall<F>& call) {
  switch (stage) {
    case DistanceStage::direct: return distance::direct_scores(call);
    case DistanceStage::tiled: return distance::tiled_scores(call);
    case DistanceStage::register_tiled: return distance::register_tiled_scores(call);
    case DistanceStage::gemm: return distance::gemm_scores(call);
    case DistanceStage::fp16:
    case DistanceStage::fused:
    case DistanceStage::fused_fp16:
    case DistanceStage::exact: break;
  }
  throw Error(ErrorCode::internal, "a stage without a matrix of scores in working precision");
}

// The queries of one pass and what they have found.
template <class F>
struct PassState {
  const PointStore<F>& queries;
  RunningLists<F> lists;
  F* left_out;
  const Fp16Store* fp16;  // of the queries; null but for half
};

template <class F>
class PassSearch {
 public:
  // Tiles that are worth it take turns on `lanes`, which are made for the first of them.
  PassSearch(const BruteWork& work, const Pass& pass, const PassState<F>& ladder, Workspace& workspace,
             std::optional<StreamPair>& lanes)
      : work_(work),
        rung_(pass),
        ladder_(ladder),
        workspace_(&workspace),
        streams_(lanes),
        query_tile_(work.query_tile) {}

  // All queries against one tile of the base.
  void take(const BaseTile<F>& base, const std::function<void()>& on_tile_done) {
    if (ladder_.queries.count() <= query_tile_ || query_tile_ * base.count < work_.overlap_pairs) {
      if (streams_) streams_->clear();  // the budget is for both
      take_tiles(base, on_tile_done);
    } else {
      take_turns(base, on_tile_done);
    }
    ladder_.lists.count = joined(width_of(base));
  }

  std::int64_t keys() const { return keys_; }

 private:
  struct Best {
    F* values;
    std::int64_t* places;
  };

  void take_turns(const BaseTile<F>& base, const std::function<void()>& on_tile_done) {
    Workspace& own = *workspace_;
    if (!streams_) streams_.emplace(own.budget());
    own.clear();
    streams_->start_after(own.stream());
    workspace_ = &streams_->next();
    try {
      take_tiles(base, [&] {
        streams_->tile_is_enqueued();
        on_tile_done();
        workspace_ = &streams_->next();
      });
    } catch (...) {
      streams_->wait();  // what they write to may be gone once this is left
      workspace_ = &own;
      throw;
    }
    streams_->finish_before(own.stream());
    workspace_ = &own;
  }

  // tile_done() follows each.
  void take_tiles(const BaseTile<F>& base, const std::function<void()>& tile_done) {
    for (std::int64_t first = 0; first < ladder_.queries.count();) {
      const std::int64_t count = std::min(query_tile_, ladder_.queries.count() - first);
      workspace_->reset();
      try {
        take_tile(base, first, count);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || count == 1) throw;
        query_tile_ = count / 2;
        workspace_->clear();
        continue;
      }
      first += count;
      tile_done();
    }
  }

  bool exact() const { return rung_.stage == DistanceStage::exact; }
  std::int64_t width_of(const BaseTile<F>& base) const {
    return std::min(exact() ? work_.k : work_.candidates, base.count);
  }
  std::int64_t joined(std::int64_t width) const { return std::min(work_.k, ladder_.lists.count + width); }

  Best select(const select::Rows<F>& rows, std::int64_t k) {
    Best best{workspace_->allocate<F>(as_size(rows.rows * k)),
              workspace_->allocate<std::int64_t>(as_size(rows.rows * k))};
    const select::Output<F> output{best.values, best.places, static_cast<unsigned>(k), TopkOutput::sorted, rows};
    select::select_rows(select::SelectCall<F>{rows, output, tuning_, *workspace_}, work_.select);
    return best;
  }

  // Queries first … first + count − 1 against the tile; their lists are touched last of all.
  void take_tile(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    const distance::KeyCall<F> keys{ladder_.queries.exact(first, count), base.store->exact(base.first, base.count),
                                    base.store->dims(), work_.metric, workspace_->stream()};
    TileCandidates<F> candidates;
    candidates.count = width;
    candidates.first_id = static_cast<unsigned>(base.first_id);
    if (exact()) {
      F* matrix = workspace_->allocate<F>(as_size(count * stride_of(base)));
      distance::all_keys(keys, matrix, stride_of(base));
      const Best best = select(rows_of(matrix, count, base.count, stride_of(base)), width);
      if (ladder_.lists.count == 0 && base.first_id == 0) {  // they are the lists
        keys_ += count * base.count;
        return keep(best, first, count, width);
      }
      candidates.keys = best.values;
      candidates.places = best.places;
      keys_ += count * base.count;
    } else {
      const Best best = uses_fp16(rung_.stage) ? best_fp16_scores(base, first, count) : best_scores(base, first, count);
      if (width < base.count) note_left_out(best.values, width, count, ladder_.left_out + first, workspace_->stream());
      unsigned* places = workspace_->allocate<unsigned>(as_size(count * width));
      F* found = workspace_->allocate<F>(as_size(count * width));
      narrow_ids(best.places, count * width, places, workspace_->stream());
      distance::candidate_keys(keys, places, width, found);
      candidates.keys = found;
      candidates.places = best.places;
      keys_ += count * width;
    }
    join(candidates, first, count);
  }

  static select::Rows<F> rows_of(const F* matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    select::Rows<F> all;
    all.values = matrix;
    all.rows = rows;
    all.length = static_cast<unsigned>(columns);
    all.stride = stride;
    return all;
  }

  // From one row of scores to the next.
  static std::int64_t stride_of(const BaseTile<F>& base) {
    return ceil_div(base.count, distance::kRowAlignment) * distance::kRowAlignment;
  }

  // As many as get a key: from a matrix of scores, or from those that pass a limit.
  Best best_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    distance::ScoreCall<F> call{ladder_.queries.working(first, count),
                                base.store->working(base.first, base.count),
                                base.store->dims(),
                                core::form_of(work_.metric),
                                work_.metric.p,
                                rung_.expanded ? base.store->bias(base.first) : nullptr,
                                nullptr,
                                stride_of(base),
                                *workspace_};
    if (rung_.stage == DistanceStage::fused) {
      const FusedBest<F> best = fused_candidates(call, {width, work_.select}, ladder_.left_out + first);
      return {best.scores, best.places};
    }
    call.scores = workspace_->allocate<F>(as_size(count * stride_of(base)));
    compute_scores(rung_.stage, call);
    return select(rows_of(call.scores, count, base.count, stride_of(base)), width);
  }

  // The same for points rounded to half.
  Best best_fp16_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    if constexpr (std::is_same_v<F, float>) {
      const std::int64_t width = width_of(base);
      distance::Fp16ScoreCall call{ladder_.fp16->rows(first, count),
                                   base.fp16->rows(base.first, base.count),
                                   base.fp16->bias(base.first),
                                   nullptr,
                                   stride_of(base),
                                   *workspace_};
      if (rung_.stage == DistanceStage::fused_fp16) {
        const FusedBest<F> best = fused_candidates(call, {width, work_.select}, ladder_.left_out + first);
        return {best.scores, best.places};
      }
      call.scores = workspace_->allocate<F>(as_size(count * stride_of(base)));
      distance::fp16_gemm_scores(call);
      return select(rows_of(call.scores, count, base.count, stride_of(base)), width);
    } else {
      throw Error(ErrorCode::internal, "doubles are not rounded to half");
    }
  }

  RunningLists<F> lists_from(std::int64_t first) const {
    RunningLists<F> lists = ladder_.lists;
    lists.keys += first * lists.k;
    lists.ids += first * lists.k;
    return lists;
  }

  void keep(const Best& best, std::int64_t first, std::int64_t count, std::int64_t width) {
    RunningLists<F> lists = lists_from(first);
    lists.count = width;
    keep_lists(best.values, best.places, count, lists, workspace_->stream());
  }

  void join(const TileCandidates<F>& candidates, std::int64_t first, std::int64_t count) {
    const RunningLists<F> lists = lists_from(first);
    const std::int64_t width = lists.count + candidates.count;
    F* keys = workspace_->allocate<F>(as_size(count * width));
    unsigned* ids = workspace_->allocate<unsigned>(as_size(count * width));
    join_lists(lists, candidates, count, keys, ids, workspace_->stream());
    select::Rows<F> rows = rows_of(keys, count, width, width);
    rows.ids = ids;
    rows.id_stride = width;
    const std::int64_t kept = joined(candidates.count);
    keep(select(rows, kept), first, count, kept);
  }

  const BruteWork& work_;
  Pass rung_;
  PassState<F> ladder_;
  Workspace* workspace_;  // of the tile at hand
  std::optional<StreamPair>& streams_;
  SelectTuning tuning_;
  std::int64_t query_tile_;
  std::int64_t keys_ = 0;
};

}  // namespace kith::KITH_BACKEND::brute
