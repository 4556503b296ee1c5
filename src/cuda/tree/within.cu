#include "cuda/tree/within.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/shared.cuh"
#include "cuda/tree/tree_query.cuh"
#include "cuda/tree/walk.cuh"

namespace kith::KITH_BACKEND::tree {
namespace {

// The walk of one query by a warp. All lanes call its functions.
template <class F, class Kind>
class WithinSearch {
  using Key = KeyOf<F>;

 public:
  __device__ WithinSearch(const WithinCall<F>& call, unsigned number, F* frame)
      : call_(call),
        query_(call.queries, number, frame),
        radius_(call.radii[number]),
        limit_(query_.limit_of(radius_)),
        self_(call.first_self < 0 ? -1 : call.first_self + number) {}

  __device__ unsigned count(F* waiting, bool whole_boxes) {
    if (whole_boxes) inside_ = query_.surely_within(radius_);
    if (Kind::kPeriodic && self_ >= 0) own_limit_ = query_.limit_of(0);
    walk(waiting, [&](bool /*hit*/, const Key& /*key*/, unsigned voters) {
      counted_ += lane_id() == 0 ? static_cast<unsigned>(__popc(voters)) : 0;
    });
    return __reduce_add_sync(kFullMask, counted_);
  }

  __device__ void list(F* waiting, LabeledKey<OrderOf<F>>* hits, unsigned segment) {
    unsigned next = 0;
    walk(waiting, [&](bool hit, const Key& key, unsigned voters) {
      const unsigned before = static_cast<unsigned>(__popc(voters & ((1U << lane_id()) - 1U)));
      if (hit) hits[next + before] = {order_of(key), id_of(key), segment};
      next += static_cast<unsigned>(__popc(voters));
    });
  }

 private:
  // Calls use(hit, key, voters) for the points of a leaf; `voters` are the lanes with a hit.
  template <class Use>
  __device__ __forceinline__ void walk(F* waiting, Use use) {
    const TreeView<F>& tree = call_.queries.tree;
    walk_tree<F>(
        tree.levels, waiting, [&](int level, unsigned group) { return open(level, group); }, [&] { return limit_; },
        [&](unsigned leaf) {
          const bool close = query_.has_point(leaf) && !(query_.point_score(leaf) > limit_);
          if (__any_sync(kFullMask, close ? 1 : 0) == 0) return;
          Key key = last_key<Key>();
          if (close) key = query_.key(leaf);
          const bool hit = close && value_of<F>(order_of(key), false) <= radius_ && id_of(key) != self_;
          const unsigned voters = __ballot_sync(kFullMask, hit ? 1 : 0);
          if (voters != 0) use(hit, key, voters);
        });
  }

  // A box that is within as a whole is counted, unless the query may be one of its points, whose key is 0.
  __device__ __forceinline__ F open(int level, unsigned group) {
    const F score = query_.open(level, group);
    if (score < 0) return score;
    const bool may_be_own = self_ >= 0 && !(score > own_limit_);
    if (score <= inside_ && !may_be_own && query_.corner_score(query_.sides_of(level, group)) <= inside_) {
      const unsigned long long points = static_cast<unsigned long long>(kLeafPoints)
                                        << (5U * static_cast<unsigned>(level));
      const unsigned long long first = (group * kFanOut + lane_id()) * points;
      counted_ +=
          static_cast<unsigned>(first + points < call_.queries.tree.count ? points : call_.queries.tree.count - first);
      return kDone<F>;
    }
    return score;
  }

  const WithinCall<F>& call_;
  TreeQuery<F, Kind> query_;
  F radius_;
  F limit_;
  F inside_ = -1;
  F own_limit_ = 0;  // no box of the query itself has a larger score
  std::int64_t self_;
  unsigned counted_ = 0;
};

template <class F, class Kind>
__global__ void __launch_bounds__(kWalkThreads)
    count_within_kernel(const __grid_constant__ WithinCall<F> call, bool whole_boxes, unsigned* counts) {
  KITH_SHARED(F, waiting, kWalkWarps * kWaiting);
  KITH_SHARED(F, frames, kWalkWarps * kFrame<Kind>);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWalkWarps + warp_id();
  if (i >= call.queries.count) return;
  const unsigned number = call.queries.order[call.queries.first + i];
  WithinSearch<F, Kind> search(call, number, frames + warp_id() * kFrame<Kind>);
  const unsigned counted = search.count(waiting + warp_id() * kWaiting, whole_boxes);
  if (lane_id() == 0) counts[number] = counted;
}

template <class F, class Kind>
__global__ void __launch_bounds__(kWalkThreads)
    list_within_kernel(const __grid_constant__ WithinCall<F> call, const unsigned long long* offsets,
                       LabeledKey<OrderOf<F>>* hits) {
  KITH_SHARED(F, waiting, kWalkWarps * kWaiting);
  KITH_SHARED(F, frames, kWalkWarps * kFrame<Kind>);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWalkWarps + warp_id();
  if (i >= call.queries.count) return;
  const unsigned number = call.queries.order[call.queries.first + i];
  WithinSearch<F, Kind> search(call, number, frames + warp_id() * kFrame<Kind>);
  search.list(waiting + warp_id() * kWaiting, hits + offsets[number], number);
}

LaunchShape walk_each(std::int64_t queries) {
  return {.blocks = ceil_div(queries, kWalkWarps), .threads = kWalkThreads};
}

}  // namespace

template <class F>
void count_within(const WithinCall<F>& call, bool whole_boxes, unsigned* counts, cudaStream_t stream) {
  with_walk(call.queries, [&](auto kind) {
    launch("count_within", count_within_kernel<F, decltype(kind)>, walk_each(call.queries.count), stream, call,
           whole_boxes, counts);
  });
}

template <class F>
void list_within(const WithinCall<F>& call, const unsigned long long* offsets, LabeledKey<OrderOf<F>>* hits,
                 cudaStream_t stream) {
  with_walk(call.queries, [&](auto kind) {
    launch("list_within", list_within_kernel<F, decltype(kind)>, walk_each(call.queries.count), stream, call, offsets,
           hits);
  });
}

#define KITH_INSTANTIATE(F)                                                        \
  template void count_within(const WithinCall<F>&, bool, unsigned*, cudaStream_t); \
  template void list_within(const WithinCall<F>&, const unsigned long long*, LabeledKey<OrderOf<F>>*, cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::tree
