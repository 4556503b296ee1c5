// snapshot.hpp: a collection at one moment. A change makes another snapshot, which shares the segments that it leaves
// as they were; so searches go on with theirs, and a change that fails leaves nothing behind.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "api/collection/labels.hpp"
#include "api/collection/row_set.hpp"
#include "kith/index.hpp"

namespace kith::api {

// The points that are left of a segment.
struct LiveRows {
  const Labels* labels = nullptr;
  std::shared_ptr<const RowSet> live{};  // null: all
  std::int64_t count = 0;

  bool has(std::int64_t row) const { return live == nullptr || live->has(row); }
};

// Where points of ascending ids are: how many precede each.
class Ranks {
 public:
  explicit Ranks(const std::vector<LiveRows>& parts);

  std::int64_t count() const { return count_; }
  const std::vector<std::int64_t>& ids() const { return ids_; }  // ascending; empty where they are first, first + 1, …
  std::int64_t id(std::int64_t rank) const {
    return ids_.empty() ? first_ + rank : ids_[static_cast<std::size_t>(rank)];
  }
  std::int64_t rank(std::int64_t id) const;  // of an id that is there

 private:
  std::int64_t count_ = 0;
  std::int64_t first_ = 0;
  std::vector<std::int64_t> ids_;
};

template <Element T>
struct Segment {
  MatrixView<T> points;
  Matrix<T> owned;                        // where the points are the segment's own
  std::shared_ptr<const void> mapping{};  // where they lie in a file
  Labels labels;
  std::unique_ptr<const Index<T>> index{};
  std::function<void()> check_labels{};  // of a file's, before they are first used; null for those made here

  // What they are refused for is said at every call. std::call_once would do, but that not every C library lets an
  // exception through it.
  void require_labels() const {
    if (!check_labels || is_checked_.load(std::memory_order_acquire)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_checked_.load(std::memory_order_relaxed)) return;
    check_labels();
    is_checked_.store(true, std::memory_order_release);
  }

 private:
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_checked_{false};
};

template <Element T>
struct SnapshotPart {
  std::shared_ptr<const Segment<T>> segment;
  LiveRows rows;
};

template <Element T>
class Snapshot {
 public:
  Snapshot() = default;
  Snapshot(std::vector<SnapshotPart<T>> parts, std::int64_t next_id) : parts_(std::move(parts)), next_id_(next_id) {
    for (const SnapshotPart<T>& part : parts_) {
      rows_.push_back(part.rows);
      count_ += part.rows.count;
    }
  }

  const std::vector<SnapshotPart<T>>& parts() const { return parts_; }
  const std::vector<LiveRows>& rows() const { return rows_; }
  std::int64_t count() const { return count_; }
  // Of the next point that comes without an id.
  std::int64_t next_id() const { return next_id_; }
  // Made once, for those who need them.
  const Ranks& ranks() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ranks_) ranks_.emplace(rows_);
    return *ranks_;
  }

 private:
  std::vector<SnapshotPart<T>> parts_;
  std::vector<LiveRows> rows_;
  std::int64_t count_ = 0;
  std::int64_t next_id_ = 0;
  mutable std::mutex mutex_;
  mutable std::optional<Ranks> ranks_;
};

}  // namespace kith::api
