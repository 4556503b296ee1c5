// cached_orders.hpp: the orders of a base that is searched many times, made by the first search of method shifted-sort.
#pragma once

#include <memory>
#include <mutex>

#include "core/curve_shifts.hpp"
#include "cpu/shifted_sort/shifted_sort_search.hpp"

namespace kith::cpu {

// Thread-safe.
template <Element T>
class CachedOrders {
 public:
  // Runs shifted_sort_search() as the plan says.
  std::int64_t search(const PreparedRows<T>& base, const PreparedRows<T>& queries, const Plan& plan,
                      const ProgressCallback& callback, const NeighborsView<DistanceOf<T>>& out) {
    return shifted_sort_search(base, orders(base, plan), queries, plan, callback, out);
  }

 private:
  const CurveBase<T>& orders(const PreparedRows<T>& base, const Plan& plan) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (orders_ == nullptr)
      orders_ = std::make_unique<CurveBase<T>>(
          make_curve_base(base.view, core::curve_shifts(plan.shifted_sort), plan.shifted_sort.curve, plan.threads));
    return *orders_;
  }

  std::mutex mutex_;
  std::unique_ptr<CurveBase<T>> orders_;
};

}  // namespace kith::cpu
