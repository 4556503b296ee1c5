// Searches of batches.
#include "kith/batches.hpp"

#include <optional>
#include <span>

#include "array.hpp"
#include "bindings.hpp"
#include "cuda_streams.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

std::span<const std::int64_t> offsets_of(const Array& array) {
  return {array.output<std::int64_t>(array.rows()), static_cast<std::size_t>(array.rows())};
}

// Distances and ids of queries × k, into memory that the caller has made. Where queries are None they are the base, and
// each point is left out.
SearchReport search_batches_into(nb::handle base, nb::handle base_offsets, nb::handle queries, nb::handle query_offsets,
                                 const Options& options, std::int64_t k, nb::handle distances, nb::handle ids,
                                 nb::handle certified, std::uintptr_t stream, nb::handle progress) {
  const Array base_array(base, false);
  const Array base_starts(base_offsets, false);
  const Array query_starts(query_offsets, false);
  std::optional<Array> query_array;
  if (!queries.is_none()) query_array.emplace(queries, false);
  const Array distances_out(distances, true);
  const Array ids_out(ids, true);
  const OptionalArray certified_out(certified, true);
  const Array* const asked = query_array ? &*query_array : nullptr;
  const int device = cuda_device_of({&base_array, asked, &distances_out, &ids_out});
  return visit_points(base_array, [&]<Element T>(MatrixView<T> points) {
    using D = DistanceOf<T>;
    const MatrixView<T> query_view = asked != nullptr ? asked->view<T>() : points;
    const std::int64_t count = query_view.rows * k;
    const NeighborsView<D> out{ids_out.output<std::int64_t>(count), distances_out.output<D>(count), ids_out.memory(),
                               certified_out.output<std::uint8_t>(query_view.rows)};
    return watched(progress, [&] {
      const CurrentDevice current(device);
      if (asked == nullptr)
        return kith::search_batches_self_into(points, offsets_of(base_starts), k, out, options, cuda_stream(stream));
      return kith::search_batches_into(points, offsets_of(base_starts), query_view, offsets_of(query_starts), k, out,
                                       options, cuda_stream(stream));
    });
  });
}

}  // namespace

void bind_batches(nb::module_& module) {
  module.def("search_batches", &search_batches_into, nb::arg("base"), nb::arg("base_offsets"),
             nb::arg("queries").none(), nb::arg("query_offsets"), nb::arg("options"), nb::arg("k"),
             nb::arg("distances"), nb::arg("ids"), nb::arg("certified").none(), nb::arg("stream"),
             nb::arg("progress").none());
}

}  // namespace kith::python
