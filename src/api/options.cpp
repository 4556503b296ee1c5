#include "kith/options.hpp"

#include "api/devices.hpp"
#include "api/names.hpp"
#include "cpu/simd/kernels.hpp"

namespace kith {
namespace {

using api::Name;

constexpr std::array<Name<Backend>, 4> kBackends{{
    {"auto", Backend::automatic},
    {"cpu", Backend::cpu},
    {"cuda", Backend::cuda},
    {"emulated", Backend::emulated},
}};

constexpr std::array<Name<Method>, 6> kMethods{{
    {"auto", Method::automatic},
    {"brute", Method::brute},
    {"two-stage", Method::two_stage},
    {"fused", Method::fused},
    {"triangle", Method::triangle},
    {"shifted-sort", Method::shifted_sort},
}};

bool is_device(Backend backend) {
  return backend == Backend::cuda || backend == Backend::emulated;
}

}  // namespace

const char* to_string(Backend backend) noexcept {
  return api::name_of(kBackends, backend);
}

const char* to_string(Method method) noexcept {
  return api::name_of(kMethods, method);
}

Backend parse_backend(std::string_view name) {
  return api::parse_name(kBackends, "backend", name);
}

Method parse_method(std::string_view name) {
  return api::parse_name(kMethods, "method", name);
}

std::vector<Backend> available_backends() {
  std::vector<Backend> found;
  for (const Backend backend : {Backend::cuda, Backend::cpu, Backend::emulated})
    if (api::is_available(backend)) found.push_back(backend);
  return found;
}

std::vector<Device> cuda_devices() {
  return api::list_cuda_devices();
}

std::vector<std::string> simd_targets() {
  return cpu::simd_targets();
}

std::vector<std::string> method_names(Backend backend) {
  if (is_device(backend)) return {"auto", "brute", "two-stage", "fused", "triangle", "shifted-sort"};
  return {"auto", "brute", "triangle", "shifted-sort"};
}

std::vector<std::string> distance_names(Backend backend) {
  if (is_device(backend)) return {"auto", "keys", "direct", "tiled", "register-tiled", "gemm", "half"};
  return {"auto", "direct", "register-tiled", "gemm"};
}

std::vector<std::string> select_names(Backend backend) {
  if (backend == Backend::automatic) backend = available_backends().front();
  if (backend != Backend::cpu) return api::device_select_names(backend);
  return {"auto", "threshold-filter", "sort"};
}

}  // namespace kith
