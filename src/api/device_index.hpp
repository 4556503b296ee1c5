// device_index.hpp: searches and selections of points on a CUDA device.
#pragma once

#include <memory>

#include "backend/contract.hpp"
#include "kith/reduce.hpp"
#include "kith/topk.hpp"

namespace kith::api {

template <Element T>
class OnDevice {
  using D = DistanceOf<T>;

 public:
  OnDevice(const MatrixView<T>& base, Options options, void* stream);

  const MatrixView<T>& base() const { return base_; }
  const Options& options() const { return options_; }
  SearchReport search(const MatrixView<T>& queries, std::int64_t k, const NeighborsView<D>& out, void* stream) const;
  SearchReport reduce(const MatrixView<T>& queries, std::int64_t k, const MatrixView<D>& values, ReduceOp op, D* out,
                      void* stream) const;

 private:
  MatrixView<T> base_;
  Options options_;
  core::DeviceFacts facts_;  // as they were before the index took its part
  std::unique_ptr<PointerIndex<D>> index_;
};

template <Element T>
void device_topk_into(const MatrixView<T>& matrix, std::int64_t k, const TopkView<T>& out, const TopkOptions& options,
                      void* stream);

}  // namespace kith::api
