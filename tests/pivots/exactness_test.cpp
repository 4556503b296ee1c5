// Searches by pivots beside brute force, id for id, distance for distance.
#include <gtest/gtest.h>

#include <limits>

#include "brute.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

std::vector<PivotOptions> all_options() {
  std::vector<PivotOptions> all;
  for (const PivotChoice choice : {PivotChoice::farthest_first, PivotChoice::best_bounds})
    for (const std::int64_t pivots : {0, 1, 3, 20}) all.push_back({pivots, choice, 1, {}});
  return all;
}

TEST(PivotSearch, StringsUnderLevenshtein) {
  Random random(1);
  const auto texts = random_texts(random, 300, 12, 3);
  const auto queries = random_texts(random, 20, 12, 3);
  for (const PivotOptions& options : all_options()) {
    expect_exact(texts, queries, PlainLevenshtein{}, Levenshtein::properties(), options, {1, 5, 10, 299, 300});
    expect_exact(texts, queries, Levenshtein{}, Levenshtein::properties(), options, {1, 5, 10, 299, 300});
  }
}

// Distances beyond 8 bits, and beyond 16 with the weight.
struct HeavyLevenshtein {
  double weight;
  double operator()(const EditText& a, const EditText& b) const {
    return weight * static_cast<double>(levenshtein(a, b));
  }
};

TEST(PivotSearch, WholeNumbersOfAnySize) {
  Random random(2);
  const auto texts = random_texts(random, 120, 40, 4);
  const auto queries = random_texts(random, 10, 40, 4);
  for (const double weight : {6, 7, 60, 1700, 5000, 1000000})
    expect_exact(texts, queries, HeavyLevenshtein{weight}, Levenshtein::properties(),
                 {10, PivotChoice::farthest_first, 1, {}}, {1, 7, 120});
}

TEST(PivotSearch, PointsWithTiesAndNearTies) {
  Random random(3);
  auto points = random_points(random, 150, 3);
  // On a grid, where many distances are equal; beside grid points by less than distances can tell; copies.
  for (int i = 0; i < 150; ++i) {
    Point point;
    for (int j = 0; j < 3; ++j) point.push_back(0.1 * static_cast<double>(random.below(4)));
    points.push_back(point);
    for (double& x : point) x = std::nextafter(x, 1);
    points.push_back(point);
    points.push_back(points[static_cast<std::size_t>(random.below(std::ssize(points)))]);
  }
  std::vector<Point> queries = random_points(random, 10, 3);
  for (int i = 0; i < 20; ++i) queries.push_back(points[static_cast<std::size_t>(random.below(std::ssize(points)))]);
  for (const PivotOptions& options : all_options())
    expect_exact(points, queries, Euclidean{}, DistanceProperties{}, options, {1, 4, 30, std::ssize(points)});
}

// Points on a line far from the origin: bounds by pivots are the distances themselves, but for rounding.
TEST(PivotSearch, RoundingRulesNothingOut) {
  Random random(4);
  std::vector<Point> points;
  for (int i = 0; i < 400; ++i) points.push_back({1e3 + random.uniform() * 1e-9 * static_cast<double>(i), 0.1, 1e5});
  std::vector<Point> queries;
  for (int i = 0; i < 30; ++i) queries.push_back({1e3 + random.uniform() * 4e-7, 0.1, 1e5});
  queries.push_back({0, 0, 0});
  // A distance in float has errors of its own, which are the larger part of bounds here.
  struct InFloat {
    double operator()(const Point& a, const Point& b) const {
      float sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto difference = static_cast<float>(a[i] - b[i]);
        sum += difference * difference;
      }
      return std::sqrt(sum);
    }
  };
  for (const PivotOptions& options : all_options()) {
    expect_exact(points, queries, Euclidean{}, DistanceProperties{}, options, {1, 2, 50});
    expect_exact(points, queries, InFloat{}, {true, true, false, 1e-5, 0}, options, {1, 2, 50});
  }
}

// Without leeway the bounds of such distances do rule neighbors out, so the test above can fail.
TEST(PivotSearch, LeewayIsNeeded) {
  struct Rounded {  // to multiples of 0.01, which breaks the triangle inequality by as much
    double operator()(const Point& a, const Point& b) const { return std::round(Euclidean{}(a, b) * 100) / 100; }
  };
  Random random(5);
  const auto points = random_points(random, 500, 1);
  const auto queries = random_points(random, 100, 1);
  const PivotOptions options{10, PivotChoice::best_bounds, 1, {}};
  expect_exact(points, queries, Rounded{}, {true, true, false, 1e-9, 0.00501}, options, {1, 3, 20});
  std::int64_t wrong = 0;
  // Of so few pivots none breaks the inequality by itself.
  const PivotIndex<Point, Rounded> strict(points, {}, {true, true, false, 0, 0}, {1, PivotChoice::best_bounds, 1, {}});
  const PivotNeighbors found = strict.search(queries, 3);
  for (std::int64_t q = 0; q < found.queries; ++q)
    wrong +=
        row_of(found, q) != first(all_distances(points, queries[static_cast<std::size_t>(q)], Rounded{}), 3) ? 1 : 0;
  EXPECT_GT(wrong, 0);
}

// The way between two nodes of a tree, whose edges have whole lengths, 0 among them.
struct Tree {
  std::vector<std::int64_t> parent;
  std::vector<std::int64_t> length;

  explicit Tree(Random& random, std::int64_t nodes) : parent{0}, length{0} {
    for (std::int64_t i = 1; i < nodes; ++i) {
      parent.push_back(random.below(i));
      length.push_back(random.below(5));
    }
  }
  std::int64_t between(std::int64_t a, std::int64_t b) const {
    std::int64_t sum = 0;
    for (; a != b; a = parent[static_cast<std::size_t>(a)]) {
      if (a < b) std::swap(a, b);
      sum += length[static_cast<std::size_t>(a)];
    }
    return sum;
  }
};

TEST(PivotSearch, TreeMetrics) {
  Random random(6);
  for (int round = 0; round < 5; ++round) {
    const Tree tree(random, 400);
    const auto distance = [&tree](std::int64_t a, std::int64_t b) { return static_cast<double>(tree.between(a, b)); };
    std::vector<std::int64_t> objects;
    std::vector<std::int64_t> queries;
    for (std::int64_t node = 0; node < 400; ++node) (random.below(10) == 0 ? queries : objects).push_back(node);
    for (const PivotOptions& options : all_options())
      expect_exact(objects, queries, distance, {true, true, true}, options, {1, 3, std::ssize(objects)});
  }
}

// Ways uphill cost more: the triangle inequality holds, symmetry does not.
TEST(PivotSearch, DistancesThatDifferByDirection) {
  Random random(7);
  struct Hilly {
    double operator()(const Point& a, const Point& b) const { return Euclidean{}(a, b) + std::max(b[0] - a[0], 0.0); }
  };
  struct Steps {
    double operator()(const Point& a, const Point& b) const { return std::ceil(100 * std::max(b[0] - a[0], 0.0)); }
  };
  const auto points = random_points(random, 300, 2);
  const auto queries = random_points(random, 30, 2);
  for (const PivotOptions& options : all_options()) {
    expect_exact(points, queries, Hilly{}, {false, true}, options, {1, 5, 300});
    expect_exact(points, queries, Steps{}, {false, true, true}, options, {1, 5, 300});
  }
}

TEST(PivotSearch, CopiesAndSmallSets) {
  const std::vector<EditText> copies(50, EditText::of_utf8("same"));
  for (const PivotOptions& options : all_options())
    expect_exact(copies, {EditText::of_utf8("some"), copies.front()}, Levenshtein{}, Levenshtein::properties(), options,
                 {1, 7, 50});
  const std::vector<EditText> one = {EditText::of_utf8("")};
  expect_exact(one, {EditText::of_utf8("x")}, Levenshtein{}, Levenshtein::properties(), {}, {1});
  expect_exact(one, {EditText::of_utf8("x")}, Levenshtein{}, Levenshtein::properties(),
               {1, PivotChoice::best_bounds, 1, {}}, {1});
}

// No metric: all distances, but for those that a lower bound rules out; negative and infinite ones too.
TEST(PivotSearch, NoMetric) {
  Random random(8);
  struct MinusProduct {
    double operator()(const Point& a, const Point& b) const { return -(a[0] * b[0] + a[1] * b[1]); }
  };
  struct Bounded : MinusProduct {
    double lower_bound(const Point& a, const Point& b) const {
      return -std::hypot(a[0], a[1]) * std::hypot(b[0], b[1]);  // Cauchy and Schwarz
    }
  };
  struct OftenInfinite {
    double operator()(const Point& a, const Point& b) const {
      const double way = Euclidean{}(a, b);
      return way > 0.5 ? std::numeric_limits<double>::infinity() : way;
    }
  };
  const auto points = random_points(random, 200, 2);
  const auto queries = random_points(random, 20, 2);
  const DistanceProperties none{true, false};
  const PivotIndex<Point, MinusProduct> index(points, {}, none);
  const PivotIndex<Point, Bounded> bounded(points, {}, none);
  EXPECT_TRUE(index.pivots().empty());
  for (const std::int64_t k : {1, 10, 200})
    for (std::int64_t q = 0; q < std::ssize(queries); ++q) {
      const Row want = first(all_distances(points, queries[static_cast<std::size_t>(q)], MinusProduct{}), k);
      ASSERT_EQ(row_of(index.search(queries, k), q), want);
      ASSERT_EQ(row_of(bounded.search(queries, k), q), want);
    }
  expect_exact(points, queries, OftenInfinite{}, none, {}, {1, 10, 200});
  EXPECT_LT(bounded.search(queries, 1).report.evaluations, std::ssize(points) * std::ssize(queries) / 4);
}

TEST(PivotSearch, TimeWarping) {
  Random random(9);
  std::vector<TimeSeries> all;
  for (int i = 0; i < 120; ++i) {
    std::vector<double> values;
    double at = random.gaussian();
    for (std::int64_t step = 20 + random.below(6); step > 0; --step) values.push_back(at += 0.3 * random.gaussian());
    all.emplace_back(values);
  }
  const std::vector<TimeSeries> queries(all.begin(), all.begin() + 20);
  const std::vector<TimeSeries> objects(all.begin() + 20, all.end());
  for (const std::int64_t window : {-1, 0, 3, 1000})
    expect_exact(objects, queries, DynamicTimeWarping{window}, DynamicTimeWarping::properties(), {}, {1, 5, 100});
  const PivotIndex<TimeSeries, DynamicTimeWarping> index(std::span<const TimeSeries>(objects), {3},
                                                         DynamicTimeWarping::properties());
  EXPECT_GT(index.search(queries, 1).report.saved(), 0.1);
}

TEST(PivotSearch, EarthMovers) {
  Random random(10);
  std::vector<WeightedSample> all;
  for (int i = 0; i < 300; ++i) {
    std::vector<double> counts;
    const double center = random.uniform() * 20;
    for (int bin = 0; bin < 20; ++bin)
      counts.push_back(std::floor(100 * std::exp(-std::abs(bin - center)) * random.uniform()) + (bin == 0 ? 1 : 0));
    all.push_back(WeightedSample::histogram(counts));
  }
  const std::vector<WeightedSample> queries(all.begin(), all.begin() + 30);
  for (const PivotOptions& options : all_options())
    expect_exact(all, queries, EarthMovers{}, EarthMovers::properties(), options, {1, 5, 299, 300});
}

TEST(PivotSearch, ThreadsChangeNothing) {
  Random random(11);
  const auto texts = random_texts(random, 2000, 15, 4);
  const auto queries = random_texts(random, 100, 15, 4);
  const PivotIndex<EditText, Levenshtein> alone(texts, {}, Levenshtein::properties(), {16, {}, 1, {}});
  const PivotIndex<EditText, Levenshtein> shared(texts, {}, Levenshtein::properties(), {16, {}, 4, {}});
  ASSERT_TRUE(std::ranges::equal(alone.pivots(), shared.pivots()));
  for (const std::int64_t k : {1, 10}) {
    const PivotNeighbors one = alone.search(queries, k);
    const PivotNeighbors four = shared.search(queries, k);
    EXPECT_EQ(one.ids, four.ids);
    EXPECT_EQ(one.distances, four.distances);
    EXPECT_EQ(one.report.evaluations, four.report.evaluations);
    EXPECT_EQ(one.report.threads, 1);
    EXPECT_EQ(four.report.threads, 4);
  }
  EXPECT_EQ(alone.search_self(3).ids, shared.search_self(3).ids);
}

TEST(PivotSearch, IndexesMove) {
  Random random(12);
  const auto texts = random_texts(random, 100, 10, 3);
  PivotIndex<EditText, Levenshtein> made(texts, {}, Levenshtein::properties());
  const PivotNeighbors before = made.search_self(2);
  const PivotIndex<EditText, Levenshtein> moved = std::move(made);
  EXPECT_EQ(moved.search_self(2).ids, before.ids);
  EXPECT_EQ(moved.size(), 100);
  EXPECT_EQ(moved.objects().size(), 100U);
}

}  // namespace
}  // namespace kith::test
