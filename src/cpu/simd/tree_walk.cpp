// tree_walk.cpp: the walk of a query through a tree of boxes, depth first, the nearest box of a group first. From a
// leaf it goes up: the groups around the leaf are known without the scores of any, so that the CPU tests them side by
// side.
#include "cpu/simd/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd/tree_walk.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "cpu/simd/compress-inl.hpp"
#include "cpu/simd/exact_terms-inl.hpp"
#include "cpu/simd/forms-inl.hpp"
#include "cpu/simd/tree_walk.hpp"

HWY_BEFORE_NAMESPACE();
namespace kith::cpu::HWY_NAMESPACE {
namespace {

// Vectors no longer than a block of points.
template <class F>
using BlockTag = hn::CappedTag<F, static_cast<std::size_t>(kBlockPoints<F>)>;

constexpr int kMaxLevels = 16;

template <class F>
struct NearBox {
  F score;
  std::uint32_t box;
};

template <class F>
struct WaitingBox {
  F score;
  std::uint32_t box;
  int level;
};

// Differences of coordinates, and of those of boxes.
struct OpenAxes {
  template <class F>
  explicit OpenAxes(const TreeView<F>&) {}

  // Adds the term of coordinate x of the query and y of a point.
  template <class Form, class D, class V>
  HWY_INLINE V point(const Form& form, D d, V sum, V x, V y, std::int64_t) const {
    return form.step(d, sum, x, y);
  }
  // Of the point nearest to it that a box may have.
  template <class Form, class D, class V>
  HWY_INLINE V box(const Form& form, D d, V sum, V x, V least, V greatest, std::int64_t) const {
    return form.step(d, sum, x, hn::Min(hn::Max(x, least), greatest));
  }
  // Of the farthest.
  template <class Form, class D, class F>
  HWY_INLINE auto corner(const Form& form, D d, hn::Vec<D> sum, F x, F least, F greatest, std::int64_t) const {
    return form.step(d, sum, hn::Set(d, x), hn::Set(d, x - least > greatest - x ? least : greatest));
  }
};

// The same where axes have periods L, none of whose coordinates are more than L apart: the way around is L − |d|, to
// boxes on the right L + (x − greatest), and to those on the left L + (least − x).
template <class F>
struct PeriodicAxes {
  explicit PeriodicAxes(const TreeView<F>& tree) : periods(tree.periods) {}

  template <class Form, class D, class V>
  HWY_INLINE V point(const Form& form, D d, V sum, V x, V y, std::int64_t c) const {
    const V direct = hn::Abs(hn::Sub(x, y));
    const V around = hn::Abs(hn::Sub(hn::Set(d, periods[c]), direct));
    return form.step(d, sum, hn::Min(direct, around), hn::Zero(d));
  }
  template <class Form, class D, class V>
  HWY_INLINE V box(const Form& form, D d, V sum, V x, V least, V greatest, std::int64_t c) const {
    const V period = hn::Set(d, periods[c]);
    const V left = hn::Sub(least, x);
    const V right = hn::Sub(x, greatest);
    const V gap = hn::Min(hn::Max(left, right), hn::Min(hn::Add(period, left), hn::Add(period, right)));
    return form.step(d, sum, hn::Max(gap, hn::Zero(d)), hn::Zero(d));
  }
  template <class Form, class D>
  HWY_INLINE auto corner(const Form& form, D d, hn::Vec<D> sum, F x, F least, F greatest, std::int64_t c) const {
    const F farthest = std::min(std::max(x - least, greatest - x), periods[c] / 2);
    return form.step(d, sum, hn::Set(d, farthest), hn::Zero(d));
  }

  const F* periods;
};

// A query's walk. kDims is the number of dimensions, or 0 where it is known at run time only.
template <class Form, class Axes, int kDims, class F>
class Walk {
  using Tag = BlockTag<F>;
  using V = hn::Vec<Tag>;

 public:
  Walk(Form form, const TreeView<F>& tree, const F* query) : form_(form), axes_(tree), tree_(tree), query_(query) {}

  std::int64_t run(std::int64_t seed, NearPoints<F>& near) {
    scored_ = 0;
    WaitingBox<F> waiting[kMaxLevels * kFanOut];
    int count = 0;
    if (seed >= 0) {
      if (tree_.levels[0].matters(seed, near.k)) scan_leaf(seed, near);
      open_around(seed, near, waiting, count);
    } else {
      open(tree_.level_count - 1, 0, kNone, near, waiting, count);
    }
    while (count > 0) {
      const WaitingBox<F> next = waiting[--count];
      if (!(next.score > near.box_limit)) open(next.level - 1, next.box, kNone, near, waiting, count);
    }
    return scored_;
  }

  std::int64_t nearest_leaf() const {
    std::int64_t box = 0;
    for (int level = tree_.level_count - 1; level >= 0; --level) box = nearest_box(level, box);
    return box;
  }

  std::int64_t count(F inside, NearPoints<F>& near) {
    std::int64_t counted = 0;
    std::int64_t points = kLeafPoints;  // of a box of the level
    for (int level = 1; level < tree_.level_count; ++level) points *= kFanOut;
    count_group(tree_.level_count - 1, 0, points, inside, near, counted);
    return counted;
  }

 private:
  static constexpr std::int64_t kNone = -1;

  std::int64_t dims() const { return kDims > 0 ? kDims : tree_.dims; }

  // The scores of as many boxes of a group as a vector has lanes, from box `at` on.
  HWY_INLINE V box_scores(const F* sides, std::int64_t at) const {
    const Tag d;
    V sum = hn::Zero(d);
    for (std::int64_t c = 0; c < dims(); ++c) {
      const V x = hn::Set(d, query_[c]);
      const V least = hn::LoadU(d, sides + 2 * c * kFanOut + at);
      const V greatest = hn::LoadU(d, sides + (2 * c + 1) * kFanOut + at);
      sum = axes_.box(form_, d, sum, x, least, greatest, c);
    }
    return sum;
  }

  // A box of the group with the least score; the first where none is a finite number.
  std::int64_t nearest_box(int level, std::int64_t group) const {
    const Tag d;
    const hn::RebindToUnsigned<Tag> du;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const BoxLevel<F>& boxes = tree_.levels[level];
    const std::int64_t first = group * kFanOut;
    const std::int64_t count = std::min(kFanOut, boxes.count - first);
    const F* const sides = boxes.boxes + first * 2 * dims();
    V least = hn::Set(d, std::numeric_limits<F>::infinity());
    auto where = hn::Zero(du);
    for (std::int64_t at = 0; at < count; at += lanes) {
      const V score = box_scores(sides, at);
      const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - at)));
      const auto nearer = hn::And(hn::Lt(score, least), there);
      least = hn::IfThenElse(nearer, score, least);
      where = hn::IfThenElse(hn::RebindMask(du, nearer), hn::Iota(du, static_cast<OffsetOf<F>>(at)), where);
    }
    const auto lane = static_cast<std::int64_t>(hn::FindFirstTrue(d, hn::Eq(least, hn::MinOfLanes(d, least))));
    if (lanes >= kFanOut) return first + lane;  // which is a box that is there: the others' scores stay infinite
    HWY_ALIGN OffsetOf<F> listed[kFanOut];
    hn::Store(where, du, listed);
    return first + static_cast<std::int64_t>(listed[lane]);
  }

  // Lists the boxes of a group whose scores are not above the limit, but for box `but`.
  int test_group(int level, std::int64_t group, std::int64_t but, F limit, NearBox<F>* found) const {
    const Tag d;
    const hn::RebindToUnsigned<Tag> du;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const BoxLevel<F>& boxes = tree_.levels[level];
    const std::int64_t first = group * kFanOut;
    const std::int64_t count = std::min(kFanOut, boxes.count - first);
    const F* const sides = boxes.boxes + first * 2 * dims();
    HWY_ALIGN F scores[kFanOut + kSlack];
    HWY_ALIGN OffsetOf<F> listed[kFanOut + kSlack];
    std::int64_t kept = 0;
    for (std::int64_t at = 0; at < count; at += lanes) {
      const V sum = box_scores(sides, at);
      const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(lanes, count - at)));
      const auto numbers = hn::Iota(du, static_cast<OffsetOf<F>>(first + at));
      const auto others = hn::RebindMask(d, hn::Ne(numbers, hn::Set(du, static_cast<OffsetOf<F>>(but))));
      const auto keep = hn::And(hn::And(hn::Le(sum, hn::Set(d, limit)), there), others);
      if (hn::AllFalse(d, keep)) continue;
      hn::StoreU(compress(sum, keep), d, scores + kept);
      hn::StoreU(compress(numbers, hn::RebindMask(du, keep)), du, listed + kept);
      kept += static_cast<std::int64_t>(hn::CountTrue(d, keep));
    }
    for (std::int64_t i = 0; i < kept; ++i) found[i] = {scores[i], static_cast<std::uint32_t>(listed[i])};
    return static_cast<int>(kept);
  }

  // Opens the groups that the boxes around a leaf are in, but for these boxes: those of higher levels wait longer.
  void open_around(std::int64_t leaf, NearPoints<F>& near, WaitingBox<F>* waiting, int& count) {
    std::int64_t around[kMaxLevels + 1];
    around[0] = leaf;
    for (int level = 0; level < tree_.level_count; ++level) around[level + 1] = around[level] / kFanOut;
    for (int level = tree_.level_count - 1; level >= 0; --level)
      open(level, around[level + 1], around[level], near, waiting, count);
  }

  // Scans the leaves of a group, or lets its boxes wait, the nearest on top; box `but` is passed over.
  void open(int level, std::int64_t group, std::int64_t but, NearPoints<F>& near, WaitingBox<F>* waiting, int& count) {
    NearBox<F> found[kFanOut + kSlack];
    int kept = test_group(level, group, but, near.box_limit, found);
    if (kept == 0) return;
    if (tree_.levels[level].copies_before != nullptr) kept = drop_copies(tree_.levels[level], near.k, found, kept);
    sort_by_score(found, kept);
    if (level > 0) {
      for (int i = kept - 1; i >= 0; --i) waiting[count++] = {found[i].score, found[i].box, level};
      return;
    }
    for (int i = 0; i < kept; ++i) {
      if (found[i].score > near.box_limit) return;
      if (i + 1 < kept) prefetch_leaf(found[i + 1].box);
      scan_leaf(found[i].box, near);
    }
  }

  static int drop_copies(const BoxLevel<F>& level, std::int64_t k, NearBox<F>* boxes, int count) {
    int kept = 0;
    for (int i = 0; i < count; ++i)
      if (level.matters(boxes[i].box, k)) boxes[kept++] = boxes[i];
    return kept;
  }

  void prefetch_leaf(std::int64_t leaf) const {
    constexpr std::int64_t kMost = 16;  // lines; the hardware brings the rest
    const F* const from = tree_.points + leaf * kLeafPoints * dims();
    const std::int64_t blocks = std::min(kMost, kLeafPoints / kBlockPoints<F> * dims());
    for (std::int64_t i = 0; i < blocks; ++i) hwy::Prefetch(from + i * kBlockPoints<F>);
  }

  // Many are put where the number of nearer ones says, which vectors count without a branch.
  static void sort_by_score(NearBox<F>* boxes, int count) {
    constexpr int kFew = 4;
    if (count > kFew) {
      const Tag d;
      const auto lanes = static_cast<int>(hn::Lanes(d));
      NearBox<F> unsorted[kFanOut];
      HWY_ALIGN F scores[kFanOut];
      for (int i = 0; i < static_cast<int>(kFanOut); ++i) scores[i] = std::numeric_limits<F>::infinity();
      for (int i = 0; i < count; ++i) {
        unsorted[i] = boxes[i];
        scores[i] = boxes[i].score;
      }
      for (int i = 0; i < count; ++i) {
        const V score = hn::Set(d, scores[i]);
        std::size_t rank = 0;
        for (int at = 0; at < count; at += lanes) {
          const V others = hn::Load(d, scores + at);
          const auto earlier = hn::FirstN(d, static_cast<std::size_t>(std::clamp(i - at, 0, lanes)));
          rank += hn::CountTrue(d, hn::Or(hn::Lt(others, score), hn::And(hn::Eq(others, score), earlier)));
        }
        boxes[rank] = unsorted[i];
      }
      return;
    }
    for (int i = 1; i < count; ++i) {
      const NearBox<F> box = boxes[i];
      int at = i;
      for (; at > 0 && box.score < boxes[at - 1].score; --at) boxes[at] = boxes[at - 1];
      boxes[at] = box;
    }
  }

  // The score of the corner that is farthest from the query: no point of the box has a larger one.
  F farthest(int level, std::int64_t box) const {
    const hn::CappedTag<F, 1> d;
    const F* const sides = tree_.levels[level].boxes + box / kFanOut * kFanOut * 2 * dims() + box % kFanOut;
    auto sum = hn::Zero(d);
    for (std::int64_t c = 0; c < dims(); ++c) {
      const F x = query_[c];
      const F least = sides[2 * c * kFanOut];
      const F greatest = sides[(2 * c + 1) * kFanOut];
      sum = axes_.corner(form_, d, sum, x, least, greatest, c);
    }
    return hn::GetLane(sum);
  }

  void count_group(int level, std::int64_t group, std::int64_t points, F inside, NearPoints<F>& near,
                   std::int64_t& counted) {
    NearBox<F> found[kFanOut + kSlack];
    const int kept = test_group(level, group, kNone, near.box_limit, found);
    for (int i = 0; i < kept; ++i) {
      const std::int64_t box = found[i].box;
      if (farthest(level, box) <= inside) {
        counted += std::min(points, tree_.rows - box * points);
      } else if (level > 0) {
        count_group(level - 1, box, points / kFanOut, inside, near, counted);
      } else {
        count_leaf(box, inside, near, counted);
      }
    }
  }

  void count_leaf(std::int64_t leaf, F inside, NearPoints<F>& near, std::int64_t& counted) {
    const std::int64_t before = near.size;
    scan_points(leaf, near);
    std::int64_t size = before;
    for (std::int64_t i = before; i < near.size; ++i) {
      near.scores[size] = near.scores[i];
      near.points[size] = near.points[i];
      size += near.scores[i] <= inside ? 0 : 1;
    }
    counted += near.size - size;
    near.size = size;
    if (size >= near.tighten_at) near.tighten(near);
  }

  void scan_leaf(std::int64_t leaf, NearPoints<F>& near) {
    scan_points(leaf, near);
    if (near.size >= near.tighten_at) near.tighten(near);
  }

  void scan_points(std::int64_t leaf, NearPoints<F>& near) {
    const Tag d;
    const hn::RebindToUnsigned<Tag> du;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t first = leaf * kLeafPoints;
    const std::int64_t count = std::min(kLeafPoints, tree_.rows - first);
    scored_ += count;
    const V limit = hn::Set(d, near.limit);
    std::int64_t size = near.size;
    for (std::int64_t at = 0; at < count; at += lanes) {
      const F* const block = tree_.points + block_offset<F>(first + at, dims());
      V sum = hn::Zero(d);
      for (std::int64_t c = 0; c < dims(); ++c)
        sum = axes_.point(form_, d, sum, hn::Set(d, query_[c]), hn::LoadU(d, block + c * kBlockPoints<F>), c);
      auto keep = hn::Le(sum, limit);
      if (at + lanes > count) keep = hn::And(keep, hn::FirstN(d, static_cast<std::size_t>(count - at)));
      if (hn::AllFalse(d, keep)) continue;
      hn::StoreU(compress(sum, keep), d, near.scores + size);
      hn::StoreU(compress(hn::Iota(du, static_cast<OffsetOf<F>>(first + at)), hn::RebindMask(du, keep)), du,
                 near.points + size);
      size += static_cast<std::int64_t>(hn::CountTrue(d, keep));
    }
    near.size = size;
  }

  Form form_;
  Axes axes_;
  const TreeView<F>& tree_;
  const F* query_;
  std::int64_t scored_ = 0;
};

// Calls run(walk) with the walk of a form; squares in two or three dimensions have one of their own.
template <class F, class Run>
HWY_INLINE void with_walk(core::Form form, double p, const TreeView<F>& tree, const F* query, Run run) {
  with_form(form, p, [&](auto op) HWY_ATTR {
    using Op = decltype(op);
    if constexpr (std::is_same_v<Op, SquaredForm>) {
      if (tree.dims == 2 && tree.periods == nullptr) return run(Walk<Op, OpenAxes, 2, F>(op, tree, query));
      if (tree.dims == 3 && tree.periods == nullptr) return run(Walk<Op, OpenAxes, 3, F>(op, tree, query));
      if (tree.dims == 3) return run(Walk<Op, PeriodicAxes<F>, 3, F>(op, tree, query));
    }
    if constexpr (!std::is_same_v<Op, DotForm> && !std::is_same_v<Op, MismatchForm> && !std::is_same_v<Op, RatioForm>) {
      if (tree.periods != nullptr) return run(Walk<Op, PeriodicAxes<F>, 0, F>(op, tree, query));
      run(Walk<Op, OpenAxes, 0, F>(op, tree, query));
    }
  });
}

template <class F>
std::int64_t walk(core::Form form, double p, const TreeView<F>& tree, const F* query, std::int64_t seed,
                  NearPoints<F>& near) {
  std::int64_t scored = 0;
  with_walk(form, p, tree, query, [&](auto each) HWY_ATTR { scored = each.run(seed, near); });
  return scored;
}

template <class F>
std::int64_t count(core::Form form, double p, const TreeView<F>& tree, const F* query, F inside, NearPoints<F>& near) {
  std::int64_t counted = 0;
  with_walk(form, p, tree, query, [&](auto each) HWY_ATTR { counted = each.count(inside, near); });
  return counted;
}

template <class F>
std::int64_t leaf_near(core::Form form, double p, const TreeView<F>& tree, const F* query) {
  std::int64_t leaf = 0;
  with_walk(form, p, tree, query, [&](auto each) HWY_ATTR { leaf = each.nearest_leaf(); });
  return leaf;
}

// Sums of several points at a time, each lane of the key in a vector of its own. kDims as in Walk, at most kLanes.
template <core::Form form, int kDims, class F>
void block_sums(const double* query, const LaneBlocks<F>& points, const OffsetOf<F>* listed, std::int64_t count,
                double* raw) {
  using Tag = hn::CappedTag<double, 8>;
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t dims = kDims > 0 ? kDims : points.dims;
  constexpr int kUsed = kDims > 0 ? kDims : core::kLanes;
  for (std::int64_t i = 0; i < count; i += lanes) {
    const F* from[8];
    for (std::int64_t l = 0; l < lanes; ++l)
      from[l] = points.data + block_offset<F>(static_cast<std::int64_t>(listed[std::min(i + l, count - 1)]), dims);
    hn::Vec<Tag> sum[core::kLanes];
    for (auto& each : sum) each = hn::Zero(d);
    for (std::int64_t first = 0; first < dims; first += core::kLanes)
      for (int c = 0; c < kUsed; ++c) {
        if (first + c >= dims) break;
        HWY_ALIGN double values[8];
        for (std::int64_t l = 0; l < lanes; ++l)
          values[l] = static_cast<double>(from[l][(first + c) * kBlockPoints<F>]);
        sum[c] = add_term<form>(d, sum[c], hn::Set(d, query[first + c]), hn::Load(d, values));
      }
    if constexpr (form == core::Form::maximum) {
      for (int c = 1; c < core::kLanes; ++c) sum[0] = hn::Max(sum[0], sum[c]);
      hn::StoreU(sum[0], d, raw + i);
    } else {
      const auto even = hn::Add(hn::Add(sum[0], sum[4]), hn::Add(sum[2], sum[6]));
      const auto odd = hn::Add(hn::Add(sum[1], sum[5]), hn::Add(sum[3], sum[7]));
      hn::StoreU(hn::Add(even, odd), d, raw + i);
    }
  }
}

template <class F>
void listed_sums(core::Form form, const double* query, const LaneBlocks<F>& points, const OffsetOf<F>* listed,
                 std::int64_t count, double* raw) {
  using core::Form;
  if (form == Form::squared && points.dims == 2) return block_sums<Form::squared, 2>(query, points, listed, count, raw);
  if (form == Form::squared && points.dims == 3) return block_sums<Form::squared, 3>(query, points, listed, count, raw);
  if (form == Form::squared) return block_sums<Form::squared, 0>(query, points, listed, count, raw);
  if (form == Form::absolute) return block_sums<Form::absolute, 0>(query, points, listed, count, raw);
  if (form == Form::maximum) return block_sums<Form::maximum, 0>(query, points, listed, count, raw);
}

}  // namespace

static constexpr auto& walk_f32 = walk<float>;
static constexpr auto& walk_f64 = walk<double>;
static constexpr auto& count_f32 = count<float>;
static constexpr auto& count_f64 = count<double>;
static constexpr auto& leaf_near_f32 = leaf_near<float>;
static constexpr auto& leaf_near_f64 = leaf_near<double>;
static constexpr auto& listed_sums_f32 = listed_sums<float>;
static constexpr auto& listed_sums_f64 = listed_sums<double>;

}  // namespace kith::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(walk_f32);
HWY_EXPORT(walk_f64);
HWY_EXPORT(count_f32);
HWY_EXPORT(count_f64);
HWY_EXPORT(leaf_near_f32);
HWY_EXPORT(leaf_near_f64);
HWY_EXPORT(listed_sums_f32);
HWY_EXPORT(listed_sums_f64);

std::int64_t walk_tree(core::Form form, double p, const TreeView<float>& tree, const float* query, std::int64_t seed,
                       NearPoints<float>& near) {
  return HWY_DYNAMIC_DISPATCH(walk_f32)(form, p, tree, query, seed, near);
}
std::int64_t walk_tree(core::Form form, double p, const TreeView<double>& tree, const double* query, std::int64_t seed,
                       NearPoints<double>& near) {
  return HWY_DYNAMIC_DISPATCH(walk_f64)(form, p, tree, query, seed, near);
}

std::int64_t count_in_tree(core::Form form, double p, const TreeView<float>& tree, const float* query, float inside,
                           NearPoints<float>& near) {
  return HWY_DYNAMIC_DISPATCH(count_f32)(form, p, tree, query, inside, near);
}
std::int64_t count_in_tree(core::Form form, double p, const TreeView<double>& tree, const double* query, double inside,
                           NearPoints<double>& near) {
  return HWY_DYNAMIC_DISPATCH(count_f64)(form, p, tree, query, inside, near);
}

std::int64_t near_leaf(core::Form form, double p, const TreeView<float>& tree, const float* query) {
  return HWY_DYNAMIC_DISPATCH(leaf_near_f32)(form, p, tree, query);
}
std::int64_t near_leaf(core::Form form, double p, const TreeView<double>& tree, const double* query) {
  return HWY_DYNAMIC_DISPATCH(leaf_near_f64)(form, p, tree, query);
}

void exact_block_sums(core::Form form, const double* query, const LaneBlocks<float>& points,
                      const std::uint32_t* listed, std::int64_t count, double* raw) {
  HWY_DYNAMIC_DISPATCH(listed_sums_f32)(form, query, points, listed, count, raw);
}
void exact_block_sums(core::Form form, const double* query, const LaneBlocks<double>& points,
                      const std::uint64_t* listed, std::int64_t count, double* raw) {
  HWY_DYNAMIC_DISPATCH(listed_sums_f64)(form, query, points, listed, count, raw);
}

}  // namespace kith::cpu
#endif
