// pair_metric.cpp: what a PairMetric does unless it does otherwise.
#include "kith/pair_metric.hpp"

#include "kith/error.hpp"

namespace kith {

PairMetric::~PairMetric() = default;

void PairMetric::check(std::int64_t /*dims*/) const {}

void PairMetric::prepare(double* /*row*/, std::int64_t /*dims*/, const char* /*role*/, std::int64_t /*number*/) const {}

void PairMetric::fill(const PanelTile& /*tile*/) const {
  throw Error(ErrorCode::internal, "metric '" + name() + "' is not made for panels");
}

void PairMetric::fill(const RowTile& /*tile*/) const {
  throw Error(ErrorCode::internal, "metric '" + name() + "' is not made for rows");
}

double PairMetric::pair_seconds(std::int64_t dims) const {
  return 20e-9 + 2e-9 * static_cast<double>(dims);
}

}  // namespace kith
