// points.hpp: base and queries, made where they are needed.
#pragma once

#include <string>

#include "cuda/runtime/memory.hpp"
#include "kith/matrix.hpp"
#include "search_device/problem.hpp"

namespace kith::search_bench {

// Packed rows on the device, the same for the same seed. Clusters and manifold do not depend on the seed, so that
// queries lie where the base does.
class Points {
 public:
  Points() = default;
  Points(std::int64_t rows, std::int64_t dims, Data data, unsigned seed, cudaStream_t stream);
  // Those of a file (fbin). Throws std::runtime_error where it cannot be read.
  Points(const std::string& file, cudaStream_t stream);

  MatrixView<float> view() const { return {values_.data(), rows_, dims_}; }

 private:
  std::int64_t rows_ = 0;
  std::int64_t dims_ = 0;
  cuda::DeviceBuffer<float> values_;
};

// Fills with Gaussian values.
void fill_gaussian(float* values, std::size_t count, cudaStream_t stream);

}  // namespace kith::search_bench
