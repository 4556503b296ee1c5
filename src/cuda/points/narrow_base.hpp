// narrow_base.hpp: points that stay as they are stored (narrow_points.hpp) as the base of a search. Passes of fp16 and
// of bytes read them where they lie; for others they are widened, a tile at a time.
#pragma once

#include <algorithm>
#include <optional>

#include "core/sizes.hpp"
#include "cuda/points/base_source.hpp"
#include "cuda/points/narrow_points.hpp"

namespace kith::KITH_BACKEND::inline points {

template <Element T>
class NarrowBase final : public BaseSource<float> {
 public:
  // `widened`: all of them in floats, where they are there anyway. Tiles are widened on `compute`.
  NarrowBase(const NarrowPoints<T>& points, const PointStore<float>* widened, const Metric& metric, bool bias,
             cudaStream_t compute)
      : points_(points), widened_(widened), metric_(metric), bias_(bias), compute_(compute) {}

  const unsigned long long* max_squared_norm() const override { return points_.store().max_squared_norm(); }
  void for_each_tile(std::int64_t most, const std::function<void(const BaseTile<float>&)>& use) override {
    const std::int64_t rows = tile_rows(most);
    for (std::int64_t first = 0; first < points_.count(); first += rows) use(tile(first, rows));
  }
  void for_first_tile(std::int64_t most, const std::function<void(const BaseTile<float>&)>& use) override {
    use(tile(0, tile_rows(most)));
  }

  const Fp16Frame& fp16_frame(bool remainders) override {
    const Fp16Base& base = points_.fp16();
    fp16_ = remainders ? &points_.with_remainders() : &base.store;
    return base.frame;
  }
  const Fp16MaxNorms* fp16_max_norms() const override { return fp16_ == nullptr ? nullptr : fp16_->max_norms(); }
  void need_rows(bool needed) override { needs_rows_ = needed; }
  BaseTile<float> with_rows(const BaseTile<float>& tile, std::int64_t first, std::int64_t count) override {
    if (tile.store->has_working()) return BaseSource<float>::with_rows(tile, first, count);
    first += tile.first;
    if (widened_ != nullptr) return {widened_, first, count, first, nullptr, nullptr, nullptr};
    return widen(first, std::min(count, rows_at_once()));
  }
  ByteType use_bytes() override {
    bytes_ = &points_.bytes();
    return byte_type_of<T>();
  }

 private:
  bool widens() const { return needs_rows_ && widened_ == nullptr; }

  // Rows that are widened at a time.
  std::int64_t rows_at_once() const {
    const std::int64_t room = core::kWidenedTileBytes / (points_.dims() * static_cast<std::int64_t>(sizeof(float)));
    return std::clamp<std::int64_t>(room, 1, points_.count());
  }
  std::int64_t tile_rows(std::int64_t most) const { return widens() ? std::min(most, rows_at_once()) : most; }

  BaseTile<float> tile(std::int64_t first, std::int64_t rows) {
    const std::int64_t count = std::min(rows, points_.count() - first);
    if (!needs_rows_) return {&points_.store(), first, count, first, fp16_, bytes_, widened_};
    if (widened_ != nullptr) return {widened_, first, count, first, nullptr, nullptr, nullptr};
    return widen(first, count);
  }

  BaseTile<float> widen(std::int64_t first, std::int64_t count) {
    if (!slot_ || slot_rows_ < count) {
      slot_.reset();
      slot_.emplace(count, points_.dims(), metric_, bias_, compute_);
      slot_rows_ = count;
    }
    points_.widen(first, count, slot_->rows(), compute_);
    slot_->prepare(count);
    return {&*slot_, 0, count, first, nullptr, nullptr, nullptr};
  }

  const NarrowPoints<T>& points_;
  const PointStore<float>* widened_;
  Metric metric_;
  bool bias_;
  cudaStream_t compute_;
  bool needs_rows_ = false;
  std::optional<PointStore<float>> slot_;
  std::int64_t slot_rows_ = 0;
  const Fp16Store* fp16_ = nullptr;
  const ByteStore* bytes_ = nullptr;
};

}  // namespace kith::KITH_BACKEND::inline points
