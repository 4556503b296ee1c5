// What this build and this machine have.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.hpp"
#include "kith/kith.hpp"

namespace kith::python {
namespace {

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend backend : available_backends()) names.emplace_back(to_string(backend));
  return names;
}

nb::list device_list() {
  nb::list devices;
  for (const Device& device : cuda_devices()) {
    nb::dict facts;
    facts["id"] = device.id;
    facts["name"] = device.name;
    facts["compute_capability"] = nb::make_tuple(device.compute_major, device.compute_minor);
    facts["multiprocessors"] = device.multiprocessors;
    facts["memory"] = device.memory_bytes;
    facts["free_memory"] = device.free_bytes;
    devices.append(facts);
  }
  return devices;
}

}  // namespace

void bind_machine(nb::module_& module) {
  module.def("version", &version);
  module.def("backends", &backend_names);
  module.def("cuda_devices", &device_list);
  module.def("simd_targets", &simd_targets);
  module.def("metrics", &metric_names);
  const auto def_names = [&](const char* name, std::vector<std::string> (*names)(Backend)) {
    module.def(
        name, [names](const std::string& backend) { return names(parse_backend(backend)); },
        nb::arg("backend") = "auto");
  };
  def_names("method_names", &method_names);
  def_names("distance_names", &distance_names);
  def_names("select_names", &select_names);
#ifdef KITH_HAS_CUDA
  module.attr("has_cuda") = true;
#else
  module.attr("has_cuda") = false;
#endif
}

}  // namespace kith::python
