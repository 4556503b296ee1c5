// radius_rows.hpp: the parts of a radius search copied to the host and joined to rows.
// Parts that have every query once and in order are the rows already; otherwise, where the base was streamed or split,
// the hits of each query are sorted again. Up to two copies of the result are in memory.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/key.hpp"
#include "core/order.hpp"
#include "cuda/host_data/staging.hpp"
#include "cuda/radius/radius_search.hpp"
#include "kith/error.hpp"
#include "kith/radius.hpp"

namespace kith::KITH_BACKEND::host_data {

template <class F>
class RadiusRows {
 public:
  // Neighbors go nowhere where out.allocate is empty.
  RadiusRows(std::int64_t queries, std::int64_t max_hits, const RadiusLists<F>& out, cudaStream_t stream)
      : max_hits_(max_hits), out_(out), stream_(stream), counts_(static_cast<std::size_t>(queries)) {}

  // Copies the part. Throws Error(out_of_memory) where there are more than max_hits.
  void add(const radius::FoundPart<F>& part) {
    for (std::size_t i = 0; i < part.counts.size(); ++i)
      counts_[static_cast<std::size_t>(part.first_query) + i] += part.counts[i];
    if (part.ids == nullptr || part.hits == 0) return;
    if ((hits_ += part.hits) > max_hits_)
      throw Error(ErrorCode::out_of_memory, "more than " + std::to_string(max_hits_) +
                                                " neighbors lie within the radius; free memory holds no more of them");
    const auto count = static_cast<std::size_t>(part.hits);
    Part copy{part.first_query, part.counts, std::vector<std::int64_t>(count), std::vector<F>(count)};
    Staging& staging = staging_for(part.hits * static_cast<std::int64_t>(sizeof(F)));
    staging.download(part.ids, part.hits, copy.ids.data());
    staging.download(part.distances, part.hits, copy.distances.data());
    if (part.first_query < next_query_) in_order_ = false;
    next_query_ = part.first_query + static_cast<std::int64_t>(part.counts.size());
    parts_.push_back(std::move(copy));
  }

  // Writes offsets and neighbors.
  void write(const Metric& metric) && {
    out_.offsets[0] = 0;
    for (std::size_t q = 0; q < counts_.size(); ++q) out_.offsets[q + 1] = out_.offsets[q] + counts_[q];
    if (!out_.allocate) return;
    const NeighborsView<F> to = out_.allocate(hits_);
    if (in_order_) {
      append(to);
    } else {
      sort(metric, out_.offsets, to);
    }
  }

 private:
  struct Part {
    std::int64_t first_query;
    std::vector<unsigned> counts;
    std::vector<std::int64_t> ids;
    std::vector<F> distances;
  };

  // Made again, larger, for the first part that is worth it.
  Staging& staging_for(std::int64_t bytes) {
    StagingShape shape = staging_shape(bytes);
    shape.threads = 1;
    if (!staging_ || shape.buffer_bytes > staging_bytes_) {
      staging_.emplace(shape, stream_);
      staging_bytes_ = shape.buffer_bytes;
    }
    return *staging_;
  }

  void append(NeighborsView<F> to) const {
    for (const Part& part : parts_) {
      to.ids = std::copy(part.ids.begin(), part.ids.end(), to.ids);
      to.distances = std::copy(part.distances.begin(), part.distances.end(), to.distances);
    }
  }

  void sort(const Metric& metric, const std::int64_t* offsets, const NeighborsView<F>& to) const {
    std::vector<core::Hit<F>> hits(static_cast<std::size_t>(hits_));
    std::vector<std::int64_t> next(offsets, offsets + counts_.size());
    for (const Part& part : parts_) {
      std::size_t from = 0;
      for (std::size_t i = 0; i < part.counts.size(); ++i) {
        std::int64_t& at = next[static_cast<std::size_t>(part.first_query) + i];
        // returned_value() is its own inverse: it changes the sign of inner products only.
        for (unsigned hit = 0; hit < part.counts[i]; ++hit, ++from, ++at)
          hits[static_cast<std::size_t>(at)] = {core::returned_value(metric, part.distances[from]), part.ids[from]};
      }
    }
    for (std::size_t q = 0; q < counts_.size(); ++q)
      std::sort(hits.begin() + offsets[q], hits.begin() + offsets[q + 1]);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      to.ids[i] = hits[i].id;
      to.distances[i] = core::returned_value(metric, hits[i].key);
    }
  }

  std::int64_t max_hits_;
  const RadiusLists<F>& out_;
  cudaStream_t stream_;
  std::optional<Staging> staging_;
  std::size_t staging_bytes_ = 0;
  std::vector<std::int64_t> counts_;  // a query
  std::vector<Part> parts_;
  std::int64_t hits_ = 0;
  std::int64_t next_query_ = 0;
  bool in_order_ = true;
};

}  // namespace kith::KITH_BACKEND::host_data
