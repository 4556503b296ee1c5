// info.cpp: what this library, this build and this machine have.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/options.hpp"
#include "kith/bit_metric.hpp"
#include "kith/machine.hpp"
#include "kith/metric.hpp"
#include "kith/named_metric.hpp"
#include "kith/reduce.hpp"
#include "kith/sparse.hpp"
#include "kith/version.hpp"

namespace kith::c {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
std::vector<std::string> names_of(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(to_string(value));
  return names;
}

Json info() {
  const HostLimits host = host_limits();
  Json json = {{"version", version()},
               {"c_api_version", KITH_C_API_VERSION},
               {"backends", names_of(available_backends())},
               {"simd", simd_targets()},
               {"threads", host.threads},
               {"memory_bytes", host.memory_bytes},
               {"devices", Json::array()},
               {"metrics", metric_names()},
               {"bit_metrics", bit_metric_names()},
               {"sparse_metrics", sparse_metric_names()},
               {"defined_metrics", named_metric_names()},
               {"methods", names_of(search_methods(available_backends().front()))},
               {"reductions", reduce_op_names()},
               {"options", option_names()}};
  for (const Device& device : devices(Backend::cuda))
    json["devices"].push_back({{"name", device.name},
                               {"compute_capability", fmt::format("{}.{}", device.compute_major, device.compute_minor)},
                               {"memory_bytes", device.memory_bytes},
                               {"problem", device.problem}});
  return json;
}

}  // namespace
}  // namespace kith::c

using namespace kith::c;

const char* kith_version(void) noexcept {
  return kith::version();
}

int32_t kith_c_api_version(void) noexcept {
  return KITH_C_API_VERSION;
}

kith_status kith_available_backends(char* buffer, size_t size, size_t* length) noexcept {
  return call([&] {
    write_text(fmt::format("{}", fmt::join(names_of(kith::available_backends()), ",")), buffer, size, length);
  });
}

kith_status kith_info(char* buffer, size_t size, size_t* length) noexcept {
  return call([&] { write_text(info().dump(2, ' ', false, Json::error_handler_t::replace), buffer, size, length); });
}
