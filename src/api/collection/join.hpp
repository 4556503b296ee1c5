// join.hpp: segments made of others, and of points that are new.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/collection/snapshot.hpp"

namespace kith::api {

// Points that come with their labels, in any order.
template <Element T>
struct NewPoints {
  MatrixView<T> points{};
  std::vector<std::int64_t> ids{};
  std::vector<std::int64_t> tags{};  // or none
};

// A segment around an index of points, which are checked now.
template <Element T>
std::shared_ptr<const Segment<T>> make_segment(const MatrixView<T>& view, Matrix<T>&& owned, Labels labels,
                                               const Options& options);

// A segment of what is left of parts, and of new points.
template <Element T>
std::shared_ptr<const Segment<T>> join(std::span<const SnapshotPart<T>> parts, const NewPoints<T>* added,
                                       const Options& options);

// Labels of ascending ids, as short as they can be said.
Labels labels_of(std::vector<std::int64_t> ids, std::vector<std::int64_t> tags);

template <Element T>
SnapshotPart<T> part_of(std::shared_ptr<const Segment<T>> segment) {
  const LiveRows rows{&segment->labels, nullptr, segment->labels.rows};
  return {std::move(segment), rows};
}

}  // namespace kith::api
