#include "core/device_policy.hpp"

#include "core/datasheets.hpp"

namespace kith::core {
namespace {

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

// sm_90 was measured on an H200. The portable column repeats it where nothing speaks against that; what must fit into a
// device's memories, or fill the device, policy_for() takes from the hardware.
using P = DevicePolicy;
constexpr PolicyField kFields[] = {
    // name, field, {portable, sm_90}, meaning
    {"radix_select_min_k", &P::radix_select_min_k, {2049, 2049}, "k from which unsorted answers come by radix-select"},
    {"radix_select_divisor", &P::radix_select_divisor, {16, 16}, "if k is at least this part of a row"},
    {"radix_select_rows_each", &P::radix_select_rows_each, {1, 1}, "and so many rows are there, each"},
    {"whole_row_max_length", &P::whole_row_max_length, {65536, 65536}, "values of a row that one block selects from"},
    {"whole_row_min_k", &P::whole_row_min_k, {64, 64}, "k from which it does"},
    {"whole_row_rows_each", &P::whole_row_rows_each, {16, 16}, "if so many rows are there, each"},
    {"sample_divisor", &P::sample_divisor, {64, 64}, "part of a row that is sampled for a threshold"},
    {"min_samples", &P::min_samples, {2048, 2048}, "samples of a row at least"},
    {"max_samples", &P::max_samples, {32768, 32768}, "and at most, by one block"},
    {"sample_load_bytes", &P::sample_load_bytes, {64, 64}, "adjacent bytes that are sampled: what memory delivers"},
    {"min_sample_parts", &P::min_sample_parts, {16, 16}, "blocks from which several sample one row"},
    {"max_sample_parts", &P::max_sample_parts, {128, 128}, "and how many at most"},
    {"warp_sample_max", &P::warp_sample_max, {4096, 4096}, "samples up to which a warp takes a row"},
    {"few_rows_each", &P::few_rows_each, {4, 4}, "rows below which large blocks take one row, each"},
    {"candidate_bytes", &P::candidate_bytes, {0, 128 * kKiB}, "candidates of a row in shared memory"},
    {"max_chunk", &P::max_chunk, {32768, 32768}, "values that a block filters at most"},
    {"min_chunk", &P::min_chunk, {4096, 4096}, "and at least"},
    {"filter_blocks_each", &P::filter_blocks_each, {16, 16}, "blocks that fill the device while they filter, each"},
    {"bucket_short_row", &P::bucket_short_row, {32768, 32768}, "values below which blocks of buckets are small"},
    {"maximum_by_warp_k", &P::maximum_by_warp_k, {512, 512}, "k up to which a warp finds the k-th value"},
    {"single_row_threads_each", &P::single_row_threads_each, {512, 512}, "threads that saturate memory, each"},
    {"direct_warps_each", &P::direct_warps_each, {16, 16}, "warps that keep memory busy, each"},
    {"panel_bytes", &P::panel_bytes, {0, 32 * kMiB}, "transposed points that stay in the L2 cache"},
    {"overlap_pairs", &P::overlap_pairs, {64 * kMiB, 64 * kMiB}, "pairs of a tile from which two streams overlap"},
    {"exact_queries", &P::exact_queries, {16, 2}, "failed queries up to which exact distances come at once"},
    {"busy_tiles", &P::busy_tiles, {0, 160}, "register tiles that fill the device"},
    {"fused_min_points", &P::fused_min_points, {4096, 2048}, "points from which a fused search may pay"},
    {"duplicates_min_points", &P::duplicates_min_points, {4096, 4096}, "points from which equal ones are looked for"},
    {"duplicates_microseconds", &P::duplicates_microseconds, {150, 150}, "time of looking where there are none"},
    {"fp16_min_dims", &P::fp16_min_dims, {12, 6}, "dimensions from which fp16 may tell neighbors apart"},
    {"fp16_min_queries", &P::fp16_min_queries, {32, 1}, "queries from which fp16 saves reading"},
    {"trial_microseconds", &P::trial_microseconds, {1000, 1000}, "predicted time from which passes are tried first"},
    {"score_bytes", &P::score_bytes, {4 * kGiB, 4 * kGiB}, "scores of a tile; more make nothing faster"},
    {"radius_queries", &P::radius_queries, {16384, 16384}, "queries of a radius search at a time"},
    {"radius_pairs", &P::radius_pairs, {32 * kMiB, 32 * kMiB}, "pairs that it lists at a time"},
    {"tree_max_dims", &P::tree_max_dims, {8, 8}, "dimensions up to which trees may be chosen"},
    {"triangle_min_queries", &P::triangle_min_queries, {256, 256}, "queries below which triangle leaves it idle"},
    {"triangle_min_points", &P::triangle_min_points, {4096, 4096}, "points below which it does"},
    {"scan_warps_each", &P::scan_warps_each, {24, 24}, "warps that keep it busy scanning intervals, each"},
    {"sweet_knn_shared_bytes", &P::sweet_knn_shared_bytes, {48 * kKiB, 48 * kKiB}, "lists of a block of sweet-knn"},
    {"sorted_picoseconds", &P::sorted_picoseconds, {200, 200}, "time of a point in one order of shifted-sort"},
    {"curve_candidate_picoseconds", &P::curve_candidate_picoseconds, {20, 20}, "time of a candidate there"},
    {"check_blocks_each", &P::check_blocks_each, {16, 16}, "blocks that check points, each"},
    {"sort_segments", &P::sort_segments, {256, 256}, "segments from which a block each fills the device"},
    {"sort_keys_per_launch", &P::sort_keys_per_launch, {6000, 6000}, "keys a block sorts in the time of a launch"},
    {"staging_buffer_bytes", &P::staging_buffer_bytes, {4 * kMiB, 4 * kMiB}, "a pinned buffer of host data"},
    {"staging_thread_bytes", &P::staging_thread_bytes, {1 * kMiB, 1 * kMiB}, "host data worth another thread"},
    {"staging_threads", &P::staging_threads, {12, 12}, "threads that copy host data at most"},
    {"topk_tile_bytes", &P::topk_tile_bytes, {64 * kMiB, 64 * kMiB}, "host rows copied at a time by topk"},
};
static_assert(sizeof(DevicePolicy) == sizeof(DeviceHardware) + std::size(kFields) * sizeof(std::int64_t),
              "every field has a row in the table");

}  // namespace

std::span<const PolicyField> policy_fields() {
  return kFields;
}

bool DeviceHardware::has_slow_doubles() const {
  // A coordinate of a key takes 18 operations in single precision, or 3 in double and 2 conversions.
  constexpr int kSlow = 16;
  const ChipRates& rates = rates_of({compute_major, compute_minor});
  return rates.fp32 >= kSlow * rates.fp64;
}

Chip chip_of(const DeviceHardware& hardware) {
  return hardware.has_wgmma() && hardware.compute_minor == 0 ? Chip::sm_90 : Chip::portable;
}

DevicePolicy policy_for(const DeviceHardware& hardware) {
  const Chip chip = chip_of(hardware);
  DevicePolicy policy{};
  policy.hardware = hardware;
  for (const PolicyField& row : kFields) policy.*row.field = row.values[static_cast<int>(chip)];
  if (chip != Chip::portable) return policy;
  policy.candidate_bytes = hardware.shared_per_block / 2;
  policy.panel_bytes = hardware.l2_bytes / 2;
  policy.busy_tiles = hardware.multiprocessors * 6 / 5;
  return policy;
}

std::vector<DeviceLimit> limits_of(const DevicePolicy& policy) {
  const DeviceHardware& hardware = policy.hardware;
  std::vector<DeviceLimit> limits = {
      {"multiprocessors", hardware.multiprocessors, ""},
      {"shared_per_block", hardware.shared_per_block, "bytes"},
      {"shared_per_multiprocessor", hardware.shared_per_multiprocessor, "bytes"},
      {"registers_per_multiprocessor", hardware.registers_per_multiprocessor, ""},
      {"threads_per_multiprocessor", hardware.threads_per_multiprocessor, ""},
      {"l2_bytes", hardware.l2_bytes, "of the cache"},
      {"wgmma", hardware.has_wgmma() ? 1 : 0, "1: kernels of compute capability 9.0 take products from shared memory"},
      {"slow_doubles", hardware.has_slow_doubles() ? 1 : 0, "1: pairs of floats give keys, which doubles would too"},
  };
  for (const PolicyField& row : kFields) limits.push_back({row.name, policy.*row.field, row.meaning});
  return limits;
}

}  // namespace kith::core
