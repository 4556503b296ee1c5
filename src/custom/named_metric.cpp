// named_metric.cpp: metrics by name: which there are, what they take, what rows they refuse.
#include "kith/named_metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "api/guard.hpp"
#include "core/names.hpp"
#include "cpu/simd/quadratic_form.hpp"
#include "custom/direction_mapping.hpp"
#include "custom/linear_mapping.hpp"
#include "custom/sphere_mapping.hpp"
#include "custom/terms.hpp"
#include "kith/custom_metric.hpp"

namespace kith {
namespace {

using custom::BrayCurtisTerms;
using custom::CosineTerms;

// At least what a product or a power that underflows is off by.
constexpr double kUnderflow = 0x1p-1070;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

void check_length(const char* metric, const char* what, std::size_t length, std::int64_t dims) {
  if (static_cast<std::int64_t>(length) != dims)
    refuse(fmt::format("{} has {} {} for points of {} dimensions; one for each is needed", metric, length, what, dims));
}

// Any coordinate but 0 counts as 1; NaN, which check_finite lets pass where it is off, too.
template <class Terms>
class BooleanMetric final : public TermMetric<Terms> {
 public:
  using TermMetric<Terms>::TermMetric;
  void prepare(double* row, std::int64_t dims, const char* /*role*/, std::int64_t /*number*/) const override {
    for (std::int64_t c = 0; c < dims; ++c) row[c] = row[c] != 0 ? 1 : 0;
  }
};

class NanEuclidean final : public TermMetric<custom::NanEuclideanTerms> {
 public:
  NanEuclidean() : TermMetric({}, "nan_euclidean") {}
  bool takes_nan() const override { return true; }
};

// A number for each dimension; rows times a power of it are searched in their place.
template <class Terms>
class WeightedMetric final : public TermMetric<Terms>, public custom::Mappable {
 public:
  WeightedMetric(Terms terms, const char* name, const char* what, std::size_t count,
                 std::shared_ptr<const custom::RowMapping> mapping)
      : TermMetric<Terms>(std::move(terms), name), what_(what), count_(count), mapping_(std::move(mapping)) {}
  std::shared_ptr<const custom::RowMapping> mapping(std::int64_t /*dims*/) const override { return mapping_; }
  void check(std::int64_t dims) const override { check_length(this->name().c_str(), what_, count_, dims); }

 private:
  const char* what_;
  std::size_t count_;
  std::shared_ptr<const custom::RowMapping> mapping_;
};

class JensenShannon final : public TermMetric<custom::JensenShannonTerms> {
 public:
  JensenShannon() : TermMetric({}, "jensenshannon") {}
  void prepare(double* row, std::int64_t dims, const char* role, std::int64_t number) const override {
    double sum = 0;
    for (std::int64_t c = 0; c < dims; ++c) {
      if (row[c] < 0)
        throw Error(ErrorCode::bad_data,
                    fmt::format("{} row {}, column {} is {}; jensenshannon takes values of 0 or more", role, number, c,
                                row[c]));
      sum += row[c];
    }
    if (sum == 0)
      throw Error(ErrorCode::bad_data,
                  fmt::format("{} row {} is zero; jensenshannon takes rows with a sum above 0", role, number));
    for (std::int64_t c = 0; c < dims; ++c) row[c] /= sum;
  }
  double pair_seconds(std::int64_t dims) const override { return 1.2e-8 * static_cast<double>(dims); }
};

class Cosine final : public TermMetric<CosineTerms>, public custom::Mappable {
 public:
  std::shared_ptr<const custom::RowMapping> mapping(std::int64_t dims) const override {
    return custom::direction_mapping(dims);
  }
  explicit Cosine(ZeroVectors policy)
      : TermMetric(CosineTerms{policy == ZeroVectors::one ? 1.0 : 0.0}, "cosine"), policy_(policy) {}
  void prepare(double* row, std::int64_t dims, const char* role, std::int64_t number) const override {
    double square = 0;
    for (std::int64_t c = 0; c < dims; ++c) square += row[c] * row[c];
    constexpr double kSmallest = 1e-307;  // per coordinate; smaller squares are subnormal and lose digits
    if (square == 0 && is_zero(row, dims)) {
      if (policy_ != ZeroVectors::error) return;
      throw Error(ErrorCode::bad_data,
                  fmt::format("{} row {} has length zero; cosine needs a direction, or zero_vectors", role, number));
    }
    if (square < kSmallest * static_cast<double>(dims) || std::isinf(square))
      throw Error(ErrorCode::bad_data,
                  fmt::format("the squared length of {} row {} is {}, outside what double holds in full precision; "
                              "cosine cannot use it",
                              role, number, square));
  }

 private:
  static bool is_zero(const double* row, std::int64_t dims) {
    return std::all_of(row, row + dims, [](double value) { return value == 0; });
  }
  ZeroVectors policy_;
};

// Whether a query is the one before it, as the last one is where there are not enough for a tile.
bool repeats(const PanelTile& tile, std::int64_t query) {
  const double* row = tile.queries + query * tile.dims;
  return query > 0 && std::equal(row, row + tile.dims, row - tile.dims);
}

// √(δᵀ S δ), S the inverse of the covariances.
class Mahalanobis final : public PairMetric, public custom::Mappable {
 public:
  explicit Mahalanobis(std::vector<double> inverse) : size_(inverse.size()), upper_(std::move(inverse)) {
    const auto dims = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(size_))));
    if (dims == 0 || dims * dims != size_)
      refuse(fmt::format("mahalanobis has an inverse of {} numbers; dims × dims are needed", size_));
    dims_ = static_cast<std::int64_t>(dims);
    // Above the diagonal what both halves contribute: a matrix that is not symmetric has the same form as its mean.
    for (std::size_t i = 0; i < dims; ++i)
      for (std::size_t j = i + 1; j < dims; ++j) {
        upper_[i * dims + j] += upper_[j * dims + i];
        upper_[j * dims + i] = 0;
      }
  }
  std::string name() const override { return "mahalanobis"; }
  std::shared_ptr<const custom::RowMapping> mapping(std::int64_t /*dims*/) const override {
    return custom::cholesky_mapping(upper_, dims_);
  }
  double mapping_seconds() const override { return 5e-10 * static_cast<double>(size_) * static_cast<double>(dims_); }
  void check(std::int64_t dims) const override {
    if (dims != dims_)
      refuse(fmt::format("mahalanobis has an inverse of {} × {} for points of {} dimensions", dims_, dims_, dims));
  }
  using PairMetric::fill;
  void fill(const PanelTile& tile) const override {
    std::vector<double> deltas(static_cast<std::size_t>(tile.dims * kPanelRows));
    for (std::int64_t p = 0; p < tile.panel_count; ++p)
      for (std::int64_t q = 0; q < tile.query_count; ++q) {
        double* out = tile.out + q * tile.out_stride + p * kPanelRows;
        if (repeats(tile, q)) {
          std::copy_n(out - tile.out_stride, kPanelRows, out);
          continue;
        }
        cpu::quadratic_forms(upper_.data(), tile.queries + q * tile.dims, tile.panels + p * tile.dims * kPanelRows,
                             tile.dims, deltas.data(), out);
        for (std::int64_t r = 0; r < kPanelRows; ++r) out[r] = std::sqrt(out[r]);
      }
  }
  double pair_seconds(std::int64_t dims) const override {
    return 1e-9 + 5e-11 * static_cast<double>(dims) * static_cast<double>(dims);
  }

 private:
  std::size_t size_;
  std::vector<double> upper_;
  std::int64_t dims_ = 0;
};

// The angle between points of a sphere, of latitudes and longitudes in radians.
class Haversine final : public PairMetric, public custom::Mappable {
 public:
  std::shared_ptr<const custom::RowMapping> mapping(std::int64_t /*dims*/) const override {
    return custom::sphere_mapping();
  }
  std::string name() const override { return "haversine"; }
  void check(std::int64_t dims) const override {
    if (dims != 2) refuse(fmt::format("haversine takes 2 dimensions, latitude and longitude, not {}", dims));
  }
  using PairMetric::fill;
  void fill(const PanelTile& tile) const override {
    std::vector<double> cosines(static_cast<std::size_t>(tile.query_count));
    for (std::int64_t q = 0; q < tile.query_count; ++q)
      cosines[static_cast<std::size_t>(q)] = std::cos(tile.queries[2 * q]);
    for (std::int64_t p = 0; p < tile.panel_count; ++p) {
      const double* latitude = tile.panels + p * 2 * kPanelRows;
      const double* longitude = latitude + kPanelRows;
      std::array<double, static_cast<std::size_t>(kPanelRows)> cosine{};
      for (std::size_t r = 0; r < cosine.size(); ++r) cosine[r] = std::cos(latitude[r]);
      for (std::int64_t q = 0; q < tile.query_count; ++q) {
        const double* query = tile.queries + 2 * q;
        double* out = tile.out + q * tile.out_stride + p * kPanelRows;
        if (repeats(tile, q)) {
          std::copy_n(out - tile.out_stride, kPanelRows, out);
          continue;
        }
        for (std::size_t r = 0; r < cosine.size(); ++r) {
          const double across = std::sin(0.5 * (query[0] - latitude[r]));
          const double along = std::sin(0.5 * (query[1] - longitude[r]));
          const double square = across * across + cosines[static_cast<std::size_t>(q)] * cosine[r] * (along * along);
          // Rounding may take the antipodes beyond 1.
          out[r] = 2 * std::asin(std::sqrt(std::min(square, 1.0)));
        }
      }
    }
  }
  double pair_seconds(std::int64_t /*dims*/) const override { return 4e-8; }
};

using Made = std::shared_ptr<const PairMetric>;

Made braycurtis(MetricParameters&) {
  return std::make_shared<TermMetric<BrayCurtisTerms>>(BrayCurtisTerms{}, "braycurtis");
}
Made dice(MetricParameters&) {
  return std::make_shared<BooleanMetric<custom::DiceTerms>>(custom::DiceTerms{}, "dice");
}
Made jaccard(MetricParameters&) {
  return std::make_shared<BooleanMetric<custom::JaccardTerms>>(custom::JaccardTerms{}, "jaccard");
}
Made russellrao(MetricParameters&) {
  return std::make_shared<BooleanMetric<custom::RussellRaoTerms>>(custom::RussellRaoTerms{}, "russellrao");
}
Made haversine(MetricParameters&) {
  return std::make_shared<Haversine>();
}
Made jensenshannon(MetricParameters&) {
  return std::make_shared<JensenShannon>();
}
Made nan_euclidean(MetricParameters&) {
  return std::make_shared<NanEuclidean>();
}
Made cosine(MetricParameters& parameters) {
  return std::make_shared<Cosine>(parameters.zero_vectors.value_or(ZeroVectors::error));
}

void check_finite(const char* metric, const char* what, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) refuse(fmt::format("{} {} {} is {}; it must be finite", metric, what, i, values[i]));
}

Made mahalanobis(MetricParameters& parameters) {
  if (parameters.inverse.empty()) refuse("mahalanobis needs the inverse of the covariances (VI)");
  check_finite("mahalanobis", "inverse", parameters.inverse);
  return std::make_shared<Mahalanobis>(std::move(parameters.inverse));
}

Made seuclidean(MetricParameters& parameters) {
  if (parameters.variances.empty()) refuse("seuclidean needs a variance for each dimension (V)");
  check_finite("seuclidean", "variance", parameters.variances);
  for (std::size_t i = 0; i < parameters.variances.size(); ++i)
    if (!(parameters.variances[i] > 0))
      refuse(fmt::format("seuclidean variance {} is {}; it must be above 0", i, parameters.variances[i]));
  const std::size_t count = parameters.variances.size();
  std::vector<double> factors;
  double smallest = 0;
  for (const double variance : parameters.variances) {
    factors.push_back(1 / std::sqrt(variance));
    smallest += (1 + 1 / variance) * kUnderflow;
  }
  return std::make_shared<WeightedMetric<custom::SeuclideanTerms>>(
      custom::SeuclideanTerms{std::move(parameters.variances)}, "seuclidean", "variances", count,
      custom::diagonal_mapping(std::move(factors), 2, smallest));
}

// (w |x − y|^p) is |w^(1/p) (x − y)|^p; for p = ∞ a weight says whether a coordinate counts.
std::shared_ptr<const custom::RowMapping> weighted_mapping(const std::vector<double>& weights, double p) {
  std::vector<double> factors;
  double smallest = 0;
  for (const double weight : weights) {
    factors.push_back(weight == 0 ? 0 : std::isinf(p) ? 1 : p == 2 ? std::sqrt(weight) : std::pow(weight, 1 / p));
    smallest += (1 + weight) * kUnderflow;
  }
  return custom::diagonal_mapping(std::move(factors), p, smallest);
}

template <class Terms>
Made weighted(Terms terms, double p, std::size_t count) {
  auto mapping = weighted_mapping(terms.weights, p);
  return std::make_shared<WeightedMetric<Terms>>(std::move(terms), "minkowski", "weights", count, std::move(mapping));
}

Made minkowski(MetricParameters& parameters) {
  const double p = parameters.p.value_or(2);
  std::vector<double>& weights = parameters.weights;
  if (!(p >= 1)) refuse(fmt::format("minkowski p = {}; p must be at least 1", p));
  if (weights.empty())
    refuse("minkowski needs a weight for each dimension (w) here; without weights it is MetricKind::minkowski");
  check_finite("minkowski", "weight", weights);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] < 0) refuse(fmt::format("minkowski weight {} is {}; it must be 0 or more", i, weights[i]));
  const std::size_t count = weights.size();
  if (p == 1) return weighted(custom::WeightedManhattanTerms{std::move(weights)}, p, count);
  if (p == 2) return weighted(custom::WeightedEuclideanTerms{std::move(weights)}, p, count);
  if (std::isinf(p)) return weighted(custom::WeightedChebyshevTerms{std::move(weights)}, p, count);
  return weighted(custom::WeightedMinkowskiTerms{p, std::move(weights)}, p, count);
}

struct Entry {
  Made (*make)(MetricParameters&);
  bool takes_power = false;  // p and weights
  bool takes_variances = false;
  bool takes_inverse = false;
  bool takes_policy = false;
};

constexpr std::array<Entry, 11> kEntries{{
    {braycurtis},
    {cosine, false, false, false, true},
    {dice},
    {haversine},
    {jaccard},
    {jensenshannon},
    {mahalanobis, false, false, true},
    {minkowski, true},
    {nan_euclidean},
    {russellrao},
    {seuclidean, false, true},
}};
constexpr std::array<core::Name<int>, 11> kNames{{
    {"braycurtis", 0},
    {"cosine", 1},
    {"dice", 2},
    {"haversine", 3},
    {"jaccard", 4},
    {"jensenshannon", 5},
    {"mahalanobis", 6},
    {"minkowski", 7},
    {"nan_euclidean", 8},
    {"russellrao", 9},
    {"seuclidean", 10},
}};

constexpr std::array<core::Name<ZeroVectors>, 3> kPolicies{{
    {"error", ZeroVectors::error},
    {"zero", ZeroVectors::zero},
    {"one", ZeroVectors::one},
}};

// What a metric does not take is refused, not passed over.
void check_parameters(const Entry& entry, std::string_view name, const MetricParameters& parameters) {
  const auto unused = [name](bool given, bool taken, const char* what) {
    if (given && !taken) refuse(fmt::format("metric {} takes no {}", name, what));
  };
  unused(parameters.p.has_value(), entry.takes_power, "p");
  unused(!parameters.weights.empty(), entry.takes_power, "weights (w)");
  unused(!parameters.variances.empty(), entry.takes_variances, "variances (V)");
  unused(!parameters.inverse.empty(), entry.takes_inverse, "inverse of covariances (VI)");
  unused(parameters.zero_vectors.has_value(), entry.takes_policy, "zero_vectors");
}

}  // namespace

const char* to_string(ZeroVectors policy) noexcept {
  return core::name_of(kPolicies, policy);
}

ZeroVectors parse_zero_vectors(std::string_view name) {
  return core::parse_name(kPolicies, "zero_vectors", name);
}

std::shared_ptr<const PairMetric> named_metric(std::string_view name, MetricParameters parameters) {
  return api::guarded([&] {
    const int at = core::parse_name(kNames, "metric", name);
    const Entry& entry = kEntries[static_cast<std::size_t>(at)];
    check_parameters(entry, core::name_of(kNames, at), parameters);
    return entry.make(parameters);
  });
}

std::vector<std::string> named_metric_names() {
  std::vector<std::string> names;
  for (const auto& [name, at] : kNames) names.emplace_back(name);
  return names;
}

}  // namespace kith
