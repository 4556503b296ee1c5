// points.hpp: base and queries, made where they are needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/harness/backend.hpp"
#include "kith/matrix.hpp"

namespace kith::bench::device::search {

enum class Data {
  gaussian,
  clustered,  // 500 clusters, spread 0.1 around centers with coordinates of about 10
  manifold,   // smooth functions of 8 coordinates
  uniform,    // in the unit cube
  table,   // as the columns of a table: 300 clusters of uneven sizes and spreads, each in a few directions of its own
  copies,  // 3003 different rows
  file,    // those of a file
};

const char* to_string(Data data);
std::vector<std::string> data_names();
Data parse_data(const std::string& name);

// Packed rows on the device, the same for the same seed. Clusters and manifold do not depend on the seed, so that
// queries lie where the base does.
class Points {
 public:
  Points() = default;
  Points(std::int64_t rows, std::int64_t dims, Data data, unsigned seed, cudaStream_t stream);
  // Those of a file (fbin). Throws std::runtime_error where it cannot be read.
  Points(const std::string& file, cudaStream_t stream);

  MatrixView<float> view() const { return MatrixView<float>::on_device(values_.data(), rows_, dims_); }

 private:
  std::int64_t rows_ = 0;
  std::int64_t dims_ = 0;
  cuda::DeviceBuffer<float> values_;
};

}  // namespace kith::bench::device::search
