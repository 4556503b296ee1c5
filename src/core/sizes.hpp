// sizes.hpp: sizes that kernels and the planner must agree on.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kith/plan.hpp"

namespace kith::core {

// Kernels number columns with 32 bits, and some count past the end of a row.
inline constexpr std::int64_t kLongestDeviceRow = 0x7FFFFFFF;

// Bytes a row that a device takes to group equal rows, and those of them that stay, at most.
inline constexpr std::int64_t kGroupingBytes = 64;
inline constexpr std::int64_t kGroupBytes = 8;

// Floats that points on a device are widened to at a time, where they stay as they are stored and a pass needs floats.
constexpr std::int64_t kWidenedTileBytes = std::int64_t{512} << 20;

// Buffers that the CPU's kernels append to need this many spare elements at their end.
inline constexpr std::int64_t kSlack = 64;

// A block of rows that passed a query's limit, of the CPU's register-tiled distances.
struct BlockHit {
  std::uint32_t query;
  std::uint32_t block;
};

// Dimensions up to which the CPU's products of bytes are summed in 32 bits: whatever the bytes are, a score and the
// sums that it is made of stay below 2³¹.
inline constexpr std::int64_t kMostByteDims = 16384;

// The sample that says how many candidates the CPU's products of bfloat16 leave.
inline constexpr std::int64_t kBf16SampleQueries = 8;
inline constexpr std::int64_t kBf16SampleRows = 1024;

// Bytes of a coordinate in working precision.
inline std::int64_t element_bytes(const Problem& problem) {
  return problem.dtype == DType::float64 ? 8 : 4;
}

// The CPU's scan of intervals by method triangle.
struct IntervalScanLimits {
  static constexpr std::int64_t kScanMembers = 256;  // members scored before the search bound is updated
  // More than so many times k collected members are ranked by their keys: scores cannot tell ties apart.
  static constexpr std::int64_t kRankFactor = 8;
  static constexpr std::int64_t kMaxIntervalMembers = 4096;  // longer intervals are scanned in parts: small buffers
};

// Walks through a tree.
struct TreeLimits {
  static constexpr std::int64_t kLeaf = 32;  // points
  // On a device fewer queries are not worth a sort.
  static constexpr std::int64_t kFewestOrdered = 2048;
  // On a device a lane of a warp has an axis.
  static constexpr std::int64_t kMostPeriodicDims = 32;
  // More than so many times k collected points, and these, are ranked by their keys: scores cannot tell them apart.
  static constexpr std::int64_t kRankFactor = 8;
  static constexpr std::int64_t kRanked = 256;
};

// Points that a walk has room for while it collects: what it ranks, what it then waits for, and a leaf.
inline std::int64_t tree_candidates(std::int64_t k, std::int64_t rows) {
  using Limits = TreeLimits;
  const std::int64_t most = (Limits::kRankFactor + 1) * k + Limits::kRanked + Limits::kLeaf;
  return std::min(most, rows) + Limits::kLeaf + 2 * kSlack;
}

// Bytes of clusters, with or without their members' rows, and of the scratch that makes them.
inline std::int64_t cluster_bytes(const Problem& problem, std::int64_t rows, std::int64_t landmarks, bool members) {
  const std::int64_t element = element_bytes(problem);
  const std::int64_t row = problem.dims * element;
  const std::int64_t each = 8 + element + 4 + 2 * (element == 8 ? 24 : 16) + (members ? row : 0);
  return rows * each + landmarks * (row + 32) + 4096;
}

// Bytes that method triangle takes on the CPU by this plan: clusters, and for each thread the candidate clusters of a
// query cluster and the candidates of a query.
inline std::int64_t triangle_bytes(const Plan& plan) {
  const Problem& p = plan.problem;
  const std::int64_t element = element_bytes(p);
  const std::int64_t clusters = plan.triangle.base_landmarks;
  const std::int64_t near = clusters * (element * (p.dims + 1) + 40) + p.k * 8 + 64 * p.dims;
  using Limits = IntervalScanLimits;
  const std::int64_t most = (Limits::kRankFactor + 1) * p.k + 2 * Limits::kScanMembers + Limits::kMaxIntervalMembers;
  const std::int64_t collected = 3 * std::min(most, p.base_rows + p.k) / 2 + 2 * kSlack;
  const std::int64_t query =
      collected * (3 * element + 8 + 8 + 16) + clusters * (element + 16) + p.dims * (element + 8);
  return cluster_bytes(p, p.base_rows, clusters, true) +
         cluster_bytes(p, plan.query_block, plan.triangle.query_landmarks, false) + (near + query) * plan.threads;
}

// Bytes that method tree takes on the CPU by this plan: points and boxes, what makes them, the order of queries, and
// for each thread the candidates of a query.
inline std::int64_t tree_bytes(const Plan& plan) {
  const Problem& p = plan.problem;
  const std::int64_t element = element_bytes(p);
  const std::int64_t leaves = p.base_rows / TreeLimits::kLeaf + 32;
  const std::int64_t points = leaves * TreeLimits::kLeaf * (p.dims * element + 4);
  const std::int64_t boxes = (leaves + leaves / 8 + 64) * (2 * p.dims * element + 2);
  const std::int64_t made = 2 * p.base_rows * (p.dims * element + 4);
  const std::int64_t found = tree_candidates(p.k, p.base_rows);
  const std::int64_t query = found * (2 * element + 24 + element) + (p.k + found) * 40 + p.dims * 16 + 4096;
  return points + boxes + made + (p.base_rows + 4096) * element + plan.query_block * 8 + query * plan.threads;
}

}  // namespace kith::core
