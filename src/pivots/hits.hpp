// hits.hpp: the neighbors found so far, and what could still become one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::pivots {

struct Hit {
  double distance;
  std::int64_t id;

  friend bool operator<(const Hit& a, const Hit& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  }
};

// The best `most` of those within `radius`.
class Hits {
 public:
  Hits(std::int64_t most, double radius, bool whole_numbers)
      : most_(static_cast<std::size_t>(most)), radius_(radius), step_(whole_numbers ? 1 : 0) {}

  bool full() const { return heap_.size() == most_; }

  // Whether an object whose distance is no less than `bound` can be among them.
  bool wants(double bound, std::int64_t id) const {
    return bound <= radius_ && (!full() || Hit{bound, id} < heap_.front());
  }

  // The largest distance with which any object could be among them.
  double ceiling() const { return full() ? std::min(radius_, heap_.front().distance) : radius_; }

  // The largest distance with which the object could be among them, or a little more.
  double limit(std::int64_t id) const {
    if (!full()) return radius_;
    const Hit& worst = heap_.front();
    return std::min(radius_, id < worst.id ? worst.distance : worst.distance - step_);
  }

  void offer(double distance, std::int64_t id) {
    if (!wants(distance, id)) return;
    if (full()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back({distance, id});
    std::push_heap(heap_.begin(), heap_.end());
  }

  // Sorted; none are left.
  std::vector<Hit> take() {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  std::size_t most_;
  double radius_;
  double step_;            // between distances that differ
  std::vector<Hit> heap_;  // the worst first
};

}  // namespace kith::pivots
