// Search of a base and queries of the host. The base is copied to the device when the index is made, or, where the
// budget has no room for it, streamed through two slots at every search: one is filled, on a stream of its own,
// while the other is searched.
#include <algorithm>
#include <array>
#include <optional>

#include "cuda/backend/backend.hpp"
#include "cuda/backend/rungs.hpp"
#include "cuda/backend/staging.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/search/candidates.hpp"
#include "cuda/search/integer_span.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

constexpr std::int64_t kStageBytes = 8 << 20;  // of a pinned buffer

std::size_t stage_bytes(std::int64_t bytes) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(bytes, 8, kStageBytes));
}

// The base in two slots, in turn.
template <Element T>
class StreamedBase final : public BaseSource<DistanceOf<T>> {
  using F = DistanceOf<T>;

 public:
  StreamedBase(const MatrixView<T>& base, const Metric& metric, bool addends, std::int64_t tile, cudaStream_t compute)
      : base_(base), addends_(addends), room_(std::min(tile, base.rows)), compute_(compute), longest_(1, uploads_) {
    KITH_CUDA(cudaMemsetAsync(longest_.data(), 0, sizeof(unsigned long long), uploads_));
    staging_.emplace(stage_bytes(room_ * base.cols * static_cast<std::int64_t>(sizeof(F))), uploads_);
    for (Slot& slot : slots_) slot.store.emplace(room_, base.cols, metric, addends, uploads_, longest_.data());
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
    std::int64_t filled = 0;
    for (std::int64_t first = 0; first < base_.rows; first += most) {
      // The next tile is on its way before this one is searched.
      while (filled < base_.rows && filled <= first + most) {
        fill(filled / most % kSlots, filled, std::min(most, base_.rows - filled));
        filled += most;
      }
      search(slots_[static_cast<std::size_t>(first / most % kSlots)], use);
    }
  }
  void for_first_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    fill(0, 0, std::min(most, base_.rows));
    search(slots_[0], use);
  }

  // From the first tile.
  const HalfFrame& half_frame() override {
    if (frame_) return *frame_;
    fill(0, 0, room_);
    frame_.emplace(make_half_frame(as_floats(slots_[0].store->working(0, room_)), base_.cols, addends_, uploads_));
    longest_halfs_ = DeviceBuffer<HalfLongest>(1, uploads_);
    KITH_CUDA(cudaMemsetAsync(longest_halfs_.data(), 0, sizeof(HalfLongest), uploads_));
    for (Slot& slot : slots_) slot.halfs.emplace(room_, base_.cols, addends_, uploads_, longest_halfs_.data());
    round_to_half(slots_[0]);
    slots_[0].filled.record(uploads_);
    return *frame_;
  }
  const HalfLongest* longest_halfs() const override { return longest_halfs_.data(); }

 private:
  static constexpr std::int64_t kSlots = 2;
  struct Slot {
    std::int64_t first = -1;  // of the tile that it holds
    std::optional<PointStore<F>> store;
    std::optional<HalfStore> halfs;
    Event filled;
    Event searched;
  };

  void fill(std::int64_t index, std::int64_t first, std::int64_t count) {
    Slot& slot = slots_[static_cast<std::size_t>(index)];
    if (slot.first == first && slot.store->count() == count) return;
    slot.searched.wait_on(uploads_);
    staging_->upload(base_.rows_from(first, count), slot.store->rows());
    slot.store->prepare(count);
    if (slot.halfs) round_to_half(slot);
    slot.first = first;
    slot.filled.record(uploads_);
  }

  void round_to_half(Slot& slot) {
    slot.halfs->prepare(as_floats(slot.store->working(0, slot.store->count())), *frame_);
  }

  void search(Slot& slot, const std::function<void(const BaseTile<F>&)>& use) {
    slot.filled.wait_on(compute_);
    use({&*slot.store, 0, slot.store->count(), slot.first, slot.halfs ? &*slot.halfs : nullptr});
    slot.searched.record(compute_);
  }

  MatrixView<T> base_;
  bool addends_;
  std::int64_t room_;  // of a slot
  cudaStream_t compute_;
  Stream uploads_;
  DeviceBuffer<unsigned long long> longest_;
  std::optional<HalfFrame> frame_;
  DeviceBuffer<HalfLongest> longest_halfs_;
  std::optional<Staging> staging_;
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
    Staging staging(stage_bytes(base.rows * base.cols * static_cast<std::int64_t>(sizeof(F))), stream_);
    staging.upload(base, store_->rows());
    store_->prepare(base.rows);
    if (span_ == 0) span_ = integer_span(store_->exact(0, base.rows).rows, base.cols, stream_);
    stream_.synchronize();
  }

  void search(const MatrixView<T>& queries, const Plan& plan, const ProgressCallback& progress, std::int64_t* ids,
              DistanceOf<T>* distances, SearchReport& report) const override {
    const Stream stream;
    PointStore<F> points(queries.rows, queries.cols, metric_, addends_, stream);
    Staging staging(stage_bytes(queries.rows * queries.cols * static_cast<std::int64_t>(sizeof(F))), stream);
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

 private:
  double span_with(const PointStore<F>& queries, cudaStream_t stream) const {
    if (sizeof(T) == 1) return span_;
    return common_span(span_, queries.exact(0, queries.count()).rows, queries.dims(), stream);
  }

  std::vector<RungReport> run(const BruteWork& work, const PointStore<F>& queries, F* keys, unsigned* ids,
                              Workspace& workspace, const std::function<void()>& between) const {
    if (store_) {
      ResidentBase<F> resident(*store_, halfs_);
      return brute_search(work, queries, resident, keys, ids, workspace, between);
    }
    StreamedBase<T> streamed(base_, metric_, addends_, work.base_tile, workspace.stream());
    return brute_search(work, queries, streamed, keys, ids, workspace, between);
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

  MatrixView<T> base_;
  Metric metric_;
  bool addends_;
  double span_ = core::span_of_type<T>();  // of the base
  Stream stream_;
  std::optional<PointStore<F>> store_;
  mutable KeptHalfs halfs_;
};

}  // namespace

DeviceFacts device_facts() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  return {static_cast<std::int64_t>(free_bytes), static_cast<int>(processor_count())};
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
