// formula_source.hpp: a formula as CUDA C++: a metric for the kernel of kith/cuda_pair_kernel.cuh.
#pragma once

#include <string>

#include "core/expression.hpp"

namespace kith::KITH_BACKEND::pairs {

// The program that NVRTC compiles, of kernels kith_keys, kith_candidates, kith_scores and kith_filter. `points`: float
// or double; `scores`: of what scores are computed in.
std::string formula_source(const core::Expression& expression, const char* points, const char* scores);

// Numbers that are kept of a pair.
unsigned state_of(const core::Expression& expression);

// Whether a coordinate takes dozens of instructions.
bool is_long(const core::Expression& expression);

}  // namespace kith::KITH_BACKEND::pairs
