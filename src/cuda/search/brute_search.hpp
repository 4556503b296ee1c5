// brute_search.hpp: the k nearest of every query by distances to all points, exact.
//
// Data flow, for each tile of the base and each tile of the queries:
//   scores (a distance stage) → the best of them (a selection method) → their exact keys → joined with what the queries
//   have so far → the k best by (key, id).
// Scores only choose who gets a key. When the base has passed, each query's certificate is looked at: the least score
// that was left out must prove a key above its k-th. Queries that have none take the next rung of the ladder: scores
// that are more exact, and at last keys for all points, which need no proof; a few go there at once. Rungs of products
// are tried on some queries before all are sent up: where points lie closer together than products can tell, most would
// fail.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cuda/search/half_store.hpp"
#include "cuda/search/point_store.hpp"

namespace kith::KITH_BACKEND {

// `half` is gemm of points rounded to half; `fused` and `fused_half` are register_tiled and half without a matrix of
// scores; `keys` needs no proof.
enum class DistanceStage { direct, tiled, register_tiled, gemm, half, fused, fused_half, keys };

constexpr bool uses_halfs(DistanceStage stage) {
  return stage == DistanceStage::half || stage == DistanceStage::fused_half;
}

// One rung: how distances are found.
struct Rung {
  DistanceStage stage = DistanceStage::keys;
  bool expanded = false;  // squares from products
};

struct BruteWork {
  Metric metric;
  std::int64_t k = 1;
  std::int64_t candidates = 1;  // that get a key, in each tile of the base
  std::string select = "auto";
  std::vector<Rung> rungs;  // the last one is `keys`
  std::int64_t query_tile = 1;
  std::int64_t base_tile = 1;                       // at most what the source hands out
  std::int64_t lane_pairs = std::int64_t{1} << 26;  // tiles of fewer do not overlap
  double span = 0;                                  // as core::ScoreBounds has it
  bool tries = true;                                // rungs on some queries first; for long searches only
  bool remembers = true;                            // which rungs queries failed before
};

// What an index learns from its searches: the rungs that most queries failed, which later searches leave out. They find
// the same without them. Thread-safe.
class RungMemory {
 public:
  bool has_failed(const Rung& rung) const { return (failed_.load(std::memory_order_relaxed) & bit(rung)) != 0; }
  void note_failed(const Rung& rung) { failed_.fetch_or(bit(rung), std::memory_order_relaxed); }

 private:
  static unsigned bit(const Rung& rung) {
    return 1U << (2 * static_cast<unsigned>(rung.stage) + (rung.expanded ? 1 : 0));
  }

  std::atomic<unsigned> failed_{0};
};

// A part of the base on the device, valid until the next is asked for.
template <class F>
struct BaseTile {
  const PointStore<F>* store = nullptr;
  std::int64_t first = 0;  // in the store
  std::int64_t count = 0;
  std::int64_t first_id = 0;
  const HalfStore* halfs = nullptr;  // of the store's points, once somebody asked for their frame
};

// Hands out the base in tiles of at most so many points, one after the other, in the order of their ids.
template <class F>
class BaseSource {
 public:
  virtual ~BaseSource() = default;
  // As PointStore has it, of all points once they have passed.
  virtual const unsigned long long* longest() const = 0;
  virtual void for_each_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) = 0;
  // The first of these tiles only.
  virtual void for_first_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) = 0;
  // From now on tiles have halfs, in this frame, which is there when this returns; float only.
  virtual const HalfFrame& half_frame() = 0;
  // As HalfStore has it, of all points once they have passed; null where nobody asked for a frame.
  virtual const HalfLongest* longest_halfs() const = 0;
  virtual RungMemory& memory() = 0;
};

// What was done on a rung, if only on trial; one for each rung, nothing for those that were left out.
struct RungReport {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};

// Everything is enqueued on the workspace's stream, or, for large tiles, on two others between two points of it; after
// each rung but the last the host waits to learn who failed. `between` is called between tiles. Keys and ids (32 bits)
// of the neighbours go to queries.count() × k places each.
template <class F>
std::vector<RungReport> brute_search(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, F* keys,
                                     unsigned* ids, Workspace& workspace, const std::function<void()>& between);

// Whether most of these queries pass the first rung, against the first tile of the base. That they do not, the base's
// memory notes.
template <class F>
bool first_rung_holds(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, Workspace& workspace);

}  // namespace kith::KITH_BACKEND
