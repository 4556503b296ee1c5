// brute_search.hpp: the k nearest of every query by distances to all points, exact.
//
// Data flow, for each tile of the base and each tile of the queries:
//   scores (a distance stage) → the best of them (a selection method) → their exact keys → joined with what the queries
//   have so far → the k best by (key, id).
// Scores only choose who gets a key. When the base has passed, each query's certificate is looked at: the least score
// that was left out must prove a key above its k-th. Queries that have none take the next pass of the ladder: scores
// that are more exact, and at last keys for all points, which need no proof; a few go there at once. Rungs of products
// are tried on some queries before all are sent up: where points lie closer together than products can tell, most would
// fail.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cuda/points/base_source.hpp"
#include "cuda/runtime/workspace.hpp"

namespace kith::KITH_BACKEND::brute {

// `half` is gemm of points rounded to half; `fused` and `fused_fp16` are register_tiled and half without a matrix of
// scores; `keys` needs no proof.
enum class DistanceStage { direct, tiled, register_tiled, gemm, fp16, fused, fused_fp16, exact };

constexpr bool uses_fp16(DistanceStage stage) {
  return stage == DistanceStage::fp16 || stage == DistanceStage::fused_fp16;
}

// One pass: how distances are found.
struct Pass {
  DistanceStage stage = DistanceStage::exact;
  bool expanded = false;  // squares from products
};

// What an index learns from its searches: the passes that most queries failed, which later searches leave out. They
// find the same without them. Thread-safe.
class PassHistory {
 public:
  bool has_failed(const Pass& pass) const { return (failed_.load(std::memory_order_relaxed) & bit(pass)) != 0; }
  void note_failed(const Pass& pass) { failed_.fetch_or(bit(pass), std::memory_order_relaxed); }

 private:
  static unsigned bit(const Pass& pass) {
    return 1U << (2 * static_cast<unsigned>(pass.stage) + (pass.expanded ? 1 : 0));
  }

  std::atomic<unsigned> failed_{0};
};

struct BruteWork {
  Metric metric;
  std::int64_t k = 1;
  std::int64_t candidates = 1;  // that get a key, in each tile of the base
  std::string select = "auto";
  std::vector<Pass> passes;  // the last one is `keys`
  std::int64_t query_tile = 1;
  std::int64_t base_tile = 1;                          // at most what the source hands out
  std::int64_t overlap_pairs = std::int64_t{1} << 26;  // tiles of fewer do not overlap
  double integer_range = 0;                            // as core::ScoreBounds has it
  bool tries = true;                                   // passes on some queries first; for long searches only
  bool remembers = true;                               // leaves out the passes that the history has
  PassHistory* history = nullptr;                      // of the index
};

// What was done on a pass, if only on trial; one for each pass, nothing for those that were left out.
struct PassReport {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};

// Everything is enqueued on the workspace's stream, or, for large tiles, on two others between two points of it; after
// each pass but the last the host waits to learn who failed. `between` is called between tiles. Keys and ids (32 bits)
// of the neighbors go to queries.count() × k places each.
template <class F>
std::vector<PassReport> brute_search(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, F* keys,
                                     unsigned* ids, Workspace& workspace, const std::function<void()>& on_tile_done);

// Whether most of these queries pass the first pass, against the first tile of the base. That they do not, the base's
// memory notes.
template <class F>
bool first_pass_suffices(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base,
                         Workspace& workspace);

}  // namespace kith::KITH_BACKEND::brute
