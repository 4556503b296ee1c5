// A device as a backend: its table of functions.
#include "core/derived_profile.hpp"
#include "cuda/functions.hpp"
#include "cuda/graph/merge_lists.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/runtime/spares.hpp"
#include "cuda/select/select.hpp"

namespace kith::KITH_BACKEND {
namespace {

template <Element T>
void bring_answer(const NeighborsView<DistanceOf<T>>& answer, std::int64_t count,
                  const NeighborsView<DistanceOf<T>>& out, void* caller_stream) {
  auto* const stream = static_cast<cudaStream_t>(caller_stream);
  const auto places = static_cast<std::size_t>(count);
  KITH_CUDA(cudaMemcpyAsync(out.ids, answer.ids, places * sizeof(std::int64_t), cudaMemcpyHostToDevice, stream));
  KITH_CUDA(
      cudaMemcpyAsync(out.distances, answer.distances, places * sizeof(DistanceOf<T>), cudaMemcpyHostToDevice, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
}

template <Element T>
void merge(std::span<const NeighborLists<DistanceOf<T>>> lists, std::int64_t queries, std::int64_t k,
           const Metric& metric, const NeighborsView<DistanceOf<T>>& out, void* stream) {
  if (lists.size() > graph::kMostLists)
    throw Error(ErrorCode::invalid_argument, "a device merges " + std::to_string(graph::kMostLists) +
                                                 " lists at a time; there are " + std::to_string(lists.size()));
  graph::merge_lists(lists, queries, k, metric, out, static_cast<cudaStream_t>(stream));
}

template <Element T>
constexpr backend::TypedTable<T> kTyped{&make_index<T>, &distances<T>, &topk<T>, &bring_answer<T>, &merge<T>};

// The driver takes a while to start, so it is asked once.
const DevicePresence& presence() {
  static const DevicePresence found = find_device();
  return found;
}

}  // namespace

core::DeviceFacts device_facts() {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  KITH_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  free_bytes += spare_device_bytes();
  core::DeviceFacts facts{.free_memory = static_cast<std::int64_t>(free_bytes),
                          .policy = device_policy(),
                          .name = device_name(),
                          .backend = Backend::KITH_BACKEND};
  // An emulated device has no speed; it is planned for as an H200.
  if (facts.backend == Backend::cuda) {
    const DeviceSpeed speed = device_speed();
    core::set_built_in_profile(facts, speed.clock, speed.bandwidth);
  }
  return facts;
}

const backend::BackendTable& backend_table() {
  static const backend::BackendTable table{
      Backend::KITH_BACKEND,
      [] { return presence().usable; },
      [] { return presence().obstacle; },
      &device_list,
      []() -> plan::Machine { return device_facts(); },
      &select::select_methods,
      &measure_costs,
      {kTyped<float>, kTyped<double>, kTyped<std::uint8_t>, kTyped<std::int8_t>, kTyped<Float16>, kTyped<BFloat16>}};
  return table;
}

}  // namespace kith::KITH_BACKEND
