#include "kith/options.hpp"

#include "backend/host.hpp"
#include "backend/registry.hpp"

namespace kith {
namespace {

bool is_device(Backend backend) {
  return backend == Backend::cuda || backend == Backend::emulated;
}

}  // namespace

std::vector<Backend> available_backends() {
  std::vector<Backend> found;
  for (const Backend backend : {Backend::cuda, Backend::cpu, Backend::emulated})
    if (backend::is_available(backend)) found.push_back(backend);
  return found;
}

std::vector<Device> cuda_devices() {
  const backend::BackendTable* table = backend::find_table(Backend::cuda);
  return table == nullptr ? std::vector<Device>() : table->devices();
}

std::vector<std::string> simd_targets() {
  return cpu::simd_targets();
}

std::vector<std::string> method_names(Backend backend) {
  if (is_device(backend)) return {"auto", "brute", "two-stage", "fused", "triangle", "shifted-sort"};
  return {"auto", "brute", "triangle", "shifted-sort"};
}

std::vector<std::string> distance_names(Backend backend) {
  if (is_device(backend)) return {"auto", "exact", "direct", "tiled", "register-tiled", "gemm", "fp16"};
  return {"auto", "direct", "register-tiled", "gemm"};
}

std::vector<std::string> select_names(Backend backend) {
  if (backend == Backend::automatic) backend = available_backends().front();
  const backend::BackendTable* table = backend::find_table(backend);
  return table == nullptr ? std::vector<std::string>() : table->select_names();
}

}  // namespace kith
