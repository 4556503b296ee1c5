// tree_walk.hpp: kernels over a tree of boxes whose leaves are points in block layout (lane_blocks.hpp).
// Idea    a vector holds one side of several boxes, or one coordinate of several points, so that a node's children and
//         a leaf's points are each tested at once. The score of a box is that of its point nearest to the query: no
//         point in it is nearer, whatever rounding does (core/score_bounds.hpp).
// Layout  leaf i has points i · kLeafPoints …; box i of a level covers boxes i · kFanOut … of the level below, whose
//         level 0 are the leaves. kFanOut boxes are a group: the least of coordinate c of all of them, then the
//         greatest, then coordinate c + 1.
// Periods coordinates of points and queries are in the frame of core/periodic_frame.hpp.
#pragma once

#include <cstdint>

#include "core/key.hpp"
#include "cpu/simd/kernels.hpp"
#include "cpu/simd/lane_blocks.hpp"

namespace kith::cpu {

inline constexpr std::int64_t kLeafPoints = core::TreeLimits::kLeaf;
inline constexpr std::int64_t kFanOut = 16;

template <class F>
struct BoxLevel {
  const F* boxes;
  std::int64_t count;
  // Null, or how many copies with smaller ids each point of a box has at least: from k on, none is among the k nearest
  // of any query.
  const std::uint32_t* copies_before;

  bool matters(std::int64_t box, std::int64_t k) const { return copies_before == nullptr || copies_before[box] < k; }
};

template <class F>
struct TreeView {
  const F* points;
  std::int64_t rows;
  std::int64_t dims;
  const BoxLevel<F>* levels;
  int level_count;
  const F* periods = nullptr;  // null, or one for each dimension, infinite for axes without

  std::int64_t leaves() const { return levels[0].count; }
};

// Points that a walk collects: their scores, and their positions in the tree. There is room for a leaf and kSlack more
// behind tighten_at.
template <class F>
struct NearPoints {
  F* scores;
  OffsetOf<F>* points;
  std::int64_t size;
  std::int64_t tighten_at;  // when there are so many, tighten() is called
  F limit;                  // points with larger scores are passed over
  F box_limit;              // and boxes: at most `limit`
  std::int64_t k;           // points with so many copies before them are passed over
  void* owner;
  void (*tighten)(NearPoints& near);  // lowers the limit, drops points beyond it, and sets tighten_at
};

// Collects the points that are not above the limit, the nearest boxes first. Leaf `seed` comes before all others, −1
// for none. NaN is not collected. Returns how many points were scored.
std::int64_t walk_tree(core::Form form, double p, const TreeView<float>& tree, const float* query, std::int64_t seed,
                       NearPoints<float>& near);
std::int64_t walk_tree(core::Form form, double p, const TreeView<double>& tree, const double* query, std::int64_t seed,
                       NearPoints<double>& near);

// Counts points whose scores are not above `inside`, whole boxes at a time, and collects those between it and the
// limit.
std::int64_t count_in_tree(core::Form form, double p, const TreeView<float>& tree, const float* query, float inside,
                           NearPoints<float>& near);
std::int64_t count_in_tree(core::Form form, double p, const TreeView<double>& tree, const double* query, double inside,
                           NearPoints<double>& near);

// A leaf near the query: the one that the nearest box of each level leads to.
std::int64_t near_leaf(core::Form form, double p, const TreeView<float>& tree, const float* query);
std::int64_t near_leaf(core::Form form, double p, const TreeView<double>& tree, const double* query);

// core::raw_sum, bit for bit, of a query and listed points, whose coordinates must be those of the points as they were
// given. Up to kSlack more sums are written. Not for form power.
void exact_block_sums(core::Form form, const double* query, const LaneBlocks<float>& points,
                      const std::uint32_t* listed, std::int64_t count, double* raw);
void exact_block_sums(core::Form form, const double* query, const LaneBlocks<double>& points,
                      const std::uint64_t* listed, std::int64_t count, double* raw);

}  // namespace kith::cpu
