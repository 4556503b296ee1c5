// device_rows.hpp: the parts of a radius search joined to rows on the device.
// Parts that have every query once and in order are the rows already; otherwise, where the base was streamed or split,
// all hits are sorted again by (query, key, id).
#pragma once

#include "cuda/radius/radius_search.hpp"
#include "kith/radius.hpp"

namespace kith::KITH_BACKEND::radius {

template <class F>
class DeviceRows {
 public:
  DeviceRows(std::int64_t queries, cudaStream_t stream) : counts_(static_cast<std::size_t>(queries)), stream_(stream) {}

  // Copies the part.
  void add(const FoundPart<F>& part);
  // Writes offsets and, unless out.allocate is empty, neighbors. Waits for the stream.
  void write(const Metric& metric, const RadiusLists<F>& out) &&;

 private:
  struct Part {
    std::int64_t first_query;
    std::vector<unsigned> counts;
    std::int64_t hits;
    DeviceBuffer<F> distances;
    DeviceBuffer<unsigned> ids;
  };

  void append(const NeighborsView<F>& to) const;
  void sort(const Metric& metric, std::int64_t count, const NeighborsView<F>& to) const;

  std::vector<std::int64_t> counts_;  // one a query
  cudaStream_t stream_;
  std::vector<Part> parts_;
  std::int64_t next_query_ = 0;
  bool in_order_ = true;
};

}  // namespace kith::KITH_BACKEND::radius
