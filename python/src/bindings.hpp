// bindings.hpp: the parts that module.cpp puts together; each is bound in the file of its name.
#pragma once

#include <nanobind/nanobind.h>

namespace kith::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_machine(nb::module_& module);
void bind_options(nb::module_& module);
void bind_report(nb::module_& module);
void bind_search(nb::module_& module);
void bind_batches(nb::module_& module);
void bind_custom_metric(nb::module_& module);
void bind_index(nb::module_& module);
void bind_collection(nb::module_& module);
void bind_reduce(nb::module_& module);
void bind_topk(nb::module_& module);
void bind_sparse(nb::module_& module);
void bind_bits(nb::module_& module);
void bind_files(nb::module_& module);
void bind_pivots(nb::module_& module);
void bind_shards(nb::module_& module);

}  // namespace kith::python
