// base_source.hpp: a base handed out in tiles, whether it lies on the device or is streamed through it.
#pragma once

#include <algorithm>
#include <functional>

#include "cuda/points/fp16_store.hpp"
#include "cuda/points/point_store.hpp"

namespace kith::KITH_BACKEND::inline points {

// A part of the base on the device, valid until the next is asked for.
template <class F>
struct BaseTile {
  const PointStore<F>* store = nullptr;
  std::int64_t first = 0;  // in the store
  std::int64_t count = 0;
  std::int64_t first_id = 0;
  const Fp16Store* fp16 = nullptr;  // of the store's points, once somebody asked for their frame
};

// Hands out the base in tiles of at most so many points, one after the other, in the order of their ids.
template <class F>
class BaseSource {
 public:
  virtual ~BaseSource() = default;
  // As PointStore has it, of all points once they have passed.
  virtual const unsigned long long* max_squared_norm() const = 0;
  virtual void for_each_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) = 0;
  // The first of these tiles only.
  virtual void for_first_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) = 0;
  // From now on tiles have fp16, in this frame, which is there when this returns; float only.
  virtual const Fp16Frame& fp16_frame() = 0;
  // As Fp16Store has it, of all points once they have passed; null where nobody asked for a frame.
  virtual const Fp16MaxNorms* fp16_max_norms() const = 0;
};

// A base that is on the device as a whole.
template <class F>
class ResidentBase final : public BaseSource<F> {
 public:
  ResidentBase(const PointStore<F>& store, CachedFp16& cached) : store_(store), cached_(cached) {}

  const unsigned long long* max_squared_norm() const override { return store_.max_squared_norm(); }
  void for_each_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    for (std::int64_t first = 0; first < store_.count(); first += most) use(tile(first, most));
  }
  void for_first_tile(std::int64_t most, const std::function<void(const BaseTile<F>&)>& use) override {
    use(tile(0, most));
  }
  const Fp16Frame& fp16_frame() override {
    fp16_ = &cached_.get(as_floats(store_.working(0, store_.count())), store_.dims(), store_.bias(0) != nullptr);
    return fp16_->frame;
  }
  const Fp16MaxNorms* fp16_max_norms() const override {
    return fp16_ == nullptr ? nullptr : fp16_->store.max_squared_norm();
  }

 private:
  BaseTile<F> tile(std::int64_t first, std::int64_t most) const {
    return {&store_, first, std::min(most, store_.count() - first), first, fp16_ == nullptr ? nullptr : &fp16_->store};
  }

  const PointStore<F>& store_;
  CachedFp16& cached_;
  const Fp16Base* fp16_ = nullptr;
};

}  // namespace kith::KITH_BACKEND::inline points
