// Reductions over neighbors: in the search itself where the method can, else batch after batch of neighbors.
#include "kith/reduce.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "api/guard.hpp"
#include "api/reduction.hpp"
#include "api/searcher.hpp"
#include "api/validate.hpp"
#include "backend/machine.hpp"
#include "core/names.hpp"
#include "cpu/parallel.hpp"
#include "kith/index.hpp"

namespace kith {
namespace {

constexpr std::array<core::Name<ReduceOp>, 8> kReduceOps{{
    {"mean", ReduceOp::mean},
    {"weighted-mean", ReduceOp::weighted_mean},
    {"sum", ReduceOp::sum},
    {"min", ReduceOp::min},
    {"max", ReduceOp::max},
    {"kth-distance", ReduceOp::kth_distance},
    {"density", ReduceOp::density},
    {"covariance", ReduceOp::covariance},
}};

constexpr std::int64_t kReduceRows = 256;  // rows that a thread takes at a time

// The neighbors of a query as reduce_neighbors() wants them.
template <Element T>
struct NearRow {
  const MatrixView<T>& base;
  const MatrixView<DistanceOf<T>>& values;
  const std::int64_t* ids;
  const DistanceOf<T>* distances;

  double distance(std::int64_t r) const { return static_cast<double>(distances[r]); }
  double value(std::int64_t r, std::int64_t c) const { return static_cast<double>(values(ids[r], c)); }
  double coordinate(std::int64_t r, std::int64_t c) const { return static_cast<double>(base(ids[r], c)); }
};

template <Element T>
class BatchReducer {
  using D = DistanceOf<T>;

 public:
  BatchReducer(MatrixView<T> base, MatrixView<D> values, core::Reduction reduction, int threads)
      : base_(base), values_(values), reduction_(reduction), threads_(threads) {}

  // Rows of `out` for as many queries.
  void reduce(const std::int64_t* ids, const D* distances, std::int64_t queries, D* out) const {
    const std::int64_t columns = core::reduced_columns(reduction_);
    cpu::parallel_for(threads_, (queries + kReduceRows - 1) / kReduceRows, [&](std::int64_t chunk, int) {
      const std::int64_t last = std::min(queries, (chunk + 1) * kReduceRows);
      for (std::int64_t q = chunk * kReduceRows; q < last; ++q) {
        const NearRow<T> near{base_, values_, ids + q * reduction_.k, distances + q * reduction_.k};
        core::reduce_neighbors<core::HostLanes>(
            reduction_, near, [&](std::int64_t c, double value) { out[q * columns + c] = static_cast<D>(value); });
      }
    });
  }

 private:
  MatrixView<T> base_;
  MatrixView<D> values_;
  core::Reduction reduction_;
  int threads_;
};

template <Element T>
SearchReport reduce_batches(const api::Searcher<T>& searcher, const BatchReducer<T>& reducer, MatrixView<T> queries,
                            std::int64_t k, std::int64_t columns, DistanceOf<T>* out) {
  const std::int64_t batch = std::clamp<std::int64_t>(api::kBatchNeighbors / k, 1, queries.rows);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(batch * k));
  std::vector<DistanceOf<T>> distances(ids.size());
  SearchReport report;
  for (std::int64_t first = 0; first < queries.rows; first += batch) {
    const std::int64_t now = std::min(batch, queries.rows - first);
    report = searcher.run(queries.rows_from(first, now), k, ids.data(), distances.data());
    reducer.reduce(ids.data(), distances.data(), now, out + first * columns);
  }
  return report;
}

}  // namespace

const char* to_string(ReduceOp op) noexcept {
  return core::name_of(kReduceOps, op);
}

ReduceOp parse_reduce_op(std::string_view name) {
  return core::parse_name(kReduceOps, "operation", name);
}

std::vector<std::string> reduce_op_names() {
  std::vector<std::string> names;
  for (const auto& entry : kReduceOps) names.emplace_back(entry.first);
  return names;
}

bool uses_values(ReduceOp op) noexcept {
  return core::has_values(op);
}

std::int64_t reduced_columns(ReduceOp op, std::int64_t value_columns, std::int64_t dims) noexcept {
  return core::reduced_columns({.op = op, .dims = dims, .columns = value_columns});
}

template <Element T>
Reduced<DistanceOf<T>> reduce(MatrixView<T> base, MatrixView<T> queries, std::int64_t k,
                              MatrixView<DistanceOf<T>> values, ReduceOp op, const Options& options, void* stream) {
  if (base.memory == Memory::device || queries.memory == Memory::device || values.memory == Memory::device)
    return Index<T>(base, options, stream).reduce(queries, k, values, op, stream);
  api::check_view(base, "base");
  api::check_search(base, queries, k);
  Options resolved = options;
  resolved.backend = api::check_options(options);
  const core::Reduction reduction = api::make_reduction(base, k, values, op, options.metric);
  const std::int64_t columns = core::reduced_columns(reduction);
  return api::guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    api::check_output(queries.rows, columns, sizeof(DistanceOf<T>));
    const api::Searcher<T> searcher(base, resolved, queries.rows, k);
    Reduced<DistanceOf<T>> reduced;
    reduced.values = Matrix<DistanceOf<T>>(queries.rows, columns);
    if (searcher.reduces(queries.rows, k)) {
      reduced.report = searcher.reduce(queries, k, reduction, values, reduced.values.data());
    } else {
      const int threads = options.threads > 0 ? options.threads : backend::available_threads();
      const BatchReducer<T> reducer(base, values, reduction, threads);
      reduced.report = reduce_batches(searcher, reducer, queries, k, columns, reduced.values.data());
    }
    reduced.report.plan.problem.queries = queries.rows;
    reduced.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return reduced;
  });
}

#define KITH_INSTANTIATE(T)                                                                   \
  template KITH_API Reduced<DistanceOf<T>> reduce(MatrixView<T>, MatrixView<T>, std::int64_t, \
                                                  MatrixView<DistanceOf<T>>, ReduceOp, const Options&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
