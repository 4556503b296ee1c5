// formula_metric.hpp: what makes a PairMetric one that backends for devices compile.
#pragma once

#include "core/expression.hpp"
#include "kith/pair_metric.hpp"

namespace kith::custom {

class FormulaMetric : public PairMetric {
 public:
  virtual const core::Expression& formula() const = 0;
};

}  // namespace kith::custom
