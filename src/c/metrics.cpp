// metrics.cpp: kith_metric: metrics by name, by a formula, by a function of the caller's.
#include "c/metrics.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/callbacks.hpp"
#include "c/handles.hpp"
#include "kith/named_metric.hpp"

namespace kith::c {
namespace {

using MetricTable = HandleTable<kith_metric, const PairMetric>;

// Never destroyed, for threads may outlive static objects.
MetricTable& metric_table() {
  static MetricTable& metrics = *new MetricTable("kith_metric");
  return metrics;
}

std::vector<double> values_of(const kith_metric_parameter& parameter, std::string_view name) {
  if (parameter.text != nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("parameter {} takes numbers, not a text", name));
  const auto values = span_of(parameter.values, parameter.count, parameter.name);
  if (values.empty()) throw Error(ErrorCode::invalid_argument, fmt::format("parameter {} has no values", name));
  return {values.begin(), values.end()};
}

void set_parameter(MetricParameters& parameters, const kith_metric_parameter& parameter, std::string_view name) {
  if (name == "p") {
    if (const auto values = values_of(parameter, name); values.size() == 1) {
      parameters.p = values.front();
    } else {
      throw Error(ErrorCode::invalid_argument, fmt::format("parameter p has {} values; it is one", values.size()));
    }
  } else if (name == "w") {
    parameters.weights = values_of(parameter, name);
  } else if (name == "V") {
    parameters.variances = values_of(parameter, name);
  } else if (name == "VI") {
    parameters.inverse = values_of(parameter, name);
  } else if (name == "zero_vectors") {
    if (parameter.values != nullptr || parameter.count != 0)
      throw Error(ErrorCode::invalid_argument, "parameter zero_vectors takes a text, not numbers");
    parameters.zero_vectors = parse_zero_vectors(need_text(parameter.text, "the text of parameter zero_vectors"));
  } else {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("unknown parameter '{}'; known are p, w, V, VI, zero_vectors", name));
  }
}

MetricParameters parameters_of(std::span<const kith_metric_parameter> given) {
  MetricParameters parameters;
  std::vector<std::string_view> names;
  for (const kith_metric_parameter& parameter : given) {
    const std::string_view name = need_text(parameter.name, "the name of a parameter");
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw Error(ErrorCode::invalid_argument, fmt::format("parameter {} is given twice", name));
    set_parameter(parameters, parameter, name);
    names.push_back(name);
  }
  return parameters;
}

}  // namespace

std::shared_ptr<const PairMetric> metric_of(const kith_metric* metric) {
  return metric_table().get(metric);
}

}  // namespace kith::c

using namespace kith::c;

kith_status kith_metric_create(const char* name, const kith_metric_parameter* parameters, int64_t count,
                               kith_metric** out) noexcept {
  return call([&] {
    need(out, "out");
    const std::string_view known = need_text(name, "the name of the metric");
    *out = metric_table().add(kith::named_metric(known, parameters_of(span_of(parameters, count, "parameters"))));
  });
}

kith_status kith_metric_create_formula(const char* formula, kith_metric** out) noexcept {
  return call([&] {
    need(out, "out");
    *out = metric_table().add(kith::expression_metric(need_text(formula, "the formula")));
  });
}

kith_status kith_metric_create_function(kith_pair_distance function, void* user, int32_t threads,
                                        kith_metric** out) noexcept {
  return call([&] {
    need(out, "out");
    if (function == nullptr) throw kith::Error(kith::ErrorCode::invalid_argument, "the metric's function is null");
    if (threads < 0)
      throw kith::Error(kith::ErrorCode::invalid_argument, fmt::format("threads = {}; it must be 0 or more", threads));
    *out = metric_table().add(std::make_shared<CallbackMetric>(function, user, threads));
  });
}

kith_status kith_metric_destroy(kith_metric* metric) noexcept {
  return call([&] { metric_table().remove(metric); });
}
