// brute_search.hpp: the k nearest of every query by distances to all points, exact.
// Idea    for each tile of the base and each tile of the queries: scores (a distance stage) → the best of them (a
//         selection method) → their exact keys → joined with the lists of the queries → the k best by (key, id).
//         Scores only decide which points get a key. After the last tile each query needs a certificate: the least
//         score that was left out must prove a key above its k-th. Queries without one take the next pass of the
//         fallback chain: scores that are more exact, and at last exact keys of all points, which need no proof. Passes
//         by products are tried on a sample of the queries first: where points lie closer together than products can
//         tell, most would fail.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "cuda/points/base_source.hpp"
#include "cuda/runtime/workspace.hpp"
#include "kith/plan.hpp"

namespace kith::KITH_BACKEND::brute {

using Pass = Plan::Pass;

// The passes that most queries of an index failed, which later searches skip, and those that most of many queries
// passed, which later searches need not try. That changes their speed and not their answers. Thread-safe.
class PassHistory {
 public:
  bool has_failed(const Pass& pass) const { return (failed_.load(std::memory_order_relaxed) & bit(pass)) != 0; }
  void note_failed(const Pass& pass) { failed_.fetch_or(bit(pass), std::memory_order_relaxed); }
  bool has_sufficed(const Pass& pass) const { return (sufficed_.load(std::memory_order_relaxed) & bit(pass)) != 0; }
  void note_sufficed(const Pass& pass) { sufficed_.fetch_or(bit(pass), std::memory_order_relaxed); }

  // Of searches that are too small to judge a pass by one of them: how many queries the first pass had, and failed.
  void note_few(std::int64_t queries, std::int64_t failed) {
    few_.fetch_add(queries, std::memory_order_relaxed);
    few_failed_.fetch_add(failed, std::memory_order_relaxed);
  }
  bool few_have_failed() const {
    constexpr std::int64_t kLeast = 4;
    const std::int64_t queries = few_.load(std::memory_order_relaxed);
    return queries >= kLeast && 2 * few_failed_.load(std::memory_order_relaxed) > queries;
  }

 private:
  static std::uint64_t bit(const Pass& pass) {
    const unsigned form = (pass.expanded ? 4 : 0) + (pass.fused ? 2 : 0) + (pass.bounded ? 1 : 0);
    return std::uint64_t{1} << (8 * static_cast<unsigned>(pass.distance) % 64 + form);
  }

  std::atomic<std::uint64_t> failed_{0};
  std::atomic<std::uint64_t> sufficed_{0};
  std::atomic<std::int64_t> few_{0};
  std::atomic<std::int64_t> few_failed_{0};
};

struct BruteWork {
  Metric metric;
  std::int64_t k = 1;
  std::int64_t candidates = 1;  // points that get a key, in each tile of the base
  SelectMethod select = SelectMethod::automatic;
  std::vector<Pass> passes;  // the fallback chain; the last is `exact`
  std::int64_t query_tile = 1;
  std::int64_t base_tile = 1;      // at most what the source hands out
  std::int64_t overlap_pairs = 0;  // tiles of fewer do not overlap
  double integer_range = 0;        // of core::ScoreBounds
  bool tries = true;               // passes on a sample of the queries first; for long searches only
  bool remembers = true;           // skips the passes that the history has
  // On the device, a bit for each point: those without one are infinitely far away to passes by fp16, but to those that
  // have neither a bias nor the kernels for tensor cores of Hopper. Null without.
  const unsigned* wanted = nullptr;
  PassHistory* history = nullptr;  // of the index
};

// The work of a pass, a trial included; zeros for a pass that was skipped.
struct PassReport {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};

// Whether the pass takes BruteWork::wanted; others may find any point.
bool takes_wanted(const Pass& pass, std::int64_t dims);

// Whether scores of the pass are judged by the queries' squared norms: rounded points have norms of their own.
bool needs_norms(const Pass& pass, const Metric& metric);

// `queries` have norms if the first pass needs them; passes that follow make their own where these have none.
// Enqueues everything on the workspace's stream, or, for large tiles, on two others that join it again; after each pass
// but the last the host waits for the number of failures. Calls on_tile_done after each tile. Writes queries.count() ×
// k keys and ids (32 bits). Calls on_lists_enqueued when the first pass has all lists, before the host waits, so that
// the device need not; and once more at the end where other passes changed some.
template <class F>
std::vector<PassReport> brute_search(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base, F* keys,
                                     unsigned* ids, Workspace& workspace, const std::function<void()>& on_tile_done,
                                     const std::function<void()>& on_lists_enqueued);

// Whether most of these queries get a certificate from the first pass over the first tile of the base; notes in the
// history where they do not.
template <class F>
bool first_pass_suffices(const BruteWork& work, const PointStore<F>& queries, BaseSource<F>& base,
                         Workspace& workspace);

}  // namespace kith::KITH_BACKEND::brute
