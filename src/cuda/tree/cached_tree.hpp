// cached_tree.hpp: the tree of a base that is searched many times, made by the first search of method tree.
#pragma once

#include <mutex>
#include <optional>

#include "cuda/points/point_store.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/tree/tree.hpp"
#include "kith/plan.hpp"

namespace kith::KITH_BACKEND::tree {

// Belongs to one base, all of which is on the device. Thread-safe.
template <class F>
class CachedTree {
 public:
  // The first caller makes the tree, on a stream of the index; the streams of all callers wait for it. The points must
  // be ready on `stream`.
  const Tree<F>& get(const Plan& plan, const PointStore<F>& base, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!tree_) {
      stream_.emplace();
      made_.emplace();
      Event ready;
      ready.record(stream);
      ready.wait_on(*stream_);
      Workspace workspace(*stream_, static_cast<std::size_t>(plan.workspace_bytes));
      tree_.emplace(base.exact(0, base.count()).rows, base.dims(), plan.metric, plan.period, workspace);
      made_->record(*stream_);
    }
    made_->wait_on(stream);
    return *tree_;
  }

  bool is_made() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return tree_.has_value();
  }

 private:
  std::mutex mutex_;
  std::optional<Stream> stream_;
  std::optional<Event> made_;
  std::optional<Tree<F>> tree_;
};

}  // namespace kith::KITH_BACKEND::tree
