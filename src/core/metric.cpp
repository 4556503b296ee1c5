// metric.cpp: names of metrics and Minkowski's p.
#include "kith/metric.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include "core/names.hpp"

namespace kith {
namespace {

using core::Name;

constexpr std::array<Name<MetricKind>, 18> kMetrics{{
    {"sqeuclidean", MetricKind::sqeuclidean},
    {"l2_squared", MetricKind::sqeuclidean},
    {"euclidean", MetricKind::euclidean},
    {"l2", MetricKind::euclidean},
    {"manhattan", MetricKind::manhattan},
    {"l1", MetricKind::manhattan},
    {"cityblock", MetricKind::manhattan},
    {"chebyshev", MetricKind::chebyshev},
    {"linf", MetricKind::chebyshev},
    {"minkowski", MetricKind::minkowski},
    {"cosine", MetricKind::cosine},
    {"correlation", MetricKind::correlation},
    {"pearson", MetricKind::correlation},
    {"inner_product", MetricKind::inner_product},
    {"ip", MetricKind::inner_product},
    {"dot", MetricKind::inner_product},
    {"hamming", MetricKind::hamming},
    {"canberra", MetricKind::canberra},
}};

double parse_power(std::string_view text, std::string_view whole) {
  double p = 0;
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), p);
  if (error != std::errc() || end != text.data() + text.size() || !(p >= 1))
    throw Error(ErrorCode::invalid_argument, fmt::format("metric '{}': p must be a number of at least 1", whole));
  return p;
}

}  // namespace

std::string to_string(const Metric& metric) {
  const std::string name = core::name_of(kMetrics, metric.kind);
  return metric.kind == MetricKind::minkowski ? fmt::format("{}({})", name, metric.p) : name;
}

Metric parse_metric(std::string_view name) {
  const std::size_t open = name.find('(');
  if (open != std::string_view::npos && name.back() == ')') {
    const MetricKind kind = core::parse_name(kMetrics, "metric", name.substr(0, open));
    if (kind != MetricKind::minkowski)
      throw Error(ErrorCode::invalid_argument, fmt::format("metric '{}': only minkowski takes a parameter", name));
    return Metric::minkowski(parse_power(name.substr(open + 1, name.size() - open - 2), name));
  }
  return core::parse_name(kMetrics, "metric", name);
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kMetrics)
    if (name == core::name_of(kMetrics, kind)) names.emplace_back(name);
  return names;
}

}  // namespace kith
