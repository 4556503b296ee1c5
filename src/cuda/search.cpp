// Search of a base and queries of the host. The base is copied to the device when the index is made, or, where the
// budget has no room for it, streamed through two slots at every search: one is filled while the other is searched.
#include <algorithm>
#include <array>
#include <future>
#include <optional>
#include <string>

#include "backend/contract.hpp"
#include "cuda/brute/brute_work.hpp"
#include "cuda/brute/candidates.hpp"
#include "cuda/host_data/radius_rows.hpp"
#include "cuda/host_data/staging.hpp"
#include "cuda/points/integer_range.hpp"
#include "cuda/primitives/move_rows.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/shifted_sort/cached_orders.hpp"
#include "cuda/triangle/cached_clusters.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

// In working precision.
template <Element T>
std::int64_t bytes_of(const MatrixView<T>& points) {
  return points.rows * points.cols * static_cast<std::int64_t>(sizeof(DistanceOf<T>));
}

// Packing keeps a thread busy, which is another than the one that searches, if there can be one. The emulator's
// schedules are to be had again, so there one thread does both.
#if defined(KITH_IS_EMULATED)
constexpr std::launch kFilling = std::launch::deferred;
#else
constexpr std::launch kFilling = std::launch::async | std::launch::deferred;
#endif

// The base in two slots, in turn. A stream of its own does nothing but copy; all kernels are of the stream that
// searches, since copies queued behind a kernel would wait for a multiprocessor.
template <Element T>
class StreamedBase final : public BaseSource<DistanceOf<T>> {
  using F = DistanceOf<T>;

 public:
  StreamedBase(const MatrixView<T>& base, const Metric& metric, bool bias, std::int64_t tile, cudaStream_t compute)
      : base_(base),
        bias_(bias),
        room_(std::min(tile, base.rows)),
        compute_(compute),
        max_squared_norm_(1, compute),
        staging_(host_data::staging_shape(bytes_of(base)), uploads_) {
    KITH_CUDA(cudaGetDevice(&device_));
    KITH_CUDA(cudaMemsetAsync(max_squared_norm_.data(), 0, sizeof(unsigned long long), compute_));
    for (Slot& slot : slots_) {
      slot.store.emplace(room_, base.cols, metric, bias, compute_, max_squared_norm_.data());
      slot.searched.record(compute_);
    }
  }
  StreamedBase(const StreamedBase&) = delete;
  StreamedBase& operator=(const StreamedBase&) = delete;
  // What is still being copied or searched may not lose its memory.
  ~StreamedBase() override {
    cudaStreamSynchronize(uploads_);
    cudaStreamSynchronize(compute_);
  }

  const unsigned long long* max_squared_norm() const override { return max_squared_norm_.data(); }

  void for_each_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    fill(0, most);
    for (std::int64_t first = 0; first < base_.rows; first += most) {
      // The next tile is on its way while this one is searched. Where the search fails, the future waits.
      std::future<void> next;
      if (first + most < base_.rows) next = std::async(kFilling, [=, this] { fill(first + most, most); });
      search(slot_of(first, most), use);
      if (next.valid()) next.get();
    }
  }
  void for_first_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    fill(0, most);
    search(slots_[0], use);
  }

  // From the first tile.
  const Fp16Frame& fp16_frame() override {
    if (frame_) return *frame_;
    fill(0, room_);
    Slot& slot = slots_[0];
    prepare(slot);
    frame_.emplace(make_fp16_frame(as_floats(slot.store->working(0, slot.count)), base_.cols, bias_, compute_));
    fp16_max_norms_ = DeviceBuffer<Fp16MaxNorms>(1, compute_);
    KITH_CUDA(cudaMemsetAsync(fp16_max_norms_.data(), 0, sizeof(Fp16MaxNorms), compute_));
    for (Slot& each : slots_) {
      each.fp16.emplace(room_, base_.cols, bias_, compute_, fp16_max_norms_.data());
      each.is_prepared = false;
    }
    return *frame_;
  }
  const Fp16MaxNorms* fp16_max_norms() const override { return fp16_max_norms_.data(); }

 private:
  static constexpr std::int64_t kSlots = 2;
  struct Slot {
    std::int64_t first = -1;  // of the tile that it holds
    std::int64_t count = 0;
    bool is_prepared = false;
    std::optional<PointStore<F>> store;
    std::optional<Fp16Store> fp16;
    Event arrived;
    Event searched;
  };

  Slot& slot_of(std::int64_t first, std::int64_t most) {
    return slots_[static_cast<std::size_t>(first / most % kSlots)];
  }

  // The tile from `first` on is on its way, in its slot, when the slot's last one has been searched.
  void fill(std::int64_t first, std::int64_t most) {
    Slot& slot = slot_of(first, most);
    const std::int64_t count = std::min(most, base_.rows - first);
    if (slot.first == first && slot.count == count) return;
    KITH_CUDA(cudaSetDevice(device_));
    slot.first = -1;
    slot.searched.wait_on(uploads_);
    staging_.upload(base_.rows_from(first, count), slot.store->rows());
    slot.arrived.record(uploads_);
    slot.first = first;
    slot.count = count;
    slot.is_prepared = false;
  }

  void prepare(Slot& slot) {
    if (slot.is_prepared) return;
    slot.arrived.wait_on(compute_);
    slot.store->prepare(slot.count);
    if (slot.fp16) slot.fp16->prepare(as_floats(slot.store->working(0, slot.count)), *frame_);
    slot.is_prepared = true;
  }

  void search(Slot& slot, const std::function<void(const BaseTile<F>&)>& use) {
    prepare(slot);
    use({&*slot.store, 0, slot.count, slot.first, slot.fp16 ? &*slot.fp16 : nullptr});
    slot.searched.record(compute_);
  }

  MatrixView<T> base_;
  bool bias_;
  std::int64_t room_;  // of a slot
  int device_ = 0;
  cudaStream_t compute_;
  Stream uploads_;
  DeviceBuffer<unsigned long long> max_squared_norm_;
  std::optional<Fp16Frame> frame_;
  DeviceBuffer<Fp16MaxNorms> fp16_max_norms_;
  host_data::Staging staging_;
  std::array<Slot, kSlots> slots_;
};

template <Element T>
class HostIndex final : public DeviceIndex<T> {
  using F = DistanceOf<T>;

 public:
  HostIndex(const MatrixView<T>& base, const Metric& metric, bool resident)
      : base_(base), metric_(metric), bias_(core::form_of(metric) == core::Form::squared) {
    if (!resident) return;
    store_.emplace(base.rows, base.cols, metric, bias_, stream_);
    host_data::Staging staging(host_data::staging_shape(bytes_of(base)), stream_);
    staging.upload(base, store_->rows());
    store_->prepare(base.rows);
    if (integer_range_ == 0) integer_range_ = integer_range(store_->exact(0, base.rows).rows, base.cols, stream_);
    stream_.synchronize();
  }

  void search(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress, std::int64_t* ids,
              DistanceOf<T>* distances, SearchReport& report) const override {
    if (plan.method == Method::triangle) return search_triangle(queries, plan, progress, ids, distances, report);
    if (plan.method == Method::shifted_sort) return search_shifted(queries, plan, progress, ids, distances);
    const Stream stream;
    PointStore<F> points(queries.rows, queries.cols, metric_, bias_, stream);
    host_data::Staging staging(host_data::staging_shape(bytes_of(queries)), stream);
    staging.upload(queries, points.rows());
    points.prepare(queries.rows);
    const brute::BruteWork work = brute::brute_work_of(plan, range_with(points, stream), history_);
    const std::int64_t count = queries.rows * work.k;
    DeviceBuffer<F> keys(static_cast<std::size_t>(count), stream);
    DeviceBuffer<unsigned> found(static_cast<std::size_t>(count), stream);
    DeviceBuffer<std::int64_t> wide(static_cast<std::size_t>(count), stream);
    Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
    const auto reports = run(work, points, keys.data(), found.data(), workspace, progress_of(progress, plan, stream));
    brute::return_values(metric_, keys.data(), count, stream);
    widen_ids(found.data(), count, wide.data(), stream);
    staging.download(keys.data(), count, distances);
    staging.download(wide.data(), count, ids);
    brute::add_steps(work, reports, report);
  }

  core::RadiusResult<F> search_radius(const MatrixView<T>& queries, const Plan& plan, const core::RadiusQuery<F>& reach,
                                      const ProgressCallback& progress) const override {
    const Stream stream;
    std::vector<F> keys(static_cast<std::size_t>(queries.rows));
    for (std::int64_t q = 0; q < queries.rows; ++q) keys[static_cast<std::size_t>(q)] = reach.key_of(q);
    const MatrixView<F> reaches(keys.data(), 1, queries.rows);
    const bool are_there = store_ && is_base(queries);
    host_data::Staging staging(host_data::staging_shape(are_there ? bytes_of(reaches) : bytes_of(queries)), stream);
    std::optional<PointStore<F>> points;
    if (!are_there) {
      points.emplace(queries.rows, queries.cols, metric_, bias_, stream);
      staging.upload(queries, points->rows());
      points->prepare(queries.rows);
    }
    const PointStore<F>& there = points ? *points : *store_;
    DeviceBuffer<F> radii(keys.size(), stream);
    staging.upload(reaches, radii.data());
    Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
    host_data::RadiusRows<F> rows(queries.rows, reach.most_hits, stream);
    const radius::RadiusWork work{.metric = metric_,
                                  .expanded = plan.expanded,
                                  .count_only = reach.count_only,
                                  .exclude_self = reach.exclude_self,
                                  .query_tile = plan.query_block,
                                  .base_tile = plan.base_tile,
                                  .most_pairs = plan.query_block * plan.candidates,
                                  .integer_range = range_with(there, stream)};
    const std::int64_t finalists = with_base(work.base_tile, stream, [&](BaseSource<F>& base) {
      return radius::radius_search<F>(
          work, there, radii.data(), base, workspace,
          {[&](const radius::FoundPart<F>& part) { rows.take(part); }, pairs_done(progress, plan)});
    });
    core::RadiusResult<F> reached = std::move(rows).rows(metric_);
    reached.finalists = finalists;
    return reached;
  }

  // A few of the queries are enough: those are copied for it.
  double surviving_fraction(const MatrixView<T>& queries, const Plan& plan) const override {
    if (!store_) return 1;
    const Stream stream;
    if (is_base(queries)) return triangle::surviving_fraction_of(plan, *store_, *store_, stream);
    return triangle::surviving_fraction_of(plan, some_of(queries, false, stream), *store_, stream);
  }

  bool holds(const MatrixView<T>& queries, const Plan& plan) const override {
    const Stream stream;
    const PointStore<F> some = some_of(queries, bias_, stream);
    Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
    const brute::BruteWork work = brute::brute_work_of(plan, 0, history_);
    return with_base(work.base_tile, stream,
                     [&](BaseSource<F>& base) { return brute::first_pass_suffices(work, some, base, workspace); });
  }

  void reduce(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress,
              const core::Reduction& reduction, const MatrixView<F>& values, F* out) const override {
    with_queries(queries, plan, [&](const PointStore<F>& points, Workspace& workspace, host_data::Staging& staging) {
      const std::int64_t count = queries.rows * core::reduced_columns(reduction);
      const bool has_values = core::has_values(reduction.op);
      const std::int64_t value_count = has_values ? values.rows * values.cols : 0;
      DeviceBuffer<F> device_values(static_cast<std::size_t>(value_count), workspace.stream());
      if (has_values) staging.upload(values, device_values.data());
      DeviceBuffer<F> reduced(static_cast<std::size_t>(count), workspace.stream());
      const reduce::NeighborReduction<F> what{
          reduction, {device_values.data(), values.rows, reduction.columns}, reduced.data()};
      curve_.reduce(plan, points, *store_, what, workspace, queries_done(progress, plan, workspace.stream()));
      staging.download(reduced.data(), count, out);
    });
  }

 private:
  PointStore<F> some_of(const MatrixView<T>& queries, bool bias, cudaStream_t stream) const {
    const MatrixView<T> some = brute::some_rows(queries);
    PointStore<F> points(some.rows, some.cols, metric_, bias, stream);
    host_data::Staging staging(host_data::staging_shape(bytes_of(some)), stream);
    staging.upload(some, points.rows());
    points.prepare(some.rows);
    return points;
  }

  // Calls run(points, workspace, staging) with the queries on the device, for methods that keep the base there.
  template <class Run>
  void with_queries(const MatrixView<T>& queries, const Plan& plan, Run run) const {
    if (!store_)
      throw Error(ErrorCode::out_of_memory, std::string("method ") + name_of(plan.method) +
                                                " keeps the base on the device; the budget of " +
                                                std::to_string(plan.budget_bytes) + " bytes has no room for it");
    const Stream stream;
    host_data::Staging staging(host_data::staging_shape(bytes_of(queries)), stream);
    std::optional<PointStore<F>> points;
    if (!is_base(queries)) {
      points.emplace(queries.rows, queries.cols, metric_, false, stream);
      staging.upload(queries, points->rows());
      points->prepare(queries.rows);
    }
    Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
    run(points ? *points : *store_, workspace, staging);
  }

  // The library's own function is not linked where device sources stand alone.
  static const char* name_of(Method method) { return method == Method::triangle ? "triangle" : "shifted-sort"; }

  void search_triangle(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress,
                       std::int64_t* ids, DistanceOf<T>* distances, SearchReport& report) const {
    with_queries(queries, plan, [&](const PointStore<F>& points, Workspace& workspace, host_data::Staging& staging) {
      const cudaStream_t stream = workspace.stream();
      const std::int64_t count = queries.rows * plan.problem.k;
      DeviceBuffer<F> keys(static_cast<std::size_t>(count), stream);
      DeviceBuffer<unsigned> found(static_cast<std::size_t>(count), stream);
      DeviceBuffer<std::int64_t> wide(static_cast<std::size_t>(count), stream);
      triangle_.search(plan, points, *store_, keys.data(), found.data(), workspace,
                       queries_done(progress, plan, stream), report);
      widen_ids(found.data(), count, wide.data(), stream);
      staging.download(keys.data(), count, distances);
      staging.download(wide.data(), count, ids);
    });
  }

  void search_shifted(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress,
                      std::int64_t* ids, DistanceOf<T>* distances) const {
    with_queries(queries, plan, [&](const PointStore<F>& points, Workspace& workspace, host_data::Staging& staging) {
      const std::int64_t count = queries.rows * plan.problem.k;
      DeviceBuffer<F> keys(static_cast<std::size_t>(count), workspace.stream());
      DeviceBuffer<std::int64_t> found(static_cast<std::size_t>(count), workspace.stream());
      curve_.search(plan, points, *store_, keys.data(), found.data(), workspace,
                    queries_done(progress, plan, workspace.stream()));
      staging.download(keys.data(), count, distances);
      staging.download(found.data(), count, ids);
    });
  }

  bool is_base(const MatrixView<T>& queries) const {
    return queries.data == base_.data && queries.rows == base_.rows && queries.row_stride == base_.row_stride &&
           queries.col_stride == base_.col_stride;
  }

  double range_with(const PointStore<F>& queries, cudaStream_t stream) const {
    if (sizeof(T) == 1) return integer_range_;
    return common_range(integer_range_, queries.exact(0, queries.count()).rows, queries.dims(), stream);
  }

  std::vector<brute::PassReport> run(const brute::BruteWork& work, const PointStore<F>& queries, F* keys, unsigned* ids,
                                     Workspace& workspace, const std::function<void()>& on_tile_done) const {
    return with_base(work.base_tile, workspace.stream(), [&](BaseSource<F>& base) {
      return brute::brute_search(work, queries, base, keys, ids, workspace, on_tile_done);
    });
  }

  // Returns use(base), of a base that is there or comes in tiles of at most so many points.
  template <class Use>
  auto with_base(std::int64_t tile, cudaStream_t stream, Use use) const {
    if (store_) {
      ResidentBase<F> resident(*store_, fp16_);
      return use(resident);
    }
    StreamedBase<T> streamed(base_, metric_, bias_, tile, stream);
    return use(streamed);
  }

  // Tiles are counted; how many passes there will be is not known, so the first is all of the way.
  static std::function<void()> progress_of(const ProgressCallback& progress, const Plan& plan, cudaStream_t stream) {
    if (!progress) return [] {};
    const std::int64_t total = plan.problem.queries * plan.problem.base_rows;
    return [&progress, &plan, stream, total, done = std::int64_t{0}]() mutable {
      KITH_CUDA(cudaStreamSynchronize(stream));
      done = std::min(total, done + plan.query_block * plan.base_tile);
      if (!progress({done, total})) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
    };
  }

  // The same for searches that take some queries after the other.
  static std::function<void(std::int64_t)> queries_done(const ProgressCallback& progress, const Plan& plan,
                                                        cudaStream_t stream) {
    if (!progress) return [](std::int64_t) {};
    const std::int64_t total = plan.problem.queries * plan.problem.base_rows;
    return [&progress, &plan, stream, total, done = std::int64_t{0}](std::int64_t queries) mutable {
      KITH_CUDA(cudaStreamSynchronize(stream));
      done += queries * plan.problem.base_rows;
      if (!progress({done, total})) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
    };
  }

  // The same for searches that count pairs, and wait by themselves.
  static std::function<void(std::int64_t)> pairs_done(const ProgressCallback& progress, const Plan& plan) {
    if (!progress) return [](std::int64_t) {};
    const std::int64_t total = plan.problem.queries * plan.problem.base_rows;
    return [&progress, total, done = std::int64_t{0}](std::int64_t pairs) mutable {
      done += pairs;
      if (!progress({done, total})) throw Error(ErrorCode::cancelled, "cancelled by the progress callback");
    };
  }

  MatrixView<T> base_;
  Metric metric_;
  bool bias_;
  double integer_range_ = core::range_of_type<T>();  // of the base
  Stream stream_;
  std::optional<PointStore<F>> store_;
  mutable CachedFp16 fp16_;
  mutable brute::PassHistory history_;
  mutable triangle::CachedClusters<F> triangle_;
  mutable shifted_sort::CachedOrders<F> curve_;
};

}  // namespace

core::DeviceFacts device_facts() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  return {.free_memory = static_cast<std::int64_t>(free_bytes),
          .processors = static_cast<int>(multiprocessor_count()),
          .name = device_name(),
          .backend = Backend::KITH_BACKEND};
}

template <Element T>
std::unique_ptr<DeviceIndex<T>> make_index(const MatrixView<T>& base, const Metric& metric, bool resident) {
  return std::make_unique<HostIndex<T>>(base, metric, resident);
}

#define KITH_INSTANTIATE(T) \
  template std::unique_ptr<DeviceIndex<T>> make_index(const MatrixView<T>&, const Metric&, bool);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND
