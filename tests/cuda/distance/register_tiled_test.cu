// Register-tiled scores against plain sums in double, and the fused filter against those scores, bit for bit: every
// form, counts and dimensions around the sizes of tiles and chunks, rows of any alignment, nothing written elsewhere.
#include "cuda/distance/panels.hpp"

#include <cmath>
#include <limits>

#include "cuda/distance/fused_filter.hpp"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::test::register_tiled {
namespace {

using core::Form;

using RegisterTiled = DeviceTest;
using FusedFilter = DeviceTest;

constexpr double kPower = 2.5;

struct FormCase {
  const char* name;
  Form form;
  bool expanded = false;
};
constexpr FormCase kForms[] = {{"squared", Form::squared},   {"expanded", Form::squared, true},
                               {"absolute", Form::absolute}, {"maximum", Form::maximum},
                               {"power", Form::power},       {"mismatch", Form::mismatch},
                               {"ratio", Form::ratio},       {"dot", Form::dot}};

struct Size {
  std::int64_t queries;
  std::int64_t base;
};
constexpr Size kSizes[] = {{1, 1}, {3, 5}, {129, 130}, {200, 77}};
constexpr std::int64_t kDims[] = {1, 3, 7, 8, 16, 17, 33, 130};

// Layout of rows and scores: elements before the first row, and between two.
struct Layout {
  std::int64_t offset;
  std::int64_t gap;
};
constexpr Layout kLayouts[] = {{0, 0}, {0, 4}, {1, 0}, {3, 5}};

template <class F>
struct Points {
  std::int64_t count;
  std::int64_t dims;
  std::int64_t offset;
  std::int64_t stride;
  std::vector<F> values;  // NaN where there is no coordinate

  Points(std::int64_t rows, std::int64_t row_dims, Layout layout, Random& random)
      : count(rows),
        dims(row_dims),
        offset(layout.offset),
        stride(row_dims + layout.gap),
        values(static_cast<std::size_t>(offset + (count - 1) * stride + dims), std::numeric_limits<F>::quiet_NaN()) {
    for (std::int64_t row = 0; row < count; ++row) {
      for (std::int64_t c = 0; c < dims; ++c) {
        const double value = 2 * random.gaussian();
        at(row, c) = static_cast<F>(random.below(2) == 0 ? std::round(value) : value);  // some coordinates agree
      }
    }
  }

  F& at(std::int64_t row, std::int64_t c) { return values[static_cast<std::size_t>(offset + row * stride + c)]; }
  F at(std::int64_t row, std::int64_t c) const { return values[static_cast<std::size_t>(offset + row * stride + c)]; }
  device::PointRows<F> on(DeviceArray<F>& array) const { return {array.data() + offset, count, stride}; }
};

template <class F>
std::vector<F> square_norms(const Points<F>& points) {
  std::vector<F> norms;
  for (std::int64_t row = 0; row < points.count; ++row) {
    double sum = 0;
    for (std::int64_t c = 0; c < points.dims; ++c)
      sum += static_cast<double>(points.at(row, c)) * static_cast<double>(points.at(row, c));
    norms.push_back(static_cast<F>(sum));
  }
  return norms;
}

// Two sets of points on the device.
template <class F>
struct Sets {
  Points<F> queries;
  Points<F> base;
  std::vector<F> norms;
  device::Stream stream;
  device::Workspace workspace;
  DeviceArray<F> query_array;
  DeviceArray<F> base_array;
  DeviceArray<F> norm_array;

  Sets(Points<F> queries_in, Points<F> base_in, std::size_t budget = 0)
      : queries(std::move(queries_in)),
        base(std::move(base_in)),
        norms(square_norms(base)),
        workspace(stream, budget),
        query_array(queries.values, stream),
        base_array(base.values, stream),
        norm_array(norms, stream) {}

  std::size_t pairs() const { return static_cast<std::size_t>(queries.count * base.count); }

  // Computes rows of scores in a layout; elements between them must keep their guard.
  std::vector<F> scores(const FormCase& form, Layout layout) {
    const std::int64_t stride = base.count + layout.gap;
    DeviceArray<F> array(std::vector<F>(static_cast<std::size_t>(layout.offset + queries.count * stride), kGuard),
                         stream);
    const device::distance::ScoreCall<F> call{.queries = queries.on(query_array),
                                              .base = base.on(base_array),
                                              .dims = queries.dims,
                                              .form = form.form,
                                              .p = kPower,
                                              .bias = form.expanded ? norm_array.data() : nullptr,
                                              .scores = array.data() + layout.offset,
                                              .score_stride = stride,
                                              .workspace = workspace};
    workspace.reset();
    device::distance::register_tiled_scores(call);
    const std::vector<F> written = array.values();
    std::vector<F> result;
    result.reserve(pairs());
    for (std::size_t i = 0; i < written.size(); ++i) {
      const std::int64_t slot = static_cast<std::int64_t>(i) - layout.offset;
      if (slot >= 0 && slot % stride < base.count)
        result.push_back(written[i]);
      else if (written[i] != kGuard)
        ADD_FAILURE() << "written beside the scores, at " << slot;
    }
    return result;
  }

  static constexpr F kGuard = 12345;  // not a score
};

struct Expected {
  double score = 0;
  double magnitude = 0;  // the sum of the terms' magnitudes
};

template <class F>
Expected expected(const FormCase& form, const Sets<F>& sets, std::int64_t query, std::int64_t point) {
  Expected result;
  for (std::int64_t c = 0; c < sets.queries.dims; ++c) {
    const auto x = static_cast<double>(sets.queries.at(query, c));
    const auto y = static_cast<double>(sets.base.at(point, c));
    const Form kind = form.expanded ? Form::dot : form.form;
    const double sign = form.expanded ? -2 : kind == Form::dot ? -1 : 1;
    const double term = sign * core::term(kind, kPower, x, y);
    result.score = kind == Form::maximum ? std::max(result.score, term) : result.score + term;
    result.magnitude += std::abs(term);
  }
  if (form.expanded) {
    const auto bias = static_cast<double>(sets.norms[static_cast<std::size_t>(point)]);
    result = {result.score + bias, result.magnitude + bias};
  }
  return result;
}

template <class F>
void check_scores(Sets<F>& sets, const FormCase& form, Layout layout) {
  const std::vector<F> scores = sets.scores(form, layout);
  ASSERT_EQ(scores.size(), sets.pairs());
  const double tolerance = std::is_same_v<F, float> ? 1e-5 : 1e-13;
  for (std::int64_t query = 0; query < sets.queries.count; ++query) {
    for (std::int64_t point = 0; point < sets.base.count; ++point) {
      const Expected wanted = expected(form, sets, query, point);
      const auto got = static_cast<double>(scores[static_cast<std::size_t>(query * sets.base.count + point)]);
      if (std::abs(got - wanted.score) <= tolerance * wanted.magnitude) continue;
      FAIL() << "query " << query << ", point " << point << ": " << got << " instead of " << wanted.score;
    }
  }
}

template <class F>
void check_sizes(unsigned variant, Size size, std::int64_t dims) {
  Random random(variant);
  Sets<F> sets(Points<F>(size.queries, dims, kLayouts[variant % 4], random),
               Points<F>(size.base, dims, kLayouts[variant / 4 % 4], random));
  for (const FormCase& form : kForms) {
    SCOPED_TRACE(testing::Message() << form.name << ", " << size.queries << " x " << size.base << ", " << dims
                                    << " dims, " << sizeof(F) << " bytes");
    set_schedule(variant % kSchedules);
    check_scores(sets, form, kLayouts[variant++ % 4]);
    if (testing::Test::HasFailure()) return;
  }
}

template <class F>
void check_all_sizes() {
  unsigned variant = 0;
  for (const Size& size : kSizes) {
    for (const std::int64_t dims : kDims) {
      check_sizes<F>(variant++, size, dims);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_F(RegisterTiled, Scores) {
  check_all_sizes<float>();
}

TEST_F(RegisterTiled, ScoresInDouble) {
  check_all_sizes<double>();
}

// So many base points that all blocks but the last run through two tiles.
template <class F>
std::int64_t many_points() {
  using Shape = device::distance::TileShape<F>;
  const std::int64_t blocks = std::int64_t{Shape::kBlocks} * device::multiprocessor_count();
  const std::int64_t points = (2 * blocks - 1) * Shape::kPoints - 5;
  EXPECT_EQ(device::distance::plan_tiles<F>({nullptr, 5, 0}, {nullptr, points, 0}, 17, nullptr).tiles_each, 2U);
  return points;
}

TEST_F(RegisterTiled, BlocksRunThroughSeveralTiles) {
  check_sizes<float>(1, {5, many_points<float>()}, 17);
  check_sizes<double>(2, {5, many_points<double>()}, 17);
  // Queries that do not stay in shared memory.
  if (!under_sanitizer()) check_sizes<double>(3, {5, many_points<double>()}, 150);
}

// So many queries that points are transposed first, with memory for panels of the queries and of one base tile.
template <class F>
Sets<F> sets_of_panels(std::int64_t dims, unsigned variant) {
  constexpr std::int64_t kPoints = device::distance::TileShape<F>::kPoints;
  const std::int64_t queries = 3 * kPoints + 1;
  EXPECT_TRUE(device::distance::panels::are_worthwhile<F>(queries, dims));
  Random random(variant);
  Points<F> query_points(queries, dims, kLayouts[variant % 4], random);
  Points<F> base_points(2 * kPoints + 9, dims, kLayouts[variant / 4 % 4], random);
  const std::int64_t values =
      device::distance::panels::values<F>(queries, dims) + device::distance::panels::values<F>(1, dims);
  const auto budget = 8 * static_cast<std::size_t>(values) * sizeof(F);
  Sets<F> sets(std::move(query_points), std::move(base_points), budget);
  EXPECT_EQ(device::distance::panels::part_points<F>(queries, dims, sets.workspace), kPoints);
  return sets;
}

template <class F>
void check_panels() {
  unsigned variant = 0;
  for (const std::int64_t dims : {17, 33, 70}) {
    Sets<F> sets = sets_of_panels<F>(dims, variant++);
    for (const FormCase& form : kForms) {
      SCOPED_TRACE(testing::Message() << form.name << ", " << dims << " dims, " << sizeof(F) << " bytes");
      set_schedule(variant % kSchedules);
      check_scores(sets, form, kLayouts[variant++ % 4]);
      if (testing::Test::HasFailure() || under_sanitizer()) break;
    }
  }
}

TEST_F(RegisterTiled, PanelsOfPartsOfTheBase) {
  check_panels<float>();
  check_panels<double>();
}

// Without memory for panels, rows are read, and give the same scores, bit for bit.
TEST_F(RegisterTiled, PanelsChangeNoScore) {
  Sets<float> sets = sets_of_panels<float>(70, 3);
  const std::vector<float> turned = sets.scores(kForms[0], {0, 0});
  sets.workspace = device::Workspace(sets.stream, 64);
  EXPECT_EQ(device::distance::panels::part_points<float>(sets.queries.count, 70, sets.workspace), 0);
  EXPECT_EQ(sets.scores(kForms[0], {0, 0}), turned);
}

TEST_F(RegisterTiled, NothingToDo) {
  device::Stream stream;
  device::Workspace workspace(stream);
  device::distance::register_tiled_scores<float>(
      {.queries = {}, .base = {nullptr, 5, 3}, .dims = 3, .workspace = workspace});
  device::distance::fused_filter(device::distance::FilterCall<float>{
      .queries = {nullptr, 5, 3}, .base = {}, .dims = 3, .lists = {}, .workspace = workspace});
  stream.synchronize();
}

TEST(RegisterTiledPlanning, BlocksCoverAllTilesInFewRounds) {
  for (const std::int64_t query_tiles : {1, 2, 7, 79, 8000}) {
    for (const std::int64_t base_tiles : {1, 2, 31, 33, 1000, 7813}) {
      const unsigned tiles = device::distance::best_tiles_each(query_tiles, base_tiles, 264, 32);
      ASSERT_GE(tiles, 1U);
      ASSERT_LE(tiles, 32U);
      ASSERT_LE(tiles, base_tiles);
      const std::int64_t rounds = device::ceil_div(query_tiles * device::ceil_div(base_tiles, tiles), 264);
      const std::int64_t least = device::ceil_div(query_tiles * base_tiles, 264);
      EXPECT_LE(rounds * tiles, least + least / 4 + 1) << query_tiles << " x " << base_tiles;
    }
  }
}

template <class F>
bool passes(F score, F limit) {
  return !std::isnan(limit) && !(score > limit);
}

// Compares bits: NaN equals itself, and zeros have signs.
template <class F>
bool same(F a, F b) {
  return std::memcmp(&a, &b, sizeof(F)) == 0;
}

template <class F>
class FilterProblem {
 public:
  static constexpr unsigned kFirstId = 1000;
  static constexpr unsigned kNoId = 77;  // below the first id

  // `scores` are those of all pairs.
  FilterProblem(Sets<F>& sets, const FormCase& form, std::vector<F> scores, std::vector<F> limits, unsigned capacity)
      : sets_(sets), form_(form), limits_(std::move(limits)), capacity_(capacity), scores_(std::move(scores)) {}

  void check() {
    DeviceArray<F> limits(limits_, sets_.stream);
    DeviceArray<F> scores(std::vector<F>(limits_.size() * capacity_, Sets<F>::kGuard), sets_.stream);
    DeviceArray<unsigned> ids(std::vector<unsigned>(limits_.size() * capacity_, kNoId), sets_.stream);
    DeviceArray<unsigned> counts(std::vector<unsigned>(limits_.size(), 0), sets_.stream);
    const device::distance::FilterCall<F> call{.queries = sets_.queries.on(sets_.query_array),
                                               .base = sets_.base.on(sets_.base_array),
                                               .dims = sets_.queries.dims,
                                               .form = form_.form,
                                               .p = kPower,
                                               .bias = form_.expanded ? sets_.norm_array.data() : nullptr,
                                               .lists = {.limits = limits.data(),
                                                         .capacity = capacity_,
                                                         .scores = scores.data(),
                                                         .ids = ids.data(),
                                                         .first_id = kFirstId,
                                                         .counts = counts.data()},
                                               .workspace = sets_.workspace};
    sets_.workspace.reset();
    device::distance::fused_filter(call);
    found_scores_ = scores.values();
    found_ids_ = ids.values();
    const std::vector<unsigned> found = counts.values();
    for (std::size_t query = 0; query < limits_.size() && !testing::Test::HasFailure(); ++query)
      check_query(query, found[query]);
  }

 private:
  F score(std::size_t query, std::size_t point) const {
    return scores_[query * static_cast<std::size_t>(sets_.base.count) + point];
  }

  void check_query(std::size_t query, unsigned found) const {
    const auto points = static_cast<std::size_t>(sets_.base.count);
    unsigned wanted = 0;
    for (std::size_t point = 0; point < points; ++point) wanted += passes(score(query, point), limits_[query]) ? 1 : 0;
    ASSERT_EQ(found, wanted) << "query " << query << ", limit " << limits_[query];
    std::vector<bool> seen(points, false);
    for (std::size_t slot = 0; slot < capacity_; ++slot) {
      const unsigned id = found_ids_[query * capacity_ + slot];
      const F value = found_scores_[query * capacity_ + slot];
      if (slot >= wanted) {
        ASSERT_EQ(id, kNoId) << "query " << query << " has more candidates than its count says";
        ASSERT_EQ(value, Sets<F>::kGuard);
        continue;
      }
      ASSERT_GE(id, kFirstId);
      const std::size_t point = id - kFirstId;
      ASSERT_LT(point, points);
      ASSERT_FALSE(seen[point]) << "query " << query << " has point " << point << " twice";
      seen[point] = true;
      ASSERT_TRUE(passes(score(query, point), limits_[query])) << "query " << query << ", point " << point;
      ASSERT_TRUE(same(value, score(query, point))) << value << " instead of " << score(query, point);
    }
  }

  Sets<F>& sets_;
  FormCase form_;
  std::vector<F> limits_;
  unsigned capacity_;
  std::vector<F> scores_;
  std::vector<F> found_scores_;
  std::vector<unsigned> found_ids_;
};

// Limits that some points meet exactly, and some that are special.
template <class F>
std::vector<F> make_limits(const Sets<F>& sets, const std::vector<F>& scores, Random& random) {
  std::vector<F> limits;
  for (std::int64_t query = 0; query < sets.queries.count; ++query) {
    constexpr F kInfinity = std::numeric_limits<F>::infinity();
    switch (random.below(8)) {
      case 0: limits.push_back(kInfinity); break;
      case 1: limits.push_back(-kInfinity); break;
      case 2: limits.push_back(std::numeric_limits<F>::quiet_NaN()); break;
      default: {
        // The smallest of a few scores.
        F limit = kInfinity;
        for (int i = 0; i < 6; ++i) {
          const std::int64_t point = random.below(sets.base.count);
          limit = std::min(limit, scores[static_cast<std::size_t>(query * sets.base.count + point)]);
        }
        limits.push_back(limit);
      }
    }
  }
  return limits;
}

template <class F>
void check_filter(unsigned variant, Size size, std::int64_t dims, bool with_nan = false) {
  Random random(variant);
  Points<F> queries(size.queries, dims, kLayouts[variant % 4], random);
  Points<F> base(size.base, dims, kLayouts[variant / 4 % 4], random);
  if (with_nan) {
    queries.at(size.queries / 2, dims / 2) = std::numeric_limits<F>::quiet_NaN();
    base.at(size.base / 2, 0) = std::numeric_limits<F>::quiet_NaN();
    base.at(size.base - 1, dims - 1) = -std::numeric_limits<F>::infinity();
  }
  Sets<F> sets(std::move(queries), std::move(base));
  for (const FormCase& form : kForms) {
    const std::vector<F> scores = sets.scores(form, {0, 0});
    const std::vector<F> limits = make_limits(sets, scores, random);
    const unsigned capacity = variant % 2 == 0 ? static_cast<unsigned>(size.base) + 3 : 4;
    SCOPED_TRACE(testing::Message() << form.name << ", " << size.queries << " x " << size.base << ", " << dims
                                    << " dims, " << sizeof(F) << " bytes, capacity for " << capacity);
    set_schedule(variant++ % kSchedules);
    FilterProblem<F>(sets, form, scores, limits, capacity).check();
    if (testing::Test::HasFailure()) return;
  }
}

template <class F>
void check_filter_sizes() {
  unsigned variant = 0;
  for (const Size& size : kSizes) {
    for (const std::int64_t dims : {std::int64_t{1}, std::int64_t{7}, std::int64_t{16}, std::int64_t{33}}) {
      check_filter<F>(variant++, size, dims);
      if (testing::Test::HasFailure()) return;
    }
  }
  check_filter<F>(variant, {129, 130}, 150);
}

TEST_F(FusedFilter, FindsWhatPassesTheLimits) {
  check_filter_sizes<float>();
}

TEST_F(FusedFilter, FindsWhatPassesTheLimitsInDouble) {
  check_filter_sizes<double>();
}

TEST_F(FusedFilter, BlocksRunThroughSeveralTiles) {
  check_filter<float>(1, {5, many_points<float>()}, 17);
  check_filter<double>(2, {5, many_points<double>()}, 40);
  // Queries that do not stay in shared memory.
  if (!under_sanitizer()) check_filter<double>(3, {5, many_points<double>()}, 150);
}

TEST_F(FusedFilter, PanelsOfPartsOfTheBase) {
  Random random(8);
  Sets<float> sets = sets_of_panels<float>(33, 2);
  const std::vector<float> scores = sets.scores(kForms[1], {0, 0});
  const std::vector<float> limits = make_limits(sets, scores, random);
  for_each_schedule(
      [&] { FilterProblem<float>(sets, kForms[1], scores, limits, static_cast<unsigned>(sets.base.count)).check(); });
}

// NaN scores are not above any limit.
TEST_F(FusedFilter, KeepsNaN) {
  check_filter<float>(0, {70, 140}, 9, true);
  check_filter<double>(1, {70, 140}, 9, true);
}

// All points are candidates of all queries, in every order of threads.
TEST_F(FusedFilter, ManyCandidates) {
  Random random(5);
  Sets<float> sets(Points<float>(20, 4, {0, 0}, random), Points<float>(300, 4, {0, 0}, random));
  const std::vector<float> limits(20, 1e9F);
  for_each_schedule([&] {
    for (const unsigned capacity : {0U, 7U, 300U})
      FilterProblem<float>(sets, kForms[0], sets.scores(kForms[0], {0, 0}), limits, capacity).check();
  });
}

}  // namespace
}  // namespace kith::test::register_tiled
