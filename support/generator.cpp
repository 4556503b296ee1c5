#include "support/generator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "kith/error.hpp"

namespace kith::support {
namespace {

constexpr std::array<const char*, 5> kKindNames = {"uniform", "gaussian", "clustered", "surface", "duplicates"};
constexpr std::int64_t kDefaultClusters = 256;
constexpr std::int64_t kDefaultDistinct = 1000;
constexpr std::size_t kTerms = 10;  // of a cubic in two variables

// What a word is drawn for: values that must not depend on each other come from different streams.
enum Stream : std::uint64_t { kPoints = 1, kCenters = 2, kChoice = 3, kCoefficients = 4 };

constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The words of one row of one stream, by their number.
class Words {
 public:
  Words(std::uint64_t seed, std::uint64_t stream, std::int64_t row)
      : start_(mix(mix(seed + stream * kStep) + static_cast<std::uint64_t>(row) * kStep)) {}
  std::uint64_t operator[](std::int64_t word) const {
    return mix(start_ + static_cast<std::uint64_t>(word + 1) * kStep);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  std::uint64_t start_;
};

// 53 bits in [0, 1).
double uniform(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

// The sum of 12 uniforms of 21 bits, three of each word, minus its mean: an integer until the exact scaling.
double gaussian(const Words& words, std::int64_t col) {
  constexpr std::uint64_t kMask = (1U << 21) - 1;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::uint64_t word = words[4 * col + i];
    sum += static_cast<std::int64_t>((word & kMask) + ((word >> 21) & kMask) + ((word >> 42) & kMask));
  }
  // Each uniform is short of its interval's middle by half a step: 12 halves make 6 steps.
  return static_cast<double>(sum + 6 - (std::int64_t{6} << 21)) * 0x1p-21;
}

// Horner in v of polynomials in u; fma is one operation everywhere.
double cubic(const double* c, double u, double v) {
  const double c0 = std::fma(std::fma(std::fma(c[3], u, c[2]), u, c[1]), u, c[0]);
  const double c1 = std::fma(std::fma(c[6], u, c[5]), u, c[4]);
  const double c2 = std::fma(c[8], u, c[7]);
  return std::fma(std::fma(std::fma(c[9], v, c2), v, c1), v, c0);
}

int byte_level(PointKind kind, double x) {
  const double level = kind == PointKind::uniform   ? std::floor(256 * x)
                       : kind == PointKind::surface ? std::floor(128.5 + 64 * x)
                                                    : std::floor(128.5 + 32 * x);
  return static_cast<int>(std::clamp(level, 0.0, 255.0));
}

template <Element T>
T element(PointKind kind, double x) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x);
  } else if constexpr (std::same_as<T, Float16> || std::same_as<T, BFloat16>) {
    return T(x);
  } else if constexpr (std::same_as<T, std::uint8_t>) {
    return static_cast<T>(byte_level(kind, x));
  } else {
    return static_cast<T>(byte_level(kind, x) - 128);
  }
}

}  // namespace

std::vector<std::string> point_kind_names() {
  return {kKindNames.begin(), kKindNames.end()};
}

PointKind parse_point_kind(std::string_view name) {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found != kKindNames.end()) return static_cast<PointKind>(found - kKindNames.begin());
  std::string names;
  for (const char* kind : kKindNames) names += (names.empty() ? "" : ", ") + std::string(kind);
  throw Error(ErrorCode::invalid_argument, "unknown kind '" + std::string(name) + "'; the kinds are " + names);
}

PointGenerator::PointGenerator(PointSpec spec) : spec_(spec) {
  const bool clustered = spec_.kind == PointKind::clustered;
  if (spec_.clusters == 0) spec_.clusters = clustered ? kDefaultClusters : kDefaultDistinct;
  if (clustered) {
    centers_.resize(static_cast<std::size_t>(spec_.clusters) * static_cast<std::size_t>(spec_.dims));
    for (std::int64_t i = 0; i < spec_.clusters; ++i) fill_gaussian(kCenters, i, centers_.data() + i * spec_.dims);
  }
  if (spec_.kind == PointKind::surface) {
    coefficients_.resize(static_cast<std::size_t>(spec_.dims) * kTerms);
    const Words words(spec_.seed, kCoefficients, 0);
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
      coefficients_[i] = 2 * uniform(words[static_cast<std::int64_t>(i)]) - 1;
    }
  }
}

void PointGenerator::fill_gaussian(std::uint64_t stream, std::int64_t row, double* out) const {
  const Words words(spec_.seed, stream, row);
  for (std::int64_t col = 0; col < spec_.dims; ++col) out[col] = gaussian(words, col);
}

void PointGenerator::fill_surface(std::int64_t row, double* out) const {
  const Words words(spec_.seed, kPoints, row);
  const double u = 2 * uniform(words[0]) - 1;
  const double v = 2 * uniform(words[1]) - 1;
  for (std::int64_t col = 0; col < spec_.dims; ++col) {
    out[col] = col == 0 ? u : col == 1 ? v : cubic(coefficients_.data() + col * std::int64_t{kTerms}, u, v);
  }
}

std::int64_t PointGenerator::cluster_of(std::int64_t row) const {
  return static_cast<std::int64_t>(Words(spec_.seed, kChoice, row)[0] % static_cast<std::uint64_t>(spec_.clusters));
}

void PointGenerator::fill_row(std::int64_t row, double* out) const {
  switch (spec_.kind) {
    case PointKind::uniform: {
      const Words words(spec_.seed, kPoints, row);
      for (std::int64_t col = 0; col < spec_.dims; ++col) out[col] = uniform(words[col]);
      return;
    }
    case PointKind::gaussian: return fill_gaussian(kPoints, row, out);
    case PointKind::clustered: {
      fill_gaussian(kPoints, row, out);
      const double* center = centers_.data() + cluster_of(row) * spec_.dims;
      for (std::int64_t col = 0; col < spec_.dims; ++col) out[col] = center[col] + out[col] * 0.125;
      return;
    }
    case PointKind::surface: return fill_surface(row, out);
    case PointKind::duplicates: return fill_gaussian(kPoints, cluster_of(row), out);
  }
}

template <Element T>
std::vector<T> PointGenerator::rows(std::int64_t first, std::int64_t count) const {
  std::vector<T> values(static_cast<std::size_t>(count) * static_cast<std::size_t>(spec_.dims));
  std::vector<double> point(static_cast<std::size_t>(spec_.dims));
  T* out = values.data();
  for (std::int64_t row = first; row < first + count; ++row) {
    fill_row(row, point.data());
    for (const double x : point) *out++ = element<T>(spec_.kind, x);
  }
  return values;
}

template std::vector<float> PointGenerator::rows<float>(std::int64_t, std::int64_t) const;
template std::vector<double> PointGenerator::rows<double>(std::int64_t, std::int64_t) const;
template std::vector<std::uint8_t> PointGenerator::rows<std::uint8_t>(std::int64_t, std::int64_t) const;
template std::vector<std::int8_t> PointGenerator::rows<std::int8_t>(std::int64_t, std::int64_t) const;
template std::vector<Float16> PointGenerator::rows<Float16>(std::int64_t, std::int64_t) const;
template std::vector<BFloat16> PointGenerator::rows<BFloat16>(std::int64_t, std::int64_t) const;

}  // namespace kith::support
