// Indexes of objects under expensive distances. Objects come checked from the Python side: a list of str, of bytes, of
// float64 arrays of steps × dims, of pairs of float64 arrays, or of anything, for a distance that is a Python function.
#include "kith/pivots.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "kith/error.hpp"
#include "kith/sequence_distances.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

std::vector<double> numbers_of(nb::handle array) {
  const auto view = nb::cast<Doubles>(array);
  return {view.data(), view.data() + view.size()};
}

EditText edit_text(nb::handle object) {
  if (PyBytes_Check(object.ptr())) {
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(object.ptr(), &bytes, &size) != 0) throw nb::python_error();
    return EditText::of_bytes({bytes, static_cast<std::size_t>(size)});
  }
  Py_ssize_t size = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (utf8 == nullptr) throw nb::python_error();
  return EditText::of_utf8({utf8, static_cast<std::size_t>(size)});
}

TimeSeries series_of(nb::handle object) {
  const auto view = nb::cast<Doubles>(object);
  return TimeSeries(numbers_of(object), static_cast<std::int64_t>(view.shape(1)));
}

WeightedSample sample_of(nb::handle object) {
  return {numbers_of(object[0]), numbers_of(object[1])};
}

nb::object any_of(nb::handle object) {
  return nb::borrow(object);
}

// A Python function, called with the GIL on the thread that called the library.
struct Callable {
  nb::object function;

  double operator()(const nb::object& a, const nb::object& b) const {
    return Watch::run_python([&] {
      const nb::object result = function(a, b);
      const double distance = PyFloat_AsDouble(result.ptr());
      if (distance == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
      return distance;
    });
  }
};

template <class Object>
std::vector<Object> all_of(const nb::list& list, Object (*read)(nb::handle)) {
  std::vector<Object> objects;
  objects.reserve(list.size());
  for (const nb::handle each : list) {
    try {
      objects.push_back(read(each));
    } catch (const Error& error) {
      throw Error(error.code(), "object " + std::to_string(objects.size()) + ": " + error.what());
    }
  }
  return objects;
}

nb::tuple answer_of(PivotNeighbors found) {
  const auto rows = static_cast<std::size_t>(found.queries);
  const auto cols = static_cast<std::size_t>(found.k);
  return nb::make_tuple(owned_array(std::move(found.distances), {rows, cols}),
                        owned_array(std::move(found.ids), {rows, cols}), found.report);
}

nb::tuple answer_of(PivotRadiusNeighbors found) {
  return nb::make_tuple(owned_array(std::move(found.distances)), owned_array(std::move(found.ids)),
                        owned_array(std::move(found.offsets)), found.report);
}

// An index of objects of any type.
class AnyPivotIndex {
 public:
  AnyPivotIndex() = default;
  AnyPivotIndex(const AnyPivotIndex&) = delete;
  AnyPivotIndex& operator=(const AnyPivotIndex&) = delete;
  virtual ~AnyPivotIndex() = default;

  // Of each object, itself left out, where queries are None.
  virtual nb::tuple search(nb::handle queries, std::int64_t k, nb::handle progress) const = 0;
  virtual nb::tuple search_radius(nb::handle queries, const std::vector<double>& radii, nb::handle progress) const = 0;
  virtual std::vector<std::int64_t> pivots() const = 0;
  virtual std::int64_t build_evaluations() const = 0;
};

template <class Object, class Distance>
class PivotIndexOf final : public AnyPivotIndex {
 public:
  using Read = Object (*)(nb::handle);

  PivotIndexOf(const nb::list& objects, Read read, Distance distance, const DistanceProperties& properties,
               const PivotOptions& options, nb::handle progress)
      : read_(read), objects_(all_of(objects, read)), index_(watched(progress, [&] {
          return PivotIndex<Object, Distance>(std::span<const Object>(objects_), distance, properties, options);
        })) {}

  nb::tuple search(nb::handle queries, std::int64_t k, nb::handle progress) const override {
    return answered(queries, progress, [&](const std::vector<Object>* asked) {
      return asked != nullptr ? index_.search(*asked, k) : index_.search_self(k);
    });
  }
  nb::tuple search_radius(nb::handle queries, const std::vector<double>& radii, nb::handle progress) const override {
    return answered(queries, progress, [&](const std::vector<Object>* asked) {
      return asked != nullptr ? index_.search_radius(*asked, radii) : index_.search_radius_self(radii);
    });
  }
  std::vector<std::int64_t> pivots() const override { return {index_.pivots().begin(), index_.pivots().end()}; }
  std::int64_t build_evaluations() const override { return index_.build_evaluations(); }

 private:
  template <class Work>
  nb::tuple answered(nb::handle queries, nb::handle progress, Work work) const {
    std::vector<Object> asked;
    if (!queries.is_none()) asked = all_of(nb::cast<nb::list>(queries), read_);
    return answer_of(watched(progress, [&] { return work(queries.is_none() ? nullptr : &asked); }));
  }

  Read read_;
  std::vector<Object> objects_;
  PivotIndex<Object, Distance> index_;
};

PivotChoice choice_named(const std::string& name) {
  if (name == "best-bounds") return PivotChoice::best_bounds;
  if (name == "farthest-first") return PivotChoice::farthest_first;
  throw Error(ErrorCode::invalid_argument, "choice '" + name + "' is not one of best-bounds, farthest-first");
}

std::unique_ptr<AnyPivotIndex> make(const nb::list& objects, nb::handle metric, std::int64_t window, bool symmetric,
                                    bool triangle_inequality, bool integer_valued, double relative_error,
                                    double absolute_error, std::int64_t pivots, const std::string& choice, int threads,
                                    nb::handle progress) {
  PivotOptions options{pivots, choice_named(choice), threads, &Watch::on_progress};
  if (!nb::isinstance<nb::str>(metric)) {
    options.threads = 1;
    const DistanceProperties properties{symmetric, triangle_inequality, integer_valued, relative_error, absolute_error};
    return std::make_unique<PivotIndexOf<nb::object, Callable>>(objects, &any_of, Callable{nb::borrow(metric)},
                                                                properties, options, progress);
  }
  const auto with = [&](DistanceProperties properties) {
    properties.triangle_inequality = triangle_inequality;
    return properties;
  };
  const auto name = nb::cast<std::string>(metric);
  if (name == "levenshtein")
    return std::make_unique<PivotIndexOf<EditText, Levenshtein>>(objects, &edit_text, Levenshtein{},
                                                                 with(Levenshtein::properties()), options, progress);
  if (name == "dtw")
    return std::make_unique<PivotIndexOf<TimeSeries, DynamicTimeWarping>>(
        objects, &series_of, DynamicTimeWarping{window}, with(DynamicTimeWarping::properties()), options, progress);
  return std::make_unique<PivotIndexOf<WeightedSample, EarthMovers>>(
      objects, &sample_of, EarthMovers{}, with(EarthMovers::properties()), options, progress);
}

}  // namespace

void bind_pivots(nb::module_& module) {
  nb::class_<PivotReport>(module, "PivotReport", "What a search by pivots evaluated.")
      .def_ro("objects", &PivotReport::objects)
      .def_ro("queries", &PivotReport::queries)
      .def_ro("pairs", &PivotReport::pairs, "Of a query and an object: the evaluations of brute force.")
      .def_ro("pivots", &PivotReport::pivots)
      .def_ro("build_evaluations", &PivotReport::build_evaluations, "That prepared the pivots, once.")
      .def_ro("evaluations", &PivotReport::evaluations, "Calls of the distance by this search.")
      .def_ro("pivot_evaluations", &PivotReport::pivot_evaluations, "Of these, with pivots for their bounds.")
      .def_ro("lower_bounds", &PivotReport::lower_bounds, "Of the metric's own, cheaper than distances.")
      .def_ro("threads", &PivotReport::threads)
      .def_ro("seconds", &PivotReport::seconds)
      .def_prop_ro("saved", &PivotReport::saved, "The share of all evaluations that were not needed.")
      .def("__repr__", [](const PivotReport& report) {
        return "PivotReport(evaluations=" + std::to_string(report.evaluations) + " of " + std::to_string(report.pairs) +
               ", pivots=" + std::to_string(report.pivots) + ")";
      });
  nb::class_<AnyPivotIndex>(module, "PivotIndex")
      .def_static("make", &make, nb::arg("objects"), nb::arg("metric"), nb::arg("window"), nb::arg("symmetric"),
                  nb::arg("triangle_inequality"), nb::arg("integer_valued"), nb::arg("relative_error"),
                  nb::arg("absolute_error"), nb::arg("pivots"), nb::arg("choice"), nb::arg("threads"),
                  nb::arg("progress").none())
      .def("search", &AnyPivotIndex::search, nb::arg("queries").none(), nb::arg("k"), nb::arg("progress").none())
      .def("search_radius", &AnyPivotIndex::search_radius, nb::arg("queries").none(), nb::arg("radii"),
           nb::arg("progress").none())
      .def_prop_ro("pivots", &AnyPivotIndex::pivots)
      .def_prop_ro("build_evaluations", &AnyPivotIndex::build_evaluations);
}

}  // namespace kith::python
