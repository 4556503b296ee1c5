// curve_search.hpp: arguments of a search along the orders of a base.
#pragma once

#include "core/key.hpp"
#include "cuda/shifted_sort/codes.hpp"

namespace kith::KITH_BACKEND::shifted_sort {

template <class F>
struct CurveSearch {
  CurveOrders<F> orders;
  PointRows<F> base;
  const F* queries = nullptr;           // CurvePoints, whose ids are rows of the answer
  const unsigned* positions = nullptr;  // of find_positions()
  std::int64_t count = 0;               // of queries
  unsigned k = 0;
  unsigned window = 0;  // candidates on either side, at least k
  core::Form form = core::Form::squared;
  bool root = false;  // the key is the root of the sum
};

}  // namespace kith::KITH_BACKEND::shifted_sort
