// sparse_index.cpp: what an index of sparse rows keeps, and what every search of it begins with.
#include "cpu/sparse/sparse_index.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <utility>

#include "backend/machine.hpp"
#include "core/score_scale.hpp"
#include "cpu/facts.hpp"
#include "cpu/parallel.hpp"
#include "cpu/sparse/sparse_search.hpp"

namespace kith::cpu {
namespace {

constexpr double kPostingSeconds = 8e-9;  // to put a coordinate into its column
constexpr double kPairSeconds = 5e-10;    // a query and a base row: its score is made, read, and left behind

double scale_of(SparseMetric metric, double largest, bool is_float) {
  if (!is_float || metric == SparseMetric::jaccard || !core::has_scaled_scores(dense_metric(metric))) return 1;
  return core::score_scale_of({largest}, [&] { return largest; });
}

std::int64_t budget_of(const SparseOptions& options) {
  constexpr std::int64_t kLeast = std::int64_t{64} << 20;
  return options.memory_budget > 0 ? options.memory_budget : std::max(kLeast, backend::free_memory().bytes / 4);
}

int most_threads(const SparseOptions& options) {
  return threads_for(options.threads, std::numeric_limits<double>::infinity());
}

}  // namespace

template <SparseElement T>
SparseCpuIndex<T>::SparseCpuIndex(const CsrView<T>& base, const SparseOptions& options)
    : options_(options), budget_bytes_(budget_of(options)) {
  ProgressMeter progress(options_.progress, base.rows);
  const CsrPreparation how{"base", options_.metric, options_.check_finite, most_threads(options_)};
  base_ = prepare_csr(base, how, progress);
  scale_ = scale_of(options_.metric, base_.largest_value, std::is_same_v<T, float>);
  if (!keeps_columns(budget())) return;
  const std::int64_t rows = largest_block(base_);
  const int threads =
      threads_for(options_.threads, static_cast<double>(base_.entries(0, base_.rows)) * kPostingSeconds);
  // Each thread has counters of its own.
  const std::int64_t scratch = postings_bytes(base_, 0, rows).scratch;
  const std::int64_t room = budget_bytes_ - kept_bytes(budget());
  const int fit = static_cast<int>(std::clamp<std::int64_t>(1 + room / std::max<std::int64_t>(scratch, 1), 1, threads));
  blocks_ = make_blocks(0, (base_.rows + rows - 1) / rows, rows, fit, progress);
}

template <SparseElement T>
SparseBudget<T> SparseCpuIndex<T>::budget() const {
  return {base_, options_.metric, budget_bytes_};
}

template <SparseElement T>
auto SparseCpuIndex<T>::make_blocks(std::int64_t first, std::int64_t count, std::int64_t block_rows, int threads,
                                    ProgressMeter& progress) const -> Blocks {
  Blocks blocks(static_cast<std::size_t>(count));
  parallel_for(threads, count, [&](std::int64_t index, int worker) {
    progress.check(worker);
    const std::int64_t row = (first + index) * block_rows;
    blocks[static_cast<std::size_t>(index)] =
        make_postings(base_, options_.metric, scale_, row, std::min(block_rows, base_.rows - row));
  });
  return blocks;
}

template <SparseElement T>
template <class Work>
void SparseCpuIndex<T>::each_part(const SparseLayout& layout, ProgressMeter& progress, Work work) const {
  if (!blocks_.empty()) return work(blocks_);
  const std::int64_t blocks = (base_.rows + layout.block_rows - 1) / layout.block_rows;
  for (std::int64_t first = 0; first < blocks; first += layout.part_blocks)
    work(make_blocks(first, std::min(layout.part_blocks, blocks - first), layout.block_rows, layout.threads, progress));
}

template <SparseElement T>
CsrRows<T> SparseCpuIndex<T>::prepared_queries(const CsrView<T>* queries, ProgressMeter& progress) const {
  if (queries == nullptr) return {};
  return prepare_csr(*queries, {"query", options_.metric, options_.check_finite, most_threads(options_)}, progress);
}

template <SparseElement T>
SparseLayout SparseCpuIndex<T>::layout(const CsrRows<T>& queries, std::int64_t k, SparseReport& report) const {
  const double pairs = static_cast<double>(queries.rows) * static_cast<double>(base_.rows);
  const double per_column =
      static_cast<double>(base_.entries(0, base_.rows)) / static_cast<double>(std::max<std::int64_t>(base_.cols, 1));
  const double sums = static_cast<double>(queries.entries(0, queries.rows)) * per_column;
  const int threads = threads_for(options_.threads, pairs * kPairSeconds + sums * 1e-9);
  const bool is_base = &queries == &base_;
  const SparseLayout made =
      layout_of(budget(), !blocks_.empty(), k, queries.rows, is_base ? 0 : queries.bytes(), threads);
  const std::int64_t blocks = (base_.rows + made.block_rows - 1) / made.block_rows;
  report.threads = made.threads;
  report.base_parts = (blocks + made.part_blocks - 1) / made.part_blocks;
  report.block_rows = made.block_rows;
  report.query_block = made.query_block;
  report.workspace_bytes = made.bytes;
  report.budget_bytes = budget_bytes_;
  return made;
}

template <SparseElement T>
void SparseCpuIndex<T>::search(const CsrView<T>* queries, std::int64_t k, const NeighborsView<T>& out,
                               SparseReport& report) const {
  ProgressMeter progress(options_.progress, (queries != nullptr ? queries->rows : base_.rows) * base_.rows);
  const CsrRows<T> own = prepared_queries(queries, progress);
  const CsrRows<T>& asked = queries != nullptr ? own : base_;
  const SparseLayout cut = layout(asked, k + (queries == nullptr ? 1 : 0), report);
  NearestSparse<T> nearest({base_, asked, options_.metric, scale_, queries == nullptr}, cut, k, options_.max_distance,
                           out);
  each_part(cut, progress, [&](const Blocks& blocks) { nearest.add(blocks, progress); });
  nearest.finish();
  progress.finish();
  report.finalists = nearest.finalists();
}

template <SparseElement T>
void SparseCpuIndex<T>::search_radius(const CsrView<T>* queries, const core::RadiusQuery<T>& query,
                                      const RadiusLists<T>& out, SparseReport& report) const {
  ProgressMeter progress(options_.progress, (queries != nullptr ? queries->rows : base_.rows) * base_.rows);
  const CsrRows<T> own = prepared_queries(queries, progress);
  const CsrRows<T>& asked = queries != nullptr ? own : base_;
  const SparseLayout cut = layout(asked, 0, report);
  WithinSparse<T> within({base_, asked, options_.metric, scale_, queries == nullptr}, cut, query);
  each_part(cut, progress, [&](const Blocks& blocks) { within.add(blocks, progress); });
  within.finish(out);
  progress.finish();
  report.finalists = within.finalists();
}

template <SparseElement T>
std::unique_ptr<backend::SparseSearcher<T>> make_sparse_index(const CsrView<T>& base, const SparseOptions& options) {
  return std::make_unique<SparseCpuIndex<T>>(base, options);
}

#define KITH_INSTANTIATE(T)         \
  template class SparseCpuIndex<T>; \
  template std::unique_ptr<backend::SparseSearcher<T>> make_sparse_index(const CsrView<T>&, const SparseOptions&);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
