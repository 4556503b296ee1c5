#include "kith/radius.hpp"

#include <fmt/format.h>

#include <cmath>

#include "api/radii.hpp"
#include "api/searcher.hpp"
#include "backend/machine.hpp"
#include "core/order.hpp"
#include "kith/error.hpp"

namespace kith {
namespace api {

template <class D>
core::RadiusQuery<D> radius_query(std::span<const D> radii, std::int64_t queries, const Metric& metric) {
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != queries)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} radii for {} queries; one for all or one for each is needed", count, queries));
  const bool products = metric.kind == MetricKind::inner_product;
  core::RadiusQuery<D> query;
  query.keys.reserve(radii.size());
  for (const D radius : radii) {
    if (std::isnan(radius) || (radius < 0 && !products))
      throw Error(ErrorCode::invalid_argument, fmt::format("radius = {} of query {}; it must be {}", radius,
                                                           query.keys.size(), products ? "a number" : "0 or more"));
    query.keys.push_back(products ? -radius : radius);
  }
  // Hits while they are collected, beside the result that they are put into.
  constexpr auto kHitBytes = static_cast<std::int64_t>(sizeof(core::Hit<D>) + sizeof(std::int64_t) + sizeof(D));
  query.most_hits = backend::free_memory() / kHitBytes;
  return query;
}

template core::RadiusQuery<float> radius_query(std::span<const float>, std::int64_t, const Metric&);
template core::RadiusQuery<double> radius_query(std::span<const double>, std::int64_t, const Metric&);

}  // namespace api

template <Element T>
RadiusNeighbors<DistanceOf<T>> search_radius(MatrixView<T> base, MatrixView<T> queries,
                                             std::span<const DistanceOf<T>> radii, RadiusOutput output,
                                             const Options& options, void* stream) {
  return api::Searcher<T>(base, options, stream, queries.memory).search_radius({queries, stream}, radii, output);
}

#define KITH_INSTANTIATE(T)                                       \
  template KITH_API RadiusNeighbors<DistanceOf<T>> search_radius( \
      MatrixView<T>, MatrixView<T>, std::span<const DistanceOf<T>>, RadiusOutput, const Options&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith
