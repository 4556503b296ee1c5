// The problem generator: data of every kind that has ever broken a nearest-neighbor search, in every element type and
// memory layout. The same spec and seed give the same problem everywhere.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

#include "kith/matrix.hpp"
#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "support/print.hpp"

namespace kith::test {

enum class Kind {
  uniform,
  gaussian,
  clustered,     // tight clusters far from the origin: spread 0.1 around centers of norm 113
  duplicates,    // ten copies of each point; half of the queries are base points
  ties,          // a small integer grid: most distances are shared by many points
  large_offset,  // small differences on top of a large common value
  descending,    // every point is nearer than all before it: the worst case of a threshold filter
  all_equal,
  subnormal,  // below the smallest normal number
  tiny,       // normal, with squares that underflow the element type
  huge,       // around 1e30: squares overflow float
};

enum class Layout { packed, padded, column_major, interleaved };

const std::vector<Kind>& all_kinds();
const std::vector<Layout>& all_layouts();
const std::vector<DType>& all_dtypes();
const std::vector<Metric>& all_metrics();  // each kind once, minkowski with several p
const char* to_string(Kind kind);
const char* to_string(Layout layout);

struct Shape {
  std::int64_t base_rows = 0;
  std::int64_t queries = 0;
  std::int64_t dims = 0;
};

// Values in plain row-major order, valid under the metric: no zero rows for cosine, no constant ones for correlation.
template <Element T>
struct Sample {
  Matrix<T> base;
  Matrix<T> queries;
};

template <Element T>
Sample<T> generate(Kind kind, Shape shape, const Metric& metric, std::uint64_t seed);

// Changes rows the metric refuses into rows it accepts; equal rows stay equal.
template <Element T>
void make_valid(Matrix<T>& points, const Metric& metric);

// The values of a dense matrix in some layout. What lies between them is poison, and memory ends where they end.
template <Element T>
class Points {
 public:
  Points(const Matrix<T>& dense, Layout layout);
  Points(const Points&) = delete;
  Points& operator=(const Points&) = delete;
  Points(Points&&) = default;
  Points& operator=(Points&&) = default;
  ~Points() = default;

  MatrixView<T> view() const { return view_; }

 private:
  std::vector<T> memory_;
  MatrixView<T> view_;
};

// Everything one search depends on; prints as one line, enough to repeat it.
struct Case {
  Kind kind = Kind::uniform;
  DType dtype = DType::float32;
  Metric metric;
  Shape shape;
  std::int64_t k = 1;
  Layout base_layout = Layout::packed;
  Layout query_layout = Layout::packed;
  Method method = Method::automatic;
  DistanceStage distance = DistanceStage::automatic;
  int threads = 0;
  std::int64_t budget = 0;
  std::uint64_t seed = 1;
  Backend backend = Backend::cpu;
  std::int64_t base_landmarks = 0;  // of method triangle
  std::int64_t query_landmarks = 0;

  Options options() const;
};

std::ostream& operator<<(std::ostream& out, const Case& c);

// What is not said is left to the planner.
Options options_for(const Metric& metric, DistanceStage stage = DistanceStage::automatic, int threads = 0);
Options options_for(DistanceStage stage, int threads = 0);

// Calls f.template operator()<T>() for the element type a dtype names.
template <class F>
decltype(auto) with_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float64: return f.template operator()<double>();
    case DType::uint8: return f.template operator()<std::uint8_t>();
    case DType::int8: return f.template operator()<std::int8_t>();
    case DType::float16:
    case DType::bfloat16: throw std::invalid_argument("points of 16 bits are compared with floats (float16_test.cpp)");
    case DType::float32: break;
  }
  return f.template operator()<float>();
}

}  // namespace kith::test
