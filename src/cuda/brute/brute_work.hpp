// brute_work.hpp: from a plan to the work of a search on a device, and from there to its report.
#pragma once

#include <algorithm>

#include "cuda/brute/brute_search.hpp"
#include "kith/search.hpp"

namespace kith::KITH_BACKEND::brute {

// Points that a search by this plan looks at, and those of them that it wants: all, or groups of equal ones.
inline std::int64_t searched_points(const Plan& plan) {
  return plan.distinct_rows > 0 ? plan.distinct_rows : plan.problem.base_rows;
}
inline std::int64_t searched_neighbors(const Plan& plan) {
  return std::min(plan.problem.k, searched_points(plan));
}

// `span` as core::ScoreBounds has it.
BruteWork brute_work_of(const Plan& plan, double integer_range, PassHistory& history);

// Adds what was done on each pass.
void add_steps(const BruteWork& work, const std::vector<PassReport>& done, SearchReport& report);

// A few queries, spread over all, by which the others are judged.
template <class T>
MatrixView<T> some_rows(const MatrixView<T>& queries) {
  constexpr std::int64_t kSome = 64;
  const std::int64_t step = std::max<std::int64_t>(1, queries.rows / kSome);
  return {queries.data,       queries.rows / step, queries.cols, queries.row_stride * step,
          queries.col_stride, queries.memory};
}

}  // namespace kith::KITH_BACKEND::brute
