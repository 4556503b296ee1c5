// Search of a base and queries of the host. The base is copied to the device when the index is made, or, where the
// budget has no room for it, streamed through two slots at every search: one is filled while the other is searched.
#include <algorithm>
#include <array>
#include <future>
#include <optional>
#include <string>

#include "cuda/backend/backend.hpp"
#include "cuda/backend/radius_rows.hpp"
#include "cuda/backend/rungs.hpp"
#include "cuda/backend/shifted_sort.hpp"
#include "cuda/backend/staging.hpp"
#include "cuda/backend/triangle.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/search/candidates.hpp"
#include "cuda/search/integer_span.hpp"
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
  StreamedBase(const MatrixView<T>& base, const Metric& metric, bool addends, std::int64_t tile, RungMemory& memory,
               cudaStream_t compute)
      : base_(base),
        memory_(memory),
        addends_(addends),
        room_(std::min(tile, base.rows)),
        compute_(compute),
        longest_(1, compute),
        staging_(staging_shape(bytes_of(base)), uploads_) {
    KITH_CUDA(cudaGetDevice(&device_));
    KITH_CUDA(cudaMemsetAsync(longest_.data(), 0, sizeof(unsigned long long), compute_));
    for (Slot& slot : slots_) {
      slot.store.emplace(room_, base.cols, metric, addends, compute_, longest_.data());
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

  const unsigned long long* longest() const override { return longest_.data(); }

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
  const HalfFrame& half_frame() override {
    if (frame_) return *frame_;
    fill(0, room_);
    Slot& slot = slots_[0];
    prepare(slot);
    frame_.emplace(make_half_frame(as_floats(slot.store->working(0, slot.count)), base_.cols, addends_, compute_));
    longest_halfs_ = DeviceBuffer<HalfLongest>(1, compute_);
    KITH_CUDA(cudaMemsetAsync(longest_halfs_.data(), 0, sizeof(HalfLongest), compute_));
    for (Slot& each : slots_) {
      each.halfs.emplace(room_, base_.cols, addends_, compute_, longest_halfs_.data());
      each.is_prepared = false;
    }
    return *frame_;
  }
  const HalfLongest* longest_halfs() const override { return longest_halfs_.data(); }
  RungMemory& memory() override { return memory_; }

 private:
  static constexpr std::int64_t kSlots = 2;
  struct Slot {
    std::int64_t first = -1;  // of the tile that it holds
    std::int64_t count = 0;
    bool is_prepared = false;
    std::optional<PointStore<F>> store;
    std::optional<HalfStore> halfs;
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
    if (slot.halfs) slot.halfs->prepare(as_floats(slot.store->working(0, slot.count)), *frame_);
    slot.is_prepared = true;
  }

  void search(Slot& slot, const std::function<void(const BaseTile<F>&)>& use) {
    prepare(slot);
    use({&*slot.store, 0, slot.count, slot.first, slot.halfs ? &*slot.halfs : nullptr});
    slot.searched.record(compute_);
  }

  MatrixView<T> base_;
  RungMemory& memory_;
  bool addends_;
  std::int64_t room_;  // of a slot
  int device_ = 0;
  cudaStream_t compute_;
  Stream uploads_;
  DeviceBuffer<unsigned long long> longest_;
  std::optional<HalfFrame> frame_;
  DeviceBuffer<HalfLongest> longest_halfs_;
  Staging staging_;
  std::array<Slot, kSlots> slots_;
};

template <Element T>
class HostIndex final : public DeviceIndex<T> {
  using F = DistanceOf<T>;

 public:
  HostIndex(const MatrixView<T>& base, const Metric& metric, bool resident)
      : base_(base), metric_(metric), addends_(core::form_of(metric) == core::Form::squared) {
    if (!resident) return;
    store_.emplace(base.rows, base.cols, metric, addends_, stream_);
    Staging staging(staging_shape(bytes_of(base)), stream_);
    staging.upload(base, store_->rows());
    store_->prepare(base.rows);
    if (span_ == 0) span_ = integer_span(store_->exact(0, base.rows).rows, base.cols, stream_);
    stream_.synchronize();
  }

  void search(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress, std::int64_t* ids,
              DistanceOf<T>* distances, SearchReport& report) const override {
    if (plan.method == Method::triangle) return search_triangle(queries, plan, progress, ids, distances, report);
    if (plan.method == Method::shifted_sort) return search_shifted(queries, plan, progress, ids, distances);
    const Stream stream;
    PointStore<F> points(queries.rows, queries.cols, metric_, addends_, stream);
    Staging staging(staging_shape(bytes_of(queries)), stream);
    staging.upload(queries, points.rows());
    points.prepare(queries.rows);
    const BruteWork work = work_of(plan, span_with(points, stream));
    const std::int64_t count = queries.rows * work.k;
    DeviceBuffer<F> keys(static_cast<std::size_t>(count), stream);
    DeviceBuffer<unsigned> found(static_cast<std::size_t>(count), stream);
    DeviceBuffer<std::int64_t> wide(static_cast<std::size_t>(count), stream);
    Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
    const auto reports = run(work, points, keys.data(), found.data(), workspace, progress_of(progress, plan, stream));
    return_values(metric_, keys.data(), count, stream);
    widen_ids(found.data(), count, wide.data(), stream);
    staging.download(keys.data(), count, distances);
    staging.download(wide.data(), count, ids);
    add_steps(work, reports, report);
  }

  core::Reached<F> search_radius(const MatrixView<T>& queries, const Plan& plan, const core::Reach<F>& reach,
                                 const ProgressCallback& progress) const override {
    const Stream stream;
    std::vector<F> keys(static_cast<std::size_t>(queries.rows));
    for (std::int64_t q = 0; q < queries.rows; ++q) keys[static_cast<std::size_t>(q)] = reach.key_of(q);
    const MatrixView<F> reaches(keys.data(), 1, queries.rows);
    const bool are_there = store_ && is_base(queries);
    Staging staging(staging_shape(are_there ? bytes_of(reaches) : bytes_of(queries)), stream);
    std::optional<PointStore<F>> points;
    if (!are_there) {
      points.emplace(queries.rows, queries.cols, metric_, addends_, stream);
      staging.upload(queries, points->rows());
      points->prepare(queries.rows);
    }
    const PointStore<F>& there = points ? *points : *store_;
    DeviceBuffer<F> radii(keys.size(), stream);
    staging.upload(reaches, radii.data());
    Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
    RadiusRows<F> rows(queries.rows, reach.most_hits, stream);
    const RadiusWork work{.metric = metric_,
                          .expanded = plan.expanded,
                          .count_only = reach.count_only,
                          .exclude_self = reach.exclude_self,
                          .query_tile = plan.query_block,
                          .base_tile = plan.base_tile,
                          .most_pairs = plan.query_block * plan.candidates,
                          .span = span_with(there, stream)};
    const std::int64_t finalists = with_base(work.base_tile, stream, [&](BaseSource<F>& base) {
      return radius_search<F>(work, there, radii.data(), base, workspace,
                              {[&](const FoundPart<F>& part) { rows.take(part); }, pairs_done(progress, plan)});
    });
    core::Reached<F> reached = std::move(rows).rows(metric_);
    reached.finalists = finalists;
    return reached;
  }

  // A few of the queries are enough: those are copied for it.
  double triangle_share(const MatrixView<T>& queries, const Plan& plan) const override {
    if (!store_) return 1;
    const Stream stream;
    if (is_base(queries)) return share_of(plan, *store_, *store_, stream);
    return share_of(plan, some_of(queries, false, stream), *store_, stream);
  }

  bool holds(const MatrixView<T>& queries, const Plan& plan) const override {
    const Stream stream;
    const PointStore<F> some = some_of(queries, addends_, stream);
    Workspace workspace(stream, static_cast<std::size_t>(plan.workspace_bytes));
    const BruteWork work = work_of(plan, 0);
    return with_base(work.base_tile, stream,
                     [&](BaseSource<F>& base) { return first_rung_holds(work, some, base, workspace); });
  }

  void reduce(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress,
              const core::Reduction& reduction, const MatrixView<F>& values, F* out) const override {
    with_queries(queries, plan, [&](const PointStore<F>& points, Workspace& workspace, Staging& staging) {
      const std::int64_t count = queries.rows * core::reduced_columns(reduction);
      const bool has_values = core::has_values(reduction.op);
      const std::int64_t value_count = has_values ? values.rows * values.cols : 0;
      DeviceBuffer<F> device_values(static_cast<std::size_t>(value_count), workspace.stream());
      if (has_values) staging.upload(values, device_values.data());
      DeviceBuffer<F> reduced(static_cast<std::size_t>(count), workspace.stream());
      const NearReduction<F> what{reduction, {device_values.data(), values.rows, reduction.columns}, reduced.data()};
      curve_.reduce(plan, points, *store_, what, workspace, queries_done(progress, plan, workspace.stream()));
      staging.download(reduced.data(), count, out);
    });
  }

 private:
  PointStore<F> some_of(const MatrixView<T>& queries, bool addends, cudaStream_t stream) const {
    const MatrixView<T> some = some_rows(queries);
    PointStore<F> points(some.rows, some.cols, metric_, addends, stream);
    Staging staging(staging_shape(bytes_of(some)), stream);
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
    Staging staging(staging_shape(bytes_of(queries)), stream);
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
    with_queries(queries, plan, [&](const PointStore<F>& points, Workspace& workspace, Staging& staging) {
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
    with_queries(queries, plan, [&](const PointStore<F>& points, Workspace& workspace, Staging& staging) {
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

  double span_with(const PointStore<F>& queries, cudaStream_t stream) const {
    if (sizeof(T) == 1) return span_;
    return common_span(span_, queries.exact(0, queries.count()).rows, queries.dims(), stream);
  }

  std::vector<RungReport> run(const BruteWork& work, const PointStore<F>& queries, F* keys, unsigned* ids,
                              Workspace& workspace, const std::function<void()>& between) const {
    return with_base(work.base_tile, workspace.stream(), [&](BaseSource<F>& base) {
      return brute_search(work, queries, base, keys, ids, workspace, between);
    });
  }

  // Returns use(base), of a base that is there or comes in tiles of at most so many points.
  template <class Use>
  auto with_base(std::int64_t tile, cudaStream_t stream, Use use) const {
    if (store_) {
      ResidentBase<F> resident(*store_, halfs_, memory_);
      return use(resident);
    }
    StreamedBase<T> streamed(base_, metric_, addends_, tile, memory_, stream);
    return use(streamed);
  }

  // Tiles are counted; how many rungs there will be is not known, so the first is all of the way.
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
  bool addends_;
  double span_ = core::span_of_type<T>();  // of the base
  Stream stream_;
  std::optional<PointStore<F>> store_;
  mutable KeptHalfs halfs_;
  mutable RungMemory memory_;
  mutable KeptTriangle<F> triangle_;
  mutable KeptCurve<F> curve_;
};

}  // namespace

DeviceFacts device_facts() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  return {static_cast<std::int64_t>(free_bytes), static_cast<int>(processor_count()), device_name()};
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
