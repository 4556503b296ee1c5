#include "custom/image_index.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu/parallel.hpp"

namespace kith::custom {
namespace {

constexpr std::int64_t kChunk = 512;
// Images of the base are at most 1, so that nothing over- or underflows, of queries not much more.
constexpr double kLeastImage = 0x1p-400;
constexpr double kMostImage = 0x1p400;
constexpr double kMostQuery = 0x1p8;

std::int64_t chunks(std::int64_t rows) {
  return (rows + kChunk - 1) / kChunk;
}

// Calls work(first, count) for parts of the rows.
template <class Work>
void for_chunks(int threads, std::int64_t rows, const Work& work) {
  cpu::parallel_for(threads, chunks(rows),
                    [&](std::int64_t chunk, int) { work(chunk * kChunk, std::min(kChunk, rows - chunk * kChunk)); });
}

// Any point does; one among the rows keeps differences small where all of them are far from 0.
std::vector<double> center_of(const RowReader& reader, std::int64_t rows, std::int64_t dims) {
  constexpr std::int64_t kMostSamples = 256;
  const std::int64_t samples = std::min(rows, kMostSamples);
  std::vector<double> center(static_cast<std::size_t>(dims), 0.0);
  std::vector<double> row(center.size());
  for (std::int64_t i = 0; i < samples; ++i) {
    reader(i * (rows / samples), row.data());
    for (std::size_t c = 0; c < row.size(); ++c) center[c] += row[c] / static_cast<double>(samples);
  }
  return center;
}

}  // namespace

// What rounding to the type of images adds to the error of a row: the sum of coordinates is at least any norm of them.
double ImageIndex::rounding(const double* image) const {
  const std::int64_t count = mapping_->image_dims();
  const double p = mapping_->metric().kind == MetricKind::euclidean ? 2 : mapping_->metric().p;
  double sum = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += std::abs(image[i]);
    squares += image[i] * image[i];
  }
  const double norm = (p < 2 ? sum : std::sqrt(squares)) * (1 + 1e-9);
  return is_float_ ? 0x1p-24 * norm + 0x1p-149 * static_cast<double>(count) : 0x1p-53 * norm;
}

// Without the scale.
double ImageIndex::image_of(const double* row, std::int64_t dims, double* scratch, double* image) const {
  if (center_.empty()) return mapping_->map(row, image);
  for (std::int64_t c = 0; c < dims; ++c) scratch[c] = row[c] - center_[static_cast<std::size_t>(c)];
  return mapping_->map(scratch, image);
}

// Rows without an image are candidates of every query: not for many of them.
bool ImageIndex::set_apart(std::vector<double>& images, std::vector<double>& errors) {
  constexpr std::int64_t kFew = 16;
  constexpr std::int64_t kOneOf = 1024;
  const auto all = std::ssize(errors);
  const std::int64_t dims = mapping_->image_dims();
  for (std::int64_t r = 0; r < all; ++r) {
    const double error = errors[static_cast<std::size_t>(r)];
    if (std::isinf(error)) {
      without_image_.push_back(r);
      if (std::ssize(without_image_) > std::max(kFew, all / kOneOf)) return false;
      continue;
    }
    if (!without_image_.empty()) {
      std::copy_n(images.data() + r * dims, dims, images.data() + rows_ * dims);
      errors[static_cast<std::size_t>(rows_)] = error;
    }
    ids_.push_back(r);
    ++rows_;
  }
  if (without_image_.empty()) ids_ = {};
  images.resize(static_cast<std::size_t>(rows_ * dims));
  errors.resize(static_cast<std::size_t>(rows_));
  return rows_ > 0;
}

// Numbers of base rows in the place of those of images.
void ImageIndex::name_rows(Candidates& found) const {
  if (ids_.empty()) return;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> offsets = {0};
  for (std::size_t q = 0; q + 1 < found.offsets.size(); ++q) {
    for (std::int64_t i = found.offsets[q]; i < found.offsets[q + 1]; ++i)
      ids.push_back(ids_[static_cast<std::size_t>(found.ids[static_cast<std::size_t>(i)])]);
    ids.insert(ids.end(), without_image_.begin(), without_image_.end());
    offsets.push_back(std::ssize(ids));
  }
  found.ids = std::move(ids);
  found.offsets = std::move(offsets);
}

template <class I>
void ImageIndex::fill(std::vector<double> images, std::int64_t rows, const Options& options) {
  Options mine = options;
  mine.metric = mapping_->metric();
  mine.check_finite = false;  // done
  if constexpr (std::is_same_v<I, double>) {
    index_.emplace<Index<I>>(Matrix<I>(rows, mapping_->image_dims(), std::move(images)), std::move(mine));
  } else {
    std::vector<I> rounded(images.begin(), images.end());
    images = {};
    index_.emplace<Index<I>>(Matrix<I>(rows, mapping_->image_dims(), std::move(rounded)), std::move(mine));
  }
}

std::unique_ptr<const ImageIndex> ImageIndex::make(std::shared_ptr<const RowMapping> mapping, const RowReader& reader,
                                                   std::int64_t rows, std::int64_t dims, bool to_float, int threads,
                                                   const Options& options) {
  std::unique_ptr<ImageIndex> made(new ImageIndex);
  made->dims_ = dims;
  made->is_float_ = to_float && mapping->takes_float();
  if (mapping->is_linear()) made->center_ = center_of(reader, rows, dims);
  made->mapping_ = std::move(mapping);
  const std::int64_t image_dims = made->mapping_->image_dims();
  std::vector<double> images(static_cast<std::size_t>(rows * image_dims));
  std::vector<double> errors(static_cast<std::size_t>(rows));
  for_chunks(threads, rows, [&](std::int64_t first, std::int64_t count) {
    std::vector<double> row(static_cast<std::size_t>(2 * dims));
    for (std::int64_t r = first; r < first + count; ++r) {
      double* image = images.data() + r * image_dims;
      reader(r, row.data());
      const double error = made->image_of(row.data(), dims, row.data() + dims, image);
      const bool is_finite = std::all_of(image, image + image_dims, [](double value) { return std::isfinite(value); });
      errors[static_cast<std::size_t>(r)] = is_finite && std::isfinite(error) ? error : kInfinity;
    }
  });
  if (!made->set_apart(images, errors)) return nullptr;
  rows = made->rows_;
  double most = 0;
  double error = 0;
  for (const double value : images) most = std::max(most, std::abs(value));
  for (const double each : errors) error = std::max(error, each);
  // All images are one point: as good as any, but there is nothing to scale by.
  if (!(most < kMostImage) || (most != 0 && most < kLeastImage)) return nullptr;
  made->scale_ = most == 0 ? 1 : std::ldexp(1.0, -std::ilogb(most) - 1);
  std::vector<double> roundings(static_cast<std::size_t>(chunks(rows)));
  for_chunks(threads, rows, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t r = first; r < first + count; ++r) {
      double* image = images.data() + r * image_dims;
      for (std::int64_t c = 0; c < image_dims; ++c) image[c] *= made->scale_;
      double& mine = roundings[static_cast<std::size_t>(first / kChunk)];
      mine = std::max(mine, made->rounding(image));
    }
  });
  made->error_ = error * made->scale_ + *std::max_element(roundings.begin(), roundings.end());
  if (made->is_float_) {
    made->fill<float>(std::move(images), rows, options);
  } else {
    made->fill<double>(std::move(images), rows, options);
  }
  return made;
}

QueryImages ImageIndex::map(const RowReader& reader, std::int64_t first, std::int64_t count, int threads) const {
  const std::int64_t image_dims = mapping_->image_dims();
  std::vector<double> errors(static_cast<std::size_t>(count));
  QueryImages made;
  made.values.resize(static_cast<std::size_t>(count * image_dims));
  for_chunks(threads, count, [&](std::int64_t begin, std::int64_t rows) {
    std::vector<double> row(static_cast<std::size_t>(2 * dims_));
    for (std::int64_t q = begin; q < begin + rows; ++q) {
      double* image = made.values.data() + q * image_dims;
      reader(first + q, row.data());
      double error = image_of(row.data(), dims_, row.data() + dims_, image) * scale_;
      for (std::int64_t c = 0; c < image_dims; ++c) {
        image[c] *= scale_;
        if (!(std::abs(image[c]) <= kMostQuery)) error = kInfinity;
      }
      errors[static_cast<std::size_t>(q)] = error < kInfinity ? error + rounding(image) : kInfinity;
    }
  });
  // Those without an image are left out.
  for (std::int64_t q = 0; q < count; ++q) {
    const double error = errors[static_cast<std::size_t>(q)];
    if (std::isinf(error)) continue;
    const auto to = std::ssize(made.queries) * image_dims;
    std::copy_n(made.values.data() + q * image_dims, image_dims, made.values.data() + to);
    made.queries.push_back(first + q);
    made.errors.push_back(error);
  }
  made.values.resize(made.queries.size() * static_cast<std::size_t>(image_dims));
  return made;
}

double ImageIndex::reach(double distance, double query_error) const {
  // Of the index's sums, in double, of its root or power, and of rounding its distances once.
  const double rounded = is_float_ ? 0x1p-23 : 0x1p-52;
  const double sums = (static_cast<double>(mapping_->image_dims()) + 16) * 0x1p-51;
  const double p = mapping_->metric().kind == MetricKind::euclidean ? 2 : mapping_->metric().p;
  const bool is_power = p != 1 && p != 2 && std::isfinite(p);
  const double powers = is_power ? 0x1p-40 : 0;
  const double smallest =
      is_power ? std::pow(static_cast<double>(mapping_->image_dims()) * 0x1p-1070, 1 / p) : 0x1p-500;
  return (mapping_->reach(distance) * scale_ + query_error + error_ + smallest) * (1 + rounded + sums + powers);
}

namespace {

// Calls search(index, view of the images) with the images in the index's type.
template <class I, class Search>
auto with_images(const Index<I>& index, const QueryImages& images, const Search& search) {
  const auto count = static_cast<std::int64_t>(images.queries.size());
  if constexpr (std::is_same_v<I, double>) {
    return search(index, MatrixView<I>(images.values.data(), count, index.dims()));
  } else {
    const std::vector<I> rounded(images.values.begin(), images.values.end());
    return search(index, MatrixView<I>(rounded.data(), count, index.dims()));
  }
}

template <class Visit>
Candidates visit(const std::variant<std::monostate, Index<float>, Index<double>>& index, const Visit& work) {
  if (const auto* floats = std::get_if<Index<float>>(&index)) return work(*floats);
  return work(std::get<Index<double>>(index));
}

}  // namespace

Candidates ImageIndex::nearest(const QueryImages& images, std::int64_t k) const {
  return visit(index_, [&]<class I>(const Index<I>& by_image) {
    return with_images(by_image, images, [&](const Index<I>& index, const MatrixView<I>& queries) {
      auto found = index.search(queries, k);
      Candidates made;
      for (std::int64_t q = 0; q <= queries.rows; ++q) made.offsets.push_back(q * k);
      for (std::int64_t q = 0; q < queries.rows; ++q)
        made.farthest.push_back(static_cast<double>(found.distances_of(q).back()));
      made.ids = std::move(found.ids);
      made.report = std::move(found.report);
      name_rows(made);
      return made;
    });
  });
}

Candidates ImageIndex::within(const QueryImages& images, std::span<const double> radii) const {
  return visit(index_, [&]<class I>(const Index<I>& by_image) {
    return with_images(by_image, images, [&](const Index<I>& index, const MatrixView<I>& queries) {
      std::vector<I> rounded;
      for (const double radius : radii)
        rounded.push_back(std::nextafter(static_cast<I>(radius), std::numeric_limits<I>::infinity()));
      auto found = index.search_radius(queries, rounded);
      Candidates made;
      made.offsets = std::move(found.offsets);
      made.ids = std::move(found.ids);
      made.report = std::move(found.report);
      name_rows(made);
      return made;
    });
  });
}

}  // namespace kith::custom
