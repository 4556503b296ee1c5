#include "cpu/brute/brute_task.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <cblas.h>

#include "core/instantiate.hpp"
#include "cpu/simd/bf16_scores.hpp"

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

// Points that are bfloat16 are multiplied as they are.
template <class T>
core::RoundedOperands bf16_operands(const PreparedRows<T>& base) {
  const bool exact = std::is_same_v<T, BFloat16> && !core::has_directions(base.metric);
  return exact ? core::kStoredBf16Operands : core::kBf16Operands;
}

}  // namespace

template <Element T>
BruteTask<T>::BruteTask(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                        BruteWorkspace<F>& workspace)
    : base_(base),
      queries_(queries),
      plan_(plan),
      stage_(plan.distance),
      form_(core::form_of(plan.metric)),
      expanded_(plan.expanded),
      bounds_(plan.metric, base.view.cols, expanded_, core::range_of_type<T>(), base.scale,
              stage_ == DistanceStage::bf16 ? bf16_operands(base) : core::RoundedOperands{}),
      workspace_(workspace),
      bytes_(plan.metric, base.view.cols, workspace.bytes) {}

template <Element T>
std::int64_t BruteTask<T>::run(std::int64_t first, std::int64_t count, BasePart part, ProgressMeter& progress,
                               int worker, const Emit& emit) {
  find_tile_norms(part);
  SelectionContext<T> context{base_, queries_, part, bounds_, std::min(plan_.problem.k, part.count), {}, {},
                              {},    {},       {},   0};
  std::vector<Candidates<T>> candidates = make_candidates(first, count);
  set_queries(first, count);
  workspace_.scores.resize(static_cast<std::size_t>(count * padded(part.tile_rows)));
  for (std::int64_t tile = 0; tile * part.tile_rows < part.count; ++tile) {
    const std::int64_t tile_first = part.first + tile * part.tile_rows;
    const std::int64_t tile_count = std::min(part.tile_rows, part.count - tile * part.tile_rows);
    for (Candidates<T>& mine : candidates) mine.begin_tile(context, tile);
    if (stage_ == DistanceStage::register_tiled || stage_ == DistanceStage::int8 || stage_ == DistanceStage::bf16) {
      select_from_blocks(context, candidates, tile_first, tile_count);
    } else {
      select_from_matrix(context, candidates, tile_first, tile_count);
    }
    progress.add(count * tile_count, worker);
  }
  for (std::int64_t q = 0; q < count; ++q) emit(first + q, candidates[static_cast<std::size_t>(q)].finish(context));
  return context.finalists;
}

// The queries in working precision; doubled for expanded products in registers, ‖y‖² − ⟨2x,y⟩, which is exact.
template <Element T>
void BruteTask<T>::set_queries(std::int64_t first, std::int64_t count) {
  if constexpr (kBytes) {
    if (stage_ == DistanceStage::int8) return bytes_.set_queries(queries_, first, count);
  }
  workspace_.query_rows.resize(static_cast<std::size_t>(count * dims()));
  query_rows_ = working_rows(queries_, first, count, workspace_.query_rows.data());
  const bool rounds = stage_ == DistanceStage::bf16;
  if (expanded_ && (rounds || stage_ == DistanceStage::register_tiled)) {
    for (std::int64_t q = 0; q < count; ++q)
      for (std::int64_t c = 0; c < dims(); ++c)
        workspace_.query_rows[static_cast<std::size_t>(q * dims() + c)] =
            2 * query_rows_.data[q * query_rows_.stride + c];
    query_rows_ = {workspace_.query_rows.data(), count, dims()};
  }
  if constexpr (kRounds) {
    if (!rounds) return;
    workspace_.bf16_queries.resize(static_cast<std::size_t>(count * bf16_pairs(dims())));
    pack_bf16_queries(query_rows_, dims(), workspace_.bf16_queries.data());
  }
}

// The squared norms of a tile's rows in working precision, padded with zeros.
template <Element T>
auto BruteTask<T>::tile_norms(std::int64_t first, std::int64_t count) -> const F* {
  workspace_.bias.assign(static_cast<std::size_t>(padded(count)), F{0});
  scaled_norms(base_, first, count, workspace_.bias.data());
  return workspace_.bias.data();
}

template <Element T>
void BruteTask<T>::find_tile_norms(BasePart& part) const {
  if (!bounds_.is_absolute()) return;
  const double* norms = base_.square_norms.data() + part.first;
  for (std::int64_t at = 0; at < part.count; at += part.tile_rows)
    part.tile_square_norms.push_back(*std::max_element(norms + at, norms + std::min(part.count, at + part.tile_rows)));
  const auto& largest = part.tile_square_norms;
  part.max_norm_tile = std::max_element(largest.begin(), largest.end()) - largest.begin();
}

template <Element T>
std::vector<Candidates<T>> BruteTask<T>::make_candidates(std::int64_t first, std::int64_t count) {
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

template <Element T>
auto BruteTask<T>::tile_rows(std::int64_t first, std::int64_t count) -> Rows<F> {
  if (!is_working_layout(base_)) workspace_.base_rows.resize(static_cast<std::size_t>(plan_.base_tile * dims()));
  return working_rows(base_, first, count, workspace_.base_rows.data());
}

// Computes all scores of the tile, then filters them.
template <Element T>
void BruteTask<T>::select_from_matrix(SelectionContext<T>& context, std::vector<Candidates<T>>& candidates,
                                      std::int64_t first, std::int64_t count) {
  const std::int64_t stride = padded(context.part.tile_rows);
  F* scores = workspace_.scores.data();
  if (stage_ == DistanceStage::gemm) {
    multiply(query_rows_, tile_rows(first, count), dims(), expanded_ ? F{-2} : F{-1}, scores, stride);
  } else if (is_stored_layout(base_)) {
    const Rows<T> stored{base_.view.row(first), count, base_.view.row_stride};
    direct_scores(form_, plan_.metric.p, query_rows_, stored, dims(), scores, stride);
  } else {
    direct_scores(form_, plan_.metric.p, query_rows_, tile_rows(first, count), dims(), scores, stride);
  }
  const F* bias = expanded_ ? tile_norms(first, count) : nullptr;
  for (std::size_t q = 0; q < candidates.size(); ++q)
    candidates[q].add_scores(context, 0, scores + static_cast<std::int64_t>(q) * stride, bias, count);
}

// Computes scores in blocks, of which only those with a candidate are written and filtered.
template <Element T>
void BruteTask<T>::select_from_blocks(SelectionContext<T>& context, std::vector<Candidates<T>>& candidates,
                                      std::int64_t first, std::int64_t count) {
  const std::int64_t block_rows = tiled_block_rows<F>();
  const std::int64_t blocks = (count + block_rows - 1) / block_rows;
  workspace_.limits.resize(candidates.size());
  for (std::size_t q = 0; q < candidates.size(); ++q)
    workspace_.limits[q] = core::next_above(candidates[q].threshold());
  workspace_.hits.resize(candidates.size() * static_cast<std::size_t>(blocks));
  const TiledOutput<F> out{workspace_.scores.data(), workspace_.hits.data(), workspace_.limits.data()};
  order_hits(candidates.size(), score_blocks(first, count, out));
  for (const std::uint32_t i : workspace_.hit_order) {
    const BlockHit hit = workspace_.hits[i];
    const std::int64_t row = hit.block * block_rows;
    candidates[hit.query].add_scores(context, row, out.scores + i * block_rows, nullptr,
                                     std::min(block_rows, count - row));
  }
}

// Returns the number of blocks that were written.
template <Element T>
std::int64_t BruteTask<T>::score_blocks(std::int64_t first, std::int64_t count, const TiledOutput<F>& out) {
  if constexpr (kBytes) {
    if (stage_ == DistanceStage::int8) return bytes_.score(base_, first, count, out);
  }
  if constexpr (kRounds) {
    if (stage_ == DistanceStage::bf16) return score_bf16_blocks(first, count, out);
  }
  const F* norms = expanded_ ? tile_norms(first, count) : nullptr;
  workspace_.panels.resize(static_cast<std::size_t>(padded(plan_.base_tile) * dims()));
  pack_panels(tile_rows(first, count), dims(), workspace_.panels.data());
  return register_tiled_scores(expanded_ ? core::Form::dot : form_, plan_.metric.p, query_rows_,
                               {workspace_.panels.data(), norms, count}, dims(), out);
}

template <Element T>
std::int64_t BruteTask<T>::score_bf16_blocks(std::int64_t first, std::int64_t count, const TiledOutput<F>& out) {
  if constexpr (kRounds) {
    const F* norms = expanded_ ? tile_norms(first, count) : nullptr;
    workspace_.bf16_panels.resize(static_cast<std::size_t>(padded(plan_.base_tile) * bf16_pairs(dims())));
    pack_bf16_panels(tile_rows(first, count), dims(), workspace_.bf16_panels.data());
    return bf16_scores({workspace_.bf16_queries.data(), query_rows_.count},
                       {workspace_.bf16_panels.data(), norms, count}, dims(), out);
  }
  return 0;
}

// Groups hits by query, so that each query's buffer comes into cache once; a stable counting sort.
template <Element T>
void BruteTask<T>::order_hits(std::size_t queries, std::int64_t count) {
  workspace_.hit_starts.assign(queries + 1, 0);
  const auto first = workspace_.hits.begin();
  std::for_each(first, first + count, [&](const BlockHit& hit) { ++workspace_.hit_starts[hit.query + 1]; });
  std::partial_sum(workspace_.hit_starts.begin(), workspace_.hit_starts.end(), workspace_.hit_starts.begin());
  workspace_.hit_order.resize(static_cast<std::size_t>(count));
  for (std::uint32_t i = 0; i < count; ++i) workspace_.hit_order[workspace_.hit_starts[workspace_.hits[i].query]++] = i;
}

#define KITH_INSTANTIATE(T) template class BruteTask<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
