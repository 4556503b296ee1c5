// topk.cpp: threshold filtering of rows, in chunks that stay in the cache.
// Values become keys, negated for `largest`; keys not above the k-th so far are kept. A row is cut into parts if there
// are fewer rows than threads. Ties go to the smaller column.
#include "cpu/topk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/instantiate.hpp"
#include "core/order.hpp"
#include "cpu/facts.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "cpu/row_selection.hpp"
#include "kith/error.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kChunk = 4096;

// Keys of columns [first, first + count) of a row, without a copy if the values are contiguous and not negated.
template <class T, class F = DistanceOf<T>>
const F* keys_of(const MatrixView<T>& matrix, std::int64_t row, std::int64_t first, std::int64_t count, bool largest,
                 F* scratch) {
  const T* from = matrix.row(row) + first * matrix.col_stride;
  if constexpr (std::is_same_v<T, F>) {
    if (matrix.col_stride == 1 && !largest) return from;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const F value = static_cast<F>(from[i * matrix.col_stride]);
    scratch[i] = largest ? -value : value;
  }
  return scratch;
}

template <class T, class F = DistanceOf<T>>
std::vector<core::Hit<F>> select_part(const MatrixView<T>& matrix, std::int64_t row, std::int64_t first,
                                      std::int64_t last, std::int64_t k, const TopkOptions& options) {
  std::vector<F> scratch(kChunk);
  if (options.method == SelectMethod::sort) {
    std::vector<core::Hit<F>> all;
    all.reserve(static_cast<std::size_t>(last - first));
    for (std::int64_t c = first; c < last; ++c)
      all.push_back({*keys_of(matrix, row, c, 1, options.largest, scratch.data()), c});
    return best(std::move(all), k);
  }
  RowSelection<F> selection(first, last - first, k);
  for (std::int64_t c = first; c < last; c += kChunk) {
    const std::int64_t count = std::min(kChunk, last - c);
    selection.add(keys_of(matrix, row, c, count, options.largest, scratch.data()), count, c);
  }
  return selection.finish();
}

// Writes the values as they are in the matrix, with their −0 and NaN.
template <class T, class F>
void write_row(const MatrixView<T>& matrix, std::int64_t row, const std::vector<core::Hit<F>>& hits,
               const TopkView<T>& out, TopkOutput output) {
  if (output == TopkOutput::kth_only) {
    out.values[row] = matrix(row, hits.back().id);
    return;
  }
  const bool ids = output == TopkOutput::sorted || output == TopkOutput::unsorted;
  const std::int64_t first = row * static_cast<std::int64_t>(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    out.values[first + static_cast<std::int64_t>(i)] = matrix(row, hits[i].id);
    if (ids) out.ids[first + static_cast<std::int64_t>(i)] = hits[i].id;
  }
}

// Bytes one thread needs while it works on a row of `cols` values of F.
template <class F>
std::int64_t row_workspace(std::int64_t cols, std::int64_t k, const TopkOptions& options) {
  constexpr auto kHit = static_cast<std::int64_t>(sizeof(core::Hit<F>));
  const std::int64_t chunk = kChunk * static_cast<std::int64_t>(sizeof(F));
  if (options.method == SelectMethod::sort) return chunk + cols * (kHit + 8);
  return chunk + buffer_capacity(cols, k) * 2 * static_cast<std::int64_t>(sizeof(F)) + k * (kHit + 8);
}

// As many threads as were asked for, or as the work is worth, and the budget has room for.
template <class F>
int affordable_threads(std::int64_t rows, std::int64_t cols, std::int64_t k, const TopkOptions& options) {
  constexpr double kValueSeconds = 3e-10;
  const double seconds = static_cast<double>(rows) * static_cast<double>(cols) * kValueSeconds;
  const int threads = threads_for(options.threads, seconds);
  if (options.memory_budget == 0) return threads;
  const std::int64_t each = row_workspace<F>(cols, k, options);
  if (each > options.memory_budget)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a memory budget of {} bytes is too small: k = {} of {} columns needs at least {} bytes",
                            options.memory_budget, k, cols, each));
  return static_cast<int>(std::min<std::int64_t>(threads, options.memory_budget / each));
}

}  // namespace

template <Element T>
void topk(const MatrixView<T>& matrix, std::int64_t k, const TopkOptions& options, const TopkView<T>& out,
          void* /*stream*/) {
  using F = DistanceOf<T>;
  const int threads = affordable_threads<F>(matrix.rows, matrix.cols, k, options);
  constexpr std::int64_t kSmallestPart = 1 << 16;
  constexpr std::int64_t kLargestPart = std::int64_t{1} << 31;  // offsets are 32 bits wide
  const std::int64_t spread = matrix.rows >= threads ? 1 : (threads + matrix.rows - 1) / matrix.rows;
  const std::int64_t parts = std::max(std::min(spread, (matrix.cols + kSmallestPart - 1) / kSmallestPart),
                                      (matrix.cols + kLargestPart - 1) / kLargestPart);
  const std::int64_t part_cols = (matrix.cols + parts - 1) / parts;
  ProgressMeter progress(options.progress, matrix.rows * matrix.cols);
  std::vector<std::vector<core::Hit<F>>> partial(static_cast<std::size_t>(parts > 1 ? parts * matrix.rows : 0));
  parallel_for(threads, parts * matrix.rows, [&](std::int64_t index, int worker) {
    const std::int64_t row = index / parts;
    const std::int64_t first = index % parts * part_cols;
    const std::int64_t last = std::min(matrix.cols, first + part_cols);
    if (first < last) {
      auto hits = select_part(matrix, row, first, last, k, options);
      if (parts == 1) {
        write_row(matrix, row, hits, out, options.output);
      } else {
        partial[static_cast<std::size_t>(index)] = std::move(hits);
      }
    }
    progress.add(std::max<std::int64_t>(0, last - first), worker);
  });
  for (std::int64_t row = 0; parts > 1 && row < matrix.rows; ++row) {
    std::vector<core::Hit<F>> all;
    for (std::int64_t part = 0; part < parts; ++part) {
      const auto& hits = partial[static_cast<std::size_t>(row * parts + part)];
      all.insert(all.end(), hits.begin(), hits.end());
    }
    write_row(matrix, row, best(std::move(all), k), out, options.output);
  }
  progress.finish();
}

#define KITH_INSTANTIATE(T) \
  template void topk(const MatrixView<T>&, std::int64_t, const TopkOptions&, const TopkView<T>&, void*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
