// device_rows.hpp: the parts of a radius search joined to rows on the device.
// A part that has all queries and all points is the answer. Parts that have every query once and in order are the rows
// already; otherwise, where the base was streamed or split, all hits are sorted again by (query, key, id).
#pragma once

#include "cuda/radius/radius_search.hpp"
#include "kith/radius.hpp"

namespace kith::KITH_BACKEND::radius {

template <class F>
class DeviceRows {
 public:
  // Neighbors go nowhere where out.allocate is empty.
  DeviceRows(std::int64_t queries, std::int64_t base_rows, const RadiusLists<F>& out, cudaStream_t stream)
      : counts_(static_cast<std::size_t>(queries)), base_rows_(base_rows), out_(out), stream_(stream) {}

  // Copies the part, or writes it to the caller's memory if it is the whole answer.
  void add(const FoundPart<F>& part);
  // Writes offsets and neighbors; several parts have it wait for the stream.
  void write(const Metric& metric) &&;

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
  std::int64_t base_rows_;
  const RadiusLists<F>& out_;
  cudaStream_t stream_;
  std::vector<Part> parts_;
  std::int64_t next_query_ = 0;
  bool in_order_ = true;
  bool is_written_ = false;
};

}  // namespace kith::KITH_BACKEND::radius
