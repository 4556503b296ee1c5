// Search of points that lie on the device. The base is used where it lies, and so are queries that are packed; others
// are copied once, since those that fail a pass are gathered from packed rows.
#include "backend/contract.hpp"
#include "cuda/brute/brute_work.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/points/check_points.hpp"
#include "cuda/points/integer_range.hpp"
#include "cuda/reduce/reduction.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/shifted_sort/cached_orders.hpp"
#include "cuda/triangle/cached_clusters.hpp"

namespace kith::KITH_BACKEND {
namespace {

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

bool needs_bias(const Metric& metric) {
  return core::form_of(metric) == core::Form::squared;
}

// Points that are ready once the stream is.
template <class F>
PointStore<F> store_of(const MatrixView<F>& points, const Metric& metric, bool bias, bool borrow, cudaStream_t stream) {
  if (borrow) {
    PointStore<F> store({points.data, points.rows, points.row_stride}, points.cols, metric, bias, stream);
    store.prepare(points.rows);
    return store;
  }
  PointStore<F> store(points.rows, points.cols, metric, bias, stream);
  const std::size_t width = size(points.cols) * sizeof(F);
  KITH_CUDA(cudaMemcpy2DAsync(store.rows(), width, points.data, size(points.row_stride) * sizeof(F), width,
                              size(points.rows), cudaMemcpyDeviceToDevice, stream));
  store.prepare(points.rows);
  return store;
}

template <class F>
class LyingIndex final : public PointerIndex<F> {
 public:
  // What belongs to the index belongs to a stream of its own: the caller's may be gone before.
  LyingIndex(const MatrixView<F>& base, const Metric& metric, bool check_finite, cudaStream_t stream)
      : metric_(metric), check_finite_(check_finite), base_(make_base(base, metric, stream, own_)) {
    PointCheck<F>(base_, metric, check_finite, own_).refuse_faults("base");
    integer_range_ = integer_range(base_.exact(0, base_.count()).rows, base_.dims(), own_);
  }

  void search(const MatrixView<F>& queries, const Plan& plan, F* distances, std::int64_t* ids, void* caller_stream,
              SearchReport& report) const override {
    auto* stream = static_cast<cudaStream_t>(caller_stream);
    if (plan.method == Method::triangle) return search_triangle(queries, plan, distances, ids, stream, report);
    if (plan.method == Method::shifted_sort) return search_shifted(queries, plan, distances, ids, stream);
    const PointStore<F> points = store_of(queries, metric_, needs_bias(metric_) && plan.distance != "exact",
                                          queries.row_stride == queries.cols, stream);
    const brute::BruteWork work = brute::brute_work_of(
        plan, common_range(integer_range_, points.exact(0, queries.rows).rows, points.dims(), stream), history_);
    const std::int64_t count = queries.rows * work.k;
    // Beside the search, on a stream of its own: the host waits for the check and for nothing else.
    Event ready;
    ready.record(stream);
    ready.wait_on(own_);
    const PointCheck<F> check(points, metric_, check_finite_, own_);
    DeviceBuffer<F> keys(size(count), stream);
    DeviceBuffer<unsigned> found(size(count), stream);
    Workspace workspace(stream, size(plan.workspace_bytes));
    ResidentBase<F> base(base_, fp16_);
    const auto done = brute::brute_search(work, points, base, keys.data(), found.data(), workspace, [] {});
    check.refuse_faults("query");
    brute::return_answer(metric_, keys.data(), found.data(), count, distances, ids, stream);
    brute::add_steps(work, done, report);
  }

  void reduce(const MatrixView<F>& queries, const Plan& plan, const core::Reduction& what, const MatrixView<F>& values,
              F* out, void* caller_stream, SearchReport& report) const override {
    auto* stream = static_cast<cudaStream_t>(caller_stream);
    const reduce::NeighborReduction<F> reduction{what, {values.data, values.rows, values.row_stride}, out};
    if (reduces_in_search(plan)) {
      Workspace workspace(stream, size(plan.workspace_bytes));
      return with_checked(queries, stream, [&](const PointStore<F>& points) {
        curve_.reduce(plan, points, base_, reduction, workspace, [](std::int64_t) {});
      });
    }
    const std::int64_t count = queries.rows * what.k;
    DeviceBuffer<F> distances(size(count), stream);
    DeviceBuffer<std::int64_t> ids(size(count), stream);
    search(queries, plan, distances.data(), ids.data(), caller_stream, report);
    reduce::reduce_lists({distances.data(), ids.data(), queries.rows}, base_.exact(0, base_.count()).rows, reduction,
                         stream);
  }

  double surviving_fraction(const MatrixView<F>& queries, const Plan& plan, void* caller_stream) const override {
    auto* stream = static_cast<cudaStream_t>(caller_stream);
    if (is_base(queries)) return triangle::surviving_fraction_of(plan, base_, base_, stream);
    return triangle::surviving_fraction_of(plan, store_of(brute::some_rows(queries), metric_, false, true, stream),
                                           base_, stream);
  }

  bool holds(const MatrixView<F>& queries, const Plan& plan, void* caller_stream) const override {
    auto* stream = static_cast<cudaStream_t>(caller_stream);
    const PointStore<F> some = store_of(brute::some_rows(queries), metric_, needs_bias(metric_), false, stream);
    Workspace workspace(stream, size(plan.workspace_bytes));
    ResidentBase<F> base(base_, fp16_);
    return brute::first_pass_suffices(brute::brute_work_of(plan, 0, history_), some, base, workspace);
  }

 private:
  void search_triangle(const MatrixView<F>& queries, const Plan& plan, F* distances, std::int64_t* ids,
                       cudaStream_t stream, SearchReport& report) const {
    const std::int64_t count = queries.rows * plan.problem.k;
    DeviceBuffer<F> keys(size(count), stream);
    DeviceBuffer<unsigned> found(size(count), stream);
    Workspace workspace(stream, size(plan.workspace_bytes));
    with_checked(queries, stream, [&](const PointStore<F>& points) {
      triangle_.search(
          plan, points, base_, keys.data(), found.data(), workspace, [](std::int64_t) {}, report);
    });
    brute::return_answer(metric_, keys.data(), found.data(), count, distances, ids, stream);
  }

  void search_shifted(const MatrixView<F>& queries, const Plan& plan, F* distances, std::int64_t* ids,
                      cudaStream_t stream) const {
    Workspace workspace(stream, size(plan.workspace_bytes));
    with_checked(queries, stream, [&](const PointStore<F>& points) {
      curve_.search(plan, points, base_, distances, ids, workspace, [](std::int64_t) {});
    });
  }

  // Calls run(points) with queries that are as they should be: what it enqueues writes the answer.
  template <class Run>
  void with_checked(const MatrixView<F>& queries, cudaStream_t stream, Run run) const {
    if (is_base(queries)) return run(base_);
    const PointStore<F> points = store_of(queries, metric_, false, true, stream);
    PointCheck<F>(points, metric_, check_finite_, stream).refuse_faults("query");
    run(points);
  }

  bool is_base(const MatrixView<F>& queries) const {
    const PointRows<F> base = base_.exact(0, base_.count()).rows;
    return queries.data == base.data && queries.rows == base.count && queries.row_stride == base.stride;
  }

  // The points are there once the caller's stream comes to it.
  static PointStore<F> make_base(const MatrixView<F>& base, const Metric& metric, cudaStream_t stream,
                                 cudaStream_t own) {
    Event there;
    there.record(stream);
    there.wait_on(own);
    return store_of(base, metric, needs_bias(metric), true, own);
  }

  Metric metric_;
  bool check_finite_;
  Stream own_;
  double integer_range_ = 0;  // of the base
  PointStore<F> base_;
  mutable CachedFp16 fp16_;
  mutable brute::PassHistory history_;
  mutable triangle::CachedClusters<F> triangle_;
  mutable shifted_sort::CachedOrders<F> curve_;
};

}  // namespace

template <class F>
std::unique_ptr<PointerIndex<F>> make_pointer_index(const MatrixView<F>& base, const Metric& metric, bool check_finite,
                                                    void* stream) {
  return std::make_unique<LyingIndex<F>>(base, metric, check_finite, static_cast<cudaStream_t>(stream));
}

template std::unique_ptr<PointerIndex<float>> make_pointer_index(const MatrixView<float>&, const Metric&, bool, void*);
template std::unique_ptr<PointerIndex<double>> make_pointer_index(const MatrixView<double>&, const Metric&, bool,
                                                                  void*);

}  // namespace kith::KITH_BACKEND
