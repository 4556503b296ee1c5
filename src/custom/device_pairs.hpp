// device_pairs.hpp: searches by a PairMetric on a device: which metrics have one, whether it pays, and the answers.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/pairs.hpp"
#include "kith/search.hpp"

namespace kith::custom {

// Whether a metric is one that devices compute: a formula, or a functor for nvcc.
bool has_device_code(const PairMetric& metric);

// What keeps such a metric from being computed by a backend for devices; empty where nothing does.
std::string device_obstacle(const PairMetric& metric, Backend backend);

// The backend of a search of so many pairs. Asked for automatic: a device where the metric has one, no option stands
// against it, the base fits, and the CPU would take so long that bringing the points there and compiling a formula is
// nothing beside it.
Backend choose_backend(const PairMetric& metric, const Options& options, std::int64_t queries, std::int64_t rows,
                       std::int64_t dims);

// A base on a device, brought there by the first search.
template <Element T>
class DevicePairBase {
 public:
  using D = DistanceOf<T>;

  void search(const PairMetric& metric, const MatrixView<T>& base, const MatrixView<T>& queries, Backend backend,
              std::int64_t k, bool exclude_self, const Options& options, const NeighborsView<D>& out,
              SearchReport& report);
  // Throws Error(out_of_memory) for more than `most` hits.
  void within(const PairMetric& metric, const MatrixView<T>& base, const MatrixView<T>& queries, Backend backend,
              std::span<const D> radii, bool exclude_self, std::int64_t most, const Options& options,
              const RadiusLists<D>& out, SearchReport& report);
  void distances(const PairMetric& metric, const MatrixView<T>& base, const MatrixView<T>& queries, Backend backend,
                 const Options& options, D* out);

 private:
  auto index(const PairMetric& metric, const MatrixView<T>& base, Backend where, const Options& options)
      -> const backend::BackendPairIndex<D>&;

  std::mutex mutex_;
  std::unique_ptr<backend::BackendPairIndex<D>> index_;
};

}  // namespace kith::custom
