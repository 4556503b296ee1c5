#include "cuda/brute/expand_duplicates.hpp"

#include "cuda/primitives/key.cuh"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::brute {
namespace {

struct ExpandShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kWarps = kThreads / kWarp;
};

// The first of `count` sorted keys that is not below `order`, or, with kAbove, that is above it.
template <bool kAbove, class F>
__device__ std::int64_t first_not_below(const F* keys, std::int64_t count, OrderOf<F> order) {
  std::int64_t low = 0;
  std::int64_t high = count;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    const OrderOf<F> there = ordered_bits(keys[middle], false);
    const bool below = kAbove ? there <= order : there < order;
    low = below ? middle + 1 : low;
    high = below ? high : middle;
  }
  return low;
}

struct GroupMembers {
  const unsigned* offsets;
  const unsigned* members;

  // How many members of the group have ids up to `last`.
  __device__ unsigned count_up_to(unsigned group, unsigned last) const {
    const unsigned begin = offsets[group];
    unsigned low = begin;
    unsigned high = offsets[group + 1];
    if (members[high - 1] <= last) return high - begin;
    while (low < high) {
      const unsigned middle = low + (high - low) / 2;
      const bool within = members[middle] <= last;
      low = within ? middle + 1 : low;
      high = within ? high : middle;
    }
    return low - begin;
  }
};

// A query's groups and the rows they become. All functions are called by all lanes of its warp.
template <class F>
struct QueryExpansion {
  const F* group_keys;
  const unsigned* groups;
  std::int64_t width;
  GroupMembers members;
  unsigned last_id;  // of all rows
  std::int64_t k;
  F* keys;
  unsigned* ids;

  // Writes the members, with ids up to `last`, of groups first … end − 1 from `position` on, until the list is full.
  __device__ void write_members(std::int64_t first, std::int64_t end, unsigned last, std::int64_t position) const {
    for (; first < end && position < k; first += kWarp) {
      const std::int64_t i = first + lane_id();
      unsigned begin = 0;
      unsigned size = 0;
      F key = 0;
      if (i < end) {
        begin = members.offsets[groups[i]];
        size = members.count_up_to(groups[i], last);
        key = group_keys[i];
      }
      unsigned sum = size;  // of this lane's group and those before it
      for (unsigned step = 1; step < kWarp; step *= 2) {
        const unsigned other = __shfl_up_sync(kFullMask, sum, step);
        if (lane_id() >= step) sum += other;
      }
      const std::int64_t all = __shfl_sync(kFullMask, sum, kWarp - 1);
      const auto wanted = static_cast<unsigned>(all < k - position ? all : k - position);
      for (unsigned done = 0; done < wanted; done += kWarp) {
        const unsigned at = done + lane_id();
        unsigned owner = 0;  // how many of these groups end before
        for (unsigned step = kWarp / 2; step > 0; step /= 2)
          if (__shfl_sync(kFullMask, sum, static_cast<int>(owner + step - 1)) <= at) owner += step;
        const auto from = static_cast<int>(owner);
        const unsigned member = __shfl_sync(kFullMask, begin + size - sum, from) + at;
        const F its_key = __shfl_sync(kFullMask, key, from);
        if (at < wanted) {
          ids[position + at] = members.members[member];
          keys[position + at] = its_key;
        }
      }
      position += wanted;
    }
    __syncwarp();
  }

  // The id up to which groups first … end − 1 have `wanted` members together.
  __device__ unsigned bisect_id(std::int64_t first, std::int64_t end, std::int64_t wanted) const {
    unsigned low = 0;
    unsigned high = last_id;
    while (low < high) {
      const unsigned middle = low + (high - low) / 2;
      unsigned within = 0;
      for (std::int64_t i = first + lane_id(); i < end; i += kWarp) within += members.count_up_to(groups[i], middle);
      within = __reduce_add_sync(kFullMask, within);
      const bool enough = within >= wanted;
      high = enough ? middle : high;
      low = enough ? low : middle + 1;
    }
    return low;
  }

  // Several groups may share the last key, and the first of them have filled the list: takes the smallest ids of all.
  __device__ void choose_last() const {
    const OrderOf<F> order = ordered_bits(keys[k - 1], false);
    const std::int64_t first = first_not_below<false>(group_keys, width, order);
    const std::int64_t end = first_not_below<true>(group_keys, width, order);
    if (end - first < 2) return;
    const std::int64_t position = first_not_below<false>(keys, k, order);
    write_members(first, end, bisect_id(first, end, k - position), position);
  }

  __device__ void sort_ids(unsigned* run, std::int64_t length) const {
    for (std::int64_t merged = 2; merged / 2 < length; merged *= 2) {
      order_pairs(run, length, merged - 1);
      for (std::int64_t stride = merged / 4; stride > 0; stride /= 2) order_pairs(run, length, stride);
    }
  }

  // A layer of a bitonic network whose comparators all put the smaller id first: what is past the end may stay there.
  __device__ void order_pairs(unsigned* run, std::int64_t length, std::int64_t distance) const {
    for (std::int64_t i = lane_id(); i < length; i += kWarp) {
      const std::int64_t j = i ^ distance;
      if (j <= i || j >= length || run[i] <= run[j]) continue;
      const unsigned larger = run[i];
      run[i] = run[j];
      run[j] = larger;
    }
    __syncwarp();
  }

  // Sorts the ids of equal keys, where they are not sorted already.
  __device__ void sort_equal_keys() const {
    for (std::int64_t first = 0; first + 1 < k;) {
      const std::int64_t i = first + lane_id();
      const bool falls =
          i + 1 < k && ids[i] > ids[i + 1] && ordered_bits(keys[i], false) == ordered_bits(keys[i + 1], false);
      const unsigned votes = __ballot_sync(kFullMask, falls ? 1 : 0);
      if (votes == 0) {
        first += kWarp;
        continue;
      }
      const OrderOf<F> order = ordered_bits(keys[first + __ffs(static_cast<int>(votes)) - 1], false);
      const std::int64_t begin = first_not_below<false>(keys, k, order);
      first = first_not_below<true>(keys, k, order);
      sort_ids(ids + begin, first - begin);
    }
  }
};

template <class F>
__global__ void __launch_bounds__(ExpandShape::kThreads)
    expand_duplicates_kernel(GroupLists<F> lists, GroupMembers members, unsigned last_id, std::int64_t k, F* keys,
                             unsigned* ids) {
  const std::int64_t query = static_cast<std::int64_t>(blockIdx.x) * ExpandShape::kWarps + warp_id();
  if (query >= lists.queries) return;
  const QueryExpansion<F> expansion{lists.keys + query * lists.width,
                                    lists.groups + query * lists.width,
                                    lists.width,
                                    members,
                                    last_id,
                                    k,
                                    keys + query * k,
                                    ids + query * k};
  expansion.write_members(0, lists.width, last_id, 0);
  expansion.choose_last();
  expansion.sort_equal_keys();
}

}  // namespace

template <class F>
void expand_duplicates(const GroupLists<F>& lists, const RowGroups& groups, std::int64_t k, F* keys, unsigned* ids,
                       cudaStream_t stream) {
  launch("expand_duplicates", expand_duplicates_kernel<F>,
         {.blocks = ceil_div(lists.queries, ExpandShape::kWarps), .threads = ExpandShape::kThreads}, stream, lists,
         GroupMembers{groups.offsets.data(), groups.members.data()}, static_cast<unsigned>(groups.members.size() - 1),
         k, keys, ids);
}

#define KITH_INSTANTIATE(F) \
  template void expand_duplicates(const GroupLists<F>&, const RowGroups&, std::int64_t, F*, unsigned*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::brute
