// radius_rows.hpp: the parts of a radius search, brought to the host and put together as rows.
// Where every query came once, and in its place, the parts one after the other are the rows already; else, where the
// base was streamed or cut, there is a second copy in the order of the queries.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/key.hpp"
#include "core/order.hpp"
#include "core/radius_query.hpp"
#include "cuda/host_data/staging.hpp"
#include "cuda/radius/radius_search.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::host_data {

template <class F>
class RadiusRows {
 public:
  RadiusRows(std::int64_t queries, std::int64_t most_hits, cudaStream_t stream)
      : most_hits_(most_hits), stream_(stream) {
    rows_.offsets.assign(static_cast<std::size_t>(queries) + 1, 0);
  }

  void take(const radius::FoundPart<F>& part) {
    const std::size_t hits = rows_.ids.size();
    for (std::size_t i = 0; i < part.counts.size(); ++i)
      rows_.offsets[static_cast<std::size_t>(part.first_query) + i + 1] += part.counts[i];
    if (part.ids == nullptr || part.hits == 0) return;
    if (static_cast<std::int64_t>(hits) + part.hits > most_hits_)
      throw Error(ErrorCode::out_of_memory, "more than " + std::to_string(most_hits_) +
                                                " neighbors lie within the radius; free memory holds no more of them");
    rows_.ids.resize(hits + static_cast<std::size_t>(part.hits));
    rows_.distances.resize(rows_.ids.size());
    Staging& staging = staging_for(part.hits * static_cast<std::int64_t>(sizeof(F)));
    staging.download(part.ids, part.hits, rows_.ids.data() + hits);
    staging.download(part.distances, part.hits, rows_.distances.data() + hits);
    if (part.first_query < next_query_) in_order_ = false;
    next_query_ = part.first_query + static_cast<std::int64_t>(part.counts.size());
    parts_.push_back({part.first_query, part.counts});
  }

  core::RadiusResult<F> rows(const Metric& metric) && {
    for (std::size_t q = 1; q < rows_.offsets.size(); ++q) rows_.offsets[q] += rows_.offsets[q - 1];
    if (!in_order_) put_in_order(metric);
    return std::move(rows_);
  }

 private:
  struct Part {
    std::int64_t first_query;
    std::vector<unsigned> counts;
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

  void put_in_order(const Metric& metric) {
    std::vector<core::Hit<F>> hits(rows_.ids.size());
    std::vector<std::int64_t> next(rows_.offsets.begin(), rows_.offsets.end() - 1);
    std::size_t from = 0;
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < part.counts.size(); ++i) {
        auto& to = next[static_cast<std::size_t>(part.first_query) + i];
        for (unsigned hit = 0; hit < part.counts[i]; ++hit, ++from, ++to)
          hits[static_cast<std::size_t>(to)] = {key_of(metric, rows_.distances[from]), rows_.ids[from]};
      }
    }
    for (std::size_t q = 0; q + 1 < rows_.offsets.size(); ++q)
      std::sort(hits.begin() + rows_.offsets[q], hits.begin() + rows_.offsets[q + 1]);
    for (std::size_t i = 0; i < hits.size(); ++i) {
      rows_.ids[i] = hits[i].id;
      rows_.distances[i] = core::returned_value(metric, hits[i].key);
    }
  }

  static F key_of(const Metric& metric, F distance) {
    return metric.kind == MetricKind::inner_product ? -distance : distance;
  }

  std::int64_t most_hits_;
  cudaStream_t stream_;
  std::optional<Staging> staging_;
  std::size_t staging_bytes_ = 0;
  core::RadiusResult<F> rows_;  // offsets: how many a query has, in the place behind it
  std::vector<Part> parts_;
  std::int64_t next_query_ = 0;
  bool in_order_ = true;
};

}  // namespace kith::KITH_BACKEND::host_data
