// brute_task.hpp: the nearest points of a block of queries in a part of the base, by all their distances.
// Idea    tile by tile, scores are computed (direct_scores, register_tiled_scores, byte_scores, bf16_scores or a matrix
//         product) into a scratch tile that stays in cache and filtered into the queries' candidate buffers, whose
//         exact keys decide.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "core/order.hpp"
#include "core/score_bounds.hpp"
#include "cpu/brute/byte_tiles.hpp"
#include "cpu/brute/candidates.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/progress.hpp"
#include "cpu/simd/kernels.hpp"
#include "kith/plan.hpp"

namespace kith::cpu {

// Buffers that a thread keeps from task to task.
template <class F>
struct BruteWorkspace {
  std::vector<F> query_rows;
  std::vector<F> base_rows;
  std::vector<F> panels;
  std::vector<F> scores;
  std::vector<F> bias;
  std::vector<F> limits;
  std::vector<BlockHit> hits;
  std::vector<std::uint32_t> hit_starts;
  std::vector<std::uint32_t> hit_order;
  std::vector<F> candidate_scores;
  std::vector<OffsetOf<F>> candidate_offsets;
  ByteWorkspace bytes;
  std::vector<std::uint32_t> bf16_queries;
  std::vector<std::uint32_t> bf16_panels;
};

// Stands for ByteTiles where points are not bytes.
struct NoByteTiles {
  NoByteTiles(const Metric&, std::int64_t, ByteWorkspace&) {}
};

// Stage, tiles, k and candidates are the plan's.
template <Element T>
class BruteTask {
 public:
  using F = DistanceOf<T>;
  // Takes the neighbors of a query, sorted: k, or as many as the part has points.
  using Emit = std::function<void(std::int64_t query, std::vector<core::Hit<F>> hits)>;

  BruteTask(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
            BruteWorkspace<F>& workspace);

  // Searches `part` for queries first … first + count − 1; calls emit for each. Returns the number of exact keys.
  std::int64_t run(std::int64_t first, std::int64_t count, BasePart part, ProgressMeter& progress, int worker,
                   const Emit& emit);

 private:
  static constexpr bool kBytes = sizeof(T) == 1;
  static constexpr bool kRounds = std::is_same_v<F, float>;  // double has no use of products of bfloat16

  std::int64_t dims() const { return base_.view.cols; }
  void set_queries(std::int64_t first, std::int64_t count);
  const F* tile_norms(std::int64_t first, std::int64_t count);
  void find_tile_norms(BasePart& part) const;
  std::vector<Candidates<T>> make_candidates(std::int64_t first, std::int64_t count);
  Rows<F> tile_rows(std::int64_t first, std::int64_t count);
  void select_from_matrix(SelectionContext<T>& context, std::vector<Candidates<T>>& candidates, std::int64_t first,
                          std::int64_t count);
  void select_from_blocks(SelectionContext<T>& context, std::vector<Candidates<T>>& candidates, std::int64_t first,
                          std::int64_t count);
  std::int64_t score_blocks(std::int64_t first, std::int64_t count, const TiledOutput<F>& out);
  std::int64_t score_bf16_blocks(std::int64_t first, std::int64_t count, const TiledOutput<F>& out);
  void order_hits(std::size_t queries, std::int64_t count);

  const PreparedRows<T>& base_;
  const PreparedRows<T>& queries_;
  const Plan& plan_;
  DistanceStage stage_;
  core::Form form_;
  bool expanded_;
  core::ScoreBounds<F> bounds_;
  BruteWorkspace<F>& workspace_;
  Rows<F> query_rows_{};
  [[no_unique_address]] std::conditional_t<kBytes, ByteTiles<T>, NoByteTiles> bytes_;
};

}  // namespace kith::cpu
