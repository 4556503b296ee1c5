// Sparse points: kith::SparseIndex over the arrays of a CSR matrix, which come prepared from the Python side: indptr of
// int64, indices of int32 or int64, values of float32 or float64.
#include "kith/sparse.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "array.hpp"
#include "bindings.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// A matrix, whose memory it keeps: a tuple of indptr, indices, values and the number of columns.
class Csr {
 public:
  explicit Csr(const nb::tuple& parts)
      : indptr_(parts[0], false),
        indices_(parts[1], false),
        values_(parts[2], false),
        cols_(nb::cast<std::int64_t>(parts[3])) {}

  io::ElementType type() const { return values_.type(); }
  std::int64_t rows() const { return indptr_.rows() - 1; }

  template <SparseElement T>
  CsrView<T> view() const {
    const std::int64_t entries = values_.rows();
    CsrView<T> view{
        rows(), cols_, entries, indptr_.output<std::int64_t>(indptr_.rows()), {}, values_.output<T>(entries)};
    if (indices_.type() == io::ElementType::int32) {
      view.indices = static_cast<const std::int32_t*>(indices_.output<std::int32_t>(entries));
    } else {
      view.indices = static_cast<const std::int64_t*>(indices_.output<std::int64_t>(entries));
    }
    return view;
  }

 private:
  Array indptr_;
  Array indices_;
  Array values_;
  std::int64_t cols_;
};

// None for the base itself.
class OptionalCsr {
 public:
  explicit OptionalCsr(nb::handle parts) {
    if (!parts.is_none()) csr_.emplace(nb::cast<nb::tuple>(parts));
  }
  const Csr* get() const { return csr_ ? &*csr_ : nullptr; }

 private:
  std::optional<Csr> csr_;
};

// Lists that the Python function allocate(count) makes, which returns ids and distances; None for none.
class SparseListMaker {
 public:
  explicit SparseListMaker(nb::handle allocate) : allocate_(allocate) {}

  template <class T>
  std::function<NeighborsView<T>(std::int64_t)> allocator() {
    if (allocate_.is_none()) return {};
    return [this](std::int64_t count) {
      return Watch::run_python([&] {
        const auto made = nb::cast<nb::tuple>(allocate_(count));
        const Array& ids = ids_.emplace(made[0], true);
        const Array& distances = distances_.emplace(made[1], true);
        return NeighborsView<T>{ids.output<std::int64_t>(count), distances.output<T>(count), Memory::host};
      });
    };
  }

 private:
  nb::handle allocate_;
  std::optional<Array> ids_;
  std::optional<Array> distances_;
};

template <SparseElement T>
using OwnedSparseIndex = std::unique_ptr<const kith::SparseIndex<T>>;

class SparseIndex {
  template <class F>
  auto run(nb::handle progress, F f) {
    return std::visit(
        [&]<SparseElement T>(const OwnedSparseIndex<T>& made) { return watched(progress, [&] { return f(*made); }); },
        index_);
  }

 public:
  SparseIndex(const nb::tuple& base, const std::string& metric, const std::string& backend, int threads,
              std::int64_t memory, bool check_finite, double max_distance, nb::handle progress)
      : base_(base) {
    SparseOptions options;
    options.metric = parse_sparse_metric(metric);
    options.backend = parse_backend(backend);
    options.threads = threads;
    options.memory_budget = memory;
    options.check_finite = check_finite;
    options.max_distance = max_distance;
    options.progress = &Watch::on_progress;
    const auto make = [&]<SparseElement T>(T) {
      index_ =
          watched(progress, [&] { return std::make_unique<const kith::SparseIndex<T>>(base_.view<T>(), options); });
    };
    if (base_.type() == io::ElementType::float64) {
      make(double{});
    } else {
      make(float{});
    }
  }

  // Of each base point, itself left out, where queries are None; the same below.
  SparseReport search(nb::handle queries, std::int64_t k, nb::handle distances, nb::handle ids, nb::handle progress) {
    const OptionalCsr asked(queries);
    const Csr* const points = asked.get();
    const Array distances_out(distances, true);
    const Array ids_out(ids, true);
    return run(progress, [&]<SparseElement T>(const kith::SparseIndex<T>& index) {
      const std::int64_t count = (points != nullptr ? points->rows() : index.rows()) * k;
      const NeighborsView<T> out{ids_out.output<std::int64_t>(count), distances_out.output<T>(count)};
      return points != nullptr ? index.search_into(points->view<T>(), k, out) : index.search_self_into(k, out);
    });
  }

  // Offsets alone where allocate is None.
  SparseReport search_radius(nb::handle queries, nb::handle radii, nb::handle offsets, nb::handle allocate,
                             nb::handle progress) {
    const OptionalCsr asked(queries);
    const Csr* const points = asked.get();
    const Array radius_array(radii, false);
    const Array offsets_out(offsets, true);
    SparseListMaker lists(allocate);
    return run(progress, [&]<SparseElement T>(const kith::SparseIndex<T>& index) {
      const std::int64_t count = points != nullptr ? points->rows() : index.rows();
      const std::span<const T> each(radius_array.output<T>(radius_array.rows()),
                                    static_cast<std::size_t>(radius_array.rows()));
      const RadiusLists<T> out{offsets_out.output<std::int64_t>(count + 1), lists.allocator<T>(), Memory::host};
      return points != nullptr ? index.search_radius_into(points->view<T>(), each, out)
                               : index.search_radius_self_into(each, out);
    });
  }

  SparseReport graph(std::int64_t k, const std::string& symmetrize, nb::handle indptr, nb::handle allocate,
                     nb::handle progress) {
    const Symmetrize how = parse_symmetrize(symmetrize);
    const Array indptr_out(indptr, true);
    SparseListMaker lists(allocate);
    return run(progress, [&]<SparseElement T>(const kith::SparseIndex<T>& index) {
      const GraphLists<T> out{indptr_out.output<std::int64_t>(index.rows() + 1), lists.allocator<T>(), Memory::host};
      return index.graph_into(k, how, out);
    });
  }

 private:
  Csr base_;
  std::variant<OwnedSparseIndex<float>, OwnedSparseIndex<double>> index_;
};

}  // namespace

void bind_sparse(nb::module_& module) {
  module.def(
      "sparse_metric", [](const std::string& name) { return std::string(to_string(parse_sparse_metric(name))); },
      nb::arg("name"));
  nb::class_<SparseReport>(module, "SparseReport", "What a search of sparse points did, beside its answer.")
      .def_ro("seconds", &SparseReport::seconds)
      .def_ro("finalists", &SparseReport::finalists, "Candidates whose distance was computed in double.")
      .def_ro("threads", &SparseReport::threads)
      .def_ro("base_parts", &SparseReport::base_parts, "Of the base, made by columns one after the other.")
      .def_ro("block_rows", &SparseReport::block_rows, "Base rows whose scores are made at once.")
      .def_ro("query_block", &SparseReport::query_block)
      .def_ro("workspace", &SparseReport::workspace_bytes, "Bytes beside inputs and outputs, at most.")
      .def_ro("budget", &SparseReport::budget_bytes, "Bytes that were allowed.");
  nb::class_<SparseIndex>(module, "SparseIndex")
      .def(nb::init<const nb::tuple&, const std::string&, const std::string&, int, std::int64_t, bool, double,
                    nb::handle>(),
           nb::arg("base"), nb::arg("metric"), nb::arg("backend"), nb::arg("threads"), nb::arg("memory"),
           nb::arg("check_finite"), nb::arg("max_distance"), nb::arg("progress").none())
      .def("search", &SparseIndex::search, nb::arg("queries").none(), nb::arg("k"), nb::arg("distances"),
           nb::arg("ids"), nb::arg("progress").none())
      .def("search_radius", &SparseIndex::search_radius, nb::arg("queries").none(), nb::arg("radii"),
           nb::arg("offsets"), nb::arg("allocate").none(), nb::arg("progress").none())
      .def("graph", &SparseIndex::graph, nb::arg("k"), nb::arg("symmetrize"), nb::arg("indptr"), nb::arg("allocate"),
           nb::arg("progress").none());
}

}  // namespace kith::python
