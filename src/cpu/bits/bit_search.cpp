// bit_search.cpp: the k nearest.
// Idea    Keys that are below a query's limit are collected with their rows, in one integer whose order is the order of
//         neighbors; when the collection is full, the k least stay and the last of them is the new limit. Rows ascend,
//         so that a later one loses every tie. What a part of the base has found limits the others.
#include "cpu/bits/bit_search.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "core/max_distance.hpp"
#include "core/order.hpp"
#include "cpu/bits/bit_scan.hpp"
#include "cpu/parallel.hpp"
#include "cpu/sort_hits.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

using BitHits = std::vector<core::Hit<float>>;

// Keys are not negative, so that their bits are in their order.
std::uint64_t packed(float key, std::int64_t offset) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(key)} << 32 | static_cast<std::uint64_t>(offset);
}
float packed_key(std::uint64_t packed) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(packed >> 32));
}

// For each query a distance that none of its k nearest exceeds, so far.
class SharedBitLimits {
 public:
  SharedBitLimits(std::int64_t queries, float largest) : limits_(static_cast<std::size_t>(queries)) {
    for (auto& limit : limits_) limit = largest;
  }
  float of(std::int64_t query) const {
    return limits_[static_cast<std::size_t>(query)].load(std::memory_order_relaxed);
  }
  void lower(std::int64_t query, float key) {
    auto& limit = limits_[static_cast<std::size_t>(query)];
    float now = limit.load(std::memory_order_relaxed);
    while (key < now && !limit.compare_exchange_weak(now, key, std::memory_order_relaxed)) {
    }
  }

 private:
  std::vector<std::atomic<float>> limits_;
};

// The state of the queries of a task.
struct BitNearestWorkspace {
  BitWorkspace scan;
  std::vector<std::uint64_t> kept;  // plan.candidates for each query
  std::vector<std::int64_t> sizes;
  std::vector<float> below;  // keys that may be neighbors
};

class BitNearestTask {
 public:
  BitNearestTask(const BitsView& base, const BitsView& queries, const BitPlan& plan, SharedBitLimits& limits,
                 BitNearestWorkspace& workspace)
      : plan_(plan), limits_(limits), work_(workspace), scan_(base, queries, plan.metric, workspace.scan) {}

  // Calls found(query, hits) for each of the queries; returns the pairs that got a key.
  template <class Found>
  std::int64_t run(std::int64_t first_query, std::int64_t count, std::int64_t first, std::int64_t last,
                   ProgressMeter& progress, int worker, Found found) {
    begin(first_query, count, first, last);
    std::int64_t pairs = 0;
    scan_.run(first, last, plan_.base_tile, progress, worker, [&](std::int64_t query, std::int64_t row, float key) {
      ++pairs;
      if (plan_.self && row == first_query_ + query) return;
      if (key < work_.below[static_cast<std::size_t>(query)]) keep(query, packed(key, row - first_));
    });
    for (std::int64_t q = 0; q < count; ++q) found(first_query + q, finish(q));
    return pairs;
  }

 private:
  void begin(std::int64_t first_query, std::int64_t count, std::int64_t first, std::int64_t last) {
    const auto size = static_cast<std::size_t>(count);
    first_query_ = first_query;
    first_ = first;
    // A part that has no more rows than that keeps them all.
    thins_out_ = plan_.candidates < last - first;
    work_.kept.resize(size * static_cast<std::size_t>(plan_.candidates));
    work_.sizes.assign(size, 0);
    work_.below.resize(size);
    scan_.begin(first_query, count);
    for (std::int64_t q = 0; q < count; ++q) set_limit(q, core::next_above(limits_.of(first_query + q)));
  }

  void set_limit(std::int64_t query, float below) {
    work_.below[static_cast<std::size_t>(query)] = below;
    scan_.set_limit(query, below);
  }

  std::uint64_t* kept_of(std::int64_t query) { return work_.kept.data() + query * plan_.candidates; }

  void keep(std::int64_t query, std::uint64_t packed) {
    std::int64_t& size = work_.sizes[static_cast<std::size_t>(query)];
    kept_of(query)[size++] = packed;
    if (size < plan_.candidates || !thins_out_) return;
    std::uint64_t* const kept = kept_of(query);
    std::nth_element(kept, kept + plan_.k - 1, kept + size);
    size = plan_.k;
    const float last = packed_key(kept[plan_.k - 1]);
    limits_.lower(first_query_ + query, last);
    set_limit(query, std::min(last, core::next_above(limits_.of(first_query_ + query))));
  }

  // The nearest of the part, sorted, at most k.
  BitHits finish(std::int64_t query) {
    std::uint64_t* const kept = kept_of(query);
    std::int64_t size = work_.sizes[static_cast<std::size_t>(query)];
    if (size >= plan_.k) {
      std::nth_element(kept, kept + plan_.k - 1, kept + size);
      size = plan_.k;
      limits_.lower(first_query_ + query, packed_key(kept[plan_.k - 1]));
    }
    BitHits hits;
    hits.reserve(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i)
      hits.push_back({packed_key(kept[i]), first_ + static_cast<std::int64_t>(kept[i] & 0xFFFFFFFFU)});
    sort_hits(hits);
    return hits;
  }

  const BitPlan& plan_;
  SharedBitLimits& limits_;
  BitNearestWorkspace& work_;
  BitScan scan_;
  std::int64_t first_query_ = 0;
  std::int64_t first_ = 0;
  bool thins_out_ = false;
};

// At most k hits, and marked places behind them.
void write_bit_row(const BitHits& hits, std::int64_t k, std::int64_t* ids, float* distances) {
  const auto size = std::min(k, static_cast<std::int64_t>(hits.size()));
  for (std::int64_t i = 0; i < k; ++i) {
    const bool found = i < size;
    ids[i] = found ? hits[static_cast<std::size_t>(i)].id : core::kNoNeighbor;
    distances[i] = found ? hits[static_cast<std::size_t>(i)].key : std::numeric_limits<float>::infinity();
  }
}

void merge_bit_parts(BitHits* parts, std::int64_t splits, std::int64_t k, std::int64_t* ids, float* distances) {
  BitHits all = std::move(parts[0]);
  for (std::int64_t split = 1; split < splits; ++split) all.insert(all.end(), parts[split].begin(), parts[split].end());
  sort_hits(all);
  write_bit_row(all, k, ids, distances);
}

}  // namespace

std::int64_t bit_search(const BitsView& base, const backend::BitQueries& queries, const BitPlan& plan,
                        const NeighborsView<float>& out) {
  const std::int64_t query_count = queries.rows.rows;
  const std::int64_t splits = plan.base_splits;
  const std::int64_t blocks = (query_count + plan.query_block - 1) / plan.query_block;
  const std::int64_t part_rows = (base.rows + splits - 1) / splits;
  std::vector<BitHits> partial(splits > 1 ? static_cast<std::size_t>(splits * query_count) : 0);
  std::vector<BitNearestWorkspace> workspaces(static_cast<std::size_t>(plan.threads));
  SharedBitLimits limits(query_count, core::largest_within<float>(plan.max_distance));
  ProgressMeter progress(queries.progress, query_count * base.rows);
  std::atomic<std::int64_t> pairs{0};

  parallel_for(plan.threads, blocks * splits, [&](std::int64_t index, int worker) {
    const std::int64_t split = index / blocks;
    const std::int64_t first_query = index % blocks * plan.query_block;
    const std::int64_t first = split * part_rows;
    const std::int64_t last = std::min(first + part_rows, base.rows);
    if (first >= last) return;
    BitNearestTask task(base, queries.rows, plan, limits, workspaces[static_cast<std::size_t>(worker)]);
    pairs += task.run(first_query, std::min(plan.query_block, query_count - first_query), first, last, progress, worker,
                      [&](std::int64_t query, BitHits hits) {
                        if (splits == 1)
                          return write_bit_row(hits, plan.k, out.ids + query * plan.k, out.distances + query * plan.k);
                        partial[static_cast<std::size_t>(query * splits + split)] = std::move(hits);
                      });
  });
  if (splits > 1) {
    constexpr double kHitSeconds = 3e-8;
    const auto most = static_cast<double>(query_count * std::min(splits * plan.k, base.rows));
    parallel_for(plan::threads_worth(most * kHitSeconds, plan.threads), query_count, [&](std::int64_t query, int) {
      merge_bit_parts(partial.data() + query * splits, splits, plan.k, out.ids + query * plan.k,
                      out.distances + query * plan.k);
    });
  }
  progress.finish();
  return pairs;
}

}  // namespace kith::cpu
