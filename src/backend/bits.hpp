// bits.hpp: what a backend does with rows of packed bits, and which backends can. Arguments were checked, bits past the
// end of rows included.
#pragma once

#include <memory>

#include "core/radius_query.hpp"
#include "kith/bits.hpp"
#include "plan/choose.hpp"

namespace kith::backend {

struct BitQueries {
  BitsView rows;
  const ProgressCallback& progress;
};

// Rows that are searched. Thread-safe; host rows must outlive it.
class BackendBitIndex {
 public:
  virtual ~BackendBitIndex() = default;
  // For so many queries; k = 0 is a search within a radius. Throws Error(out_of_memory) where nothing fits the budget.
  virtual BitPlan plan(std::int64_t queries, std::int64_t k, bool self) const = 0;
  // plan.k neighbors a query, at most as many as there are; where plan.self is set the queries are the base and no row
  // is its own neighbor. Return the pairs that counts alone did not rule out.
  virtual std::int64_t search(const BitPlan& plan, const BitQueries& queries,
                              const NeighborsView<float>& out) const = 0;
  virtual std::int64_t search_radius(const BitPlan& plan, const BitQueries& queries,
                                     const core::RadiusQuery<float>& radii, const RadiusLists<float>& out) const = 0;
};

// What an index is made of; all of it must outlive the index. options.backend is resolved.
struct BitIndexRequest {
  BitsView base;
  BitMetric metric;
  const Options& options;
  const plan::Machine& machine;
};

// Throws Error(no_device) where the backend is not available.
std::unique_ptr<BackendBitIndex> make_bit_index(const BitIndexRequest& request);

}  // namespace kith::backend

namespace kith::cpu {
std::unique_ptr<backend::BackendBitIndex> make_bit_index(const backend::BitIndexRequest& request);
}
namespace kith::cuda {
std::unique_ptr<backend::BackendBitIndex> make_bit_index(const backend::BitIndexRequest& request);
}
namespace kith::emulated {
std::unique_ptr<backend::BackendBitIndex> make_bit_index(const backend::BitIndexRequest& request);
}
