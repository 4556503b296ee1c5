#include "kith/cuda.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/devices.hpp"
#include "api/guard.hpp"
#include "api/reduction.hpp"
#include "api/validate.hpp"
#include "plan/choose.hpp"

namespace kith::cuda {
namespace {

// The same, for the only backend that there is here.
template <class AnyOptions>
AnyOptions checked(AnyOptions options) {
  if (options.backend != Backend::automatic && options.backend != Backend::cuda)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("backend {} for values on a CUDA device", to_string(options.backend)));
  options.backend = Backend::cuda;
  api::check_options(options);
  return options;
}

template <class T>
void checked_topk(const DeviceTopk<T>& work, const TopkOptions& asked_options, void* stream) {
  const TopkOptions options = checked(asked_options);
  api::check_view(MatrixView<T>(work.values, work.rows, work.cols, work.row_stride, 1), "the matrix");
  api::check_device_row(work.cols);
  api::check_k(work.k, work.cols, "the number of columns is");
  const bool ids = options.output == TopkOutput::sorted || options.output == TopkOutput::unsorted;
  if (work.values_out == nullptr || (ids && work.ids_out == nullptr))
    throw Error(ErrorCode::invalid_argument, "values and ids must point to rows × k elements (null pointer)");
  DeviceTopk<T> asked = work;
  if (!ids) asked.ids_out = nullptr;
  api::guarded([&] { api::enqueue_cuda_topk(asked, options, stream); });
}

// A single row may have any stride.
template <class T>
MatrixView<T> checked_points(const T* data, std::int64_t rows, std::int64_t dims, std::int64_t row_stride,
                             const char* role) {
  const MatrixView<T> points(data, rows, dims, rows == 1 ? dims : row_stride, 1);
  api::check_view(points, role);
  if (points.row_stride < dims)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has rows of {} values {} apart; on a device they may not overlap", role, dims,
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
  ReduceBatch batch{std::clamp<std::int64_t>(api::kBatchNeighbors / k, 1, rows), options};
  if (options.memory_budget == 0) return batch;
  const std::int64_t list_bytes = k * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int64_t));
  batch.queries = std::clamp<std::int64_t>(options.memory_budget / 4 / list_bytes, 1, batch.queries);
  batch.options.memory_budget = std::max<std::int64_t>(1, options.memory_budget - batch.queries * list_bytes);
  return batch;
}

// Not a part of the class, whose inner types would be exported with it.
template <class T>
plan::DataSamples samples_of(const PointerIndex<T>& index, const MatrixView<T>& queries, void* stream) {
  return {[&index, queries, stream](const Plan& plan) {
            return plan::SurvivingFractions{index.surviving_fraction(queries, plan, stream), 1};
          },
          [&index, queries, stream](const Plan& plan) { return index.holds(queries, plan, stream); },
          {}};
}

}  // namespace

template <class T>
struct Index<T>::State {
  MatrixView<T> base;
  Options options;
  core::DeviceFacts facts;  // as they were before the index took its part
  std::unique_ptr<PointerIndex<T>> index;
};

template <class T>
Index<T>::Index(const T* device_points, std::int64_t rows, std::int64_t dims, std::int64_t row_stride, Options options,
                void* stream) {
  options = checked(std::move(options));
  const MatrixView<T> base = checked_points(device_points, rows, dims, row_stride, "base");
  api::check_dims(dims);
  state_ = api::guarded([&] {
    const core::DeviceFacts facts = api::device_facts(Backend::cuda);
    auto index = api::make_cuda_pointer_index(base, options, stream);
    return std::make_unique<State>(State{base, std::move(options), facts, std::move(index)});
  });
}

template <class T>
Index<T>::Index(Index&&) noexcept = default;
template <class T>
Index<T>& Index<T>::operator=(Index&&) noexcept = default;
template <class T>
Index<T>::~Index() = default;

template <class T>
std::int64_t Index<T>::rows() const {
  return state_->base.rows;
}

template <class T>
std::int64_t Index<T>::dims() const {
  return state_->base.cols;
}

template <class T>
const Options& Index<T>::options() const {
  return state_->options;
}

template <class T>
SearchReport Index<T>::search(const T* device_queries, std::int64_t rows, std::int64_t row_stride, std::int64_t k,
                              T* device_distances_out, std::int64_t* device_ids_out, void* stream) const {
  const auto start = std::chrono::steady_clock::now();
  const MatrixView<T> queries = checked_points(device_queries, rows, dims(), row_stride, "queries");
  api::check_search(state_->base, queries, k);
  if (device_distances_out == nullptr || device_ids_out == nullptr)
    throw Error(ErrorCode::invalid_argument, "distances and ids must point to queries × k elements (null pointer)");
  return api::guarded([&] {
    SearchReport report;
    const Problem problem{state_->base.rows, rows, dims(), k, dtype_of<T>()};
    report.plan = plan::choose(problem, options(), state_->facts, {}, samples_of(*state_->index, queries, stream));
    state_->index->search(queries, report.plan, device_distances_out, device_ids_out, stream, report);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

template <class T>
SearchReport Index<T>::reduce(const T* device_queries, std::int64_t rows, std::int64_t row_stride, std::int64_t k,
                              ReduceOp op, const T* device_values, std::int64_t value_columns,
                              std::int64_t value_stride, T* device_out, void* stream) const {
  const auto start = std::chrono::steady_clock::now();
  const MatrixView<T>& base = state_->base;
  const MatrixView<T> queries = checked_points(device_queries, rows, dims(), row_stride, "queries");
  api::check_search(base, queries, k);
  MatrixView<T> values;
  if (core::has_values(op)) values = checked_points(device_values, base.rows, value_columns, value_stride, "values");
  const core::Reduction reduction = api::make_reduction(base, k, values, op, options().metric);
  if (device_out == nullptr)
    throw Error(ErrorCode::invalid_argument, "the output must point to a row for each query (null pointer)");
  return api::guarded([&] {
    const auto plan_for = [&](const MatrixView<T>& some, const Options& with) {
      const Problem problem{base.rows, some.rows, dims(), k, dtype_of<T>()};
      return plan::choose(problem, with, state_->facts, {}, samples_of(*state_->index, some, stream));
    };
    ReduceBatch batch{rows, options()};
    if (options().method != Method::shifted_sort || !reduces_in_search(plan_for(queries, options())))
      batch = reduce_batch<T>(options(), rows, k);
    SearchReport report;
    for (std::int64_t first = 0; first < rows; first += batch.queries) {
      const MatrixView<T> some = queries.rows_from(first, std::min(batch.queries, rows - first));
      report = SearchReport();
      report.plan = plan_for(some, batch.options);
      state_->index->reduce(some, report.plan, reduction, values, device_out + first * core::reduced_columns(reduction),
                            stream, report);
    }
    report.plan.problem.queries = rows;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

template class Index<float>;
template class Index<double>;

void topk(const float* device_values, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t k,
          const TopkOptions& options, float* device_values_out, std::int64_t* device_ids_out, void* stream) {
  checked_topk<float>({device_values, rows, cols, row_stride, k, device_values_out, device_ids_out}, options, stream);
}

void topk(const double* device_values, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t k,
          const TopkOptions& options, double* device_values_out, std::int64_t* device_ids_out, void* stream) {
  checked_topk<double>({device_values, rows, cols, row_stride, k, device_values_out, device_ids_out}, options, stream);
}

}  // namespace kith::cuda
