// A device as a backend: its table of functions.
#include "cuda/functions.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/spares.hpp"
#include "cuda/select/select.hpp"

namespace kith::KITH_BACKEND {
namespace {

template <Element T>
constexpr backend::TypedTable<T> kTyped{&make_index<T>, &distances<T>, &topk<T>};

bool is_available() {
  static const bool found = device_count() > 0;  // the driver takes a while to start
  return found;
}

}  // namespace

core::DeviceFacts device_facts() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  free_bytes += spare_device_bytes();
  return {.free_memory = static_cast<std::int64_t>(free_bytes),
          .policy = device_policy(),
          .name = device_name(),
          .backend = Backend::KITH_BACKEND};
}

const backend::BackendTable& backend_table() {
  static const backend::BackendTable table{Backend::KITH_BACKEND,
                                           &is_available,
                                           &device_list,
                                           []() -> plan::Machine { return device_facts(); },
                                           &select::select_methods,
                                           &measure_costs,
                                           {kTyped<float>, kTyped<double>, kTyped<std::uint8_t>, kTyped<std::int8_t>}};
  return table;
}

}  // namespace kith::KITH_BACKEND
