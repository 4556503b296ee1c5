// state.hpp: what a collection is made of.
#pragma once

#include <memory>
#include <mutex>

#include "api/collection/join.hpp"
#include "kith/collection.hpp"

namespace kith {

template <Element T>
struct Collection<T>::State {
  State(std::int64_t dims_, Options options_);

  // As it is now; it stays as it is.
  std::shared_ptr<const api::Snapshot<T>> now() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return snapshot;
  }
  void publish(std::vector<api::SnapshotPart<T>> parts) {
    auto next = std::make_shared<const api::Snapshot<T>>(std::move(parts));
    const std::lock_guard<std::mutex> lock(mutex);
    snapshot = std::move(next);
  }

  std::int64_t dims;
  Options options;
  Options segment_options;  // of the indexes of segments, and of searches of copies
  std::int64_t next_id = 0;
  std::mutex changing;  // held by the one change that is made
  mutable std::mutex mutex;
  std::shared_ptr<const api::Snapshot<T>> snapshot;
};

}  // namespace kith
