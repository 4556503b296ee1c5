// exact_key.hpp: where kernels find what exact keys are made of.
#pragma once

#include "cuda/distance/exact_keys.hpp"

namespace kith::KITH_BACKEND::triangle {

// Padded rows are the points themselves but under cosine and correlation: then keys come from the points as they were
// given, by their numbers.
template <class F>
struct KeySource {
  Metric metric;
  core::Form form = core::Form::squared;  // of keys
  bool directions = false;
  unsigned dims = 0;
  ExactSet<F> queries;
  ExactSet<F> base;
};

}  // namespace kith::KITH_BACKEND::triangle
