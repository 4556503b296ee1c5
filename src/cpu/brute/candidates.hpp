// candidates.hpp: the candidates of one query while the tiles of the base pass, and its k nearest at the end.
// Idea    scores that may belong to one of the k nearest are appended to a buffer. When it is full, the k-th best score
//         lowers the limit, and candidates provably beyond it are dropped; if too many remain (their scores are too
//         close for the precision), their keys are computed and only the k best survive. So memory is bounded for all
//         data, and no neighbor is lost.
// Ties    base rows come in ascending order, so that later rows lose every tie.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/order.hpp"
#include "core/score_bounds.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith::cpu {

// The part of the base a task works on, in tiles of equal size (the last may be shorter).
struct BasePart {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t tile_rows = 0;
  std::vector<double> tile_square_norms;  // the largest of each tile; empty for scores with a relative error
  std::int64_t max_norm_tile = 0;         // the tile with the largest of them
};

// State shared by the queries of a task.
template <Element T>
struct SelectionContext {
  using F = DistanceOf<T>;

  const PreparedRows<T>& base;
  const PreparedRows<T>& queries;
  const BasePart& part;
  const core::ScoreBounds<F>& bounds;
  std::int64_t k;                  // at most part.count
  std::vector<double> query;       // scratch: the query in double
  std::vector<std::int64_t> ids;   // scratch
  std::vector<double> raw;         // scratch
  std::vector<F> keys;             // scratch
  std::vector<core::Hit<F>> hits;  // scratch
  std::int64_t finalists = 0;      // keys computed so far
};

template <Element T>
class Candidates {
 public:
  using F = DistanceOf<T>;

  // Capacity in elements, kSlack included; at least k + 2 * kSlack.
  Candidates(std::int64_t query, F* scores, OffsetOf<F>* offsets, std::int64_t capacity)
      : query_(query), scores_(scores), offsets_(offsets), capacity_(capacity) {}

  // Must be called before the scores of a tile are added.
  void begin_tile(SelectionContext<T>& context, std::int64_t tile);

  // Scores of the tile above it need not be added.
  F threshold() const { return tile_threshold_; }

  // Adds scores of the tile, from its row `first` on. `bias`, unless null, is added to them first.
  void add_scores(SelectionContext<T>& context, std::int64_t first, const F* scores, const F* bias, std::int64_t count);

  // Returns the k nearest of the part, sorted. Must be the last call.
  std::vector<core::Hit<F>> finish(SelectionContext<T>& context);

 private:
  // The limit is updated once the buffer is this many times as long as after the last update.
  static constexpr std::int64_t kRefreshFactor = 4;

  double tile_error(const SelectionContext<T>& context, std::int64_t tile) const;
  void set_tile_threshold(const SelectionContext<T>& context);
  void shrink(SelectionContext<T>& context);
  void tighten(const SelectionContext<T>& context);
  void drop_beyond_limit(const SelectionContext<T>& context);
  void drop_lost_ties(std::int64_t k);
  void rank_by_keys(SelectionContext<T>& context);
  void lower_limit(const SelectionContext<T>& context, F key);
  void update_threshold(const SelectionContext<T>& context);

  std::int64_t query_;
  F* scores_;
  OffsetOf<F>* offsets_;
  std::int64_t capacity_;
  std::int64_t size_ = 0;
  F key_limit_ = std::numeric_limits<F>::infinity();              // no key of the k nearest is above
  double score_limit_ = std::numeric_limits<double>::infinity();  // the same for true scores
  F exact_limit_ = std::numeric_limits<F>::infinity();            // the k-th score, where scores are exact
  F threshold_ = std::numeric_limits<F>::infinity();              // for computed scores, where E is 0
  std::int64_t tile_first_ = 0;                                   // of the part, where the tile begins
  double tile_error_ = 0;                                         // E in this tile
  F tile_threshold_ = std::numeric_limits<F>::infinity();         // for computed scores of this tile
  std::int64_t refresh_at_ = 0;                                   // size from which the next tile starts by tightening
  std::vector<core::Hit<F>> hits_;                                // settled ones: keys known, sorted, at most k
};

}  // namespace kith::cpu
