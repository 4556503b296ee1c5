// history.hpp: how long an entry will take, from what smaller ones took.
#pragma once

#include <vector>

#include "suite.hpp"

namespace kith::select_bench {

class History {
 public:
  void add(const Shape& shape, const Entry& entry, double ms) { past_.push_back({shape, entry, ms}); }

  // 0 when nothing is known. Times are taken to grow with k, with the rows' length and with their number, from the past
  // entry of the same contender with the nearest k below, and of those the nearest length.
  double estimate_ms(const Shape& shape, const Entry& entry) const;

 private:
  struct Past {
    Shape shape;
    Entry entry;
    double ms;
  };
  std::vector<Past> past_;
};

}  // namespace kith::select_bench
