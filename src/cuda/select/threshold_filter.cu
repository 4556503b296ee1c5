// threshold_filter.cu: selection at the speed of one read of the matrix, at any k.
// Idea    a sample of each row gives a threshold that a little more than k of its keys are below, one pass over the
//         matrix collects those candidates, and they are sorted. The order of a row matters little and equal values do
//         not, because keys are unique and the sample covers the row. A row is cut into chunks that any block can
//         filter, so that few long rows fill the device as well as many short ones.
// Cost    the matrix read once, a few percent of it again as samples and candidates.
// Limits  1 ≤ k ≤ row length; ties go to the smaller id. `auto` chooses this method unless radix-select is faster.
#include "cuda/select/threshold_filter.hpp"

#include <algorithm>
#include <string>

#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/least_shared.hpp"
#include "cuda/runtime/properties.hpp"
#include "cuda/select/bucket_sort.cuh"
#include "cuda/select/filter_rows.cuh"
#include "cuda/select/filter_whole_row.cuh"
#include "cuda/select/finish_candidates.cuh"
#include "cuda/select/sample_threshold.cuh"
#include "kith/error.hpp"
#include "plan/select.hpp"

namespace kith::KITH_BACKEND::select {
namespace {

template <class K>
ThresholdState<K> make_state(std::int64_t rows, const ThresholdPlan& plan, Workspace& workspace) {
  const auto count = static_cast<std::size_t>(rows);
  ThresholdState<K> state{};
  state.thresholds = workspace.allocate<K>(count);
  state.filtered = workspace.allocate<unsigned>(count);
  state.candidates = workspace.allocate<K>(count * plan.capacity);
  if (plan.buckets > 1) {
    state.splitters = workspace.allocate<K>(count * (plan.buckets - 1));
    state.histogram = workspace.allocate<unsigned>(count * plan.buckets);
    state.cursors = workspace.allocate<unsigned>(count * plan.buckets);
  }
  if (plan.parts > 1) {
    state.partial = workspace.allocate<K>(count * plan.parts * PartShape::kHandedOn);
    state.arrived = workspace.allocate<unsigned>(count);
    KITH_CUDA(cudaMemsetAsync(state.arrived, 0, count * sizeof(unsigned), workspace.stream()));
  }
  return state;
}

// Checks the preconditions of the kernels, which every plan of plan_threshold meets.
template <class T>
void check_plan(const SelectCall<T>& call, const ThresholdPlan& plan) {
  const auto require = [](bool met, const char* what, unsigned value) {
    if (!met) throw Error(ErrorCode::internal, std::string("a threshold plan with ") + what + std::to_string(value));
  };
  constexpr unsigned kWidth = RowVectors<T>::kWidth;
  require(call.k() <= kLargestSmallK || plan.buckets > 1, "one bucket for k = ", call.k());
  require(plan.buckets == 1 || plan.parts == 1, "buckets and parts: ", plan.parts);
  require(call.k() <= plan.capacity && plan.capacity <= call.rows.length, "capacity = ", plan.capacity);
  require(plan.staged <= plan.capacity, "staged = ", plan.staged);
  if (plan.samples == 0) return;
  require(plan.samples_per_load % kWidth == 0 && (plan.samples_per_load & (plan.samples_per_load - 1)) == 0,
          "samples_per_load = ", plan.samples_per_load);
  require(plan.samples % (plan.parts * plan.samples_per_load) == 0, "samples = ", plan.samples);
  require(plan.minima || plan.buckets > 1, "no minima for k = ", call.k());
  require(plan.rank < plan.counted(kWidth) && (plan.rank > 0 || !plan.minima), "rank = ", plan.rank);
  require(plan.parts == 1 || plan.rank <= plan.parts * PartShape::kHandedOn, "rank beyond its parts, ", plan.rank);
  require(plan.chunk > 0 && plan.chunk % kWidth == 0, "chunk = ", plan.chunk);
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
         {.blocks = rows.rows * chunks,
          .threads = FilterShape::kThreads,
          .shared_bytes = shared,
          .dependent_launch = true},
         call.stream(), rows, chunks, plan, state);
}

// Selection for k up to kLargestSmallK. Few rows are sampled and finished by large blocks, because the latency of one
// row counts; many rows by small groups.
template <class T>
struct SmallSelection {
  static constexpr bool kTuned = sizeof(T) == 4;  // double uses only the variants that work for every shape

  const SelectCall<T>& call;
  const ThresholdPlan& plan;
  const core::DevicePolicy& policy = device_policy();
  bool few_rows = call.rows.rows < policy.few_rows_each * policy.hardware.multiprocessors;

  ThresholdState<KeyOf<T>> sampled() const {
    if (plan.samples == 0) return {};
    constexpr unsigned kLowRank = 24;
    if constexpr (kTuned) {
      if (few_rows) return plan.rank <= kLowRank ? sample_by_blocks<512, 2>() : sample_by_blocks<512, 4>();
      const bool by_warps = plan.samples <= policy.warp_sample_max;
      if (by_warps && plan.rank <= 32) return sample_by_warps<2>();
      if (by_warps && plan.rank <= 96) return sample_by_warps<4>();
      if (by_warps && plan.rank <= 224) return sample_by_warps<8>();
    }
    if (plan.rank <= kLowRank) return sample_by_blocks<256, 2>();
    return plan.rank <= 512 ? sample_by_blocks<256, 4>() : sample_by_blocks<256, 8>();
  }

  template <unsigned kThreads, unsigned kKept>
  ThresholdState<KeyOf<T>> sample_by_blocks() const {
    const auto state = make_state<KeyOf<T>>(call.rows.rows, plan, call.workspace);
    launch("sample_threshold", sample_kernel<T, kThreads, kKept>,
           {.blocks = call.rows.rows * plan.parts, .threads = kThreads}, call.stream(), call.rows, plan, state);
    return state;
  }

  template <unsigned kKept>
  ThresholdState<KeyOf<T>> sample_by_warps() const {
    const auto state = make_state<KeyOf<T>>(call.rows.rows, plan, call.workspace);
    launch("sample_threshold", warp_sample_kernel<T, kKept>,
           {.blocks = ceil_div(call.rows.rows, WarpSampleShape::kWarps), .threads = WarpSampleShape::kWarps * kWarp},
           call.stream(), call.rows, plan, state);
    return state;
  }

  template <unsigned kItems>
  void finish_by_warps(const ThresholdState<KeyOf<T>>& state) const {
    launch("finish_candidates", warp_finish_kernel<T, kItems>,
           {.blocks = ceil_div(call.rows.rows, WarpFinishShape::kWarps),
            .threads = WarpFinishShape::kWarps * kWarp,
            .dependent_launch = plan.samples > 0},
           call.stream(), call.rows, plan, state, call.output);
  }

  // One block for every `slice` ranks of a row.
  template <unsigned kThreads>
  void finish_by_blocks(const ThresholdState<KeyOf<T>>& state, unsigned slice) const {
    launch("finish_candidates", block_finish_kernel<T, kThreads>,
           {.blocks = call.rows.rows * ceil_div(call.k(), slice),
            .threads = kThreads,
            .shared_bytes = finish_capacity(plan.staged, slice) * sizeof(KeyOf<T>),
            .dependent_launch = plan.samples > 0},
           call.stream(), call.rows, plan, slice, state, call.output);
  }

  void finish_by_ranks(const ThresholdState<KeyOf<T>>& state) const {
    const unsigned parts = std::max(1U, multiprocessor_count() / static_cast<unsigned>(call.rows.rows));
    const unsigned keys = std::max(plan.staged, 2 * finished_keys(call.k()));
    launch("finish_candidates", rank_finish_kernel<T>,
           {.blocks = call.rows.rows * parts,
            .threads = RankFinishShape::kThreads,
            .shared_bytes = keys * sizeof(KeyOf<T>),
            .dependent_launch = true},
           call.stream(), call.rows, plan, parts, state, call.output);
  }

  template <unsigned kKept>
  void filter_whole_rows() const {
    launch("filter_whole_row", filter_whole_row_kernel<T, kKept>,
           {.blocks = call.rows.rows,
            .threads = FilterShape::kThreads,
            .shared_bytes = whole_row_capacity(plan.staged, call.k()) * sizeof(KeyOf<T>)},
           call.stream(), call.rows, plan, call.output);
  }

  void run() const {
    if constexpr (kTuned) {
      if (plan.whole_rows) return plan.rank <= 64 ? filter_whole_rows<2>() : filter_whole_rows<4>();
    }
    const auto state = sampled();
    if (plan.samples > 0) filter<T, false>(call, plan, state);
    if constexpr (kTuned) {
      if (plan.parts > 1 && call.rows.rows <= 2) return finish_by_ranks(state);
      if (few_rows) return finish_by_blocks<512>(state, std::min(call.k(), 512U));
    }
    if (call.k() <= 32) return finish_by_warps<1>(state);
    if (call.k() <= 128) return finish_by_warps<4>(state);
    finish_by_blocks<256>(state, call.k());
  }
};

// Whether the largest plans fit all chips. Candidates of small k take half of the shared memory at most (policy_for).
template <class T, class K = KeyOf<T>>
constexpr bool fits_all_chips() {
  constexpr std::size_t kStatic = 8 << 10;
  constexpr std::size_t kFilter =
      filter_stage<T, true>() * sizeof(K) + core::kMostBuckets * (sizeof(K) + sizeof(unsigned));
  constexpr std::size_t kDistribute = core::kMostBuckets * (sizeof(K) + 3 * sizeof(unsigned));
  constexpr std::size_t kSorted = kLargestSmallK * sizeof(K);
  constexpr std::size_t kFinish = kSorted + std::max(kLeastShared / 2, kSorted);
  return std::max({kFilter, kDistribute, kFinish}) + kStatic <= kLeastShared;
}
static_assert(fits_all_chips<float>() && fits_all_chips<double>());

template <class T>
void select_large(const SelectCall<T>& call, const ThresholdPlan& plan) {
  using K = KeyOf<T>;
  const std::int64_t rows = call.rows.rows;
  const ThresholdState<K> state = make_state<K>(rows, plan, call.workspace);
  const auto sample = [&](auto kernel, unsigned items) {
    constexpr unsigned kThreads = 1024;
    launch("sample_splitters", kernel,
           {.blocks = rows, .threads = kThreads, .shared_bytes = kThreads * items * sizeof(K)}, call.stream(),
           call.rows, plan, state);
  };
  constexpr unsigned kItems = 32 / sizeof(T);
  if (plan.minima) {
    sample(sample_splitters_kernel<T, 1024, 4, false>, 4);
  } else {
    sample(sample_splitters_kernel<T, 1024, kItems, true>, kItems);
  }
  K* bucketed = call.workspace.template allocate<K>(static_cast<std::size_t>(rows) * plan.capacity);
  filter<T, true>(call, plan, state);
  launch("distribute", distribute_kernel<K>,
         {.blocks = rows * ceil_div(plan.capacity, BucketShape::kTile),
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
  if (call.rows.rows == 0) return;
  check_plan<T>(call, plan);
  if (plan.buckets > 1) {
    select_large(call, plan);
  } else {
    SmallSelection<T>{call, plan}.run();
  }
}

template void select_by_threshold(const SelectCall<float>&, const ThresholdPlan&);
template void select_by_threshold(const SelectCall<double>&, const ThresholdPlan&);

namespace methods {

template <class T>
void threshold_filter(const SelectCall<T>& call) {
  select_by_threshold(call,
                      plan::plan_threshold(call.rows.rows, call.rows.length, call.k(), sizeof(T), device_policy()));
}

template void threshold_filter(const SelectCall<float>&);
template void threshold_filter(const SelectCall<double>&);

}  // namespace methods
}  // namespace kith::KITH_BACKEND::select
