// The k smallest or largest values of each row.
#include "kith/topk.hpp"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "array.hpp"
#include "bindings.hpp"
#include "cuda_streams.hpp"
#include "kith/error.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

TopkOutput output_named(const std::string& name) {
  if (name == "sorted") return TopkOutput::sorted;
  if (name == "unsorted") return TopkOutput::unsorted;
  if (name == "values_only") return TopkOutput::values_only;
  if (name == "kth_only") return TopkOutput::kth_only;
  throw Error(ErrorCode::invalid_argument,
              "output '" + name + "' is not one of sorted, unsorted, values_only, kth_only");
}

// Into memory that the caller has made; `ids` is None where there are none.
void select(nb::handle matrix, std::int64_t k, bool largest, const std::string& output, const std::string& backend,
            const std::string& method, int threads, std::int64_t memory, nb::handle values, nb::handle ids,
            std::uintptr_t stream, nb::handle progress) {
  TopkOptions options;
  options.largest = largest;
  options.output = output_named(output);
  options.backend = parse_backend(backend);
  options.method = parse_select_method(method);
  options.threads = threads;
  options.memory_budget = memory;
  options.progress = &Watch::on_progress;
  const Array array(matrix, false);
  const Array values_out(values, true);
  std::optional<Array> ids_out;
  if (!ids.is_none()) ids_out.emplace(ids, true);
  const int device = cuda_device_of({&array, &values_out});
  const std::int64_t count = array.rows() * (options.output == TopkOutput::kth_only ? 1 : k);
  visit_points(array, [&]<Element T>(MatrixView<T> view) {
    const TopkView<T> out{values_out.output<T>(count), ids_out ? ids_out->output<std::int64_t>(count) : nullptr,
                          values_out.memory()};
    watched(progress, [&] {
      const CurrentDevice current(device);
      topk_into(view, k, out, options, cuda_stream(stream));
    });
  });
}

}  // namespace

void bind_topk(nb::module_& module) {
  module.def("topk", &select, nb::arg("matrix"), nb::arg("k"), nb::arg("largest"), nb::arg("output"),
             nb::arg("backend"), nb::arg("method"), nb::arg("threads"), nb::arg("memory"), nb::arg("values"),
             nb::arg("ids").none(), nb::arg("stream"), nb::arg("progress").none());
}

}  // namespace kith::python
