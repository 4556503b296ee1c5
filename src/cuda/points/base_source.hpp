// base_source.hpp: a base in tiles, whether all of it is on the device or it is streamed there from the host.
#pragma once

#include <algorithm>
#include <functional>

#include "cuda/points/byte_store.hpp"
#include "cuda/points/fp16_store.hpp"
#include "cuda/points/point_store.hpp"

namespace kith::KITH_BACKEND::inline points {

// A part of the base on the device, valid until the next tile.
template <class F>
struct BaseTile {
  const PointStore<F>* store = nullptr;
  std::int64_t first = 0;  // index in the store
  std::int64_t count = 0;
  std::int64_t first_id = 0;
  const Fp16Store* fp16 = nullptr;         // the store's points in fp16, once fp16_frame() was called
  const ByteStore* bytes = nullptr;        // the store's points as bytes, once use_bytes() was called
  const PointStore<F>* widened = nullptr;  // the same points, where the store has them in a narrower type
};

// Calls use(tile) for tiles of at most max_points points, in the order of their ids.
template <class F>
class BaseSource {
 public:
  virtual ~BaseSource() = default;
  // PointStore::max_squared_norm() of all points, once all tiles have passed.
  virtual const unsigned long long* max_squared_norm() const = 0;
  virtual void for_each_tile(std::int64_t max_points, const std::function<void(const BaseTile<F>&)>& use) = 0;
  // Calls use() for the first of these tiles only.
  virtual void for_first_tile(std::int64_t max_points, const std::function<void(const BaseTile<F>&)>& use) = 0;
  // Makes tiles have fp16 from now on, in this frame, with remainders or without. Waits until the frame is ready; float
  // only.
  virtual const Fp16Frame& fp16_frame(bool remainders) = 0;
  const Fp16Frame& fp16_frame() { return fp16_frame(false); }
  // Fp16Store::max_norms() of all points, once all tiles have passed; null unless fp16_frame() was called.
  virtual const Fp16MaxNorms* fp16_max_norms() const = 0;
  // Whether tiles must have rows in working precision from now on, beside what else was asked for. Not of points that
  // are stored in a narrower type as long as that will do.
  virtual void need_rows(bool /*needed*/) {}
  // Points first … first + count − 1 of a tile with rows in working precision, or as many of them as there is memory
  // for; valid until the next call.
  virtual BaseTile<F> with_rows(const BaseTile<F>& tile, std::int64_t first, std::int64_t count) {
    return {tile.store, tile.first + first, count, tile.first_id + first, tile.fp16, tile.bytes, tile.widened};
  }
  // Makes tiles have bytes from now on, and returns their type; for points of 8-bit integers only.
  virtual ByteType use_bytes() = 0;
};

// A base all of which is on the device.
template <class F>
class ResidentBase final : public BaseSource<F> {
 public:
  // Without `bytes`, points that are none.
  ResidentBase(const PointStore<F>& store, CachedFp16& fp16, CachedBytes* bytes = nullptr)
      : store_(store), cached_fp16_(fp16), cached_bytes_(bytes) {}

  const unsigned long long* max_squared_norm() const override { return store_.max_squared_norm(); }
  void for_each_tile(std::int64_t max_points, const std::function<void(const BaseTile<F>&)>& use) override {
    for (std::int64_t first = 0; first < store_.count(); first += max_points) use(tile(first, max_points));
  }
  void for_first_tile(std::int64_t max_points, const std::function<void(const BaseTile<F>&)>& use) override {
    use(tile(0, max_points));
  }
  const Fp16Frame& fp16_frame(bool remainders) override {
    const PointRows<float> rows = as_floats(store_.working(0, store_.count()));
    const bool squares = store_.bias(0) != nullptr;
    const Fp16Base& base = cached_fp16_.get(rows, store_.dims(), squares);
    fp16_ = remainders ? &cached_fp16_.with_remainders(rows, store_.dims(), squares) : &base.store;
    return base.frame;
  }
  const Fp16MaxNorms* fp16_max_norms() const override { return fp16_ == nullptr ? nullptr : fp16_->max_norms(); }
  ByteType use_bytes() override {
    if (cached_bytes_ == nullptr) throw Error(ErrorCode::internal, "only points of 8-bit integers become bytes");
    bytes_ = &cached_bytes_->get(as_floats(store_.working(0, store_.count())), store_.dims());
    return cached_bytes_->type();
  }

 private:
  BaseTile<F> tile(std::int64_t first, std::int64_t max_points) const {
    return {&store_, first, std::min(max_points, store_.count() - first), first, fp16_, bytes_};
  }

  const PointStore<F>& store_;
  CachedFp16& cached_fp16_;
  CachedBytes* cached_bytes_;
  const Fp16Store* fp16_ = nullptr;
  const ByteStore* bytes_ = nullptr;
};

}  // namespace kith::KITH_BACKEND::inline points
