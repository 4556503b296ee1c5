// check.hpp: whether an answer is right, decided on the device by code that shares nothing with the library.
// Of a sample of the queries, evenly spread: the distances are those of the ids, in double by the definition of the key
// and rounded once; the order is that of (distance, id), the largest inner product first; and exactly k base points
// come up to the last, or exactly as many lie within the radius as are listed. That makes it the answer. Of all of an
// answer a fingerprint, by which later runs are compared with the first.
#pragma once

#include <string>

#include "device/harness/backend.hpp"
#include "kith/matrix.hpp"
#include "kith/metric.hpp"

namespace kith::bench::device::search {

struct DeviceAnswer {
  float* distances = nullptr;
  std::int64_t* ids = nullptr;
  std::int64_t k = 0;                     // a query
  const std::int64_t* offsets = nullptr;  // of lists by a radius, in place of k
  float radius = 0;
};

class Checker {
 public:
  // Metrics are sqeuclidean, manhattan, inner_product and cosine. `self`: queries are base points, which are not among
  // their own neighbors.
  Checker(MetricKind metric, const MatrixView<float>& base, const MatrixView<float>& queries, std::int64_t samples,
          cudaStream_t stream, bool self = false);

  std::int64_t samples() const { return samples_; }
  // Empty, or what is wrong with the first query that is. Waits for the stream.
  std::string fault(const DeviceAnswer& answer) const;
  // Of so many neighbors, all of the answer.
  unsigned long long fingerprint(const DeviceAnswer& answer, std::int64_t neighbors) const;

 private:
  MatrixView<float> base_;
  MatrixView<float> queries_;
  MetricKind metric_;
  std::int64_t samples_;
  cudaStream_t stream_;
  bool self_;
};

}  // namespace kith::bench::device::search
