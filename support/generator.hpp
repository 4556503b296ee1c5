// generator.hpp: made-up points, the same on every platform: a counter-based generator (SplitMix64's mixing function
// over seed, stream, row and column) and arithmetic that is exact or a single IEEE operation, so that no math library
// and no fused multiply-add can change a bit. Row i depends on the seed and i alone, so later rows are fresh points of
// the same distribution.
//
// | kind       | points                                                                                          |
// |------------|-------------------------------------------------------------------------------------------------|
// | uniform    | independent coordinates in [0, 1]                                                               |
// | gaussian   | independent coordinates of mean 0 and variance 1: the sum of 12 uniforms − 6, so within ±6      |
// | clustered  | a gaussian center, one of `clusters`, plus a gaussian of deviation 1/8                          |
// | surface    | a curved sheet: (u, v) uniform in [−1, 1)², every further coordinate a cubic polynomial of them |
// | duplicates | exact copies of `clusters` gaussian points                                                      |
//
// uint8 takes floor(256 x) of uniform, 128 + 64 x of surface and 128 + 32 x of the others, rounded and clamped to
// 0 … 255; int8 is that − 128. float32, float16 and bfloat16 are rounded once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kith/matrix.hpp"

namespace kith::support {

enum class PointKind { uniform, gaussian, clustered, surface, duplicates };

std::vector<std::string> point_kind_names();
PointKind parse_point_kind(std::string_view name);  // throws Error(invalid_argument)

struct PointSpec {
  PointKind kind = PointKind::uniform;
  std::int64_t dims = 0;
  std::uint64_t seed = 0;
  std::int64_t clusters = 0;  // clustered, duplicates; 0: 256 clusters, 1,000 different points
};

class PointGenerator {
 public:
  explicit PointGenerator(PointSpec spec);

  // Rows first … first + count − 1, row-major.
  template <Element T>
  std::vector<T> rows(std::int64_t first, std::int64_t count) const;

 private:
  void fill_row(std::int64_t row, double* out) const;
  void fill_gaussian(std::uint64_t stream, std::int64_t row, double* out) const;
  void fill_surface(std::int64_t row, double* out) const;
  std::int64_t cluster_of(std::int64_t row) const;

  PointSpec spec_;
  std::vector<double> centers_;       // clustered: clusters × dims
  std::vector<double> coefficients_;  // surface: dims × kTerms
};

}  // namespace kith::support
