// The k smallest or largest values of each row.
#include "topk.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "bindings.hpp"
#include "buffer.hpp"
#include "fork.hpp"
#include "kith/error.hpp"
#include "owned_array.hpp"
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

// (values, ids); ids is None where there are none
nb::tuple select(nb::handle matrix, std::int64_t k, bool largest, const std::string& output, const std::string& backend,
                 const std::string& method, int threads, std::int64_t memory, nb::handle progress) {
  const Buffer buffer(matrix, false);
  TopkOptions options = topk_options(largest, output, backend, method, threads_after_fork(threads), memory);
  return visit_points(buffer, [&]<Element T>(MatrixView<T> view) {
    Topk<T> found = watched(progress, [&] { return topk(view, k, options); });
    const auto rows = static_cast<std::size_t>(found.rows);
    const auto cols = static_cast<std::size_t>(found.k);
    nb::object ids = found.ids.empty() ? nb::none() : owned_array(std::move(found.ids), {rows, cols});
    return nb::make_tuple(owned_array(std::move(found.values), {rows, cols}), std::move(ids));
  });
}

}  // namespace

TopkOptions topk_options(bool largest, const std::string& output, const std::string& backend, const std::string& method,
                         int threads, std::int64_t memory) {
  TopkOptions options;
  options.largest = largest;
  options.output = output_named(output);
  options.backend = parse_backend(backend);
  options.method = method;
  options.threads = threads;
  options.memory_budget = memory;
  options.progress = &Watch::on_progress;
  return options;
}

void bind_topk(nb::module_& module) {
  module.def("topk", &select, nb::arg("matrix"), nb::arg("k"), nb::arg("largest"), nb::arg("output"),
             nb::arg("backend"), nb::arg("method"), nb::arg("threads"), nb::arg("memory"), nb::arg("progress").none());
}

}  // namespace kith::python
