// nearest.cuh: the kernels of nearest.hpp for one type of coordinates; nearest_float.cu and nearest_double.cu
// instantiate them, so that they compile side by side.
#pragma once

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/select/warp_lists.cuh"
#include "cuda/tree/nearest.hpp"
#include "cuda/tree/tree_query.cuh"
#include "cuda/tree/walk.cuh"

namespace kith::KITH_BACKEND::tree {

// The search of one query by a warp. All lanes call its functions.
template <class F, class List, class Kind>
class NearestSearch {
  using Key = KeyOf<F>;

 public:
  __device__ NearestSearch(const NearestCall<F>& call, unsigned number, F* frame)
      : call_(call),
        query_(call.queries, number, frame),
        list_(call.k),
        max_key_(call.limits == nullptr ? call.max_key : fmin(call.max_key, call.limits[number])) {
    if (max_key_ < std::numeric_limits<F>::infinity()) limit_ = box_limit_ = query_.limit_of(max_key_);
    if (call.from_rank == 0) return;
    const std::int64_t last = number * call.stride + call.from_rank - 1;
    found_ = make_key(ordered_bits(call.keys[last], false), call.ids[last]);
  }

  __device__ void run(F* waiting) {
    const TreeView<F>& tree = call_.queries.tree;
    walk_tree<F>(
        tree.levels, waiting, [&](int level, unsigned group) { return open(level, group); }, [&] { return box_limit_; },
        [&](unsigned leaf) { scan(leaf); });
    list_.finish();
  }

  __device__ void write(unsigned number) {
    using Network = typename List::Network;
    const std::int64_t row = number * call_.stride + call_.from_rank;
    KITH_UNROLL
    for (unsigned i = 0; i < Network::kEach; ++i) {
      if (Network::rank(i) >= call_.k) continue;
      const Key key = list_.keys()[i];
      call_.keys[row + Network::rank(i)] = value_of<F>(order_of(key), false);
      call_.ids[row + Network::rank(i)] = id_of(key);
    }
  }

 private:
  // Boxes of copies that cannot be among the k nearest are passed over.
  __device__ __forceinline__ F open(int level, unsigned group) const {
    const F score = query_.open(level, group);
    const unsigned* const copies = call_.queries.tree.level[level].copies_before;
    if (copies == nullptr || score < 0) return score;
    return copies[group * kFanOut + lane_id()] < call_.from_rank + call_.k ? score : kDone<F>;
  }

  __device__ __forceinline__ void scan(unsigned leaf) {
    const bool close = query_.has_point(leaf) && !(query_.point_score(leaf) > limit_);
    if (__any_sync(kFullMask, close ? 1 : 0) == 0) return;
    Key key = last_key<Key>();
    if (close) key = query_.key(leaf);
    list_.offer(close && found_ < key, key);
    list_.settle();
    // A full list ends with a key, and keys above it do not matter.
    if (!(list_.threshold() < kth_)) return;
    kth_ = list_.threshold();
    const F farthest = value_of<F>(order_of(kth_), false);
    limit_ = fmin(limit_, query_.limit_of(farthest));
    box_limit_ = fmin(box_limit_, limit_);
    // Points beyond the largest distance that is wanted are no answer.
    if (call_.epsilon > 0 && farthest <= max_key_) {
      const auto nearer = static_cast<F>(static_cast<double>(farthest) / (1 + call_.epsilon));
      box_limit_ = fmin(box_limit_, query_.limit_of(nearer));
    }
  }

  const NearestCall<F>& call_;
  TreeQuery<F, Kind> query_;
  List list_;
  F max_key_;
  Key found_{};  // the last of those that are there already
  Key kth_ = last_key<Key>();
  F limit_ = std::numeric_limits<F>::infinity();      // of points
  F box_limit_ = std::numeric_limits<F>::infinity();  // of boxes
};

// Blocks of a multiprocessor: more warps hide more latency, which is worth fewer registers a thread, except for long
// lists and for metrics whose functions are called.
template <class List, class Kind>
constexpr unsigned kWalkBlocks = Kind::kSquared && sizeof(List) <= 32 ? 4
                                 : sizeof(List) <= 160                ? 2
                                                                      : 1;

template <class F, class List, class Kind>
__global__ void __launch_bounds__(kWalkThreads, kWalkBlocks<List, Kind>)
    nearest_kernel(const __grid_constant__ NearestCall<F> call) {
  KITH_SHARED(F, waiting, kWalkWarps * kWaiting);
  KITH_SHARED(F, frames, kWalkWarps * kFrame<Kind>);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWalkWarps + warp_id();
  if (i >= call.queries.count) return;
  const unsigned number = call.queries.order[call.queries.first + i];
  NearestSearch<F, List, Kind> search(call, number, frames + warp_id() * kFrame<Kind>);
  search.run(waiting + warp_id() * kWaiting);
  search.write(number);
}

template <class F, class List>
void launch_nearest(const NearestCall<F>& call, cudaStream_t stream) {
  with_walk(call.queries, [&](auto kind) {
    launch("nearest", nearest_kernel<F, List, decltype(kind)>,
           {.blocks = ceil_div(call.queries.count, kWalkWarps), .threads = kWalkThreads}, stream, call);
  });
}

template <class F>
void find_nearest(const NearestCall<F>& call, cudaStream_t stream) {
  using Key = KeyOf<F>;
  if (call.k <= kWarp) return launch_nearest<F, select::ShortWarpList<Key>>(call, stream);
  if (call.k <= 4 * kWarp) return launch_nearest<F, select::LongWarpList<Key, 4, 3>>(call, stream);
  launch_nearest<F, select::LongWarpList<Key, kMostNearest / kWarp, 8>>(call, stream);
}

}  // namespace kith::KITH_BACKEND::tree
