// sort_pairs.cu: CUB's device-wide radix sort, with as many passes as the codes have bytes.
#include "cuda/primitives/sort_pairs.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#if !defined(KITH_IS_EMULATED)
#include <cub/device/device_radix_sort.cuh>
#include <cuda/std/tuple>
#endif

namespace kith::KITH_BACKEND::inline primitives {
namespace {

#if defined(KITH_IS_EMULATED)

// Takes the memory of the device's sort, so that plans can be held to it.
template <class Code>
void sort_pairs_on_host(Code* codes, unsigned* ids, std::int64_t count, Workspace& workspace) {
  workspace.allocate<Code>(static_cast<std::size_t>(count));
  workspace.allocate<unsigned>(static_cast<std::size_t>(count));
  const auto work = [=] {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return codes[a] < codes[b]; });
    const std::vector<Code> old_codes(codes, codes + count);
    const std::vector<unsigned> old_ids(ids, ids + count);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto from = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      codes[i] = old_codes[from];
      ids[i] = old_ids[from];
    }
  };
  check(::emulator::enqueue("sort_pairs", work, workspace.stream()), "sort_pairs");
}

#else

template <class V>
void copy_sorted_values(V* values, cub::DoubleBuffer<V>& buffers, std::int64_t count, cudaStream_t stream) {
  if (buffers.Current() == values) return;
  KITH_CUDA(cudaMemcpyAsync(values, buffers.Current(), static_cast<std::size_t>(count) * sizeof(V),
                            cudaMemcpyDeviceToDevice, stream));
}

// CUB's protocol: sort(nullptr, bytes, …) sets the size of its storage, sort(storage, bytes, …) sorts.
template <class Code, class Sort>
void sort_pair_buffers(Code* codes, unsigned* ids, std::int64_t count, Workspace& workspace, SortedCodes sorted,
                       Sort sort) {
  const auto size = static_cast<std::size_t>(count);
  cub::DoubleBuffer<Code> code_buffers(codes, workspace.allocate<Code>(size));
  cub::DoubleBuffer<unsigned> id_buffers(ids, workspace.allocate<unsigned>(size));
  std::size_t bytes = 0;
  check(sort(nullptr, bytes, code_buffers, id_buffers), "cub radix sort (size)");
  void* storage = workspace.allocate<unsigned char>(bytes);
  check(sort(storage, bytes, code_buffers, id_buffers), "cub radix sort");
  if (sorted == SortedCodes::kept) copy_sorted_values(codes, code_buffers, count, workspace.stream());
  copy_sorted_values(ids, id_buffers, count, workspace.stream());
}

struct CodeDecomposer {
  __host__ __device__ ::cuda::std::tuple<std::uint64_t&, std::uint64_t&> operator()(core::Code128& code) const {
    return {code.high, code.low};
  }
};

#endif

}  // namespace

#if defined(KITH_IS_EMULATED)

void sort_pairs(std::uint64_t* codes, unsigned* ids, std::int64_t count, int /*bits*/, Workspace& workspace,
                SortedCodes /*sorted*/) {
  sort_pairs_on_host(codes, ids, count, workspace);
}

void sort_pairs(core::Code128* codes, unsigned* ids, std::int64_t count, int /*bits*/, Workspace& workspace,
                SortedCodes /*sorted*/) {
  sort_pairs_on_host(codes, ids, count, workspace);
}

#else

void sort_pairs(std::uint64_t* codes, unsigned* ids, std::int64_t count, int bits, Workspace& workspace,
                SortedCodes sorted) {
  sort_pair_buffers(codes, ids, count, workspace, sorted,
                    [=, &workspace](void* storage, std::size_t& bytes, auto& keys, auto& values) {
                      return cub::DeviceRadixSort::SortPairs(storage, bytes, keys, values, count, 0, bits,
                                                             workspace.stream());
                    });
}

void sort_pairs(core::Code128* codes, unsigned* ids, std::int64_t count, int bits, Workspace& workspace,
                SortedCodes sorted) {
  sort_pair_buffers(codes, ids, count, workspace, sorted,
                    [=, &workspace](void* storage, std::size_t& bytes, auto& keys, auto& values) {
                      return cub::DeviceRadixSort::SortPairs(storage, bytes, keys, values, count, CodeDecomposer{}, 0,
                                                             bits, workspace.stream());
                    });
}

#endif

}  // namespace kith::KITH_BACKEND::inline primitives
