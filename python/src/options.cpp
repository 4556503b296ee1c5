// Options from keywords.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "kith/error.hpp"
#include "kith/options.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// Entries of `tuning` by their names, false where the method has none of that name.
bool set_triangle(TriangleTuning& triangle, const std::string& name, nb::handle value) {
  if (name == "query_landmarks") {
    triangle.query_landmarks = nb::cast<std::int64_t>(value);
  } else if (name == "base_landmarks" || name == "landmarks") {
    triangle.base_landmarks = nb::cast<std::int64_t>(value);
  } else if (name == "form") {
    triangle.form = parse_triangle_form(nb::cast<std::string>(value));
  } else if (name == "filter") {
    triangle.filter = parse_triangle_filter(nb::cast<std::string>(value));
  } else if (name == "placement") {
    triangle.placement = parse_triangle_placement(nb::cast<std::string>(value));
  } else if (name == "layout") {
    triangle.layout = parse_triangle_layout(nb::cast<std::string>(value));
  } else if (name == "remapped") {
    triangle.remapped = nb::cast<bool>(value);
  } else if (name == "threads_per_query") {
    triangle.threads_per_query = nb::cast<int>(value);
  } else {
    return false;
  }
  return true;
}

bool set_shifted_sort(ShiftedSortTuning& tuning, const std::string& name, nb::handle value) {
  if (name == "shifts") {
    tuning.shifts = nb::cast<int>(value);
  } else if (name == "shift") {
    tuning.shift = nb::cast<double>(value);
  } else if (name == "guaranteed") {
    tuning.guaranteed = nb::cast<bool>(value);
  } else if (name == "window") {
    tuning.window = nb::cast<std::int64_t>(value);
  } else if (name == "curve") {
    tuning.curve = parse_curve(nb::cast<std::string>(value));
  } else if (name == "merge") {
    tuning.merge = parse_curve_merge(nb::cast<std::string>(value));
  } else if (name == "positions") {
    tuning.positions = parse_curve_positions(nb::cast<std::string>(value));
  } else if (name == "certify") {
    tuning.certify = nb::cast<bool>(value);
  } else {
    return false;
  }
  return true;
}

void set_tuning(Options& options, const std::string& name, nb::handle value) {
  try {
    if (set_triangle(options.triangle, name, value) || set_shifted_sort(options.shifted_sort, name, value)) return;
  } catch (const nb::cast_error&) {
    const std::string type = nb::cast<std::string>(value.type().attr("__name__"));
    throw nb::type_error(("tuning '" + name + "' cannot be of type " + type).c_str());
  }
  throw Error(ErrorCode::invalid_argument,
              "tuning '" + name +
                  "' is not known; triangle has landmarks (or base_landmarks), query_landmarks, form, filter, "
                  "placement, layout, remapped, threads_per_query; shifted-sort has shifts, shift, guaranteed, window, "
                  "curve, merge, positions, certify");
}

Metric metric_of(const std::string& name, nb::handle p) {
  Metric metric = parse_metric(name);
  if (p.is_none()) return metric;
  if (metric.kind != MetricKind::minkowski)
    throw Error(ErrorCode::invalid_argument, "p is for metric minkowski, not for " + to_string(metric));
  metric.p = nb::cast<double>(p);
  return metric;
}

}  // namespace

void bind_options(nb::module_& module) {
  nb::class_<Options>(module, "Options")
      .def(
          "__init__",
          [](Options* self, const std::string& metric, nb::object p, const std::string& backend,
             const std::string& method, const std::string& distance, const std::string& select, int threads,
             std::int64_t memory, bool check_finite, bool statistics, double max_distance, double epsilon,
             const std::vector<double>& period, nb::object tuning, const std::vector<int>& devices) {
            Options options;
            options.metric = metric_of(metric, p);
            options.backend = parse_backend(backend);
            options.method = parse_method(method);
            options.distance = parse_distance_stage(distance);
            options.select = parse_select_method(select);
            options.threads = threads;
            options.memory_budget = memory;
            options.check_finite = check_finite;
            options.statistics = statistics;
            options.max_distance = max_distance;
            options.epsilon = epsilon;
            options.period = period;
            options.devices = devices;
            if (!tuning.is_none())
              for (const auto [name, value] : nb::cast<nb::dict>(tuning))
                set_tuning(options, nb::cast<std::string>(name), value);
            options.progress = &Watch::on_progress;
            new (self) Options(std::move(options));
          },
          nb::arg("metric"), nb::arg("p").none(), nb::arg("backend"), nb::arg("method"), nb::arg("distance"),
          nb::arg("select"), nb::arg("threads"), nb::arg("memory"), nb::arg("check_finite"), nb::arg("statistics"),
          nb::arg("max_distance"), nb::arg("epsilon"), nb::arg("period"), nb::arg("tuning").none(), nb::arg("devices"))
      .def(
          "padded",
          [](const Options& options) {
            Options padded = options;
            padded.pad_missing = true;
            return padded;
          },
          "The same, but that more neighbors may be asked for than there are.")
      .def_prop_ro("metric", [](const Options& options) { return to_string(options.metric); })
      .def_prop_ro("certifies", [](const Options& options) {
        return options.method == Method::shifted_sort && options.shifted_sort.certify;
      });
}

}  // namespace kith::python
