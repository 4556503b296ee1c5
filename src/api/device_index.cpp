#include "api/device_index.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/devices.hpp"
#include "api/guard.hpp"
#include "api/reduction.hpp"
#include "api/validate.hpp"
#include "plan/choose.hpp"

namespace kith::api {
namespace {

// The same, for the only backend that there is here.
template <class AnyOptions>
AnyOptions checked(AnyOptions options) {
  if (options.backend != Backend::automatic && options.backend != Backend::cuda)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("backend {} for values on a CUDA device", to_string(options.backend)));
  options.backend = Backend::cuda;
  check_options(options);
  return options;
}

template <class T>
void checked_topk(const DeviceTopk<T>& work, const TopkOptions& asked_options, void* stream) {
  const TopkOptions options = checked(asked_options);
  check_view(MatrixView<T>(work.values, work.rows, work.cols, work.row_stride, 1), "the matrix");
  check_device_row(work.cols);
  check_k(work.k, work.cols, "the number of columns is");
  const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
  if (work.values_out == nullptr || (ids && work.ids_out == nullptr))
    throw Error(ErrorCode::invalid_argument, "values and ids must point to rows × k elements (null pointer)");
  DeviceTopk<T> asked = work;
  if (!ids) asked.ids_out = nullptr;
  guarded([&] { enqueue_cuda_topk(asked, options, stream); });
}

// A single row may have any stride.
template <class T>
MatrixView<T> checked_points(MatrixView<T> points, const char* role) {
  if (points.rows == 1) points.row_stride = points.cols;
  check_view(points, role);
  if (points.memory != Memory::device) throw Error(ErrorCode::internal, "host memory here is not there yet");
  if (points.row_stride < points.cols || points.col_stride != 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has rows of {} values {} apart; on a device they may not overlap", role, points.cols,
                            points.row_stride));
  return points;
}

// Queries whose neighbors are in memory at a time, and the options of their search, whose budget is less by that.
struct ReduceBatch {
  std::int64_t queries;
  Options options;
};

template <class T>
ReduceBatch reduce_batch(const Options& options, std::int64_t rows, std::int64_t k) {
  ReduceBatch batch{std::clamp<std::int64_t>(kBatchNeighbors / k, 1, rows), options};
  if (options.memory_budget == 0) return batch;
  const std::int64_t list_bytes = k * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int64_t));
  batch.queries = std::clamp<std::int64_t>(options.memory_budget / 4 / list_bytes, 1, batch.queries);
  batch.options.memory_budget = std::max<std::int64_t>(1, options.memory_budget - batch.queries * list_bytes);
  return batch;
}

template <class T>
plan::DataSamples samples_of(const PointerIndex<T>& index, const MatrixView<T>& queries, void* stream) {
  return {[&index, queries, stream](const Plan& plan) {
            return plan::SurvivingFractions{index.surviving_fraction(queries, plan, stream), 1};
          },
          [&index, queries, stream](const Plan& plan) { return index.holds(queries, plan, stream); },
          {}};
}

}  // namespace

template <Element T>
OnDevice<T>::OnDevice(const MatrixView<T>& base, Options options, void* stream)
    : base_(checked_points(base, "base")), options_(checked(std::move(options))) {
  check_dims(base.cols);
  facts_ = device_facts(Backend::cuda);
  if constexpr (std::is_same_v<T, D>) {
    index_ = make_cuda_pointer_index(base_, options_, stream);
  } else {
    throw Error(ErrorCode::internal, "bytes on a device are not there yet");
  }
}

template <Element T>
SearchReport OnDevice<T>::search(const MatrixView<T>& given, std::int64_t k, const NeighborsView<D>& out,
                                 void* stream) const {
  SearchReport report;
  if constexpr (std::is_same_v<T, D>) {
    const auto start = std::chrono::steady_clock::now();
    const MatrixView<T> queries = checked_points(given, "queries");
    check_search(base_, queries, k);
    check_outputs(out.ids, out.distances);
    if (out.memory != Memory::device) throw Error(ErrorCode::internal, "host memory here is not there yet");
    const Problem problem{base_.rows, queries.rows, base_.cols, k, dtype_of<T>()};
    report.plan = plan::choose(problem, options_, facts_, {}, samples_of(*index_, queries, stream));
    index_->search(queries, report.plan, out.distances, out.ids, stream, report);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return report;
}

template <Element T>
SearchReport OnDevice<T>::reduce(const MatrixView<T>& given, std::int64_t k, const MatrixView<D>& given_values,
                                 ReduceOp op, D* out, void* stream) const {
  SearchReport report;
  if constexpr (std::is_same_v<T, D>) {
    const auto start = std::chrono::steady_clock::now();
    const MatrixView<T> queries = checked_points(given, "queries");
    check_search(base_, queries, k);
    MatrixView<D> values;
    if (core::has_values(op)) values = checked_points(given_values, "values");
    const core::Reduction reduction = make_reduction(base_, k, values, op, options_.metric);
    if (out == nullptr)
      throw Error(ErrorCode::invalid_argument, "the output must point to a row for each query (null pointer)");
    const auto plan_for = [&](const MatrixView<T>& some, const Options& with) {
      const Problem problem{base_.rows, some.rows, base_.cols, k, dtype_of<T>()};
      return plan::choose(problem, with, facts_, {}, samples_of(*index_, some, stream));
    };
    ReduceBatch batch{queries.rows, options_};
    if (options_.method != Method::shifted_sort || !reduces_in_search(plan_for(queries, options_)))
      batch = reduce_batch<T>(options_, queries.rows, k);
    for (std::int64_t first = 0; first < queries.rows; first += batch.queries) {
      const MatrixView<T> some = queries.rows_from(first, std::min(batch.queries, queries.rows - first));
      report = SearchReport();
      report.plan = plan_for(some, batch.options);
      index_->reduce(some, report.plan, reduction, values, out + first * core::reduced_columns(reduction), stream,
                     report);
    }
    report.plan.problem.queries = queries.rows;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return report;
}

template <Element T>
void device_topk_into(const MatrixView<T>& matrix, std::int64_t k, const TopkView<T>& out, const TopkOptions& options,
                      void* stream) {
  if constexpr (std::is_same_v<T, DistanceOf<T>>) {
    checked_topk<T>({matrix.data, matrix.rows, matrix.cols, matrix.row_stride, k, out.values, out.ids}, options,
                    stream);
  } else {
    throw Error(ErrorCode::internal, "bytes on a device are not there yet");
  }
}

#define KITH_INSTANTIATE(T)   \
  template class OnDevice<T>; \
  template void device_topk_into(const MatrixView<T>&, std::int64_t, const TopkView<T>&, const TopkOptions&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith::api
