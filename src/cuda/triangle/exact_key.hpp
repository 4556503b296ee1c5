// exact_key.hpp: the points that exact keys are computed from.
#pragma once

#include "cuda/distance/exact_keys.hpp"

namespace kith::KITH_BACKEND::triangle {

// Keys come from the padded rows of clusters, except under cosine and correlation (`directions`), where these rows are
// unit vectors: then from the points as they were given, found by their ids.
template <class F>
struct ExactKeySource {
  Metric metric;
  core::Form form = core::Form::squared;  // of keys
  bool directions = false;
  unsigned dims = 0;
  ExactSet<F> queries;
  ExactSet<F> base;
};

}  // namespace kith::KITH_BACKEND::triangle
