#include "kith/options.hpp"

#include "backend/host.hpp"
#include "backend/machine.hpp"
#include "backend/registry.hpp"
#include "kith/machine.hpp"

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

std::string why_unavailable(Backend backend) {
  return backend::is_available(backend) ? "" : backend::unavailable_reason(backend);
}

std::vector<Device> devices(Backend backend) {
  const backend::BackendTable* table = backend::find_table(backend);
  return table == nullptr ? std::vector<Device>() : table->devices();
}

std::vector<std::string> simd_targets() {
  return cpu::simd_targets();
}

HostLimits host_limits() {
  const backend::ThreadLimit threads = backend::available_threads();
  const backend::MemoryLimit memory = backend::free_memory();
  return {threads.threads, threads.source, memory.bytes, memory.source};
}

std::vector<Method> search_methods(Backend backend) {
  using enum Method;
  if (is_device(backend)) return {automatic, brute, two_stage, fused, tree, triangle, shifted_sort};
  return {automatic, brute, tree, triangle, shifted_sort};
}

std::vector<DistanceStage> distance_stages(Backend backend) {
  using enum DistanceStage;
  if (is_device(backend)) return {automatic, exact, direct, tiled, register_tiled, gemm, fp16, split_fp16, int8};
  return {automatic, direct, register_tiled, gemm, int8, bf16};
}

std::vector<SelectMethod> select_methods(Backend backend) {
  if (backend == Backend::automatic) backend = available_backends().front();
  const backend::BackendTable* table = backend::find_table(backend);
  return table == nullptr ? std::vector<SelectMethod>() : table->select_methods();
}

}  // namespace kith
