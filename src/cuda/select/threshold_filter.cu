// Selection at the speed of one read of the matrix, at any k: a sample of each row gives a threshold that a little more
// than k of its keys do not pass, one pass over the matrix collects those, and they are sorted.
// The order of the row does not matter to it, nor do equal values: keys are unique and the sample is spread over the
// row. A row is cut into chunks that any block can filter, so few long rows fill the device as many short ones do.
// Cost: the matrix read once, a few percent of it again as samples and candidates.
// Limits: none; 1 ≤ k ≤ row length.
#include "cuda/select/threshold_filter.hpp"

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/properties.hpp"
#include "cuda/select/bucket_sort.cuh"
#include "cuda/select/filter_rows.cuh"
#include "cuda/select/finish_candidates.cuh"
#include "cuda/select/sample_threshold.cuh"

namespace kith::KITH_BACKEND {
namespace {

template <class K>
ThresholdState<K> make_state(std::int64_t rows, const ThresholdPlan& plan, unsigned kept, Workspace& workspace) {
  const auto count = static_cast<std::size_t>(rows);
  ThresholdState<K> state{};
  state.thresholds = workspace.take<K>(count);
  state.splitters = workspace.take<K>(count * (plan.buckets - 1));
  state.filtered = workspace.take<unsigned>(count);
  state.histogram = workspace.take<unsigned>(count * plan.buckets);
  state.cursors = workspace.take<unsigned>(count * plan.buckets);
  state.candidates = workspace.take<K>(count * plan.room);
  if (plan.parts > 1) {
    state.partial = workspace.take<K>(count * kept);
    state.arrived = workspace.take<unsigned>(count);
    KITH_CUDA(cudaMemsetAsync(state.arrived, 0, count * sizeof(unsigned), workspace.stream()));
  }
  return state;
}

template <class T, unsigned kThreads, unsigned kKept, bool kAll>
ThresholdState<KeyOf<T>> sample(const SelectCall<T>& call, const ThresholdPlan& plan) {
  using K = KeyOf<T>;
  const auto state = make_state<K>(call.rows.rows, plan, kThreads * kKept, call.workspace);
  launch("sample_threshold", sample_kernel<T, kThreads, kKept, kAll>,
         {.blocks = call.rows.rows * plan.parts, .threads = kThreads, .shared_bytes = kThreads * kKept * sizeof(K)},
         call.stream(), call.rows, plan, state);
  return state;
}

template <class T, bool kBuckets>
void filter(const SelectCall<T>& call, const ThresholdPlan& plan, const ThresholdState<KeyOf<T>>& state) {
  constexpr unsigned kWidth = RowVectors<T>::kWidth;
  const Rows<T>& rows = call.rows;
  const bool aligned = reinterpret_cast<std::uintptr_t>(rows.values) % 16 == 0 && rows.stride % kWidth == 0;
  const std::int64_t columns = static_cast<std::int64_t>(rows.length) + (aligned ? 0 : kWidth - 1);
  const auto chunks = static_cast<unsigned>(ceil_div(columns, plan.chunk));
  const std::size_t buckets = kBuckets ? plan.buckets : 0;
  const std::size_t shared = (filter_stage<T, kBuckets>() + buckets) * sizeof(KeyOf<T>) + buckets * sizeof(unsigned);
  launch("filter_rows", filter_kernel<T, kBuckets>,
         {.blocks = rows.rows * chunks, .threads = FilterShape::kThreads, .shared_bytes = shared}, call.stream(), rows,
         chunks, plan, state);
}

// Few rows are sampled and finished by large blocks, since only how long one takes counts; many rows by small groups.
template <class T>
struct SmallSelection {
  static constexpr bool kTuned = sizeof(T) == 4;  // wider keys make do with the variants that any shape can use

  const SelectCall<T>& call;
  const ThresholdPlan& plan;
  bool few_rows = call.rows.rows < 4 * static_cast<std::int64_t>(processor_count());

  ThresholdState<KeyOf<T>> sampled() const {
    if (plan.samples == 0) return {};
    constexpr unsigned kLowRank = 64;
    constexpr unsigned kShortSample = 4096;
    if constexpr (kTuned) {
      if (few_rows && plan.parts == 1 && plan.rank <= kLowRank) return sample<T, 1024, 1, false>(call, plan);
      if (few_rows) return sample<T, 1024, 2, false>(call, plan);
      if (plan.samples <= kShortSample && plan.rank <= 224) {
        return plan.rank <= 32 ? sample_by_warps<2>() : plan.rank <= 96 ? sample_by_warps<4>() : sample_by_warps<8>();
      }
      if (plan.rank <= kLowRank) return sample<T, 256, 2, false>(call, plan);
    }
    return sample<T, 256, 8, false>(call, plan);
  }

  template <unsigned kKept>
  ThresholdState<KeyOf<T>> sample_by_warps() const {
    const auto state = make_state<KeyOf<T>>(call.rows.rows, plan, 0, call.workspace);
    launch("sample_threshold", warp_sample_kernel<T, kKept>,
           {.blocks = ceil_div(call.rows.rows, WarpSampleShape::kWarps), .threads = WarpSampleShape::kWarps * kWarp},
           call.stream(), call.rows, plan, state);
    return state;
  }

  template <unsigned kItems>
  void finish_by_warps(const ThresholdState<KeyOf<T>>& state) const {
    launch("finish_candidates", warp_finish_kernel<T, kItems>,
           {.blocks = ceil_div(call.rows.rows, WarpFinishShape::kWarps), .threads = WarpFinishShape::kWarps * kWarp},
           call.stream(), call.rows, plan, state, call.output);
  }

  template <unsigned kThreads>
  void finish_by_blocks(const ThresholdState<KeyOf<T>>& state) const {
    const std::size_t keys = plan.room + 2 * finished_keys<kThreads>(call.k());
    launch("finish_candidates", block_finish_kernel<T, kThreads>,
           {.blocks = call.rows.rows, .threads = kThreads, .shared_bytes = keys * sizeof(KeyOf<T>)}, call.stream(),
           call.rows, plan, state, call.output);
  }

  void run() const {
    const auto state = sampled();
    if (plan.samples > 0) filter<T, false>(call, plan, state);
    if constexpr (kTuned) {
      if (few_rows) return finish_by_blocks<1024>(state);
      if (call.k() <= 32) return finish_by_warps<1>(state);
      if (call.k() <= 128) return finish_by_warps<4>(state);
    }
    finish_by_blocks<256>(state);
  }
};

template <class T>
void select_large(const SelectCall<T>& call, const ThresholdPlan& plan) {
  using K = KeyOf<T>;
  const std::int64_t rows = call.rows.rows;
  constexpr unsigned kLowRank = 256;
  const ThresholdState<K> state = plan.rank > 0 && plan.rank <= kLowRank
                                      ? sample<T, 1024, 2, false>(call, plan)
                                      : sample<T, 1024, 32 / sizeof(T), true>(call, plan);
  K* bucketed = call.workspace.template take<K>(static_cast<std::size_t>(rows) * plan.room);
  filter<T, true>(call, plan, state);
  launch("distribute", distribute_kernel<K>,
         {.blocks = rows * ceil_div(plan.room, BucketShape::kTile),
          .threads = BucketShape::kThreads,
          .shared_bytes = plan.buckets * (sizeof(K) + 3 * sizeof(unsigned))},
         call.stream(), plan, state, bucketed, call.k());
  launch("sort_buckets", sort_buckets_kernel<T>, {.blocks = rows * plan.buckets, .threads = BucketShape::kThreads},
         call.stream(), plan, state, bucketed, call.output);
  launch("search_whole", search_whole_kernel<T>, {.blocks = rows, .threads = BucketShape::kThreads}, call.stream(),
         call.rows, plan, state, bucketed, call.output);
}

}  // namespace

template <class T>
void select_by_threshold(const SelectCall<T>& call, const ThresholdPlan& plan) {
  if (plan.buckets > 1) {
    select_large(call, plan);
  } else {
    SmallSelection<T>{call, plan}.run();
  }
}

template void select_by_threshold(const SelectCall<float>&, const ThresholdPlan&);
template void select_by_threshold(const SelectCall<double>&, const ThresholdPlan&);

namespace select {

template <class T>
void threshold_filter(const SelectCall<T>& call) {
  select_by_threshold(call, plan_threshold(call.rows.rows, call.rows.length, call.k(), sizeof(T), processor_count()));
}

template void threshold_filter(const SelectCall<float>&);
template void threshold_filter(const SelectCall<double>&);

}  // namespace select
}  // namespace kith::KITH_BACKEND
