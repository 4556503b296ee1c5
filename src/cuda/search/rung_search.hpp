// rung_search.hpp: all queries of a rung against tiles of the base, one after the other or in turns on two streams.
// A tile gives each query candidates by their scores, with the least score that was left out, which a certificate needs
// later; candidates get keys, and keys join the query's list.
#pragma once

#include <algorithm>
#include <optional>

#include "cuda/search/brute_search.hpp"
#include "cuda/search/candidates.hpp"
#include "cuda/search/fused_candidates.hpp"
#include "cuda/search/two_lanes.hpp"
#include "cuda/select/select.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {

template <class F>
void compute_scores(DistanceStage stage, const ScoreCall<F>& call) {
  switch (stage) {
    case DistanceStage::direct: return direct_scores(call);
    case DistanceStage::tiled: return tiled_scores(call);
    case DistanceStage::register_tiled: return register_tiled_scores(call);
    case DistanceStage::gemm: return gemm_scores(call);
    case DistanceStage::half:
    case DistanceStage::fused:
    case DistanceStage::fused_half:
    case DistanceStage::keys: break;
  }
  throw Error(ErrorCode::internal, "a stage without a matrix of scores in working precision");
}

// The queries of one rung and what they have found.
template <class F>
struct Ladder {
  const PointStore<F>& queries;
  RunningLists<F> lists;
  F* left_out;
  const HalfStore* halfs;  // of the queries; null but for half
};

template <class F>
class RungSearch {
 public:
  // Tiles that are worth it take turns on `lanes`, which are made for the first of them.
  RungSearch(const BruteWork& work, const Rung& rung, const Ladder<F>& ladder, Workspace& workspace,
             std::optional<TwoLanes>& lanes)
      : work_(work),
        rung_(rung),
        ladder_(ladder),
        workspace_(&workspace),
        lanes_(lanes),
        query_tile_(work.query_tile) {}

  // All queries against one tile of the base.
  void take(const BaseTile<F>& base, const std::function<void()>& between) {
    if (ladder_.queries.count() <= query_tile_ || query_tile_ * base.count < work_.lane_pairs) {
      if (lanes_) lanes_->clear();  // the budget is for both
      take_tiles(base, between);
    } else {
      take_turns(base, between);
    }
    ladder_.lists.count = joined(width_of(base));
  }

  std::int64_t keys() const { return keys_; }

 private:
  struct Best {
    F* values;
    std::int64_t* places;
  };

  static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

  void take_turns(const BaseTile<F>& base, const std::function<void()>& between) {
    Workspace& own = *workspace_;
    if (!lanes_) lanes_.emplace(own.budget());
    own.clear();
    lanes_->follow(own.stream());
    workspace_ = &lanes_->next();
    try {
      take_tiles(base, [&] {
        lanes_->tile_is_enqueued();
        between();
        workspace_ = &lanes_->next();
      });
    } catch (...) {
      lanes_->wait();  // what they write to may be gone once this is left
      workspace_ = &own;
      throw;
    }
    lanes_->lead(own.stream());
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

  bool exact() const { return rung_.stage == DistanceStage::keys; }
  std::int64_t width_of(const BaseTile<F>& base) const {
    return std::min(exact() ? work_.k : work_.candidates, base.count);
  }
  std::int64_t joined(std::int64_t width) const { return std::min(work_.k, ladder_.lists.count + width); }

  Best select(const Rows<F>& rows, std::int64_t k) {
    Best best{workspace_->take<F>(size(rows.rows * k)), workspace_->take<std::int64_t>(size(rows.rows * k))};
    const Output<F> output{best.values, best.places, static_cast<unsigned>(k), TopkOutput::sorted, rows};
    select_rows(SelectCall<F>{rows, output, tuning_, *workspace_}, work_.select);
    return best;
  }

  // Queries first … first + count − 1 against the tile; their lists are touched last of all.
  void take_tile(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    const KeyCall<F> keys{ladder_.queries.exact(first, count), base.store->exact(base.first, base.count),
                          base.store->dims(), work_.metric, workspace_->stream()};
    TileCandidates<F> candidates;
    candidates.count = width;
    candidates.first_id = static_cast<unsigned>(base.first_id);
    if (exact()) {
      F* matrix = workspace_->take<F>(size(count * stride_of(base)));
      all_keys(keys, matrix, stride_of(base));
      const Best best = select(rows_of(matrix, count, base.count, stride_of(base)), width);
      if (ladder_.lists.count == 0 && base.first_id == 0) {  // they are the lists
        keys_ += count * base.count;
        return keep(best, first, count, width);
      }
      candidates.keys = best.values;
      candidates.places = best.places;
      keys_ += count * base.count;
    } else {
      const Best best =
          uses_halfs(rung_.stage) ? best_half_scores(base, first, count) : best_scores(base, first, count);
      if (width < base.count) note_left_out(best.values, width, count, ladder_.left_out + first, workspace_->stream());
      unsigned* places = workspace_->take<unsigned>(size(count * width));
      F* found = workspace_->take<F>(size(count * width));
      narrow_places(best.places, count * width, places, workspace_->stream());
      candidate_keys(keys, places, width, found);
      candidates.keys = found;
      candidates.places = best.places;
      keys_ += count * width;
    }
    join(candidates, first, count);
  }

  static Rows<F> rows_of(const F* matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    Rows<F> all;
    all.values = matrix;
    all.rows = rows;
    all.length = static_cast<unsigned>(columns);
    all.stride = stride;
    return all;
  }

  // From one row of scores to the next.
  static std::int64_t stride_of(const BaseTile<F>& base) { return ceil_div(base.count, kRowAlignment) * kRowAlignment; }

  // As many as get a key: from a matrix of scores, or from those that pass a limit.
  Best best_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    const std::int64_t width = width_of(base);
    ScoreCall<F> call{ladder_.queries.working(first, count),
                      base.store->working(base.first, base.count),
                      base.store->dims(),
                      core::form_of(work_.metric),
                      work_.metric.p,
                      rung_.expanded ? base.store->addends(base.first) : nullptr,
                      nullptr,
                      stride_of(base),
                      *workspace_};
    if (rung_.stage == DistanceStage::fused) {
      const FusedBest<F> best = fused_candidates(call, {width, work_.select}, ladder_.left_out + first);
      return {best.scores, best.places};
    }
    call.scores = workspace_->take<F>(size(count * stride_of(base)));
    compute_scores(rung_.stage, call);
    return select(rows_of(call.scores, count, base.count, stride_of(base)), width);
  }

  // The same for points rounded to half.
  Best best_half_scores(const BaseTile<F>& base, std::int64_t first, std::int64_t count) {
    if constexpr (std::is_same_v<F, float>) {
      const std::int64_t width = width_of(base);
      HalfScoreCall call{ladder_.halfs->rows(first, count),
                         base.halfs->rows(base.first, base.count),
                         base.halfs->addends(base.first),
                         nullptr,
                         stride_of(base),
                         *workspace_};
      if (rung_.stage == DistanceStage::fused_half) {
        const FusedBest<F> best = fused_candidates(call, {width, work_.select}, ladder_.left_out + first);
        return {best.scores, best.places};
      }
      call.scores = workspace_->take<F>(size(count * stride_of(base)));
      half_gemm_scores(call);
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
    F* keys = workspace_->take<F>(size(count * width));
    unsigned* ids = workspace_->take<unsigned>(size(count * width));
    join_lists(lists, candidates, count, keys, ids, workspace_->stream());
    Rows<F> rows = rows_of(keys, count, width, width);
    rows.ids = ids;
    rows.id_stride = width;
    const std::int64_t kept = joined(candidates.count);
    keep(select(rows, kept), first, count, kept);
  }

  const BruteWork& work_;
  Rung rung_;
  Ladder<F> ladder_;
  Workspace* workspace_;  // of the tile at hand
  std::optional<TwoLanes>& lanes_;
  SelectTuning tuning_;
  std::int64_t query_tile_;
  std::int64_t keys_ = 0;
};

}  // namespace kith::KITH_BACKEND
