// base_source.hpp: a base in tiles, whether all of it is on the device or it is streamed there from the host.
#pragma once

#include <algorithm>
#include <functional>

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
  const Fp16Store* fp16 = nullptr;  // the store's points in fp16, once fp16_frame() was called
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
  // Makes tiles have fp16 from now on, in this frame. Waits until the frame is ready; float only.
  virtual const Fp16Frame& fp16_frame() = 0;
  // Fp16Store::max_norms() of all points, once all tiles have passed; null unless fp16_frame() was called.
  virtual const Fp16MaxNorms* fp16_max_norms() const = 0;
};

// A base all of which is on the device.
template <class F>
class ResidentBase final : public BaseSource<F> {
 public:
  ResidentBase(const PointStore<F>& store, CachedFp16& cached) : store_(store), cached_(cached) {}

  const unsigned long long* max_squared_norm() const override { return store_.max_squared_norm(); }
  void for_each_tile(std::int64_t max_points, const std::function<void(const BaseTile<F>&)>& use) override {
    for (std::int64_t first = 0; first < store_.count(); first += max_points) use(tile(first, max_points));
  }
  void for_first_tile(std::int64_t max_points, const std::function<void(const BaseTile<F>&)>& use) override {
    use(tile(0, max_points));
  }
  const Fp16Frame& fp16_frame() override {
    fp16_ = &cached_.get(as_floats(store_.working(0, store_.count())), store_.dims(), store_.bias(0) != nullptr);
    return fp16_->frame;
  }
  const Fp16MaxNorms* fp16_max_norms() const override { return fp16_ == nullptr ? nullptr : fp16_->store.max_norms(); }

 private:
  BaseTile<F> tile(std::int64_t first, std::int64_t max_points) const {
    return {&store_, first, std::min(max_points, store_.count() - first), first,
            fp16_ == nullptr ? nullptr : &fp16_->store};
  }

  const PointStore<F>& store_;
  CachedFp16& cached_;
  const Fp16Base* fp16_ = nullptr;
};

}  // namespace kith::KITH_BACKEND::inline points
