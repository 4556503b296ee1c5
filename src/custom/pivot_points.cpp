// pivot_points.cpp: points under a declared metric, as objects of a PivotTable.
#include "kith/pivot_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "core/instantiate.hpp"
#include "custom/declared_properties.hpp"
#include "custom/point_pairs.hpp"

namespace kith {
namespace {

template <Element T>
void check_points(const PairMetric& metric, const MatrixView<T>& points, const char* role) {
  api::check_view(points, role);
  api::check_dims(points.cols);
  if (points.memory != Memory::host)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("metric '{}' is computed on the CPU; the {} lie on a device", metric.name(), role));
}

// Distances are rounded to float once more, after what the user says that they are off by.
template <Element T>
DistanceProperties rounded(DistanceProperties properties) {
  if (std::is_same_v<T, double> || properties.integer_valued) return properties;
  properties.relative_error += 0x1p-23;
  properties.absolute_error += 0x1p-148;
  return properties;
}

template <Element T>
std::shared_ptr<const PairMetric> checked(std::shared_ptr<const PairMetric> metric, const MatrixView<T>& base) {
  if (metric == nullptr) throw Error(ErrorCode::invalid_argument, "the metric is a null pointer");
  check_points(*metric, base, "base");
  metric->check(base.cols);
  return metric;
}

PivotOptions fitting(const PairMetric& metric, PivotOptions options) {
  const int most = std::max(metric.most_threads(), 1);
  if (options.threads > most || most == 1) options.threads = most;
  return options;
}

}  // namespace

template <Element T>
struct PivotPoints<T>::State {
  std::shared_ptr<const PairMetric> metric;
  custom::PreparedPoints<T> base;
  std::int64_t sampled;
  PivotTable table;
};

template <Element T>
PivotPoints<T>::PivotPoints(std::shared_ptr<const PairMetric> metric, MatrixView<T> base,
                            const DistanceProperties& properties, const PivotOptions& options) {
  state_ = api::guarded([&] {
    auto usable = checked(std::move(metric), base);
    auto points = custom::prepare_points(*usable, base, "base");
    const custom::PointPairs<T> pairs(*usable, points, points);
    const DistanceProperties declared = rounded<T>(properties);
    const std::int64_t sampled = declared.triangle_inequality ? custom::check_declared(pairs, base.rows, declared) : 0;
    PivotTable table(pairs, base.rows, declared, fitting(*usable, options));
    return std::make_unique<State>(State{std::move(usable), std::move(points), sampled, std::move(table)});
  });
}

template <Element T>
PivotPoints<T>::PivotPoints(PivotPoints&&) noexcept = default;
template <Element T>
PivotPoints<T>& PivotPoints<T>::operator=(PivotPoints&&) noexcept = default;
template <Element T>
PivotPoints<T>::~PivotPoints() = default;

template <Element T>
PivotNeighbors PivotPoints<T>::search(MatrixView<T> queries, std::int64_t k) const {
  return api::guarded([&] {
    check_points(*state_->metric, queries, "queries");
    api::check_same_dims(state_->base.dims, queries.cols);
    const auto points = custom::prepare_points(*state_->metric, queries, "queries");
    auto found = state_->table.search(custom::PointPairs<T>(*state_->metric, points, state_->base), queries.rows, k);
    found.report.build_evaluations = build_evaluations();
    return found;
  });
}

template <Element T>
PivotNeighbors PivotPoints<T>::search_self(std::int64_t k) const {
  return api::guarded([&] {
    auto found = state_->table.search_self(custom::PointPairs<T>(*state_->metric, state_->base, state_->base), k);
    found.report.build_evaluations = build_evaluations();
    return found;
  });
}

template <Element T>
PivotRadiusNeighbors PivotPoints<T>::search_radius(MatrixView<T> queries, std::span<const double> radii) const {
  return api::guarded([&] {
    check_points(*state_->metric, queries, "queries");
    api::check_same_dims(state_->base.dims, queries.cols);
    const auto points = custom::prepare_points(*state_->metric, queries, "queries");
    const custom::PointPairs<T> pairs(*state_->metric, points, state_->base);
    auto found = state_->table.search_radius(pairs, queries.rows, radii);
    found.report.build_evaluations = build_evaluations();
    return found;
  });
}

template <Element T>
std::int64_t PivotPoints<T>::rows() const {
  return state_->base.rows;
}

template <Element T>
std::span<const std::int64_t> PivotPoints<T>::pivots() const {
  return state_->table.pivots();
}

template <Element T>
std::int64_t PivotPoints<T>::build_evaluations() const {
  return state_->table.build_evaluations() + state_->sampled;
}

#define KITH_INSTANTIATE(T) template class KITH_API PivotPoints<T>;
KITH_FOR_EACH_ELEMENT(KITH_INSTANTIATE)
#undef KITH_INSTANTIATE

}  // namespace kith
