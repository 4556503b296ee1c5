// tree_points.hpp: searches of the tests of method tree.
#pragma once

#include "searched.hpp"

namespace kith::test::tree {

struct Wanted {
  Metric metric;
  std::int64_t k = 1;
  std::int64_t query_block = 1 << 20;

  Plan plan_for(const Problem& problem) const {
    Plan plan;
    plan.problem = problem;
    plan.metric = metric;
    plan.method = Method::tree;
    plan.query_block = query_block;
    return plan;
  }
};

template <class T>
using Searched = SearchedPoints<T, Wanted>;

}  // namespace kith::test::tree
