// pairs.hpp: what a backend for devices does with a metric that is computed for every pair by its definition: a
// formula, or a functor that a caller has compiled for devices. Arguments were checked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/expression.hpp"
#include "core/facts.hpp"
#include "core/order.hpp"
#include "kith/pair_metric.hpp"

namespace kith::backend {

// Points of the host, in the type that distances are returned in: D(T) of the caller's elements T is exact.
template <class D>
struct PairRows {
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  std::function<void(std::int64_t first, std::int64_t count, D* out)> copy;  // one after the other
};

struct PairDeviceWork {
  std::int64_t query_block = 0;
  std::int64_t base_tile = 0;
  std::int64_t candidates = 0;  // of a query that get an exact distance; 0: all points do
  bool scores_in_float = false;
  std::int64_t workspace_bytes = 0;
  std::int64_t budget_bytes = 0;
  std::int64_t keys = 0;           // distances computed in double
  std::int64_t exact_queries = 0;  // for which scores proved too little
};

// Base points on a device. Functions wait for the device; queries are those of one call.
template <class D>
class BackendPairIndex {
 public:
  using Hits = std::vector<core::Hit<D>>;

  virtual ~BackendPairIndex() = default;
  // Calls take(query, hits) in ascending order, with the k nearest by (distance, id), NaN last; k is at most the number
  // of base points.
  virtual PairDeviceWork nearest(const PairRows<D>& queries, std::int64_t k, const ProgressCallback& progress,
                                 const std::function<void(std::int64_t, Hits)>& take) const = 0;
  // The same with all within the query's radius, or within the only one.
  virtual PairDeviceWork within(const PairRows<D>& queries, std::span<const D> radii, const ProgressCallback& progress,
                                const std::function<void(std::int64_t, Hits)>& take) const = 0;
  // queries × base.
  virtual PairDeviceWork distances(const PairRows<D>& queries, const ProgressCallback& progress, D* out) const = 0;
};

// What an index is made of. One of formula and functor is set, and must outlive the index, as all of it must.
template <class D>
struct PairIndexRequest {
  const PairRows<D>& base;
  const core::Expression* formula = nullptr;  // core::is_reproducible()
  const DevicePairs* functor = nullptr;
  std::int64_t memory_budget = 0;
};

// Throws Error(no_device) where the backend is not available or formulas cannot be compiled for it.
template <class D>
std::unique_ptr<BackendPairIndex<D>> make_pair_index(Backend backend, const PairIndexRequest<D>& request);

// What keeps formulas from being compiled for that backend's device; empty where nothing does.
std::string formula_obstacle(Backend backend);

}  // namespace kith::backend

namespace kith::cuda {
template <class D>
std::unique_ptr<backend::BackendPairIndex<D>> make_pair_index(const backend::PairIndexRequest<D>& request);
std::string formula_obstacle();
}  // namespace kith::cuda
namespace kith::emulated {
template <class D>
std::unique_ptr<backend::BackendPairIndex<D>> make_pair_index(const backend::PairIndexRequest<D>& request);
std::string formula_obstacle();
}  // namespace kith::emulated
