// duplicate_rows.cu: hashes and comparisons of rows, a warp each, between sorts and prefix sums of CUB's.
#include "cuda/points/duplicate_rows.hpp"

#include "cuda/primitives/exclusive_count.hpp"
#include "cuda/primitives/key.cuh"
#include "cuda/primitives/sort_pairs.hpp"
#include "cuda/runtime/launch.cuh"

namespace kith::KITH_BACKEND::inline points {
namespace {

struct DuplicateShape {
  static constexpr unsigned kThreads = 256;
  static constexpr unsigned kWarps = kThreads / kWarp;
};

LaunchShape warp_each_row(std::int64_t count) {
  return {.blocks = ceil_div(count, DuplicateShape::kWarps), .threads = DuplicateShape::kThreads};
}

__device__ std::int64_t row_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * DuplicateShape::kWarps + warp_id();
}

// Steele et al.: every bit of the argument changes half of the bits of the result.
__device__ unsigned long long mixed(unsigned long long bits) {
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31U);
}

constexpr unsigned long long kGoldenRatio = 0x9E3779B97F4A7C15ULL;

// All ids, or as many random ones of `all`: at equal distances, or one of each part, they would miss copies that lie
// side by side.
__global__ void choose_rows_kernel(std::int64_t count, std::int64_t all, unsigned* ids) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const unsigned long long random = mixed((static_cast<unsigned long long>(i) + 1) * kGoldenRatio) >> 32U;
  ids[i] = static_cast<unsigned>(count == all ? static_cast<unsigned long long>(i)
                                              : random * static_cast<unsigned long long>(all) >> 32U);
}

template <class F>
__global__ void __launch_bounds__(DuplicateShape::kThreads)
    hash_rows_kernel(PointRows<F> rows, std::int64_t dims, const unsigned* ids, std::int64_t count,
                     unsigned long long mask, std::uint64_t* hashes) {
  const std::int64_t i = row_of_warp();
  if (i >= count) return;
  const F* row = rows.data + ids[i] * rows.stride;
  unsigned long long sum = 0;
  for (std::int64_t c = lane_id(); c < dims; c += kWarp) {
    const F value = row[c] == 0 ? F{0} : row[c];  // −0 too
    sum += mixed(ValueTraits<F>::bits(value) + (static_cast<unsigned long long>(c) + 1) * kGoldenRatio);
  }
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kFullMask, sum, step);
  if (lane_id() == 0) hashes[i] = mixed(sum) & mask;
}

// Counts the rows of a sorted sample that have the hash of another one before them.
__global__ void count_repeated_kernel(const std::uint64_t* hashes, const unsigned* ids, std::int64_t count,
                                      unsigned* repeated) {
  const std::int64_t i = thread_index();
  const bool repeats = i > 0 && i < count && hashes[i] == hashes[i - 1] && ids[i] != ids[i - 1];
  const unsigned votes = __ballot_sync(kFullMask, repeats ? 1 : 0);
  if (lane_id() == 0 && votes != 0) atomicAdd(repeated, static_cast<unsigned>(__popc(votes)));
}

// begins[i]: the i-th row by hash differs from the one before it. begins[count] is 0.
template <class F>
__global__ void __launch_bounds__(DuplicateShape::kThreads)
    begin_groups_kernel(PointRows<F> rows, std::int64_t dims, const std::uint64_t* hashes, const unsigned* ids,
                        unsigned* begins) {
  const std::int64_t i = row_of_warp();
  if (i > rows.count) return;
  unsigned differs = i < rows.count ? 1 : 0;
  if (i > 0 && i < rows.count && hashes[i] == hashes[i - 1]) {
    const F* before = rows.data + ids[i - 1] * rows.stride;
    const F* row = rows.data + ids[i] * rows.stride;
    differs = 0;
    for (std::int64_t first = 0; first < dims && differs == 0; first += kWarp) {
      const std::int64_t c = first + lane_id();
      const bool equal = c >= dims || before[c] == row[c];
      differs = __any_sync(kFullMask, equal ? 0 : 1) != 0 ? 1 : 0;
    }
  }
  if (lane_id() == 0) begins[i] = differs;
}

// The group of the i-th row by hash, in the order of hashes.
__device__ unsigned group_by_hash(const unsigned* begins, const unsigned* before, std::int64_t i) {
  return before[i] + begins[i] - 1;
}

// Notes the first member of each group, and which ids are such.
__global__ void note_first_members_kernel(const unsigned* ids, const unsigned* begins, const unsigned* before,
                                          std::int64_t count, unsigned* heads, unsigned* is_first) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  if (begins[i] != 0) heads[group_by_hash(begins, before, i)] = ids[i];
  is_first[ids[i]] = begins[i];
}

// Numbers groups by their smallest ids: number[id] first members come before id. Labels rows, in the order of ids.
__global__ void label_rows_kernel(const unsigned* ids, const unsigned* begins, const unsigned* before,
                                  std::int64_t count, const unsigned* heads, const unsigned* number,
                                  std::uint64_t* labels, unsigned* members, unsigned* first_ids) {
  const std::int64_t i = thread_index();
  if (i >= count) return;
  const unsigned head = heads[group_by_hash(begins, before, i)];
  labels[ids[i]] = number[head];
  members[i] = static_cast<unsigned>(i);
  if (begins[i] != 0) first_ids[number[head]] = head;
}

__global__ void note_offsets_kernel(const std::uint64_t* labels, std::int64_t count, std::int64_t groups,
                                    unsigned* offsets) {
  const std::int64_t i = thread_index();
  if (i > count) return;
  if (i == count) {
    offsets[groups] = static_cast<unsigned>(count);
  } else if (i == 0 || labels[i] != labels[i - 1]) {
    offsets[labels[i]] = static_cast<unsigned>(i);
  }
}

template <class F>
__global__ void copy_first_rows_kernel(PointRows<F> rows, std::int64_t dims, const unsigned* first_ids,
                                       std::int64_t count, F* out) {
  const std::int64_t i = thread_index();
  if (i < count * dims) out[i] = rows.data[first_ids[i / dims] * rows.stride + i % dims];
}

unsigned read_back(const unsigned* value, cudaStream_t stream) {
  unsigned read = 0;
  KITH_CUDA(cudaMemcpyAsync(&read, value, sizeof(read), cudaMemcpyDeviceToHost, stream));
  KITH_CUDA(cudaStreamSynchronize(stream));
  return read;
}

// Hashes of `count` rows, all or a sample, sorted with the ids of their rows.
struct SortedHashes {
  std::uint64_t* hashes;
  unsigned* ids;
};

template <class F>
SortedHashes sort_hashes(const PointRows<F>& rows, std::int64_t dims, std::int64_t count, unsigned long long mask,
                         Workspace& workspace) {
  const SortedHashes sorted{workspace.allocate<std::uint64_t>(as_size(count)),
                            workspace.allocate<unsigned>(as_size(count))};
  cudaStream_t stream = workspace.stream();
  launch("choose_rows", choose_rows_kernel, thread_each(count), stream, count, rows.count, sorted.ids);
  launch("hash_rows", hash_rows_kernel<F>, warp_each_row(count), stream, rows, dims, sorted.ids, count, mask,
         sorted.hashes);
  sort_pairs(sorted.hashes, sorted.ids, count, 64, workspace);
  return sorted;
}

}  // namespace

// Two random rows out of n in G groups are different members of one group
// with a chance of Σ s (s − 1) / n² ≥ (n − G) / n², s being the sizes of the groups. Half of the pairs that this makes
// of the sample are asked for: what is counted varies, and a member that repeats several others counts once.
template <class F>
bool may_have_groups(const PointRows<F>& rows, std::int64_t dims, std::int64_t all, const GroupSearch& wanted,
                     Workspace& workspace) {
  constexpr std::int64_t kSampled = kGroupSample;
  workspace.reset();
  const SortedHashes sample = sort_hashes(rows, dims, kSampled, wanted.hash_mask, workspace);
  auto* const repeated = workspace.allocate<unsigned>(1);
  KITH_CUDA(cudaMemsetAsync(repeated, 0, sizeof(unsigned), workspace.stream()));
  launch("count_repeated", count_repeated_kernel, thread_each(kSampled), workspace.stream(), sample.hashes, sample.ids,
         kSampled, repeated);
  const auto n = static_cast<double>(all);
  const double pairs = static_cast<double>(kSampled) * static_cast<double>(kSampled - 1) / 2;
  const double chance = (n - static_cast<double>(wanted.max_groups)) / (n * n);
  return read_back(repeated, workspace.stream()) >= pairs * chance / 2;
}

template <class F>
std::optional<RowGroups> group_equal_rows(const PointRows<F>& rows, std::int64_t dims, const GroupSearch& wanted,
                                          Workspace& workspace) {
  if (rows.count > kGroupSample && !may_have_groups(rows, dims, rows.count, wanted, workspace)) return std::nullopt;
  workspace.reset();
  cudaStream_t stream = workspace.stream();
  const std::int64_t n = rows.count;
  const SortedHashes sorted = sort_hashes(rows, dims, n, wanted.hash_mask, workspace);
  auto* const begins = workspace.allocate<unsigned>(as_size(n + 1));
  auto* const before = workspace.allocate<unsigned>(as_size(n + 1));
  launch("begin_groups", begin_groups_kernel<F>, warp_each_row(n + 1), stream, rows, dims, sorted.hashes, sorted.ids,
         begins);
  exclusive_count(begins, n + 1, 1, before, workspace);
  const unsigned found = read_back(before + n, stream);
  if (found > wanted.max_groups) return std::nullopt;

  RowGroups groups{.count = found,
                   .first_ids = DeviceBuffer<unsigned>(found, stream),
                   .offsets = DeviceBuffer<unsigned>(found + std::size_t{1}, stream),
                   .members = DeviceBuffer<unsigned>(as_size(n), stream)};
  auto* const heads = workspace.allocate<unsigned>(found);
  auto* const is_first = workspace.allocate<unsigned>(as_size(n));
  auto* const number = workspace.allocate<unsigned>(as_size(n));
  launch("note_first_members", note_first_members_kernel, thread_each(n), stream, sorted.ids, begins, before, n, heads,
         is_first);
  exclusive_count(is_first, n, 1, number, workspace);
  std::uint64_t* const labels = sorted.hashes;
  launch("label_rows", label_rows_kernel, thread_each(n), stream, sorted.ids, begins, before, n, heads, number, labels,
         groups.members.data(), groups.first_ids.data());
  int bits = 1;
  while ((std::int64_t{1} << bits) < groups.count) ++bits;
  sort_pairs(labels, groups.members.data(), n, bits, workspace);
  launch("note_offsets", note_offsets_kernel, thread_each(n + 1), stream, labels, n, groups.count,
         groups.offsets.data());
  KITH_CUDA(cudaStreamSynchronize(stream));
  return groups;
}

template <class F>
PointStore<F> first_rows(const PointRows<F>& rows, std::int64_t dims, const RowGroups& groups, const Metric& metric,
                         bool bias, cudaStream_t stream) {
  PointStore<F> points(groups.count, dims, metric, bias, stream);
  launch("copy_first_rows", copy_first_rows_kernel<F>, thread_each(groups.count * dims), stream, rows, dims,
         groups.first_ids.data(), groups.count, points.rows());
  points.prepare(groups.count);
  return points;
}

#define KITH_INSTANTIATE(F)                                                                                       \
  template bool may_have_groups(const PointRows<F>&, std::int64_t, std::int64_t, const GroupSearch&, Workspace&); \
  template std::optional<RowGroups> group_equal_rows(const PointRows<F>&, std::int64_t, const GroupSearch&,       \
                                                     Workspace&);                                                 \
  template PointStore<F> first_rows(const PointRows<F>&, std::int64_t, const RowGroups&, const Metric&, bool,     \
                                    cudaStream_t);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
#undef KITH_INSTANTIATE

}  // namespace kith::KITH_BACKEND::inline points
