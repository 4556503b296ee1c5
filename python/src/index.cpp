// A prepared base: every ability of kith::Index, for arrays of the host and of a device alike. `stream` is a
// cudaStream_t as a number, for calls in which something lies on a device.
#include "kith/index.hpp"

#include <nanobind/stl/string.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "array.hpp"
#include "bindings.hpp"
#include "cuda_streams.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

template <Element T>
using OwnedIndex = std::unique_ptr<const kith::Index<T>>;

// Lists that the Python function allocate(count) makes, which returns ids and distances; None for none.
class Lists {
 public:
  explicit Lists(nb::handle allocate) : allocate_(allocate) {}

  template <class D>
  std::function<NeighborsView<D>(std::int64_t)> allocator() {
    if (allocate_.is_none()) return {};
    return [this](std::int64_t count) {
      return Watch::run_python([&] {
        const auto made = nb::cast<nb::tuple>(allocate_(count));
        const Array& ids = ids_.emplace(made[0], true);
        const Array& distances = distances_.emplace(made[1], true);
        return NeighborsView<D>{ids.output<std::int64_t>(count), distances.output<D>(count), ids.memory()};
      });
    };
  }

 private:
  nb::handle allocate_;
  std::optional<Array> ids_;
  std::optional<Array> distances_;
};

// Keeps the memory of the base.
class Index {
  // Calls f with the kith::Index on its device, on which the arrays of the call lie unless they lie on the host.
  template <class F>
  auto run(std::initializer_list<const Array*> arrays, std::uintptr_t stream, nb::handle progress, F f) {
    const int device = cuda_device_of(arrays);
    if (device >= 0 && device != cuda_device_)
      throw Error(ErrorCode::invalid_argument, "an array lies on CUDA device " + std::to_string(device) +
                                                   ", the index on " + std::to_string(cuda_device_));
    if (device >= 0) {
      pending_ = true;
      stream_ = stream;
    }
    return std::visit(
        [&]<Element T>(const OwnedIndex<T>& made) {
          return watched(progress, [&] {
            const CurrentDevice current(cuda_device_);
            return f(*made);
          });
        },
        index_);
  }

 public:
  Index(nb::handle base, const Options& options, std::uintptr_t stream, nb::handle progress)
      : base_(base, false), cuda_device_(base_.cuda_device()) {
    if (base_.memory() == Memory::host && options.backend != Backend::cpu) cuda_device_ = current_cuda_device();
    pending_ = base_.cuda_device() >= 0;
    stream_ = stream;
    visit_points(base_, [&]<Element T>(MatrixView<T> view) {
      index_ = watched(progress, [&] {
        const CurrentDevice current(cuda_device_);
        return std::make_unique<const kith::Index<T>>(view, options, cuda_stream(stream));
      });
    });
  }
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  ~Index() {
    if (!pending_) return;
    const GilReleased released;
    drain(cuda_device_);
  }

  // Of each base point, itself left out, where queries are None; the same below. `certified` may be None.
  // `limits`: None, or a largest distance and an epsilon in the place of those of the options.
  SearchReport search(nb::handle queries, std::int64_t k, nb::handle distances, nb::handle ids, nb::handle certified,
                      std::uintptr_t stream, nb::handle progress, nb::handle limits) {
    std::optional<SearchLimits> own;
    if (!limits.is_none()) own = SearchLimits{nb::cast<double>(limits[0]), nb::cast<double>(limits[1])};
    const OptionalArray points(queries);
    const Array distances_out(distances, true);
    const Array ids_out(ids, true);
    const OptionalArray certified_out(certified, true);
    return run({points.get(), &distances_out, &ids_out}, stream, progress, [&]<Element T>(const kith::Index<T>& index) {
      using D = DistanceOf<T>;
      const std::int64_t rows = points.get() != nullptr ? points.get()->rows() : index.rows();
      const NeighborsView<D> out{ids_out.output<std::int64_t>(rows * k), distances_out.output<D>(rows * k),
                                 ids_out.memory(), certified_out.output<std::uint8_t>(rows)};
      if (points.get() == nullptr) return index.search_self_into(k, out, cuda_stream(stream));
      if (own) return index.search_into(points.get()->view<T>(), k, out, *own, cuda_stream(stream));
      return index.search_into(points.get()->view<T>(), k, out, cuda_stream(stream));
    });
  }

  // Offsets alone where allocate is None.
  SearchReport search_radius(nb::handle queries, nb::handle radii, nb::handle offsets, nb::handle allocate,
                             std::uintptr_t stream, nb::handle progress) {
    const OptionalArray points(queries);
    const Array radius_array(radii, false);
    const Array offsets_out(offsets, true);
    Lists lists(allocate);
    return run({points.get(), &offsets_out}, stream, progress, [&]<Element T>(const kith::Index<T>& index) {
      using D = DistanceOf<T>;
      const std::int64_t count = points.get() != nullptr ? points.get()->rows() : index.rows();
      const std::span<const D> each(radius_array.output<D>(radius_array.rows()),
                                    static_cast<std::size_t>(radius_array.rows()));
      const RadiusLists<D> out{offsets_out.output<std::int64_t>(count + 1), lists.allocator<D>(), offsets_out.memory()};
      if (points.get() == nullptr) return index.search_radius_self_into(each, out, cuda_stream(stream));
      return index.search_radius_into(points.get()->view<T>(), each, out, cuda_stream(stream));
    });
  }

  SearchReport graph(std::int64_t k, const std::string& symmetrize, nb::handle indptr, nb::handle allocate,
                     std::uintptr_t stream, nb::handle progress) {
    const Symmetrize how = parse_symmetrize(symmetrize);
    const Array indptr_out(indptr, true);
    Lists lists(allocate);
    return run({&indptr_out}, stream, progress, [&]<Element T>(const kith::Index<T>& index) {
      using D = DistanceOf<T>;
      const GraphLists<D> out{indptr_out.output<std::int64_t>(index.rows() + 1), lists.allocator<D>(),
                              indptr_out.memory()};
      return index.graph_into(k, how, out, cuda_stream(stream));
    });
  }

  // `values` are None where the operation has none.
  SearchReport reduce(nb::handle queries, std::int64_t k, nb::handle values, const std::string& op, nb::handle reduced,
                      std::uintptr_t stream, nb::handle progress) {
    const ReduceOp operation = parse_reduce_op(op);
    const Array points(queries, false);
    const OptionalArray numbers(values);
    const Array out(reduced, true);
    return run({&points, numbers.get(), &out}, stream, progress, [&]<Element T>(const kith::Index<T>& index) {
      using D = DistanceOf<T>;
      const MatrixView<D> rows = numbers.get() != nullptr ? numbers.get()->view<D>() : MatrixView<D>();
      const std::int64_t columns = reduced_columns(operation, rows.cols, index.dims());
      return index.reduce_into(points.view<T>(), k, rows, operation,
                               {out.output<D>(points.rows() * columns), out.memory()}, cuda_stream(stream));
    });
  }

  Plan explain(std::int64_t queries, std::int64_t k) {
    return run({}, 0, nb::none(), [&]<Element T>(const kith::Index<T>& index) { return index.explain(queries, k); });
  }

  // Waits for the stream of the last call, the only one on which answers are under way: the index may go.
  void wait() {
    if (!pending_) return;
    const GilReleased released;
    synchronize(cuda_device_, stream_);
    pending_ = false;
  }

 private:
  Array base_;
  int cuda_device_;                         // of the index, also where the base is of the host; -1 for none
  std::atomic<bool> pending_ = false;       // answers on the device may be under way on some stream
  std::atomic<std::uintptr_t> stream_ = 0;  // of the last of them
  std::variant<OwnedIndex<float>, OwnedIndex<double>, OwnedIndex<std::uint8_t>, OwnedIndex<std::int8_t>,
               OwnedIndex<Float16>, OwnedIndex<BFloat16>>
      index_;
};

}  // namespace

void bind_index(nb::module_& module) {
  nb::class_<Index>(module, "Index")
      .def(nb::init<nb::handle, const Options&, std::uintptr_t, nb::handle>(), nb::arg("base"), nb::arg("options"),
           nb::arg("stream"), nb::arg("progress").none())
      .def("search", &Index::search, nb::arg("queries").none(), nb::arg("k"), nb::arg("distances"), nb::arg("ids"),
           nb::arg("certified").none(), nb::arg("stream"), nb::arg("progress").none(),
           nb::arg("limits").none() = nb::none())
      .def("search_radius", &Index::search_radius, nb::arg("queries").none(), nb::arg("radii"), nb::arg("offsets"),
           nb::arg("allocate").none(), nb::arg("stream"), nb::arg("progress").none())
      .def("graph", &Index::graph, nb::arg("k"), nb::arg("symmetrize"), nb::arg("indptr"), nb::arg("allocate"),
           nb::arg("stream"), nb::arg("progress").none())
      .def("reduce", &Index::reduce, nb::arg("queries"), nb::arg("k"), nb::arg("values").none(), nb::arg("op"),
           nb::arg("out"), nb::arg("stream"), nb::arg("progress").none())
      .def("explain", &Index::explain, nb::arg("queries"), nb::arg("k"))
      .def("wait", &Index::wait);
}

}  // namespace kith::python
