// image_index.hpp: the images of a base, searched by the library's own index on whatever backend it takes.
//
// Images are moved by a center where the mapping is linear, scaled by a power of two so that none is beyond 1, and
// rounded to float where that is allowed. Every rounding is in the error of its row, which reach() adds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "custom/row_mapping.hpp"
#include "kith/index.hpp"

namespace kith::custom {

// Writes a row, in double, as the metric's fill() is given it.
using RowReader = std::function<void(std::int64_t row, double* out)>;

// Images of queries, without those that have none.
struct QueryImages {
  std::vector<double> values;
  std::vector<std::int64_t> queries;  // their numbers
  std::vector<double> errors;         // for reach()
};

// Base rows by the distance of images, a list for each of some queries.
struct Candidates {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> ids;
  std::vector<double> farthest;  // no other image is nearer
  SearchReport report;
};

class ImageIndex {
 public:
  // Null where many rows have no image, or images are too small or too large to be scaled. `reader` may be called by
  // several threads at once, and is not kept. `options` are those of the index.
  static std::unique_ptr<const ImageIndex> make(std::shared_ptr<const RowMapping> mapping, const RowReader& reader,
                                                std::int64_t rows, std::int64_t dims, bool to_float, int threads,
                                                const Options& options);

  // Base rows that have an image.
  std::int64_t rows() const { return rows_; }

  QueryImages map(const RowReader& reader, std::int64_t first, std::int64_t count, int threads) const;

  // The k nearest images of each, and base rows without an image.
  Candidates nearest(const QueryImages& images, std::int64_t k) const;
  // All images within radii that reach() returned, and base rows without an image.
  Candidates within(const QueryImages& images, std::span<const double> radii) const;

  // No row whose distance, as fill() computes it, is at most `distance`, has a computed distance of images above this.
  double reach(double distance, double query_error) const;

 private:
  ImageIndex() = default;
  template <class I>
  void fill(std::vector<double> images, std::int64_t rows, const Options& options);
  double image_of(const double* row, std::int64_t dims, double* scratch, double* image) const;
  double rounding(const double* image) const;
  bool set_apart(std::vector<double>& images, std::vector<double>& errors);
  void name_rows(Candidates& found) const;

  std::shared_ptr<const RowMapping> mapping_;
  std::int64_t dims_ = 0;
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> ids_;  // of images, where not all base rows have one
  std::vector<std::int64_t> without_image_;
  std::vector<double> center_;
  double scale_ = 1;
  double error_ = 0;  // the largest of a base row
  bool is_float_ = false;
  std::variant<std::monostate, Index<float>, Index<double>> index_;
};

}  // namespace kith::custom
