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
  copies,  // 3003 different rows, a third where there are fewer than 9009
  tight,   // 2000 clusters one after the other, 1000 times as tight as their centers are spread; queries from the same
  tight_shuffled,  // the same rows in another order
  low_rank,        // 8 directions of all coordinates, and noise of a thousandth
  bytes,           // whole numbers from 0 to 255, which are searched as uint8
  file,            // those of a file
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

  std::int64_t rows() const { return rows_; }
  MatrixView<float> view() const { return MatrixView<float>::on_device(values_.data(), rows_, dims_); }

 private:
  std::int64_t rows_ = 0;
  std::int64_t dims_ = 0;
  cuda::DeviceBuffer<float> values_;
};

// Rows of whole numbers from 0 to 255 in the elements that are searched.
class BytePoints {
 public:
  BytePoints() = default;
  BytePoints(const MatrixView<float>& points, cudaStream_t stream);

  MatrixView<std::uint8_t> view() const { return MatrixView<std::uint8_t>::on_device(values_.data(), rows_, dims_); }

 private:
  std::int64_t rows_ = 0;
  std::int64_t dims_ = 0;
  cuda::DeviceBuffer<std::uint8_t> values_;
};

}  // namespace kith::bench::device::search
