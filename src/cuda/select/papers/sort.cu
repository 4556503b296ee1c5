// sort.cu: all keys of every row sorted, the first k kept: the baseline for the other methods (Hanák, 5.5).
// Cost: rows × length keys built and sorted by CUB's radix sort (the emulator: std::sort). Any k.
// Workspace: two keys per value. For comparison only: `auto` never chooses it.
#include "cuda/primitives/device_sort.hpp"
#include "cuda/primitives/matrix_element.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/select/finish.hpp"

namespace kith::KITH_BACKEND::select {

namespace {

template <class T>
__global__ void build_keys_kernel(Rows<T> rows, KeyOf<T>* keys) {
  const std::int64_t index = thread_index();
  if (index >= rows.rows * rows.length) return;
  const MatrixElement at = element_at(index, rows.length);
  keys[index] = rows.key(at.row, at.column);
}

}  // namespace

namespace methods {

template <class T>
void sort(const SelectCall<T>& call) {
  const Rows<T>& rows = call.rows;
  const std::int64_t count = rows.rows * rows.length;
  auto* keys = call.workspace.template allocate<KeyOf<T>>(static_cast<std::size_t>(count));
  launch("sort: build keys", build_keys_kernel<T>, thread_each(count), call.stream(), rows, keys);
  const IdOrder ids = rows.ids == nullptr ? IdOrder::ascending : IdOrder::any;
  sort_segments(keys, rows.rows, rows.length, call.workspace, ids);
  put_sorted_rows(keys, rows.length, call);
}

template void sort<float>(const SelectCall<float>&);
template void sort<double>(const SelectCall<double>&);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
