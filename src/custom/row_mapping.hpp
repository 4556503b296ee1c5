// row_mapping.hpp: rows as points of a metric that the library searches fast, for metrics by definition that have one.
//
// What is found among images are candidates. Their distances are computed by the definition as ever, and reach() says
// which points need not be looked at, whatever rounding did on either side.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "kith/metric.hpp"

namespace kith::custom {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kRounding = 0x1p-53;  // relative, of one operation

class RowMapping {
 public:
  RowMapping() = default;
  RowMapping(const RowMapping&) = delete;
  RowMapping& operator=(const RowMapping&) = delete;
  virtual ~RowMapping() = default;

  // That of images: one with a norm, so that images may be moved and scaled.
  virtual Metric metric() const = 0;
  virtual std::int64_t image_dims() const = 0;
  // Whether only differences of rows count: a common center is then taken off, with one rounding each coordinate.
  virtual bool is_linear() const = 0;
  // Whether images may be rounded to float where points are not of type double: not where space is dense.
  virtual bool takes_float() const = 0;
  // Writes a row's image and returns how far it may be from the one that it is exactly; infinite for rows without one.
  virtual double map(const double* row, double* image) const = 0;
  // The largest distance of exact images of two rows whose distance, as fill() computes it, is at most `distance`: but
  // for the errors of both rows.
  virtual double reach(double distance) const = 0;
};

// What a PairMetric that has a mapping is, too.
class Mappable {
 public:
  Mappable() = default;
  Mappable(const Mappable&) = default;
  Mappable& operator=(const Mappable&) = default;
  virtual ~Mappable() = default;

  // Null where its parameters allow none.
  virtual std::shared_ptr<const RowMapping> mapping(std::int64_t dims) const = 0;
  // What mapping() takes.
  virtual double mapping_seconds() const { return 0; }
};

}  // namespace kith::custom
