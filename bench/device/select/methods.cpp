#include "device/select/methods.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include "cuda/runtime/properties.hpp"
#include "cuda/select/papers/partial_bitonic.hpp"
#include "cuda/select/papers/queue_updates.hpp"
#include "cuda/select/select.hpp"
#include "plan/select.hpp"

namespace kith::bench::device::select {
namespace {

using Call = cuda::select::SelectCall<float>;

struct Network {
  std::string_view name;
  cuda::select::NetworkKind kind;
};
constexpr Network kNetworks[] = {{"partial-bitonic/shared-memory", cuda::select::NetworkKind::shared_memory},
                                 {"partial-bitonic/shuffles", cuda::select::NetworkKind::shuffles}};

const Network* find_network(const std::string& method) {
  for (const Network& network : kNetworks)
    if (network.name == method) return &network;
  return nullptr;
}

std::function<void(const Call&)> function_of(const std::string& method) {
  if (const Network* network = find_network(method))
    return [kind = network->kind](const Call& call) { cuda::select::partial_bitonic_with(kind, call); };
  return [method = parse_select_method(method)](const Call& call) { cuda::select::select_rows(call, method); };
}

cuda::select::Rows<float> rows_of(const DeviceMatrix& matrix) {
  cuda::select::Rows<float> rows;
  rows.values = matrix.data();
  rows.rows = matrix.shape().rows;
  rows.length = matrix.shape().length;
  rows.stride = matrix.shape().length;
  return rows;
}

cuda::select::QueueKind kind_of(const std::string& queue) {
  if (queue == "insertion") return cuda::select::QueueKind::insertion;
  if (queue == "heap") return cuda::select::QueueKind::heap;
  return cuda::select::QueueKind::merge;
}

TopkOutput form_of(bool sorted) {
  return sorted ? TopkOutput::sorted : TopkOutput::unsorted;
}

}  // namespace

bool is_method(const std::string& name) {
  const std::vector<SelectMethod> methods = cuda::select::select_methods();
  return find_network(name) != nullptr ||
         std::any_of(methods.begin(), methods.end(), [&](SelectMethod method) { return name == to_string(method); });
}

std::string chosen_method(const MatrixShape& shape, unsigned k, bool sorted) {
  return to_string(plan::choose_select(shape.rows, shape.length, k, form_of(sorted), cuda::device_policy()));
}

std::function<void()> make_selection(const Entry& entry, const DeviceMatrix& matrix, DeviceAnswer& answer,
                                     cudaStream_t stream) {
  const TopkOutput form = form_of(entry.sorted);
  auto workspace = std::make_shared<cuda::Workspace>(stream);
  return [run = function_of(entry.variant.method), tuning = entry.variant.tuning, k = entry.k, form, workspace, &matrix,
          &answer] {
    const cuda::select::Rows<float> rows = rows_of(matrix);
    workspace->reset();
    run({rows, {answer.values.data(), answer.ids.data(), k, form, rows}, tuning, *workspace});
  };
}

std::vector<unsigned long long> count_updates(const std::string& queue, unsigned k, const DeviceMatrix& matrix,
                                              const cuda::Stream& stream) {
  cuda::Workspace workspace(stream);
  cuda::DeviceBuffer<unsigned long long> counts(k, stream);
  cuda::select::queue_updates(rows_of(matrix), k, kind_of(queue), 0, counts.data(), workspace);
  std::vector<unsigned long long> copied(k);
  KITH_CUDA(cudaMemcpyAsync(copied.data(), counts.data(), k * sizeof(copied[0]), cudaMemcpyDeviceToHost, stream));
  stream.synchronize();
  return copied;
}

}  // namespace kith::bench::device::select
