// formula_pairs.hpp: a formula as kernels: compiled by NVRTC for a device, interpreted by the emulator.
#pragma once

#include <memory>
#include <string>

#include "core/expression.hpp"
#include "kith/pair_metric.hpp"

namespace kith::KITH_BACKEND::pairs {

struct FormulaTypes {
  int points = 4;  // bytes of coordinates and distances
  int scores = 4;  // of what scores are computed in

  bool operator==(const FormulaTypes&) const = default;
};

// For the current device. The formula must be core::is_reproducible(). What was compiled before is not compiled again.
std::shared_ptr<const DevicePairs> formula_pairs(const core::Expression& formula, FormulaTypes types);

}  // namespace kith::KITH_BACKEND::pairs
