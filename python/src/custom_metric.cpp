// Metrics that are computed by their definition: named ones, formulas, functions of C and of Python; and the searches.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array.hpp"
#include "bindings.hpp"
#include "kith/custom_metric.hpp"
#include "kith/named_metric.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// What Python holds.
struct Metric {
  std::shared_ptr<const PairMetric> metric;
};

// A row as an array of its own, which the function may keep.
nb::object row_array(const double* row, std::int64_t dims) {
  const nb::ndarray<nb::numpy, const double, nb::ndim<1>> view(row, {static_cast<std::size_t>(dims)}, nb::handle());
  return nb::cast(view, nb::rv_policy::copy);
}

// A Python function of two rows. It is called on the thread that called the library, under its Watch.
class CallableMetric final : public PairMetric {
 public:
  explicit CallableMetric(nb::object function) : function_(std::move(function)) {}

  std::string name() const override { return "a function of Python"; }
  Input input() const override { return Input::rows; }
  int most_threads() const override { return 1; }
  using PairMetric::fill;
  void fill(const RowTile& tile) const override {
    Watch::run_python([&] {
      const auto* queries = static_cast<const double*>(tile.queries);
      const auto* rows = static_cast<const double*>(tile.rows);
      std::vector<nb::object> bases;
      for (std::int64_t r = 0; r < tile.row_count; ++r)
        bases.push_back(row_array(rows + r * tile.row_stride, tile.dims));
      for (std::int64_t q = 0; q < tile.query_count; ++q) {
        const nb::object query = row_array(queries + q * tile.query_stride, tile.dims);
        for (std::int64_t r = 0; r < tile.row_count; ++r)
          tile.out[q * tile.out_stride + r] = number(function_(query, bases[static_cast<std::size_t>(r)]));
      }
    });
  }

 private:
  static double number(const nb::object& value) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return number;
  }

  nb::object function_;
};

std::vector<double> numbers(nb::handle values) {
  if (values.is_none()) return {};
  const Array array(values, false);
  const auto* data = array.output<double>(array.rows() * array.cols());
  return {data, data + array.rows() * array.cols()};
}

Metric named(const std::string& name, nb::handle p, nb::handle weights, nb::handle variances, nb::handle inverse,
             nb::handle zero_vectors) {
  MetricParameters parameters;
  if (!p.is_none()) parameters.p = nb::cast<double>(p);
  parameters.weights = numbers(weights);
  parameters.variances = numbers(variances);
  parameters.inverse = numbers(inverse);
  if (!zero_vectors.is_none()) parameters.zero_vectors = parse_zero_vectors(nb::cast<std::string>(zero_vectors));
  return {named_metric(name, std::move(parameters))};
}

// Keeps the memory of the base.
class HeldIndex {
  template <Element T>
  using Owned = std::unique_ptr<const PairIndex<T>>;

  template <class F>
  auto run(F f) {
    return std::visit([&]<Element T>(const Owned<T>& index) { return f(*index); }, index_);
  }

 public:
  HeldIndex(const Metric& metric, nb::handle base, const Options& options, bool keep, nb::handle progress)
      : base_(base, false) {
    visit_points(base_, [&]<Element T>(MatrixView<T> view) {
      using Made = PairIndex<T>;
      index_ = watched(progress, [&] {
        return std::make_unique<const Made>(metric.metric, view, options, keep ? Made::Keep::panels : Made::Keep::view);
      });
    });
  }

  // (report, distances, ids); of each base point, itself left out, where queries are None.
  nb::tuple search(nb::handle queries, std::int64_t k, nb::handle progress) {
    const OptionalArray points(queries);
    return run([&]<Element T>(const PairIndex<T>& index) {
      auto found = watched(progress, [&] {
        return points.get() == nullptr ? index.search_self(k) : index.search(points.get()->view<T>(), k);
      });
      const auto rows = static_cast<std::size_t>(found.queries);
      const auto places = static_cast<std::size_t>(found.k);
      return nb::make_tuple(std::move(found.report), owned_array(std::move(found.distances), {rows, places}),
                            owned_array(std::move(found.ids), {rows, places}));
    });
  }

  // (report, distances, ids, offsets)
  nb::tuple search_radius(nb::handle queries, nb::handle radii, bool count_only, nb::handle progress) {
    const OptionalArray points(queries);
    const Array radius_array(radii, false);
    const RadiusOutput output = count_only ? RadiusOutput::count_only : RadiusOutput::neighbors;
    return run([&]<Element T>(const PairIndex<T>& index) {
      using D = DistanceOf<T>;
      const std::span<const D> each(radius_array.output<D>(radius_array.rows()),
                                    static_cast<std::size_t>(radius_array.rows()));
      auto found = watched(progress, [&] {
        if (points.get() == nullptr) return index.search_radius_self(each, output);
        return index.search_radius(points.get()->view<T>(), each, output);
      });
      return nb::make_tuple(std::move(found.report), owned_array(std::move(found.distances)),
                            owned_array(std::move(found.ids)), owned_array(std::move(found.offsets)));
    });
  }

  nb::object distances(nb::handle queries, nb::handle progress) {
    const Array points(queries, false);
    return run([&]<Element T>(const PairIndex<T>& index) {
      return owned_array(watched(progress, [&] { return index.distances(points.view<T>()); }));
    });
  }

 private:
  Array base_;
  std::variant<Owned<float>, Owned<double>, Owned<std::uint8_t>, Owned<std::int8_t>, Owned<Float16>, Owned<BFloat16>>
      index_;
};

}  // namespace

void bind_custom_metric(nb::module_& module) {
  nb::class_<Metric>(module, "Metric")
      .def_prop_ro("name", [](const Metric& metric) { return metric.metric->name(); })
      // The metric of the library that it is; empty where it is none.
      .def_prop_ro("built_in", [](const Metric& metric) {
        const auto known = metric.metric->built_in();
        return known ? to_string(*known) : std::string();
      });
  module.def("named_metric", &named, nb::arg("name"), nb::arg("p").none(), nb::arg("w").none(), nb::arg("V").none(),
             nb::arg("VI").none(), nb::arg("zero_vectors").none());
  module.def("named_metric_names", &named_metric_names);
  module.def(
      "expression_metric",
      [](const std::string& text, bool recognize, bool fuse) {
        return Metric{expression_metric(text, {recognize, fuse})};
      },
      nb::arg("text"), nb::arg("recognize"), nb::arg("fuse"));
  module.def(
      "function_metric",
      [](std::uintptr_t address, std::uintptr_t context, int threads) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): numbers are what Python has of pointers
        const auto function = reinterpret_cast<PairFunction>(address);
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return Metric{std::make_shared<FunctionMetric>(function, reinterpret_cast<void*>(context), threads)};
      },
      nb::arg("address"), nb::arg("context"), nb::arg("threads"));
  module.def(
      "callable_metric",
      [](nb::object function) { return Metric{std::make_shared<CallableMetric>(std::move(function))}; },
      nb::arg("function"));
  nb::class_<HeldIndex>(module, "PairIndex")
      .def(nb::init<const Metric&, nb::handle, const Options&, bool, nb::handle>(), nb::arg("metric"), nb::arg("base"),
           nb::arg("options"), nb::arg("keep"), nb::arg("progress").none())
      .def("search", &HeldIndex::search, nb::arg("queries").none(), nb::arg("k"), nb::arg("progress").none())
      .def("search_radius", &HeldIndex::search_radius, nb::arg("queries").none(), nb::arg("radii"),
           nb::arg("count_only"), nb::arg("progress").none())
      .def("distances", &HeldIndex::distances, nb::arg("queries"), nb::arg("progress").none());
}

}  // namespace kith::python
