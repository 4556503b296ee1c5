// brute_search.cpp: tasks of a block of queries and a part of the base run on all threads; parts are merged at the end.
// Idea    tile by tile, scores are computed (direct_scores, register_tiled_scores or a matrix product) into a scratch
//         tile that stays in cache and filtered into the queries' candidate buffers, whose exact keys decide.
#include "cpu/brute/brute_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <cblas.h>

#include "core/instantiate.hpp"
#include "core/order.hpp"
#include "cpu/brute/candidates.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/sort_hits.hpp"
#include "plan/cpu_threads.hpp"

namespace kith::cpu {
namespace {

void multiply(Rows<float> queries, Rows<float> base, std::int64_t dims, float factor, float* out, std::int64_t stride) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(queries.count),
              static_cast<blasint>(base.count), static_cast<blasint>(dims), factor, queries.data,
              static_cast<blasint>(queries.stride), base.data, static_cast<blasint>(base.stride), 0.0F, out,
              static_cast<blasint>(stride));
}

void multiply(Rows<double> queries, Rows<double> base, std::int64_t dims, double factor, double* out,
              std::int64_t stride) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(queries.count),
              static_cast<blasint>(base.count), static_cast<blasint>(dims), factor, queries.data,
              static_cast<blasint>(queries.stride), base.data, static_cast<blasint>(base.stride), 0.0, out,
              static_cast<blasint>(stride));
}

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
};

template <Element T>
class BruteTask {
 public:
  using F = DistanceOf<T>;

  BruteTask(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan, BruteWorkspace<F>& workspace)
      : base_(base),
        queries_(queries),
        plan_(plan),
        stage_(plan.distance),
        form_(core::form_of(plan.metric)),
        expanded_(plan.expanded),
        bounds_(plan.metric, base.view.cols, expanded_, core::range_of_type<T>(), base.scale),
        workspace_(workspace) {}

  // Searches `part` for queries [first, first + count); calls emit(query, hits) for each.
  template <class Emit>
  std::int64_t run(std::int64_t first, std::int64_t count, BasePart part, ProgressMeter& progress, int worker,
                   Emit emit) {
    find_tile_norms(part);
    SelectionContext<T> context{base_, queries_, part, bounds_, std::min(plan_.problem.k, part.count), {}, {},
                                {},    {},       {},   0};
    std::vector<Candidates<T>> candidates = make_candidates(first, count);
    const Rows<F> query_rows = working_queries(first, count);
    const std::int64_t stride = padded(part.tile_rows);
    workspace_.scores.resize(static_cast<std::size_t>(count * stride));
    for (std::int64_t tile = 0; tile * part.tile_rows < part.count; ++tile) {
      const std::int64_t tile_first = part.first + tile * part.tile_rows;
      const std::int64_t tile_count = std::min(part.tile_rows, part.count - tile * part.tile_rows);
      const Rows<F> base_rows = tile_rows(tile_first, tile_count);
      for (Candidates<T>& mine : candidates) mine.begin_tile(context, tile);
      if (stage_ == DistanceStage::register_tiled) {
        select_from_blocks(context, candidates, tile, query_rows, base_rows);
      } else {
        select_from_matrix(context, candidates, tile, query_rows, base_rows, stride);
      }
      progress.add(count * tile_count, worker);
    }
    for (std::int64_t q = 0; q < count; ++q) emit(first + q, candidates[static_cast<std::size_t>(q)].finish(context));
    return context.finalists;
  }

 private:
  std::int64_t dims() const { return base_.view.cols; }

  // The queries in working precision; doubled for register-tiled expanded products, ‖y‖² − ⟨2x,y⟩, which is exact.
  Rows<F> working_queries(std::int64_t first, std::int64_t count) {
    workspace_.query_rows.resize(static_cast<std::size_t>(count * dims()));
    const Rows<F> rows = working_rows(queries_, first, count, workspace_.query_rows.data());
    if (!expanded_ || stage_ != DistanceStage::register_tiled) return rows;
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t c = 0; c < dims(); ++c)
        workspace_.query_rows[static_cast<std::size_t>(q * dims() + c)] = 2 * rows.data[q * rows.stride + c];
    return {workspace_.query_rows.data(), count, dims()};
  }

  // The squared norms of a tile's rows in working precision, padded with zeros.
  const F* tile_norms(const BasePart& part, std::int64_t tile, std::int64_t count) {
    workspace_.bias.assign(static_cast<std::size_t>(padded(count)), F{0});
    scaled_norms(base_, part.first + tile * part.tile_rows, count, workspace_.bias.data());
    return workspace_.bias.data();
  }

  void find_tile_norms(BasePart& part) const {
    if (!bounds_.is_absolute()) return;
    const double* norms = base_.square_norms.data() + part.first;
    for (std::int64_t at = 0; at < part.count; at += part.tile_rows)
      part.tile_square_norms.push_back(
          *std::max_element(norms + at, norms + std::min(part.count, at + part.tile_rows)));
    const auto& largest = part.tile_square_norms;
    part.max_norm_tile = std::max_element(largest.begin(), largest.end()) - largest.begin();
  }

  std::vector<Candidates<T>> make_candidates(std::int64_t first, std::int64_t count) {
    const std::int64_t capacity = plan_.candidates;
    workspace_.candidate_scores.resize(static_cast<std::size_t>(count * capacity));
    workspace_.candidate_offsets.resize(static_cast<std::size_t>(count * capacity));
    std::vector<Candidates<T>> candidates;
    candidates.reserve(static_cast<std::size_t>(count));
    for (std::int64_t q = 0; q < count; ++q)
      candidates.emplace_back(first + q, workspace_.candidate_scores.data() + q * capacity,
                              workspace_.candidate_offsets.data() + q * capacity, capacity);
    return candidates;
  }

  Rows<F> tile_rows(std::int64_t first, std::int64_t count) {
    if (!is_working_layout(base_)) workspace_.base_rows.resize(static_cast<std::size_t>(plan_.base_tile * dims()));
    return working_rows(base_, first, count, workspace_.base_rows.data());
  }

  // Computes all scores of the tile, then filters them.
  void select_from_matrix(SelectionContext<T>& context, std::vector<Candidates<T>>& candidates, std::int64_t tile,
                          Rows<F> query_rows, Rows<F> base_rows, std::int64_t stride) {
    F* scores = workspace_.scores.data();
    if (stage_ == DistanceStage::gemm) {
      multiply(query_rows, base_rows, dims(), expanded_ ? F{-2} : F{-1}, scores, stride);
    } else {
      direct_scores(form_, plan_.metric.p, query_rows, base_rows, dims(), scores, stride);
    }
    const F* bias = expanded_ ? tile_norms(context.part, tile, base_rows.count) : nullptr;
    for (std::int64_t q = 0; q < query_rows.count; ++q)
      candidates[static_cast<std::size_t>(q)].add_scores(context, 0, scores + q * stride, bias, base_rows.count);
  }

  // Computes scores in blocks, of which only those with a candidate are written and filtered.
  void select_from_blocks(SelectionContext<T>& context, std::vector<Candidates<T>>& candidates, std::int64_t tile,
                          Rows<F> query_rows, Rows<F> base_rows) {
    const std::int64_t block_rows = tiled_block_rows<F>();
    const std::int64_t blocks = (base_rows.count + block_rows - 1) / block_rows;
    const F* norms = expanded_ ? tile_norms(context.part, tile, base_rows.count) : nullptr;
    workspace_.panels.resize(static_cast<std::size_t>(padded(plan_.base_tile) * dims()));
    pack_panels(base_rows, dims(), workspace_.panels.data());
    workspace_.limits.resize(candidates.size());
    for (std::size_t q = 0; q < candidates.size(); ++q)
      workspace_.limits[q] = core::next_above(candidates[q].threshold());
    workspace_.hits.resize(candidates.size() * static_cast<std::size_t>(blocks));
    F* scores = workspace_.scores.data();
    const std::int64_t hits = register_tiled_scores(expanded_ ? core::Form::dot : form_, plan_.metric.p, query_rows,
                                                    {workspace_.panels.data(), norms, base_rows.count}, dims(),
                                                    {scores, workspace_.hits.data(), workspace_.limits.data()});
    order_hits(candidates.size(), hits);
    for (const std::uint32_t i : workspace_.hit_order) {
      const BlockHit hit = workspace_.hits[i];
      const std::int64_t first = hit.block * block_rows;
      candidates[hit.query].add_scores(context, first, scores + i * block_rows, nullptr,
                                       std::min(block_rows, base_rows.count - first));
    }
  }

  // Groups hits by query, so that each query's buffer comes into cache once; a stable counting sort.
  void order_hits(std::size_t queries, std::int64_t count) {
    workspace_.hit_starts.assign(queries + 1, 0);
    const auto first = workspace_.hits.begin();
    std::for_each(first, first + count, [&](const BlockHit& hit) { ++workspace_.hit_starts[hit.query + 1]; });
    std::partial_sum(workspace_.hit_starts.begin(), workspace_.hit_starts.end(), workspace_.hit_starts.begin());
    workspace_.hit_order.resize(static_cast<std::size_t>(count));
    for (std::uint32_t i = 0; i < count; ++i)
      workspace_.hit_order[workspace_.hit_starts[workspace_.hits[i].query]++] = i;
  }

  const PreparedRows<T>& base_;
  const PreparedRows<T>& queries_;
  const Plan& plan_;
  DistanceStage stage_;
  core::Form form_;
  bool expanded_;
  core::ScoreBounds<F> bounds_;
  BruteWorkspace<F>& workspace_;
};

template <class D>
void write_hits(const Metric& metric, const std::vector<core::Hit<D>>& hits, std::int64_t* ids, D* distances) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    ids[i] = hits[i].id;
    distances[i] = core::returned_value(metric, hits[i].key);
  }
}

// Merges the parts' answers to one query.
template <class D>
void merge_parts(const std::vector<const std::vector<core::Hit<D>>*>& parts, std::int64_t k, const Metric& metric,
                 std::int64_t* ids, D* distances) {
  std::vector<core::Hit<D>> all;
  for (const auto* part : parts) all.insert(all.end(), part->begin(), part->end());
  sort_hits(all);
  all.resize(static_cast<std::size_t>(k));
  write_hits(metric, all, ids, distances);
}

}  // namespace

template <Element T>
std::int64_t brute_search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                          const ProgressCallback& callback, std::int64_t* ids, DistanceOf<T>* distances) {
  using F = DistanceOf<T>;
  const std::int64_t query_count = queries.view.rows;
  const std::int64_t base_count = base.view.rows;
  const std::int64_t k = plan.problem.k;
  const std::int64_t blocks = (query_count + plan.query_block - 1) / plan.query_block;
  const std::int64_t splits = plan.base_splits;
  const std::int64_t part_rows = (base_count + splits - 1) / splits;

  std::vector<std::vector<core::Hit<F>>> partial(splits > 1 ? static_cast<std::size_t>(splits * query_count) : 0);
  std::vector<BruteWorkspace<F>> workspaces(static_cast<std::size_t>(plan.threads));
  ProgressMeter progress(callback, query_count * base_count);
  std::atomic<std::int64_t> finalists{0};

  parallel_for(plan.threads, blocks * splits, [&](std::int64_t index, int worker) {
    const std::int64_t split = index % splits;
    const std::int64_t first_query = index / splits * plan.query_block;
    BasePart part{split * part_rows, 0, plan.base_tile, {}, 0};
    part.count = std::min(base_count - part.first, part_rows);
    if (part.count <= 0) return;
    BruteTask<T> task(base, queries, plan, workspaces[static_cast<std::size_t>(worker)]);
    finalists += task.run(first_query, std::min(plan.query_block, query_count - first_query), part, progress, worker,
                          [&](std::int64_t query, std::vector<core::Hit<F>> hits) {
                            if (splits == 1)
                              return write_hits(plan.metric, hits, ids + query * k, distances + query * k);
                            partial[static_cast<std::size_t>(query * splits + split)] = std::move(hits);
                          });
  });
  if (splits > 1) {
    constexpr double kHitSeconds = 3e-8;
    const int threads = plan::threads_worth(static_cast<double>(query_count * splits * k) * kHitSeconds, plan.threads);
    parallel_for(threads, query_count, [&](std::int64_t query, int) {
      std::vector<const std::vector<core::Hit<F>>*> parts;
      for (std::int64_t split = 0; split < splits; ++split)
        parts.push_back(&partial[static_cast<std::size_t>(query * splits + split)]);
      merge_parts(parts, k, plan.metric, ids + query * k, distances + query * k);
    });
  }
  progress.finish();
  return finalists;
}

template <Element T>
bool expansion_is_sharp(const PreparedRows<T>& base, const PreparedRows<T>& queries) {
  using F = DistanceOf<T>;
  constexpr std::int64_t kQueries = 16;
  constexpr std::int64_t kRows = 1024;
  constexpr double kMaxError = 1e-3;  // error over nearest distance in the sample, beyond which candidates multiply
  const std::int64_t row_count = std::min(kRows, base.view.rows);
  const std::int64_t query_count = std::min(kQueries, queries.view.rows);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(row_count));
  for (std::int64_t i = 0; i < row_count; ++i) ids[static_cast<std::size_t>(i)] = i * base.view.rows / row_count;
  std::vector<double> raw(ids.size());
  std::vector<double> query(static_cast<std::size_t>(base.view.cols));
  const core::ScoreBounds<F> bounds(base.metric, base.view.cols, true, core::range_of_type<T>(), base.scale);
  const double max_square_norm = *std::max_element(base.square_norms.begin(), base.square_norms.end());
  std::int64_t sharp = 0;
  for (std::int64_t i = 0; i < query_count; ++i) {
    const std::int64_t q = i * queries.view.rows / query_count;
    exact_query(queries, q, query.data());
    exact_sums(core::Form::squared, 0, query.data(), base.exact_base(), ids.data(), row_count, raw.data());
    // A distance of 0 is the query itself, or a copy: it is skipped.
    double nearest = std::numeric_limits<double>::infinity();
    for (const double distance : raw)
      if (distance > 0) nearest = std::min(nearest, distance);
    sharp +=
        bounds.error(queries.facts(q).square_norm, max_square_norm) <= kMaxError * nearest * base.scale * base.scale
            ? 1
            : 0;
  }
  return 2 * sharp > query_count;
}

#define KITH_INSTANTIATE(T)                                                                       \
  template std::int64_t brute_search(const PreparedRows<T>&, const PreparedRows<T>&, const Plan&, \
                                     const ProgressCallback&, std::int64_t*, DistanceOf<T>*);     \
  template bool expansion_is_sharp(const PreparedRows<T>&, const PreparedRows<T>&);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
