// The tree of a base: its points are those of the base, boxes hold them, equal points are known; and a walk collects
// what a plain loop would, on every instruction set.
#include "cpu/tree/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "../simd_targets.hpp"
#include "cpu/triangle/block_rows.hpp"
#include "support/problem.hpp"
#include "support/random.hpp"

namespace kith::cpu {
namespace {

using test::Kind;

template <Element T>
PreparedRows<T> prepared(const Matrix<T>& points, const Metric& metric = MetricKind::euclidean) {
  const ProgressCallback nobody;
  ProgressMeter progress(nobody, 1);
  return prepare_rows(points.view(), metric, {"base", true, false, 1}, progress);
}

template <Element T>
Tree<DistanceOf<T>> tree_of(const PreparedRows<T>& rows, int threads) {
  const ProgressCallback nobody;
  ProgressMeter progress(nobody, 1);
  return make_tree(rows, {}, threads, progress);
}

template <class F>
F side(const Tree<F>& tree, std::size_t level, std::int64_t box, std::int64_t c, int greatest) {
  const std::int64_t group = box / kFanOut * kFanOut;
  return tree.levels[level]
      .boxes[static_cast<std::size_t>(group * 2 * tree.dims + (2 * c + greatest) * kFanOut + box % kFanOut)];
}

template <class F>
void check_tree(const Matrix<F>& points, const Tree<F>& tree) {
  ASSERT_EQ(tree.rows, points.rows());
  ASSERT_EQ(std::set<std::uint32_t>(tree.ids.begin(), tree.ids.end()).size(), static_cast<std::size_t>(tree.rows));
  std::vector<F> row(static_cast<std::size_t>(tree.dims));
  for (std::int64_t i = 0; i < tree.rows; ++i) {
    get_row(tree.points.data(), tree.dims, i, row.data());
    std::int64_t box = i / kLeafPoints;
    for (std::int64_t c = 0; c < tree.dims; ++c)
      ASSERT_EQ(row[static_cast<std::size_t>(c)], points(tree.ids[static_cast<std::size_t>(i)], c));
    for (std::size_t level = 0; level < tree.levels.size(); ++level, box /= kFanOut) {
      ASSERT_LT(box, tree.views[level].count);
      for (std::int64_t c = 0; c < tree.dims; ++c) {
        ASSERT_LE(side(tree, level, box, c, 0), row[static_cast<std::size_t>(c)]);
        ASSERT_GE(side(tree, level, box, c, 1), row[static_cast<std::size_t>(c)]);
      }
    }
  }
  ASSERT_LE(tree.views.back().count, kFanOut);
}

TEST(TreeOfBoxes, HoldsEveryPointOnce) {
  for (const Kind kind : test::all_kinds())
    for (const std::int64_t rows : {1, 31, 32, 33, 513, 9000})
      for (const std::int64_t dims : {1, 2, 3, 5}) {
        const auto sample = test::generate<double>(kind, {rows, 1, dims}, MetricKind::euclidean, 3);
        SCOPED_TRACE(test::to_string(kind));
        check_tree(sample.base, tree_of(prepared(sample.base), 1 + static_cast<int>(rows % 3)));
      }
}

// Walls of a room: many values are equal, others differ in their last digits.
TEST(TreeOfBoxes, HoldsPointsOnPlanes) {
  test::Random random(7);
  Matrix<float> points(200000, 3);
  for (std::int64_t r = 0; r < points.rows(); ++r) {
    for (std::int64_t c = 0; c < 3; ++c) points(r, c) = static_cast<float>(random.uniform());
    points(r, random.below(3)) = static_cast<float>(random.below(5)) / 4 - (r % 2 == 0 ? 0.5F : 0.0F);
  }
  check_tree(points, tree_of(prepared(points), 2));
}

TEST(TreeOfBoxes, IsTheSameForAnyNumberOfThreads) {
  const auto sample = test::generate<float>(Kind::gaussian, {40000, 1, 3}, MetricKind::euclidean, 3);
  const auto rows = prepared(sample.base);
  const auto one = tree_of(rows, 1);
  for (const int threads : {2, 5}) {
    const auto many = tree_of(rows, threads);
    EXPECT_TRUE(std::ranges::equal(many.ids, one.ids));
    EXPECT_TRUE(std::ranges::equal(many.points, one.points));
  }
}

// Copies of a point are in the order of their ids, and boxes know how many come before them, or fewer.
TEST(TreeOfBoxes, CountsCopies) {
  Matrix<float> points(20000, 2);
  test::Random random(3);
  for (std::int64_t r = 0; r < points.rows(); ++r)
    for (std::int64_t c = 0; c < 2; ++c)
      points(r, c) = r % 3 == 0 ? static_cast<float>(random.uniform()) : static_cast<float>(r % 3);
  const Tree<float> tree = tree_of(prepared(points), 2);
  std::map<std::pair<float, float>, std::uint32_t> seen;
  std::map<std::pair<float, float>, std::uint32_t> last_id;
  std::vector<std::uint32_t> before(static_cast<std::size_t>(tree.rows));
  for (std::int64_t i = 0; i < tree.rows; ++i) {
    const std::uint32_t id = tree.ids[static_cast<std::size_t>(i)];
    const std::pair point(points(id, 0), points(id, 1));
    before[static_cast<std::size_t>(i)] = seen[point]++;
    if (before[static_cast<std::size_t>(i)] > 0) {
      EXPECT_LT(last_id[point], id);
    }
    last_id[point] = id;
  }
  std::int64_t span = kLeafPoints;
  std::int64_t behind_copies = 0;
  for (const auto& level : tree.levels) {
    ASSERT_EQ(level.copies_before.size(), static_cast<std::size_t>(level.count));
    for (std::int64_t box = 0; box < level.count; ++box) {
      const std::uint32_t claimed = level.copies_before[static_cast<std::size_t>(box)];
      behind_copies += claimed > 100 ? 1 : 0;
      for (std::int64_t i = box * span; i < std::min(tree.rows, (box + 1) * span); ++i)
        ASSERT_LE(claimed, before[static_cast<std::size_t>(i)]);
    }
    span *= kFanOut;
  }
  EXPECT_GT(behind_copies, 13000 / kLeafPoints - 20);
}

// Small integers, whose sums are exact in any order.
template <class F>
F score(core::Form form, const F* x, const F* y, std::int64_t dims) {
  F sum = 0;
  for (std::int64_t c = 0; c < dims; ++c) {
    const F difference = std::abs(x[c] - y[c]);
    sum = form == core::Form::squared    ? sum + difference * difference
          : form == core::Form::absolute ? sum + difference
                                         : std::max(sum, difference);
  }
  return sum;
}

// Of the point of a leaf's box that is nearest to the query.
template <class F>
F box_score(core::Form form, const F* query, const Tree<F>& tree, std::int64_t leaf) {
  const F* const sides = tree.levels[0].boxes.data() + leaf / kFanOut * kFanOut * 2 * tree.dims + leaf % kFanOut;
  std::vector<F> nearest;
  for (std::int64_t c = 0; c < tree.dims; ++c)
    nearest.push_back(std::clamp(query[c], sides[2 * c * kFanOut], sides[(2 * c + 1) * kFanOut]));
  return score(form, query, nearest.data(), tree.dims);
}

template <class F>
void check_walk(std::int64_t rows, std::int64_t dims, core::Form form) {
  test::Random random(static_cast<std::uint64_t>(rows + dims));
  Matrix<F> points(rows, dims);
  for (std::int64_t i = 0; i < rows * dims; ++i) points.data()[i] = static_cast<F>(random.below(100));
  const Tree<F> tree = tree_of(prepared(points), 1);
  std::vector<F> query(static_cast<std::size_t>(dims));
  for (const std::int64_t seed : {std::int64_t{-1}, std::int64_t{0}, tree.view().leaves() - 1})
    for (const F limit : {F{0}, F{20}, F{400}, std::numeric_limits<F>::infinity()}) {
      for (F& x : query) x = static_cast<F>(random.below(100));
      std::vector<F> scores(static_cast<std::size_t>(rows + kLeafPoints + 2 * kSlack));
      std::vector<OffsetOf<F>> found(scores.size());
      NearPoints<F> near{scores.data(), found.data(), 0, rows + 1, limit, limit, rows, nullptr, nullptr};
      walk_tree(form, 2, tree.view(), query.data(), seed, near);
      std::vector<std::uint32_t> got;
      for (std::int64_t i = 0; i < near.size; ++i) {
        const std::uint32_t id = tree.ids[static_cast<std::size_t>(found[static_cast<std::size_t>(i)])];
        got.push_back(id);
        EXPECT_EQ(scores[static_cast<std::size_t>(i)], score(form, query.data(), points.row(id), dims));
      }
      std::sort(got.begin(), got.end());
      std::vector<std::uint32_t> want;
      for (std::int64_t r = 0; r < rows; ++r)
        if (score(form, query.data(), points.row(r), dims) <= limit) want.push_back(static_cast<std::uint32_t>(r));
      EXPECT_EQ(got, want) << rows << " × " << dims << ", limit " << limit << ", seed " << seed;
      const std::int64_t leaf = near_leaf(form, 2, tree.view(), query.data());
      ASSERT_TRUE(leaf >= 0 && leaf < tree.view().leaves());
      const std::int64_t group = leaf / kFanOut * kFanOut;
      for (std::int64_t other = group; other < std::min(group + kFanOut, tree.view().leaves()); ++other)
        EXPECT_LE(box_score(form, query.data(), tree, leaf), box_score(form, query.data(), tree, other));
    }
}

TEST(TreeWalk, CollectsWhatIsWithinTheLimit) {
  test::on_every_target([] {
    for (const std::int64_t rows : {1, 33, 700, 9000})
      for (const std::int64_t dims : {1, 2, 3, 4, 8})
        for (const core::Form form : {core::Form::squared, core::Form::absolute, core::Form::maximum}) {
          check_walk<float>(rows, dims, form);
          check_walk<double>(rows, dims, form);
        }
  });
}

template <class F>
void check_sums(std::int64_t dims, core::Form form) {
  test::Random random(5);
  constexpr std::int64_t kRows = 70;
  std::vector<F> blocks(static_cast<std::size_t>(block_count<F>(kRows) * kBlockPoints<F> * dims));
  std::vector<F> rows(static_cast<std::size_t>(kRows * dims));
  std::vector<double> query(static_cast<std::size_t>(dims));
  for (F& x : rows) x = static_cast<F>(random.gaussian() * 1e3);
  for (double& x : query) x = random.gaussian() * 1e3;
  for (std::int64_t r = 0; r < kRows; ++r) put_row(rows.data() + r * dims, dims, r, blocks.data());
  for (const std::int64_t count : {1, 7, 8, 23}) {
    std::vector<OffsetOf<F>> listed;
    for (std::int64_t i = 0; i < count; ++i) listed.push_back(static_cast<OffsetOf<F>>(random.below(kRows)));
    std::vector<double> raw(static_cast<std::size_t>(count + kSlack));
    exact_block_sums(form, query.data(), {blocks.data(), kRows, dims}, listed.data(), count, raw.data());
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const F* const y = rows.data() + static_cast<std::int64_t>(listed[at]) * dims;
      EXPECT_EQ(raw[at], core::raw_sum(form, 2, query.data(), 1, 0.0, y, 1, 0.0, dims));
    }
  }
}

TEST(TreeWalk, SumsAreThoseOfTheKey) {
  test::on_every_target([] {
    for (std::int64_t dims = 1; dims <= 20; ++dims)
      for (const core::Form form : {core::Form::squared, core::Form::absolute, core::Form::maximum}) {
        check_sums<float>(dims, form);
        check_sums<double>(dims, form);
      }
  });
}

}  // namespace
}  // namespace kith::cpu
