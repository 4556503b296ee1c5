// distance_matrix.cpp: one task per block of queries and chunk of the base, by the exact key's formula.
#include "cpu/distance_matrix.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/instantiate.hpp"
#include "cpu/finish_keys.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"

namespace kith::cpu {
namespace {

constexpr std::int64_t kMatrixQueries = 48;  // for each packing of a chunk
constexpr std::int64_t kMostRows = 512;
constexpr std::int64_t kChunkBytes = 32 << 10;  // of a chunk in double, which stays in the cache

// Buffers that a thread keeps from task to task.
struct MatrixWorkspace {
  std::vector<double> query_rows;
  std::vector<double> base_rows;
  std::vector<double> panels;
  std::vector<double> raw;
  std::vector<std::int64_t> ids;
};

// Rows in double minus their means.
template <Element T>
Rows<double> exact_rows(const PreparedRows<T>& rows, std::int64_t first, std::int64_t count, std::vector<double>& to) {
  const std::int64_t dims = rows.view.cols;
  if (to.size() < static_cast<std::size_t>(count * dims)) to.resize(static_cast<std::size_t>(count * dims));
  for (std::int64_t r = 0; r < count; ++r) exact_query(rows, first + r, to.data() + r * dims);
  return {to.data(), count, dims};
}

template <Element T>
class MatrixTask {
 public:
  using F = DistanceOf<T>;

  MatrixTask(const PreparedRows<T>& base, const PreparedRows<T>& queries, MatrixWorkspace& workspace, F* out)
      : base_(base),
        queries_(queries),
        metric_(base.metric),
        form_(core::form_of(base.metric)),
        workspace_(workspace),
        out_(out) {}

  void run(std::int64_t first_query, std::int64_t query_count, std::int64_t first_row, std::int64_t row_count) const {
    const Rows<double> rows = exact_rows(queries_, first_query, query_count, workspace_.query_rows);
    const std::int64_t stride = padded(row_count);
    workspace_.raw.resize(std::max(workspace_.raw.size(), static_cast<std::size_t>(query_count * stride)));
    if (form_ == core::Form::power) {
      sum_listed(rows, first_row, row_count, stride);
    } else {
      sum_panels(rows, first_row, row_count, stride);
    }
    for (std::int64_t q = 0; q < query_count; ++q)
      write(first_query + q, first_row, row_count, workspace_.raw.data() + q * stride);
  }

 private:
  std::int64_t dims() const { return base_.view.cols; }

  void sum_panels(Rows<double> rows, std::int64_t first, std::int64_t count, std::int64_t stride) const {
    const Rows<double> points = exact_rows(base_, first, count, workspace_.base_rows);
    workspace_.panels.resize(std::max(workspace_.panels.size(), static_cast<std::size_t>(stride * dims())));
    pack_panels(points, dims(), workspace_.panels.data());
    exact_panel_sums(form_, rows, workspace_.panels.data(), count, dims(), workspace_.raw.data(), stride);
  }

  void sum_listed(Rows<double> rows, std::int64_t first, std::int64_t count, std::int64_t stride) const {
    workspace_.ids.resize(static_cast<std::size_t>(count));
    std::iota(workspace_.ids.begin(), workspace_.ids.end(), first);
    for (std::int64_t q = 0; q < rows.count; ++q)
      exact_sums(form_, metric_.p, rows.data + q * rows.stride, base_.exact_base(), workspace_.ids.data(), count,
                 workspace_.raw.data() + q * stride);
  }

  // Takes the last step of the metric for one query.
  void write(std::int64_t query, std::int64_t first, std::int64_t count, double* raw) const {
    F* to = out_ + query * base_.view.rows + first;
    if (core::has_directions(metric_)) {
      finish_angles(base_.square_norms.data() + first, queries_.facts(query).square_norm, count, raw);
      return round_sums(raw, count, false, to);
    }
    finish_keys(
        base_, queries_.facts(query), [=](std::int64_t j) { return first + j; }, count, raw, to);
    if (metric_.kind == MetricKind::inner_product)
      std::transform(to, to + count, to, [&](F key) { return core::returned_value(metric_, key); });
  }

  const PreparedRows<T>& base_;
  const PreparedRows<T>& queries_;
  const Metric& metric_;
  core::Form form_;
  MatrixWorkspace& workspace_;
  F* out_;
};

}  // namespace

template <Element T>
void distance_matrix(const PreparedRows<T>& base, const PreparedRows<T>& queries, int threads,
                     const ProgressCallback& callback, DistanceOf<T>* out) {
  const std::int64_t rows = base.view.rows;
  const std::int64_t fitting = kChunkBytes / (base.view.cols * static_cast<std::int64_t>(sizeof(double)));
  const std::int64_t chunk = std::clamp(fitting / kSlack * kSlack, kSlack, kMostRows);
  const std::int64_t chunks = (rows + chunk - 1) / chunk;
  const std::int64_t blocks = (queries.view.rows + kMatrixQueries - 1) / kMatrixQueries;
  ProgressMeter progress(callback, queries.view.rows * rows);
  std::vector<MatrixWorkspace> workspaces(static_cast<std::size_t>(threads));
  // Chunks run fastest: the output is written in long pieces.
  parallel_for(threads, chunks * blocks, [&](std::int64_t index, int worker) {
    const std::int64_t first_query = index / chunks * kMatrixQueries;
    const std::int64_t query_count = std::min(kMatrixQueries, queries.view.rows - first_query);
    const std::int64_t first = index % chunks * chunk;
    const std::int64_t count = std::min(chunk, rows - first);
    MatrixTask<T>(base, queries, workspaces[static_cast<std::size_t>(worker)], out)
        .run(first_query, query_count, first, count);
    progress.add(query_count * count, worker);
  });
  progress.finish();
}

#define KITH_INSTANTIATE(T)                                                                                   \
  template void distance_matrix(const PreparedRows<T>&, const PreparedRows<T>&, int, const ProgressCallback&, \
                                DistanceOf<T>*);
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith::cpu
