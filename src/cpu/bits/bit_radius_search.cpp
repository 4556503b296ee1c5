// bit_radius_search.cpp: all rows within a radius; the limits stay, and hits of a query are sorted at the end.
#include <fmt/format.h>

#include <atomic>
#include <utility>
#include <vector>

#include "core/order.hpp"
#include "cpu/bits/bit_scan.hpp"
#include "cpu/bits/bit_search.hpp"
#include "cpu/parallel.hpp"
#include "cpu/sort_hits.hpp"
#include "kith/error.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

// Of a query in a part of the base.
struct BitsWithin {
  std::vector<core::Hit<float>> hits;
  std::int64_t count = 0;
};

class BitsWithinCounter {
 public:
  explicit BitsWithinCounter(std::int64_t most) : most_(most) {}
  void add(std::int64_t more) {
    if ((count_ += more) > most_)
      throw Error(
          ErrorCode::out_of_memory,
          fmt::format("more than {} neighbors lie within the radius; free memory holds no more of them", most_));
  }

 private:
  std::int64_t most_;
  std::atomic<std::int64_t> count_{0};
};

// Sorts the hits of a query, from all parts, into the result, and frees their memory.
void write_bits_within(BitsWithin* parts, std::int64_t splits, std::int64_t* ids, float* distances) {
  std::vector<core::Hit<float>> all = std::move(parts[0].hits);
  for (std::int64_t split = 1; split < splits; ++split) {
    const std::vector<core::Hit<float>> more = std::move(parts[split].hits);
    all.insert(all.end(), more.begin(), more.end());
  }
  sort_hits(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ids[i] = all[i].id;
    distances[i] = all[i].key;
  }
}

}  // namespace

std::int64_t bit_radius_search(const BitsView& base, const backend::BitQueries& queries, const BitPlan& plan,
                               const core::RadiusQuery<float>& radii, const RadiusLists<float>& out) {
  const std::int64_t query_count = queries.rows.rows;
  const std::int64_t splits = plan.base_splits;
  const std::int64_t blocks = (query_count + plan.query_block - 1) / plan.query_block;
  const std::int64_t part_rows = (base.rows + splits - 1) / splits;
  std::vector<BitsWithin> found(static_cast<std::size_t>(query_count * splits));
  std::vector<BitWorkspace> workspaces(static_cast<std::size_t>(plan.threads));
  ProgressMeter progress(queries.progress, query_count * base.rows);
  BitsWithinCounter counter(radii.max_hits);
  std::atomic<std::int64_t> pairs{0};

  parallel_for(plan.threads, blocks * splits, [&](std::int64_t index, int worker) {
    const std::int64_t split = index / blocks;
    const std::int64_t first_query = index % blocks * plan.query_block;
    const std::int64_t first = split * part_rows;
    if (first >= base.rows) return;
    BitScan scan(base, queries.rows, plan.metric, workspaces[static_cast<std::size_t>(worker)]);
    const std::int64_t count = std::min(plan.query_block, query_count - first_query);
    scan.begin(first_query, count);
    for (std::int64_t q = 0; q < count; ++q) scan.set_limit(q, core::next_above(radii.key_of(first_query + q)));
    std::int64_t seen = 0;
    scan.run(first, std::min(first + part_rows, base.rows), plan.base_tile, progress, worker,
             [&](std::int64_t q, std::int64_t row, float key) {
               ++seen;
               const std::int64_t query = first_query + q;
               if (key > radii.key_of(query) || (plan.self && row == query)) return;
               BitsWithin& within = found[static_cast<std::size_t>(query * splits + split)];
               ++within.count;
               if (radii.count_only) return;
               counter.add(1);
               within.hits.push_back({key, row});
             });
    pairs += seen;
  });

  out.offsets[0] = 0;
  for (std::int64_t q = 0; q < query_count; ++q) {
    out.offsets[q + 1] = out.offsets[q];
    for (std::int64_t split = 0; split < splits; ++split)
      out.offsets[q + 1] += found[static_cast<std::size_t>(q * splits + split)].count;
  }
  if (!radii.count_only) {
    const NeighborsView<float> to = out.allocate(out.offsets[query_count]);
    constexpr double kHitSeconds = 3e-8;
    const int threads = plan::threads_worth(static_cast<double>(out.offsets[query_count]) * kHitSeconds, plan.threads);
    parallel_for(threads, query_count, [&](std::int64_t q, int) {
      write_bits_within(found.data() + q * splits, splits, to.ids + out.offsets[q], to.distances + out.offsets[q]);
    });
  }
  progress.finish();
  return pairs;
}

}  // namespace kith::cpu
