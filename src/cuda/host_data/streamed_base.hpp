// streamed_base.hpp: a base of the host that is too large for the device, streamed through two slots at every search:
// one is filled while the other is searched.
#pragma once

#include <algorithm>
#include <array>
#include <future>
#include <optional>

#include "cuda/host_data/staging.hpp"
#include "cuda/points/base_source.hpp"

namespace kith::KITH_BACKEND::host_data {

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
        capacity_(std::min(tile, base.rows)),
        compute_(compute),
        max_squared_norm_(1, compute),
        staging_(staging_shape(base.rows * base.cols * static_cast<std::int64_t>(sizeof(F))), uploads_) {
    KITH_CUDA(cudaGetDevice(&device_));
    KITH_CUDA(cudaMemsetAsync(max_squared_norm_.data(), 0, sizeof(unsigned long long), compute_));
    for (Slot& slot : slots_) {
      slot.store.emplace(capacity_, base.cols, metric, bias, compute_, max_squared_norm_.data());
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
  const Fp16Frame& fp16_frame(bool remainders) override {
    if (frame_ && remainders_ == remainders) return *frame_;
    if (!frame_) make_frame();
    remainders_ = remainders;
    for (Slot& each : slots_) {
      each.fp16.reset();
      each.fp16.emplace(capacity_, base_.cols, bias_, compute_, fp16_max_norms_.data(), remainders);
      each.is_prepared = false;
    }
    return *frame_;
  }
  const Fp16MaxNorms* fp16_max_norms() const override { return fp16_max_norms_.data(); }

  ByteType use_bytes() override {
    for (Slot& slot : slots_) {
      if (slot.bytes) continue;
      slot.bytes.emplace(capacity_, base_.cols, byte_type_of<T>(), compute_);
      slot.is_prepared = false;
    }
    return byte_type_of<T>();
  }

 private:
  static constexpr std::int64_t kSlots = 2;
  struct Slot {
    std::int64_t first = -1;  // of the tile that it holds
    std::int64_t count = 0;
    bool is_prepared = false;
    std::optional<PointStore<F>> store;
    std::optional<Fp16Store> fp16;
    std::optional<ByteStore> bytes;
    Event arrived;
    Event searched;
  };

  Slot& slot_of(std::int64_t first, std::int64_t most) {
    return slots_[static_cast<std::size_t>(first / most % kSlots)];
  }

  void make_frame() {
    fill(0, capacity_);
    Slot& slot = slots_[0];
    prepare(slot);
    frame_.emplace(make_fp16_frame(as_floats(slot.store->working(0, slot.count)), base_.cols, bias_, compute_));
    fp16_max_norms_ = DeviceBuffer<Fp16MaxNorms>(1, compute_);
    KITH_CUDA(cudaMemsetAsync(fp16_max_norms_.data(), 0, sizeof(Fp16MaxNorms), compute_));
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
    if (slot.bytes) slot.bytes->prepare(as_floats(slot.store->working(0, slot.count)));
    slot.is_prepared = true;
  }

  void search(Slot& slot, const std::function<void(const BaseTile<F>&)>& use) {
    prepare(slot);
    use({&*slot.store, 0, slot.count, slot.first, slot.fp16 ? &*slot.fp16 : nullptr,
         slot.bytes ? &*slot.bytes : nullptr});
    slot.searched.record(compute_);
  }

  MatrixView<T> base_;
  bool bias_;
  std::int64_t capacity_;  // of a slot
  int device_ = 0;
  cudaStream_t compute_;
  Stream uploads_;
  DeviceBuffer<unsigned long long> max_squared_norm_;
  std::optional<Fp16Frame> frame_;
  bool remainders_ = false;
  DeviceBuffer<Fp16MaxNorms> fp16_max_norms_;
  Staging staging_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace kith::KITH_BACKEND::host_data
