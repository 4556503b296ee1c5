// quick_multi_select.cu: quick select of many rows at once, one warp or one block per row (Komarov et al.).
// The set starts as the whole row. While it is too large for registers, it is partitioned around a pivot: each warp
// votes key < pivot, and the votes give the positions of its keys in the other of two arrays, smaller ones from the
// left end, the rest from the right. If the left part holds the k-th key it becomes the set; else it belongs to the
// result, a reference to it is kept on a stack instead of a copy, and the right part becomes the set. Komarov et al.
// launch a kernel per partition from the host; here the kernel loops, and the first partition reads the row itself. The
// pivot comes from a sorted sample of the set, a little beyond the expected position of the k-th key, on the side of
// the larger part: the part that remains is small and most likely holds the key. A sample draws no key twice and keys
// are unique, so neither part is ever empty.
//   tuning.group  warp, block; by default a warp for many short rows
// Cost: n reads and n writes of the row, and a small part of that again for each later partition.
// Limits: any k. Workspace: k keys per row, and two arrays of the row's length for each resident group.
// For comparison with Komarov et al. only: `auto` never chooses it.
#include <string>

#include "cuda/primitives/bitonic.cuh"
#include "cuda/primitives/random.cuh"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/finish.hpp"
#include "cuda/select/resident.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::select {

namespace {

struct QuickTuning {
  std::int64_t many_rows = 4096;  // rows from which one warp per row fills the device
  unsigned short_row = 16384;     // length up to which the arrays of that many warps are not too large
};
constexpr QuickTuning kQuickTuning;

// Keys that each thread has in flight while a set is partitioned.
constexpr unsigned kQuickInFlight = 4;
constexpr unsigned kQuickStackDepth = 32;

// A part of the row or of one of the two arrays.
struct Part {
  enum Source : unsigned { first_array, second_array, row };
  Source source;
  unsigned start;
  unsigned count;
};

template <class T, unsigned kThreads>
class QuickMultiSelect {
 public:
  using Key = KeyOf<T>;
  static constexpr unsigned kItems = kThreads == kWarp ? 8 : 4;
  static constexpr unsigned kInRegisters = kThreads * kItems;  // keys that the group can sort

  struct Scratch {
    Key keys[kThreads == kWarp ? 1 : kInRegisters];  // for a block's sort; a warp sorts by shuffles
    Part answer[kQuickStackDepth];                   // parts known to belong to the result
    Key pivot;
    unsigned left;  // keys written on either side
    unsigned right;
  };

  // `arrays` holds twice the row's keys.
  __device__ QuickMultiSelect(const Rows<T>& rows, std::int64_t row, Key* arrays, Key* out, Scratch& scratch)
      : rows_(rows), row_(row), arrays_(arrays), out_(out), scratch_(scratch) {}

  // Writes the k smallest keys of the row, in any order. Must be called by all threads of the group.
  __device__ void operator()(unsigned k) {
    Part set{Part::row, 0, rows_.length};
    unsigned rank = k;
    Part::Source target = Part::first_array;
    for (unsigned round = 0; set.count > kInRegisters && rank < set.count; ++round) {
      choose_pivot(set, rank, round);
      const unsigned left = partition(set, target);
      if (rank <= left) {
        set = {target, set.start, left};
      } else {
        keep({target, set.start, left});
        rank -= left;
        set = {target, set.start + left, set.count - left};
      }
      target = target == Part::first_array ? Part::second_array : Part::first_array;
    }
    if (rank == set.count)
      keep(set);
    else
      write_smallest(set, rank);
    write_result();
  }

 private:
  __device__ static unsigned thread() { return threadIdx.x % kThreads; }

  __device__ static void sync() {
    if constexpr (kThreads == kWarp)
      __syncwarp();
    else
      __syncthreads();
  }

  __device__ Key* array(Part::Source source) const {
    return source == Part::first_array ? arrays_ : arrays_ + rows_.length;
  }

  __device__ Key key(const Part& part, unsigned i) const {
    return part.source == Part::row ? rows_.key(row_, part.start + i) : array(part.source)[part.start + i];
  }

  // Leaves a pivot in scratch that is above the smallest key of the set and not above the largest.
  __device__ void choose_pivot(const Part& set, unsigned rank, unsigned round) {
    const unsigned seed = random_bits(static_cast<unsigned>(row_), round);
    Key sample[1] = {key(set, sample_position(set.count, kThreads, thread(), seed))};
    Bitonic<Key, kThreads, 1>::sort(sample, scratch_.keys);
    const float quantile = static_cast<float>(rank) / static_cast<float>(set.count);
    const float expected = quantile * kThreads;
    const float deviation = 1 + sqrtf(expected * (1 - quantile));
    const float position = quantile < 0.5F ? expected + deviation : expected - deviation;
    const auto pivot = static_cast<unsigned>(min(max(position, 1.0F), static_cast<float>(kThreads - 1)));
    if (thread() == pivot) scratch_.pivot = sample[0];
    sync();
  }

  // Writes the set to the same positions of the target array, keys below the pivot first; returns their number.
  __device__ unsigned partition(const Part& set, Part::Source target) {
    if (thread() == 0) scratch_.left = scratch_.right = 0;
    sync();
    const Key pivot = scratch_.pivot;
    Key* const to = array(target) + set.start;
    for (unsigned tile = 0; tile < set.count; tile += kThreads * kQuickInFlight) {
      Key keys[kQuickInFlight];
      KITH_UNROLL
      for (unsigned i = 0; i < kQuickInFlight; ++i) {
        const unsigned at = tile + i * kThreads + thread();
        keys[i] = at < set.count ? key(set, at) : last_key<Key>();
      }
      write_sides(keys, pivot, to, set.count);
    }
    sync();
    return scratch_.left;
  }

  // Writes each key on its side: one vote of the warp per item, one atomic addition per side. last_key() is padding.
  __device__ void write_sides(const Key (&keys)[kQuickInFlight], const Key& pivot, Key* to, unsigned count) {
    unsigned lefts[kQuickInFlight];
    unsigned rights[kQuickInFlight];
    unsigned left_count = 0;
    unsigned right_count = 0;
    KITH_UNROLL
    for (unsigned i = 0; i < kQuickInFlight; ++i) {
      lefts[i] = __ballot_sync(kFullMask, keys[i] < pivot);
      rights[i] = __ballot_sync(kFullMask, !(keys[i] < pivot) && keys[i] < last_key<Key>());
      left_count += static_cast<unsigned>(__popc(lefts[i]));
      right_count += static_cast<unsigned>(__popc(rights[i]));
    }
    unsigned left = 0;
    unsigned right = 0;
    if (lane_id() == 0) {
      left = atomicAdd(&scratch_.left, left_count);
      right = atomicAdd(&scratch_.right, right_count);
    }
    left = __shfl_sync(kFullMask, left, 0);
    right = __shfl_sync(kFullMask, right, 0);
    const unsigned before = (1U << lane_id()) - 1;
    KITH_UNROLL
    for (unsigned i = 0; i < kQuickInFlight; ++i) {
      if ((lefts[i] >> lane_id() & 1U) != 0) to[left + static_cast<unsigned>(__popc(lefts[i] & before))] = keys[i];
      if ((rights[i] >> lane_id() & 1U) != 0)
        to[count - 1 - right - static_cast<unsigned>(__popc(rights[i] & before))] = keys[i];
      left += static_cast<unsigned>(__popc(lefts[i]));
      right += static_cast<unsigned>(__popc(rights[i]));
    }
  }

  __device__ void keep(const Part& part) {
    if (depth_ == kQuickStackDepth) write_result();
    if (thread() == 0) scratch_.answer[depth_] = part;
    ++depth_;
  }

  // Writes the parts on the stack to the output.
  __device__ void write_result() {
    sync();
    for (; depth_ > 0; --depth_) {
      const Part part = scratch_.answer[depth_ - 1];
      for (unsigned i = thread(); i < part.count; i += kThreads) out_[written_ + i] = key(part, i);
      written_ += part.count;
    }
    sync();
  }

  __device__ void write_smallest(const Part& set, unsigned rank) {
    Key items[kItems];
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i) {
      const unsigned at = i * kThreads + thread();
      items[i] = at < set.count ? key(set, at) : last_key<Key>();
    }
    Bitonic<Key, kThreads, kItems>::sort(items, scratch_.keys);
    KITH_UNROLL
    for (unsigned i = 0; i < kItems; ++i)
      if (thread() * kItems + i < rank) out_[written_ + thread() * kItems + i] = items[i];
    written_ += rank;
  }

  const Rows<T>& rows_;
  std::int64_t row_;
  Key* arrays_;
  Key* out_;
  Scratch& scratch_;
  unsigned depth_ = 0;    // of the stack
  unsigned written_ = 0;  // keys of the result
};

// Groups in a block: several warps, or the block itself.
template <unsigned kThreads>
constexpr unsigned kQuickGroups = kThreads == kWarp ? 4 : 1;

template <class T, unsigned kThreads>
__global__ void __launch_bounds__(kThreads* kQuickGroups<kThreads>)
    quick_multi_select_kernel(Rows<T> rows, unsigned k, std::int64_t groups, KeyOf<T>* arrays, KeyOf<T>* out) {
  using Select = QuickMultiSelect<T, kThreads>;
  using Scratch = typename Select::Scratch;
  KITH_SHARED(Scratch, scratch, kQuickGroups<kThreads>);
  const unsigned in_block = threadIdx.x / kThreads;
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * kQuickGroups<kThreads> + in_block;
  if (group >= groups) return;
  arrays += group * 2 * rows.length;
  for (std::int64_t row = group; row < rows.rows; row += groups)
    Select(rows, row, arrays, out + row * k, scratch[in_block])(k);
}

template <class T, unsigned kThreads>
void run_quick_select(const SelectCall<T>& call, KeyOf<T>* out) {
  using Key = KeyOf<T>;
  constexpr ResidentTuning kResident = {.groups = 4096 * kQuickGroups<kThreads>};
  const Rows<T>& rows = call.rows;
  const std::size_t keys_each = std::size_t{2} * rows.length;
  const std::int64_t groups = resident_groups(call.workspace, rows.rows, keys_each * sizeof(Key), kResident);
  auto* arrays = call.workspace.template allocate<Key>(static_cast<std::size_t>(groups) * keys_each);
  launch("quick-multi-select", quick_multi_select_kernel<T, kThreads>,
         {.blocks = ceil_div(groups, kQuickGroups<kThreads>), .threads = kThreads * kQuickGroups<kThreads>},
         call.stream(), rows, call.k(), groups, arrays, out);
}

}  // namespace

namespace methods {

template <class T>
void quick_multi_select(const SelectCall<T>& call) {
  using Group = SelectTuning::Group;
  const Rows<T>& rows = call.rows;
  Group group = call.tuning.group;
  if (group == Group::thread)
    throw Error(ErrorCode::invalid_argument, "quick-multi-select gives a row to a warp or a block, not to a thread");
  if (group == Group::automatic)
    group = rows.rows >= kQuickTuning.many_rows && rows.length <= kQuickTuning.short_row ? Group::warp : Group::block;
  auto* out = call.workspace.template allocate<KeyOf<T>>(static_cast<std::size_t>(rows.rows) * call.k());
  if (group == Group::warp)
    run_quick_select<T, kWarp>(call, out);
  else
    run_quick_select<T, 256>(call, out);
  finish_rows(out, call);
}

template void quick_multi_select<float>(const SelectCall<float>&);
template void quick_multi_select<double>(const SelectCall<double>&);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
