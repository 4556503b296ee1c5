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
    auto latest = unchecked();
    for (const api::SnapshotPart<T>& part : latest->parts()) part.segment->require_labels();
    return latest;
  }
  // The same, for those who look at no id.
  std::shared_ptr<const api::Snapshot<T>> unchecked() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return snapshot;
  }
  void publish(std::vector<api::SnapshotPart<T>> parts, std::int64_t next_id) {
    auto next = std::make_shared<const api::Snapshot<T>>(std::move(parts), next_id);
    const std::lock_guard<std::mutex> lock(mutex);
    snapshot = std::move(next);
  }

  // What follows up to `changing` stays as it was made.
  std::int64_t dims;
  Options options;
  Options segment_options;  // of the indexes of segments, and of searches of copies
  std::mutex changing;      // held by the one change that is made
  mutable std::mutex mutex;
  std::shared_ptr<const api::Snapshot<T>> snapshot;
};

}  // namespace kith
