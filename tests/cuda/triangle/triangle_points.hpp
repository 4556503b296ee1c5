// triangle_points.hpp: searches of the tests of method triangle.
#pragma once

#include "searched.hpp"

namespace kith::test::triangle {

struct Wanted {
  Metric metric;
  std::int64_t k = 1;
  TriangleTuning tuning;
  std::int64_t workspace_bytes = 0;
  bool statistics = false;

  Plan plan_for(const Problem& problem) const {
    Plan plan;
    plan.problem = problem;
    plan.metric = metric;
    plan.method = Method::triangle;
    plan.select = SelectMethod::automatic;
    plan.triangle = tuning;
    plan.statistics = statistics;
    plan.workspace_bytes = workspace_bytes;
    return plan;
  }
};

template <class T>
using Searched = SearchedPoints<T, Wanted>;

}  // namespace kith::test::triangle
