// What reports count, and what stops a search.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>

#include "brute.hpp"
#include "kith/error.hpp"
#include "support/fails_with.hpp"

namespace kith::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Counts its calls.
struct Counting {
  std::atomic<std::int64_t>* calls;
  double operator()(const EditText& a, const EditText& b) const {
    ++*calls;
    return static_cast<double>(levenshtein(a, b));
  }
};

struct CountingWithBounds : Counting {
  std::atomic<std::int64_t>* bounds;
  double lower_bound(const EditText& a, const EditText& b) const {
    ++*bounds;
    return static_cast<double>(std::abs(a.size() - b.size()));
  }
};

TEST(PivotReport, CountsCalls) {
  Random random(1);
  const auto texts = random_texts(random, 1500, 14, 5);
  const auto queries = random_texts(random, 40, 14, 5);
  for (const int threads : {1, 3}) {
    std::atomic<std::int64_t> calls = 0;
    const PivotIndex<EditText, Counting> index(texts, {&calls}, Levenshtein::properties(),
                                               {24, PivotChoice::farthest_first, threads, {}});
    EXPECT_EQ(index.build_evaluations(), calls);
    EXPECT_EQ(calls, 24 * 1500);
    for (const std::int64_t k : {1, 5, 100}) {
      calls = 0;
      const PivotReport report = index.search(queries, k).report;
      EXPECT_EQ(report.evaluations, calls);
      EXPECT_EQ(report.pairs, 40 * 1500);
      EXPECT_EQ(report.objects, 1500);
      EXPECT_EQ(report.queries, 40);
      EXPECT_EQ(report.pivots, 24);
      EXPECT_EQ(report.build_evaluations, 24 * 1500);
      EXPECT_EQ(report.lower_bounds, 0);
      EXPECT_LE(report.pivot_evaluations, report.evaluations);
      EXPECT_LE(report.pivot_evaluations, 40 * 24);
      EXPECT_LE(report.evaluations, report.pairs);
      EXPECT_DOUBLE_EQ(report.saved(), 1 - static_cast<double>(calls) / (40 * 1500));
    }
    calls = 0;
    const PivotReport self = index.search_self(1).report;
    EXPECT_EQ(self.evaluations, calls);
    EXPECT_EQ(self.pairs, std::int64_t{1500} * 1499);
    EXPECT_EQ(self.pivot_evaluations, 0);
    EXPECT_GT(self.saved(), 0.5);
    calls = 0;
    EXPECT_EQ(index.search_radius(queries, 1).report.evaluations, calls);
    calls = 0;
    EXPECT_EQ(index.search_radius_self(1).report.evaluations, calls);
  }
}

TEST(PivotReport, CountsEvaluationsOfChoosingPivots) {
  Random random(2);
  const auto texts = random_texts(random, 500, 14, 5);
  std::atomic<std::int64_t> calls = 0;
  const PivotIndex<EditText, Counting> index(texts, {&calls}, Levenshtein::properties(),
                                             {10, PivotChoice::best_bounds, 2, {}});
  EXPECT_EQ(index.build_evaluations(), calls);
  EXPECT_GE(calls, 10 * 500);
}

TEST(PivotReport, CountsLowerBounds) {
  Random random(3);
  const auto texts = random_texts(random, 700, 20, 5);
  const auto queries = random_texts(random, 10, 20, 5);
  std::atomic<std::int64_t> calls = 0;
  std::atomic<std::int64_t> bounds = 0;
  DistanceProperties properties = Levenshtein::properties();
  for (const bool metric : {true, false}) {
    properties.triangle_inequality = metric;
    const PivotIndex<EditText, CountingWithBounds> index(texts, {{&calls}, &bounds}, properties);
    calls = bounds = 0;
    const PivotReport report = index.search(queries, 2).report;
    EXPECT_EQ(report.evaluations, calls);
    EXPECT_EQ(report.lower_bounds, bounds);
    EXPECT_EQ(bounds, 10 * 700);
    EXPECT_GT(report.saved(), 0.1);
  }
}

TEST(PivotReport, BruteForceEvaluatesEachPairOnce) {
  Random random(4);
  const auto texts = random_texts(random, 300, 10, 5);
  std::atomic<std::int64_t> calls = 0;
  const PivotIndex<EditText, Counting> index(texts, {&calls}, {true, false, true});
  EXPECT_EQ(calls, 0);
  const PivotReport report = index.search(texts, 4).report;
  EXPECT_EQ(calls, 300 * 300);
  EXPECT_EQ(report.evaluations, calls);
  EXPECT_EQ(report.saved(), 0);
  calls = 0;
  EXPECT_EQ(index.search_self(4).report.evaluations, 300 * 299);
  EXPECT_EQ(calls, 300 * 299);
}

TEST(PivotReport, NoQueriesNoEvaluations) {
  const std::vector<EditText> texts = {EditText::of_utf8("a"), EditText::of_utf8("b")};
  const PivotIndex<EditText, Levenshtein> index(texts);
  const PivotNeighbors none = index.search({}, 2);
  EXPECT_EQ(none.queries, 0);
  EXPECT_TRUE(none.ids.empty());
  EXPECT_EQ(none.report.saved(), 0);
  EXPECT_EQ(index.search_radius({}, 1).offsets, std::vector<std::int64_t>{0});
}

// A distance in which something is wrong.
struct Odd {
  double value = 0;
  double operator()(std::int64_t a, std::int64_t b) const {
    return a + b == 40 ? value : std::abs(static_cast<double>(a - b));
  }
};

TEST(PivotErrors, ValuesThatWereNotPromised) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 30; ++i) numbers.push_back(i);
  const auto search = [&](double value, DistanceProperties properties) {
    return [&, value, properties] {
      properties.triangle_inequality
          ? PivotIndex<std::int64_t, Odd>(numbers, {value}, properties, {1, {}, 1, {}}).search_self(29)
          : PivotIndex<std::int64_t, Odd>(numbers, {value}, properties).search_self(29);
    };
  };
  const DistanceProperties whole{true, true, true};
  const DistanceProperties any{true, false};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"the distance of object 11 to object 29 is -1", "not negative"},
                         search(-1, {})));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"object 11 to object 29 is nan"}, search(nan, {})));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"object 11 to object 29 is inf", "finite"}, search(kInfinity, {})));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"is 0.5", "whole numbers"}, search(0.5, whole)));
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"is nan", "comparable"}, search(nan, any)));
  EXPECT_NO_THROW(search(kInfinity, any)());
  EXPECT_NO_THROW(search(-1, any)());
  const PivotIndex<std::int64_t, Odd> index(numbers, {nan}, any);
  EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"query 0 to object 20"},
                         [&] { index.search(std::vector<std::int64_t>{20}, 1); }));
}

TEST(PivotErrors, PivotsThatBreakPromises) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 30; ++i) numbers.push_back(i);
  const auto squares = [](std::int64_t a, std::int64_t b) { return static_cast<double>((a - b) * (a - b)); };
  const auto uphill = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(std::abs(a - b) + std::max(b - a, std::int64_t{0}));
  };
  const auto index = [&](auto distance, const DistanceProperties& properties) {
    return [&, distance, properties] {
      PivotIndex<std::int64_t, decltype(distance)>(numbers, distance, properties, {6, {}, 1, {}});
    };
  };
  for (const bool whole : {true, false}) {
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"triangle inequality", "by way of object"},
                           index(squares, {true, true, whole})));
    EXPECT_TRUE(fails_with(ErrorCode::bad_data, {"symmetric", "the other way"}, index(uphill, {true, true, whole})));
    EXPECT_NO_THROW(index(uphill, {false, true, whole})());
  }
}

TEST(PivotErrors, Arguments) {
  const std::vector<EditText> texts = {EditText::of_utf8("a"), EditText::of_utf8("b")};
  using Texts = PivotIndex<EditText, Levenshtein>;
  const Texts index(texts);
  const auto fails = [](const std::vector<std::string>& mentions, const std::function<void()>& work) {
    return fails_with(ErrorCode::invalid_argument, mentions, work);
  };
  EXPECT_TRUE(fails({"0 objects"}, [] { Texts(std::vector<EditText>{}); }));
  EXPECT_TRUE(fails({"k = 0"}, [&] { index.search(texts, 0); }));
  EXPECT_TRUE(fails({"k = 3", "2"}, [&] { index.search(texts, 3); }));
  EXPECT_TRUE(fails({"k = 2", "other objects is 1"}, [&] { index.search_self(2); }));
  EXPECT_TRUE(fails({"radius 0 is -1"}, [&] { index.search_radius(texts, -1); }));
  EXPECT_TRUE(fails({"radius 1 is nan"}, [&] { index.search_radius(texts, std::vector<double>{1, NAN}); }));
  EXPECT_TRUE(fails({"3 radii for 2 queries"}, [&] { index.search_radius(texts, std::vector<double>{1, 1, 1}); }));
  EXPECT_TRUE(fails({"pivots = 3", "2 objects"}, [&] { Texts(texts, {}, {}, {3, {}, 0, {}}); }));
  EXPECT_TRUE(fails({"pivots = -1"}, [&] { Texts(texts, {}, {}, {-1, {}, 0, {}}); }));
  EXPECT_TRUE(fails({"threads = -1"}, [&] { Texts(texts, {}, {}, {0, {}, -1, {}}); }));
  EXPECT_TRUE(fails({"pivots = 1", "triangle inequality"}, [&] { Texts(texts, {}, {true, false}, {1, {}, 0, {}}); }));
  EXPECT_TRUE(fails({"relative_error = 0.5"}, [&] { Texts(texts, {}, {true, true, false, 0.5, 0}); }));
  EXPECT_TRUE(fails({"absolute_error = -1"}, [&] { Texts(texts, {}, {true, true, false, 0, -1}); }));
}

struct Fails {
  std::int64_t at;
  double operator()(std::int64_t a, std::int64_t b) const {
    if (a == at) throw std::out_of_range("distance of " + std::to_string(a));
    return std::abs(static_cast<double>(a - b));
  }
};

TEST(PivotErrors, ExceptionsOfTheDistanceReachTheCaller) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 1000; ++i) numbers.push_back(i);
  for (const int threads : {1, 4}) {
    const PivotOptions options{4, PivotChoice::farthest_first, threads, {}};
    EXPECT_THROW((PivotIndex<std::int64_t, Fails>(numbers, {500}, {}, options)), std::out_of_range);
    const PivotIndex<std::int64_t, Fails> index(numbers, {-1}, {}, options);
    std::vector<std::int64_t> queries(100, 7);
    queries[60] = -1;
    EXPECT_THROW(index.search(queries, 3), std::out_of_range);
    EXPECT_THROW(index.search_radius(queries, 3), std::out_of_range);
    queries[60] = 8;
    EXPECT_EQ(index.search(queries, 1).ids[60], 8);
  }
}

TEST(PivotProgress, IsReportedOnTheCallingThreadAndCancels) {
  Random random(5);
  const auto texts = random_texts(random, 400, 10, 4);
  const auto caller = std::this_thread::get_id();
  std::int64_t calls = 0;
  std::int64_t done = 0;
  std::int64_t most_calls = std::numeric_limits<std::int64_t>::max();
  bool finished = false;
  const auto callback = [&](const Progress& progress) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GE(progress.done, finished ? 0 : done);
    done = progress.done;
    finished = progress.done == progress.total;
    return ++calls < most_calls;
  };
  PivotIndex<EditText, Levenshtein> index(texts, {}, Levenshtein::properties(), {8, {}, 2, callback});
  EXPECT_TRUE(finished);
  done = 0;
  const PivotNeighbors whole = index.search(texts, 3);
  EXPECT_TRUE(finished);
  EXPECT_EQ(done, 400 * 400);
  // One thread, for another one may do all the work before this one has begun.
  index = PivotIndex<EditText, Levenshtein>(texts, {}, Levenshtein::properties(), {8, {}, 1, callback});
  most_calls = 2;
  done = calls = 0;
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled"}, [&] { index.search(texts, 3); }));
  done = calls = 0;
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled"}, [&] { index.search_radius(texts, 3); }));
  done = calls = 0;
  EXPECT_TRUE(fails_with(ErrorCode::cancelled, {"cancelled"}, [&] {
    PivotIndex<EditText, Levenshtein>(texts, {}, Levenshtein::properties(), {8, {}, 1, callback});
  }));
  most_calls = std::numeric_limits<std::int64_t>::max();
  done = calls = 0;
  EXPECT_EQ(index.search(texts, 3).ids, whole.ids);
}

}  // namespace
}  // namespace kith::test
