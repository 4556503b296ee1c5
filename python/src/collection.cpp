// Points with ids that come and go: kith::Collection, whose points, queries and answers are arrays of the host.
#include "kith/collection.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array.hpp"
#include "bindings.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

template <Element T>
using Owned = std::unique_ptr<kith::Collection<T>>;

std::span<const std::int64_t> integers(const OptionalArray& array) {
  if (array.get() == nullptr) return {};
  const std::int64_t count = array.get()->rows();
  return {array.output<std::int64_t>(count), static_cast<std::size_t>(count)};
}

// A filter as Python gives it: (mask, each, allowed, excluded, tags), each of the last three None or (values, offsets).
class FilterArguments {
 public:
  explicit FilterArguments(nb::handle given) {
    if (given.is_none()) return;
    const nb::object mask = nb::borrow(given[0]);
    if (!mask.is_none()) {
      const Array& flags = mask_.emplace(mask, false);
      const std::int64_t count = flags.rows() * flags.cols();
      filter_.mask = FilterMask{.bytes = {flags.output<std::uint8_t>(count), static_cast<std::size_t>(count)},
                                .each = nb::cast<bool>(given[1])};
    }
    int at = 2;
    for (auto* lists : {&filter_.allowed, &filter_.excluded, &filter_.tags}) {
      const nb::object list = nb::borrow(given[at]);
      if (!list.is_none()) {
        const OptionalArray& values = arrays_.emplace_back(nb::borrow(list[0]));
        const OptionalArray& offsets = arrays_.emplace_back(nb::borrow(list[1]));
        *lists = FilterLists{integers(values), integers(offsets)};
      }
      ++at;
    }
  }
  const Filter& filter() const { return filter_; }

 private:
  std::optional<Array> mask_;
  std::list<OptionalArray> arrays_;
  Filter filter_;
};

// What a change took.
nb::dict dict_of(const ChangeReport& report) {
  nb::dict facts;
  facts["points"] = report.points;
  facts["copied"] = report.copied;
  facts["segments"] = report.segments;
  facts["seconds"] = report.seconds;
  return facts;
}

nb::dict dict_of(const CollectionInfo& info) {
  nb::dict facts;
  facts["dtype"] = to_string(info.dtype);
  facts["rows"] = info.rows;
  facts["dims"] = info.dims;
  facts["metric"] = to_string(info.options.metric);
  facts["method"] = to_string(info.options.method);
  facts["period"] = info.options.period;
  facts["has_ids"] = info.has_ids;
  facts["has_tags"] = info.has_tags;
  facts["prepared"] = info.prepared;
  facts["file_bytes"] = info.file_bytes;
  facts["version"] = info.version;
  return facts;
}

class Collection {
  template <class F>
  auto run(nb::handle progress, F f) {
    return std::visit([&]<Element T>(const Owned<T>& made) { return watched(progress, [&] { return f(*made); }); },
                      collection_);
  }

 public:
  // Views the points where their ids ascend, and keeps their memory.
  Collection(nb::handle points, nb::handle ids, nb::handle tags, const Options& options, nb::handle progress)
      : base_(std::in_place, points, false) {
    const OptionalArray ids_in(ids);
    const OptionalArray tags_in(tags);
    visit_points(*base_, [&]<Element T>(MatrixView<T> view) {
      collection_ = watched(progress, [&] {
        return std::make_unique<kith::Collection<T>>(view, PointLabels{integers(ids_in), integers(tags_in)}, options);
      });
    });
  }
  // Without points. `like` is an array of the type that they have.
  Collection(nb::handle like, std::int64_t dims, const Options& options) {
    const Array example(like, false);
    visit_points(example,
                 [&]<Element T>(MatrixView<T>) { collection_ = std::make_unique<kith::Collection<T>>(dims, options); });
  }
  // Of a file.
  Collection(const std::string& path, const Options& options, bool verify) {
    const GilReleased released;
    const auto load = [&]<Element T>(T /*type*/) {
      collection_ = std::make_unique<kith::Collection<T>>(kith::Collection<T>::load(path, options, verify));
    };
    switch (collection_info(path).dtype) {
      case DType::float32: load(float{}); break;
      case DType::float64: load(double{}); break;
      case DType::uint8: load(std::uint8_t{}); break;
      case DType::int8: load(std::int8_t{}); break;
      case DType::float16: load(Float16{}); break;
      case DType::bfloat16: load(BFloat16{}); break;
    }
  }
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;
  ~Collection() = default;

  std::int64_t rows() {
    return run(nb::none(), [](const auto& collection) { return collection.rows(); });
  }
  std::int64_t dims() {
    return run(nb::none(), [](const auto& collection) { return collection.dims(); });
  }
  std::string dtype() {
    return run(nb::none(), []<Element T>(const kith::Collection<T>&) { return std::string(to_string(dtype_of<T>())); });
  }
  std::string metric() {
    return run(nb::none(), [](const auto& collection) { return to_string(collection.options().metric); });
  }
  bool contains(std::int64_t id) {
    return run(nb::none(), [&](const auto& collection) { return collection.contains(id); });
  }
  nb::object ids(nb::handle filter) {
    const FilterArguments arguments(filter);
    return owned_array(run(nb::none(), [&](const auto& collection) { return collection.ids(arguments.filter()); }));
  }
  // The points of these ids, into memory that the caller has made.
  void points(nb::handle ids, nb::handle out) {
    const OptionalArray wanted(ids);
    const Array made(out, true);
    run(nb::none(), [&]<Element T>(const kith::Collection<T>& collection) {
      const Matrix<T> found = collection.points(integers(wanted));
      const auto bytes = static_cast<std::size_t>(found.rows() * found.cols()) * sizeof(T);
      if (bytes > 0) std::memcpy(made.output<T>(found.rows() * found.cols()), found.data(), bytes);
      return 0;
    });
  }

  nb::dict add(nb::handle points, nb::handle ids, nb::handle tags) { return change(points, ids, tags, false); }
  nb::dict update(nb::handle points, nb::handle ids, nb::handle tags) { return change(points, ids, tags, true); }
  nb::dict remove(nb::handle ids) {
    const OptionalArray gone(ids);
    return dict_of(run(nb::none(), [&](auto& collection) { return collection.remove(integers(gone)); }));
  }
  nb::dict compact() {
    return dict_of(run(nb::none(), [](auto& collection) { return collection.compact(); }));
  }

  // (distances, ids, report); of the points themselves where queries are None.
  nb::tuple search(nb::handle queries, std::int64_t k, nb::handle filter, nb::handle progress) {
    const OptionalArray points(queries);
    const FilterArguments arguments(filter);
    return std::visit(
        [&]<Element T>(const Owned<T>& collection) {
          auto found = watched(progress, [&] {
            return points.get() != nullptr ? collection->search(points.get()->view<T>(), k, arguments.filter())
                                           : collection->search_self(k, arguments.filter());
          });
          const auto rows = static_cast<std::size_t>(found.queries);
          const auto columns = static_cast<std::size_t>(found.k);
          return nb::make_tuple(owned_array(std::move(found.distances), {rows, columns}),
                                owned_array(std::move(found.ids), {rows, columns}), std::move(found.report));
        },
        collection_);
  }

  // (distances, ids, offsets, report)
  nb::tuple search_radius(nb::handle queries, nb::handle radii, nb::handle filter, bool count_only,
                          nb::handle progress) {
    const OptionalArray points(queries);
    const Array radius_array(radii, false);
    const FilterArguments arguments(filter);
    return std::visit(
        [&]<Element T>(const Owned<T>& collection) {
          using D = DistanceOf<T>;
          const std::span<const D> each(radius_array.output<D>(radius_array.rows()),
                                        static_cast<std::size_t>(radius_array.rows()));
          const RadiusOutput output = count_only ? RadiusOutput::count_only : RadiusOutput::neighbors;
          auto found = watched(progress, [&] {
            return points.get() != nullptr
                       ? collection->search_radius(points.get()->view<T>(), each, arguments.filter(), output)
                       : collection->search_radius_self(each, arguments.filter(), output);
          });
          return nb::make_tuple(owned_array(std::move(found.distances)), owned_array(std::move(found.ids)),
                                owned_array(std::move(found.offsets)), std::move(found.report));
        },
        collection_);
  }

  // (data, indices, indptr, report)
  nb::tuple graph(std::int64_t k, const std::string& symmetrize, nb::handle filter, nb::handle progress) {
    const Symmetrize how = parse_symmetrize(symmetrize);
    const FilterArguments arguments(filter);
    return std::visit(
        [&]<Element T>(const Owned<T>& collection) {
          auto made = watched(progress, [&] { return collection->graph(k, how, arguments.filter()); });
          return nb::make_tuple(owned_array(std::move(made.data)), owned_array(std::move(made.indices)),
                                owned_array(std::move(made.indptr)), std::move(made.report));
        },
        collection_);
  }

  nb::object reduce(nb::handle queries, std::int64_t k, nb::handle values, const std::string& op, nb::handle filter,
                    nb::handle progress) {
    const ReduceOp operation = parse_reduce_op(op);
    const Array points(queries, false);
    const OptionalArray numbers(values);
    const FilterArguments arguments(filter);
    return std::visit(
        [&]<Element T>(const Owned<T>& collection) {
          using D = DistanceOf<T>;
          auto made = watched(progress, [&] {
            const MatrixView<D> rows = numbers.get() != nullptr ? numbers.get()->view<D>() : MatrixView<D>();
            return collection->reduce(points.view<T>(), k, rows, operation, arguments.filter());
          });
          return owned_array(std::move(made.values));
        },
        collection_);
  }

  Plan explain(std::int64_t queries, std::int64_t k) {
    return run(nb::none(), [&](const auto& collection) { return collection.explain(queries, k); });
  }
  void save(const std::string& path) {
    run(nb::none(), [&](const auto& collection) {
      collection.save(path);
      return 0;
    });
  }

 private:
  nb::dict change(nb::handle points, nb::handle ids, nb::handle tags, bool replace) {
    const Array rows(points, false);
    const OptionalArray ids_in(ids);
    const OptionalArray tags_in(tags);
    return dict_of(run(nb::none(), [&]<Element T>(kith::Collection<T>& collection) {
      const PointLabels labels{integers(ids_in), integers(tags_in)};
      return replace ? collection.update(rows.view<T>(), labels) : collection.add(rows.view<T>(), labels);
    }));
  }

  std::optional<Array> base_;  // the memory that it views
  std::variant<Owned<float>, Owned<double>, Owned<std::uint8_t>, Owned<std::int8_t>, Owned<Float16>, Owned<BFloat16>>
      collection_;
};

}  // namespace

void bind_collection(nb::module_& module) {
  nb::class_<Collection>(module, "Collection")
      .def(nb::init<nb::handle, nb::handle, nb::handle, const Options&, nb::handle>(), nb::arg("points"),
           nb::arg("ids").none(), nb::arg("tags").none(), nb::arg("options"), nb::arg("progress").none())
      .def(nb::init<nb::handle, std::int64_t, const Options&>(), nb::arg("like"), nb::arg("dims"), nb::arg("options"))
      .def(nb::init<const std::string&, const Options&, bool>(), nb::arg("path"), nb::arg("options"), nb::arg("verify"))
      .def_prop_ro("rows", &Collection::rows)
      .def_prop_ro("dims", &Collection::dims)
      .def_prop_ro("dtype", &Collection::dtype)
      .def_prop_ro("metric", &Collection::metric)
      .def("contains", &Collection::contains, nb::arg("id"))
      .def("ids", &Collection::ids, nb::arg("filter").none())
      .def("points", &Collection::points, nb::arg("ids"), nb::arg("out"))
      .def("add", &Collection::add, nb::arg("points"), nb::arg("ids").none(), nb::arg("tags").none())
      .def("update", &Collection::update, nb::arg("points"), nb::arg("ids"), nb::arg("tags").none())
      .def("remove", &Collection::remove, nb::arg("ids"))
      .def("compact", &Collection::compact)
      .def("search", &Collection::search, nb::arg("queries").none(), nb::arg("k"), nb::arg("filter").none(),
           nb::arg("progress").none())
      .def("search_radius", &Collection::search_radius, nb::arg("queries").none(), nb::arg("radii"),
           nb::arg("filter").none(), nb::arg("count_only"), nb::arg("progress").none())
      .def("graph", &Collection::graph, nb::arg("k"), nb::arg("symmetrize"), nb::arg("filter").none(),
           nb::arg("progress").none())
      .def("reduce", &Collection::reduce, nb::arg("queries"), nb::arg("k"), nb::arg("values").none(), nb::arg("op"),
           nb::arg("filter").none(), nb::arg("progress").none())
      .def("explain", &Collection::explain, nb::arg("queries"), nb::arg("k"))
      .def("save", &Collection::save, nb::arg("path"));
  module.def(
      "collection_info",
      [](const std::string& path) {
        return dict_of([&] {
          const GilReleased released;
          return collection_info(path);
        }());
      },
      nb::arg("path"));
}

}  // namespace kith::python
