// What this build and this machine have, and streams of their devices.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "cuda_streams.hpp"
#include "gil.hpp"
#include "kith/kith.hpp"

namespace kith::python {
namespace {

template <class Value>
std::vector<std::string> names_of(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(to_string(value));
  return names;
}

nb::list device_list() {
  nb::list list;
  for (const Device& device : devices(Backend::cuda)) {
    nb::dict facts;
    facts["id"] = device.id;
    facts["name"] = device.name;
    facts["compute_capability"] = nb::make_tuple(device.compute_major, device.compute_minor);
    facts["multiprocessors"] = device.multiprocessors;
    facts["memory"] = device.memory_bytes;
    facts["free_memory"] = device.free_bytes;
    nb::dict policy;
    for (const DeviceLimit& limit : device.policy) policy[limit.name.c_str()] = limit.value;
    facts["policy"] = policy;
    facts["problem"] = device.problem;
    list.append(facts);
  }
  return list;
}

nb::list known_device_list() {
  nb::list list;
  for (const KnownDevice& device : known_devices()) {
    nb::dict facts;
    facts["name"] = device.name;
    facts["title"] = device.title;
    facts["compute_capability"] = nb::make_tuple(device.compute_major, device.compute_minor);
    facts["multiprocessors"] = device.multiprocessors;
    facts["memory"] = device.memory_bytes;
    facts["memory_bandwidth"] = device.memory_bandwidth;
    facts["link_bandwidth"] = device.link_bandwidth;
    facts["profile"] = device.profile;
    list.append(facts);
  }
  return list;
}

nb::dict host_limits_of() {
  const HostLimits limits = host_limits();
  nb::dict found;
  found["threads"] = limits.threads;
  found["threads_source"] = limits.threads_source;
  found["memory"] = limits.memory_bytes;
  found["memory_source"] = limits.memory_source;
  return found;
}

}  // namespace

void bind_machine(nb::module_& module) {
  module.def("version", &version);
  module.def("backends", [] { return names_of(available_backends()); });
  module.def("cuda_devices", &device_list);
  module.def("known_devices", &known_device_list);
  module.def("simd_targets", &simd_targets);
  module.def("host_limits", &host_limits_of);
  module.def("metrics", &metric_names);
  const auto def_names = [&](const char* name, auto* values) {
    module.def(
        name, [values](const std::string& backend) { return names_of(values(parse_backend(backend))); },
        nb::arg("backend") = "auto");
  };
  def_names("method_names", &search_methods);
  def_names("distance_names", &distance_stages);
  def_names("select_names", &select_methods);
  module.def(
      "synchronize",
      [](int device, std::uintptr_t stream) {
        const GilReleased released;
        synchronize(device, stream);
      },
      nb::arg("device"), nb::arg("stream"));
#ifdef KITH_HAS_CUDA
  module.attr("has_cuda") = true;
#else
  module.attr("has_cuda") = false;
#endif
}

}  // namespace kith::python
