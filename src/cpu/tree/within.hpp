// within.hpp: the points within a radius of one query, or their number, by a walk through a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "core/order.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/tree/tree.hpp"
#include "cpu/tree/walk_query.hpp"

namespace kith::cpu {

template <Element T>
class Within {
 public:
  using F = DistanceOf<T>;

  Within(const PreparedRows<T>& base, const Tree<F>& tree, const PreparedRows<T>& queries);
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

  // Appends the points whose key is at most `radius`, but for `excluded`, in no order.
  void list(std::int64_t query, F radius, std::int64_t excluded, std::vector<core::Hit<F>>& hits);
  // Their number.
  std::int64_t count(std::int64_t query, F radius, std::int64_t excluded);

  std::int64_t finalists() const { return finalists_; }

 private:
  void begin(std::int64_t query, F radius);
  void take(F key, std::int64_t id);
  void decide_everything();
  static void decide(NearPoints<F>& near) { static_cast<Within*>(near.owner)->decide(); }
  void decide();

  const PreparedRows<T>& base_;
  const Tree<F>& tree_;
  const PreparedRows<T>& queries_;
  WalkQuery<T> query_;
  core::Form form_;
  std::int64_t finalists_ = 0;

  F radius_ = 0;
  std::int64_t excluded_ = -1;
  std::int64_t counted_ = 0;
  std::vector<core::Hit<F>>* hits_ = nullptr;  // null while points are counted
  NearPoints<F> near_;
  std::vector<F> scores_;
  std::vector<OffsetOf<F>> points_;
  std::vector<std::int64_t> ids_;
  std::vector<double> raw_;
  std::vector<F> keys_;
};

}  // namespace kith::cpu
