// device_policy.hpp: what kernels and the planner go by on a device: what it has, the sizes that keep it busy, and
// where one method becomes faster than another. A plain value for each device; the values of all chips stand in one
// table, device_policy.cpp, which also says what each means. `kith info` prints them. Shapes of kernels that the
// compiler must know are no part of it: they stand beside the kernels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/options.hpp"

namespace kith::core {

// What the driver tells; the defaults are an H200's.
struct DeviceHardware {
  int compute_major = 9;
  int compute_minor = 0;
  std::int64_t multiprocessors = 132;
  std::int64_t shared_per_block = 227 << 10;           // bytes, where a kernel asks for more than usual
  std::int64_t shared_per_multiprocessor = 228 << 10;  // bytes
  std::int64_t registers_per_multiprocessor = 65536;
  std::int64_t threads_per_multiprocessor = 2048;
  std::int64_t l2_bytes = 60 << 20;
  bool has_sm_90_kernels = true;  // whether the build does

  // Whether tensor cores take products from shared memory, and tests of these need not be stored (cuda/tensor/).
  bool has_wgmma() const { return compute_major == 9 && has_sm_90_kernels; }
  // Whether double precision has a small part of the rate of single precision, as on cards for games.
  bool has_slow_doubles() const;
};

// "Each" stands for: each multiprocessor.
struct DevicePolicy {
  DeviceHardware hardware;

  // Selection.
  std::int64_t radix_select_min_k;
  std::int64_t radix_select_divisor;
  std::int64_t radix_select_rows_each;
  std::int64_t whole_row_max_length;
  std::int64_t whole_row_min_k;
  std::int64_t whole_row_rows_each;
  std::int64_t sample_divisor;
  std::int64_t min_samples;
  std::int64_t max_samples;
  std::int64_t sample_load_bytes;
  std::int64_t min_sample_parts;
  std::int64_t max_sample_parts;
  std::int64_t warp_sample_max;
  std::int64_t few_rows_each;
  std::int64_t candidate_bytes;
  std::int64_t max_chunk;
  std::int64_t min_chunk;
  std::int64_t filter_blocks_each;
  std::int64_t bucket_short_row;
  std::int64_t maximum_by_warp_k;
  std::int64_t single_row_threads_each;

  // Distances and brute-force searches.
  std::int64_t direct_warps_each;
  std::int64_t panel_bytes;
  std::int64_t overlap_pairs;
  std::int64_t exact_queries;
  std::int64_t busy_tiles;
  std::int64_t fused_min_points;
  std::int64_t duplicates_min_points;
  std::int64_t duplicates_microseconds;
  std::int64_t fp16_min_dims;
  std::int64_t fp16_min_queries;
  std::int64_t trial_microseconds;
  std::int64_t score_bytes;
  std::int64_t radius_queries;
  std::int64_t radius_pairs;

  // Tree, triangle and shifted sorting.
  std::int64_t tree_max_dims;
  std::int64_t triangle_min_queries;
  std::int64_t triangle_min_points;
  std::int64_t scan_warps_each;
  std::int64_t sweet_knn_shared_bytes;
  std::int64_t sorted_picoseconds;
  std::int64_t curve_candidate_picoseconds;

  // Everything else.
  std::int64_t check_blocks_each;
  std::int64_t sort_segments;
  std::int64_t sort_keys_per_launch;
  std::int64_t staging_buffer_bytes;
  std::int64_t staging_thread_bytes;
  std::int64_t staging_threads;
  std::int64_t topk_tile_bytes;
};

// The columns of the table.
enum class Chip { portable, sm_90 };
inline constexpr int kChips = 2;

struct PolicyField {
  using Member = std::int64_t DevicePolicy::*;

  const char* name;
  Member field;
  std::int64_t values[kChips];
  const char* meaning;
};

std::span<const PolicyField> policy_fields();

// The column of the chip, or the portable one where nobody has measured it, which is fitted to the hardware.
Chip chip_of(const DeviceHardware& hardware);
DevicePolicy policy_for(const DeviceHardware& hardware);

// What there is to print: the hardware, then the fields in the order of the table.
std::vector<DeviceLimit> limits_of(const DevicePolicy& policy);

}  // namespace kith::core
