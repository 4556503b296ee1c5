// pair_search.cpp: tasks of a block of queries and a part of the base run on all threads.
// Idea    tile by tile, the metric fills in distances, which are rounded and filtered by threshold; the nearest of the
//         parts of the base are merged in the end.
#include "custom/pair_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/instantiate.hpp"
#include "core/max_distance.hpp"
#include "cpu/facts.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/row_selection.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/sort_hits.hpp"
#include "custom/tile_distances.hpp"
#include "kith/error.hpp"

namespace kith::custom {
namespace {

// Of prepared queries, and of a tile of base rows: both stay in the second-level cache.
constexpr std::int64_t kQueryBytes = 256 << 10;
constexpr std::int64_t kTileBytes = 128 << 10;
constexpr std::int64_t kMostQueries = 256;
constexpr std::int64_t kMostTile = 256;
// Of what queries collect, for all threads where no budget is given.
constexpr std::int64_t kSelectionBytes = std::int64_t{256} << 20;
// Functions of the caller may take long: few of them between two looks at the progress.
constexpr std::int64_t kRowQueries = 16;
constexpr std::int64_t kRowTile = 32;
// Ids in a part are 32 bits wide.
constexpr std::int64_t kLargestPart = std::int64_t{1} << 31;

template <class D>
std::int64_t selection_bytes(std::int64_t rows, std::int64_t k) {
  if (k == 0) return 0;
  return cpu::buffer_capacity(rows, k) * 2 * static_cast<std::int64_t>(sizeof(D)) +
         k * static_cast<std::int64_t>(sizeof(core::Hit<D>)) * 2;
}

template <Element T>
std::int64_t bytes_of(const PairProblem<T>& problem, const PairPlan& plan, std::int64_t k) {
  using D = DistanceOf<T>;
  const std::int64_t dims = problem.base.cols;
  const std::int64_t distances = (plan.query_block + kTileQueries) * plan.base_tile * 8;
  const std::int64_t rows = (plan.query_block + kTileQueries + plan.base_tile + kPanelRows) * dims * 8;
  return plan.threads * (distances + rows + plan.query_block * selection_bytes<D>(problem.base.rows, k));
}

// Halves what can be halved until it fits.
template <Element T>
void fit(const PairProblem<T>& problem, std::int64_t k, std::int64_t budget, PairPlan& plan) {
  const auto fits = [&] { return (plan.workspace_bytes = bytes_of(problem, plan, k)) <= budget; };
  while (!fits()) {
    if (plan.query_block > kTileQueries) {
      plan.query_block = std::max(kTileQueries, plan.query_block / 2 / kTileQueries * kTileQueries);
    } else if (plan.base_tile > kPanelRows) {
      plan.base_tile = std::max(kPanelRows, plan.base_tile / 2 / kPanelRows * kPanelRows);
    } else if (plan.threads > 1) {
      plan.threads /= 2;
    } else {
      return;
    }
  }
}

template <Element T>
void choose_splits(const PairProblem<T>& problem, PairPlan& plan) {
  const std::int64_t blocks = (problem.queries.rows + plan.query_block - 1) / plan.query_block;
  const std::int64_t tiles = (problem.base.rows + plan.base_tile - 1) / plan.base_tile;
  const std::int64_t wanted = blocks >= 2 * plan.threads ? 1 : (2 * plan.threads + blocks - 1) / blocks;
  const std::int64_t spread = plan.threads == 1 ? 1 : std::min(wanted, tiles);
  plan.splits = std::max(spread, (problem.base.rows + kLargestPart - 1) / kLargestPart);
}

// Tasks of a block of queries and a part of the base.
template <Element T>
class PairTasks {
 public:
  using D = DistanceOf<T>;

  PairTasks(const PairProblem<T>& problem, const PairPlan& plan, const Options& options)
      : problem_(problem),
        plan_(plan),
        part_rows_(padded_rows((problem.base.rows + plan.splits - 1) / plan.splits)),
        blocks_((problem.queries.rows + plan.query_block - 1) / plan.query_block),
        progress_(options.progress, problem.queries.rows * problem.base.rows) {
    for (int worker = 0; worker < plan.threads; ++worker)
      workers_.push_back({TileDistances<T>(problem.metric, problem.base, problem.panels), {}});
  }

  // Calls begin(first, count, split, part, part_rows), take(state, query, keys, first, count) for the rows of each
  // tile, and end(state), where state is what begin() returned.
  template <class Begin, class Take, class End>
  void run(const Begin& begin, const Take& take, const End& end) {
    cpu::parallel_for(plan_.threads, blocks_ * plan_.splits, [&](std::int64_t index, int worker) {
      const std::int64_t split = index % plan_.splits;
      const std::int64_t first = index / plan_.splits * plan_.query_block;
      const std::int64_t count = std::min(plan_.query_block, problem_.queries.rows - first);
      const std::int64_t part = std::min(split * part_rows_, problem_.base.rows);
      const std::int64_t part_end = std::min(part + part_rows_, problem_.base.rows);
      Worker& mine = workers_[static_cast<std::size_t>(worker)];
      mine.tile.set_queries(problem_.queries, first, count, problem_.exclude_self ? "base" : "queries");
      auto state = begin(first, count, split, part, part_end - part);
      for (std::int64_t at = part; at < part_end; at += plan_.base_tile) {
        const std::int64_t rows = std::min(plan_.base_tile, part_end - at);
        const double* distances = mine.tile.distances(at, rows);
        for (std::int64_t q = 0; q < count; ++q)
          take(state, q, keys(mine, distances + q * mine.tile.stride(), rows), at, rows);
        progress_.add(count * rows, worker);
      }
      end(state);
    });
  }

  void finish() { progress_.finish(); }

 private:
  struct Worker {
    TileDistances<T> tile;
    std::vector<D> keys;
  };

  // Distances in the type that is returned.
  static const D* keys(Worker& worker, const double* distances, std::int64_t count) {
    if constexpr (std::is_same_v<D, double>) {
      return distances;
    } else {
      worker.keys.resize(static_cast<std::size_t>(count));
      cpu::round_sums(distances, count, false, worker.keys.data());
      return worker.keys.data();
    }
  }

  const PairProblem<T>& problem_;
  const PairPlan& plan_;
  std::int64_t part_rows_;
  std::int64_t blocks_;
  cpu::ProgressMeter progress_;
  std::vector<Worker> workers_;
};

template <class D>
struct QueryHits {
  std::vector<core::Hit<D>> hits;
  std::int64_t count = 0;
};

}  // namespace

template <class D>
void write_row(std::vector<core::Hit<D>> hits, std::int64_t self, std::int64_t k, D largest, std::int64_t* ids,
               D* distances) {
  if (self >= 0) std::erase_if(hits, [self](const core::Hit<D>& hit) { return hit.id == self; });
  for (std::int64_t i = 0; i < k; ++i) {
    const bool there = i < std::ssize(hits);
    ids[i] = there ? hits[static_cast<std::size_t>(i)].id : core::kNoNeighbor;
    distances[i] = there ? hits[static_cast<std::size_t>(i)].key : std::numeric_limits<D>::infinity();
    if (std::isfinite(largest) && !(distances[i] <= largest)) {
      ids[i] = core::kNoNeighbor;
      distances[i] = std::numeric_limits<D>::infinity();
    }
  }
}

template <Element T>
PairPlan plan_pairs(const PairProblem<T>& problem, std::int64_t k, const Options& options) {
  const bool panels = problem.metric.input() == PairMetric::Input::panels;
  const std::int64_t row_bytes = problem.base.cols * 8;
  PairPlan plan;
  const double seconds = static_cast<double>(problem.queries.rows) * static_cast<double>(problem.base.rows) *
                         problem.metric.pair_seconds(problem.base.cols);
  plan.threads = std::min(cpu::threads_for(options.threads, seconds), std::max(problem.metric.most_threads(), 1));
  const std::int64_t queries =
      panels ? std::clamp(kQueryBytes / row_bytes, 4 * kTileQueries, kMostQueries) : kRowQueries;
  plan.query_block = std::min(padded_queries(problem.queries.rows), queries / kTileQueries * kTileQueries);
  const std::int64_t tile = panels ? std::clamp(kTileBytes / row_bytes, kPanelRows, kMostTile) : kRowTile;
  plan.base_tile = std::min(padded_rows(problem.base.rows), tile / kPanelRows * kPanelRows);
  const bool is_limited = options.memory_budget > 0;
  fit(problem, k, is_limited ? options.memory_budget : kSelectionBytes, plan);
  if (is_limited && plan.workspace_bytes > options.memory_budget)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a memory budget of {} bytes is too small: this search needs at least {}",
                            options.memory_budget, plan.workspace_bytes));
  choose_splits(problem, plan);
  return plan;
}

template <Element T>
void nearest_pairs(const PairProblem<T>& problem, const PairPlan& plan, std::int64_t k, const Options& options,
                   const NeighborsView<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  struct State {
    std::int64_t first;
    std::int64_t split;
    std::vector<cpu::RowSelection<D>> rows;
  };
  const std::int64_t others = problem.base.rows - (problem.exclude_self ? 1 : 0);
  // The query itself may be among them, and goes afterwards.
  const std::int64_t found = std::min(k, others) + (problem.exclude_self ? 1 : 0);
  const D largest = core::largest_within<D>(options.max_distance);
  std::vector<std::vector<core::Hit<D>>> parts(
      static_cast<std::size_t>(plan.splits > 1 ? problem.queries.rows * plan.splits : 0));
  const auto write = [&](std::int64_t query, std::vector<core::Hit<D>> hits) {
    write_row(std::move(hits), problem.exclude_self ? query : -1, k, largest, out.ids + query * k,
              out.distances + query * k);
  };
  PairTasks<T> tasks(problem, plan, options);
  tasks.run(
      [&](std::int64_t first, std::int64_t count, std::int64_t split, std::int64_t part, std::int64_t part_rows) {
        State state{first, split, {}};
        for (std::int64_t q = 0; q < count && part_rows > 0; ++q) state.rows.emplace_back(part, part_rows, found);
        return state;
      },
      [&](State& state, std::int64_t q, const D* keys, std::int64_t at, std::int64_t count) {
        state.rows[static_cast<std::size_t>(q)].add(keys, count, at);
      },
      [&](State& state) {
        for (std::size_t q = 0; q < state.rows.size(); ++q) {
          const std::int64_t query = state.first + static_cast<std::int64_t>(q);
          std::vector<core::Hit<D>> hits = state.rows[q].finish();
          if (plan.splits == 1) {
            write(query, std::move(hits));
          } else {
            parts[static_cast<std::size_t>(query * plan.splits + state.split)] = std::move(hits);
          }
        }
      });
  for (std::int64_t query = 0; plan.splits > 1 && query < problem.queries.rows; ++query) {
    std::vector<core::Hit<D>> all;
    for (std::int64_t split = 0; split < plan.splits; ++split) {
      const auto& hits = parts[static_cast<std::size_t>(query * plan.splits + split)];
      all.insert(all.end(), hits.begin(), hits.end());
    }
    write(query, cpu::best(std::move(all), found));
  }
  tasks.finish();
}

template <Element T>
void pairs_within(const PairProblem<T>& problem, const PairPlan& plan, std::span<const DistanceOf<T>> radii,
                  std::int64_t most, const Options& options, const RadiusLists<DistanceOf<T>>& out) {
  using D = DistanceOf<T>;
  struct State {
    std::int64_t first;
    std::int64_t split;
  };
  std::vector<QueryHits<D>> found(static_cast<std::size_t>(problem.queries.rows * plan.splits));
  std::atomic<std::int64_t> stored{0};
  const bool lists = static_cast<bool>(out.allocate);
  PairTasks<T> tasks(problem, plan, options);
  tasks.run(
      [](std::int64_t first, std::int64_t, std::int64_t split, std::int64_t, std::int64_t) {
        return State{first, split};
      },
      [&](const State& state, std::int64_t q, const D* keys, std::int64_t at, std::int64_t count) {
        const std::int64_t query = state.first + q;
        const D radius = radii[radii.size() == 1 ? 0 : static_cast<std::size_t>(query)];
        QueryHits<D>& mine = found[static_cast<std::size_t>(query * plan.splits + state.split)];
        std::int64_t hits = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          if (!(keys[i] <= radius) || (problem.exclude_self && at + i == query)) continue;
          ++hits;
          if (lists) mine.hits.push_back({keys[i], at + i});
        }
        mine.count += hits;
        if (lists && (stored += hits) > most)
          throw Error(ErrorCode::out_of_memory,
                      fmt::format("more than {} neighbors lie within the radius; free memory holds no more of "
                                  "them",
                                  most));
      },
      [](const State&) {});
  out.offsets[0] = 0;
  for (std::int64_t query = 0; query < problem.queries.rows; ++query) {
    out.offsets[query + 1] = out.offsets[query];
    for (std::int64_t split = 0; split < plan.splits; ++split)
      out.offsets[query + 1] += found[static_cast<std::size_t>(query * plan.splits + split)].count;
  }
  if (lists) {
    const NeighborsView<D> to = out.allocate(out.offsets[problem.queries.rows]);
    for (std::int64_t query = 0; query < problem.queries.rows; ++query) {
      std::vector<core::Hit<D>> all;
      for (std::int64_t split = 0; split < plan.splits; ++split) {
        const auto hits = std::move(found[static_cast<std::size_t>(query * plan.splits + split)].hits);
        all.insert(all.end(), hits.begin(), hits.end());
      }
      cpu::sort_hits(all);
      for (std::size_t i = 0; i < all.size(); ++i) {
        to.ids[out.offsets[query] + static_cast<std::int64_t>(i)] = all[i].id;
        to.distances[out.offsets[query] + static_cast<std::int64_t>(i)] = all[i].key;
      }
    }
  }
  tasks.finish();
}

template <Element T>
void all_pairs(const PairProblem<T>& problem, const PairPlan& plan, const Options& options, DistanceOf<T>* out) {
  using D = DistanceOf<T>;
  PairTasks<T> tasks(problem, plan, options);
  tasks.run([](std::int64_t first, std::int64_t, std::int64_t, std::int64_t, std::int64_t) { return first; },
            [&](std::int64_t first, std::int64_t q, const D* keys, std::int64_t at, std::int64_t count) {
              std::copy_n(keys, count, out + (first + q) * problem.base.rows + at);
            },
            [](std::int64_t) {});
  tasks.finish();
}

template void write_row(std::vector<core::Hit<float>>, std::int64_t, std::int64_t, float, std::int64_t*, float*);
template void write_row(std::vector<core::Hit<double>>, std::int64_t, std::int64_t, double, std::int64_t*, double*);

#define KITH_INSTANTIATE(T)                                                                                        \
  template PairPlan plan_pairs(const PairProblem<T>&, std::int64_t, const Options&);                               \
  template void nearest_pairs(const PairProblem<T>&, const PairPlan&, std::int64_t, const Options&,                \
                              const NeighborsView<DistanceOf<T>>&);                                                \
  template void pairs_within(const PairProblem<T>&, const PairPlan&, std::span<const DistanceOf<T>>, std::int64_t, \
                             const Options&, const RadiusLists<DistanceOf<T>>&);                                   \
  template void all_pairs(const PairProblem<T>&, const PairPlan&, const Options&, DistanceOf<T>*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::custom
