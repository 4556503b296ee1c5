// The extension module kith._kith: thin functions over the C++ library. Arrays come prepared from the Python side: two
// dimensions, one of the library's element types, strides that are whole elements and not negative.
#include "bindings.hpp"

NB_MODULE(_kith, module) {
  using namespace kith::python;
  // The process may end while a thread searches, whose objects then stay: nothing to tell a user about.
  nanobind::set_leak_warnings(false);
  module.doc() = "The C++ side of kith; use the functions of kith itself.";
  bind_errors(module);
  bind_machine(module);
  bind_options(module);
  bind_report(module);
  bind_search(module);
  bind_batches(module);
  bind_custom_metric(module);
  bind_index(module);
  bind_collection(module);
  bind_reduce(module);
  bind_topk(module);
  bind_sparse(module);
  bind_bits(module);
  bind_files(module);
  bind_pivots(module);
  bind_shards(module);
}
