// The stages that compute scores without a matrix product, against sums in long double: every form, counts and
// dimensions around the sizes of their tiles, rows of any alignment, and nothing written beside the scores.
#include <cmath>
#include <functional>
#include <limits>

#include "core/bounds.hpp"
#include "cuda/distance/scores.hpp"
#include "device_test.hpp"
#include "support/pairwise.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using core::Form;

constexpr double kPower = 3.5;
constexpr double kGuard = 12345;  // not a score

struct FormCase {
  const char* name;
  Form form;
  bool expanded;
};
constexpr FormCase kForms[] = {
    {"squared", Form::squared, false}, {"expanded", Form::squared, true}, {"absolute", Form::absolute, false},
    {"maximum", Form::maximum, false}, {"power", Form::power, false},     {"mismatch", Form::mismatch, false},
    {"ratio", Form::ratio, false},     {"dot", Form::dot, false},
};

struct Counts {
  std::int64_t queries;
  std::int64_t base;
};
constexpr Counts kCounts[] = {{1, 1}, {1, 1000}, {2, 100}, {3, 77}, {17, 33}, {40, 130}};
constexpr std::int64_t kDims[] = {1, 2, 3, 4, 5, 8, 31, 32, 33, 128, 130, 1000};

// Layout of rows: elements before the first, and elements at least between two, such that the stride is a multiple of
// `unit`.
struct Layout {
  std::int64_t offset;
  std::int64_t gap;
  std::int64_t unit;
};
// Layouts of both sets. The first three allow loads of 16 bytes, the first one where dims do.
struct Layouts {
  Layout queries;
  Layout base;
};
constexpr Layout kTight{0, 0, 1};
constexpr Layout kAligned{0, 0, 4};
constexpr Layout kSpaced{4, 5, 4};
constexpr Layout kShifted{1, 0, 4};
constexpr Layout kUneven{0, 3, 1};
constexpr Layouts kLayouts[] = {{kTight, kTight},     {kAligned, kAligned}, {kSpaced, kAligned},
                                {kShifted, kAligned}, {kAligned, kShifted}, {kUneven, kUneven}};
constexpr std::int64_t kScoreGaps[] = {0, 5};

template <class F>
struct Points {
  std::int64_t count;
  std::int64_t dims;
  std::int64_t offset;
  std::int64_t stride;
  std::vector<F> values;  // NaN between the rows

  Points(std::int64_t rows, std::int64_t row_dims, const Layout& layout, Random& random)
      : count(rows),
        dims(row_dims),
        offset(layout.offset),
        stride((row_dims + layout.gap + layout.unit - 1) / layout.unit * layout.unit),
        values(static_cast<std::size_t>(offset + (count - 1) * stride + dims), std::numeric_limits<F>::quiet_NaN()) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t c = 0; c < dims; ++c) {
        const double value = random.gaussian() * 2;
        // Rounds some, so that coordinates agree.
        values[index(i, c)] = static_cast<F>(random.below(2) == 0 ? std::round(value) : value);
      }
    }
  }

  std::size_t index(std::int64_t row, std::int64_t c) const {
    return static_cast<std::size_t>(offset + row * stride + c);
  }
  F at(std::int64_t row, std::int64_t c) const { return values[index(row, c)]; }
  device::PointRows<F> on(DeviceArray<F>& array) const { return {array.data() + offset, count, stride}; }
};

// ‖y‖² of every row, rounded.
template <class F>
std::vector<F> square_norms(const Points<F>& points) {
  std::vector<F> norms;
  for (std::int64_t row = 0; row < points.count; ++row) {
    long double sum = 0;
    for (std::int64_t c = 0; c < points.dims; ++c)
      sum += static_cast<long double>(points.at(row, c)) * points.at(row, c);
    norms.push_back(static_cast<F>(sum));
  }
  return norms;
}

struct Score {
  long double value;
  long double magnitude;  // the sum of the terms' magnitudes
};

long double term(Form form, long double x, long double y) {
  switch (form) {
    case Form::squared: return (x - y) * (x - y);
    case Form::absolute:
    case Form::maximum: return std::abs(x - y);
    case Form::power: return std::pow(std::abs(x - y), static_cast<long double>(kPower));
    case Form::mismatch: return x != y ? 1 : 0;
    case Form::ratio: return x == y ? 0 : std::abs(x - y) / (std::abs(x) + std::abs(y));
    case Form::dot: return -x * y;
  }
  return 0;
}

template <class F>
Score expected(const FormCase& form, const Points<F>& queries, std::int64_t q, const Points<F>& base, std::int64_t b,
               F bias) {
  Score score{0, 0};
  for (std::int64_t c = 0; c < queries.dims; ++c) {
    const auto x = static_cast<long double>(queries.at(q, c));
    const auto y = static_cast<long double>(base.at(b, c));
    const long double part = form.expanded ? 2 * term(Form::dot, x, y) : term(form.form, x, y);
    score.value = form.form == Form::maximum ? std::max(score.value, part) : score.value + part;
    score.magnitude += std::abs(part);
  }
  if (form.expanded) score = {score.value + bias, score.magnitude + std::abs(bias)};
  return score;
}

// The error that core/score_bounds.hpp allows.
template <class F>
long double tolerance(const FormCase& form, std::int64_t dims) {
  if (form.form == Form::mismatch) return 0;
  const double sums = core::gamma<F>(dims + 4);
  if (form.form != Form::power) return sums;
  return sums + (16 * (sizeof(F) == sizeof(float) ? 88 : 709) + 4 * kPower) * core::unit_roundoff<F>();
}

template <class F>
using Stage = std::function<void(const device::distance::ScoreCall<F>&)>;

struct Case {
  FormCase form;
  Counts counts;
  std::int64_t dims;
  Layouts layouts;
  std::int64_t score_gap;
};

template <class F>
void check_scores(const std::vector<F>& scores, std::int64_t stride, const Case& c, const Points<F>& queries,
                  const Points<F>& base, const std::vector<F>& bias) {
  ASSERT_EQ(static_cast<double>(scores[0]), kGuard);
  for (std::int64_t q = 0; q < queries.count; ++q) {
    const F* row = scores.data() + 1 + q * stride;
    for (std::int64_t b = 0; b < base.count; ++b) {
      const Score wanted = expected(c.form, queries, q, base, b, bias[static_cast<std::size_t>(b)]);
      const auto bound = static_cast<double>(tolerance<F>(c.form, c.dims) * wanted.magnitude);
      ASSERT_NEAR(static_cast<double>(row[b] - wanted.value), 0.0, bound)
          << "query " << q << ", base point " << b << ": " << row[b] << " and not "
          << static_cast<double>(wanted.value);
    }
    for (std::int64_t b = base.count; b < stride; ++b)
      ASSERT_EQ(static_cast<double>(row[b]), kGuard) << "behind the scores of query " << q;
  }
}

template <class F>
void check(const Stage<F>& stage, const Case& c, std::uint64_t seed) {
  Random random(seed);
  const Points<F> queries(c.counts.queries, c.dims, c.layouts.queries, random);
  const Points<F> base(c.counts.base, c.dims, c.layouts.base, random);
  SCOPED_TRACE(testing::Message() << c.form.name << ", " << c.counts.queries << " × " << c.counts.base << " × "
                                  << c.dims << ", strides " << queries.stride << " and " << base.stride << ", offsets "
                                  << queries.offset << " and " << base.offset << ", score gap " << c.score_gap);
  const std::vector<F> bias = square_norms(base);
  const std::int64_t stride = c.counts.base + c.score_gap;

  const device::Stream stream;
  device::Workspace workspace(stream);
  DeviceArray<F> query_array(queries.values, stream);
  DeviceArray<F> base_array(base.values, stream);
  DeviceArray<F> addend_array(bias, stream);
  DeviceArray<F> scores(std::vector<F>(static_cast<std::size_t>(1 + c.counts.queries * stride), F{kGuard}), stream);
  stage({.queries = queries.on(query_array),
         .base = base.on(base_array),
         .dims = c.dims,
         .form = c.form.form,
         .p = kPower,
         .bias = c.form.expanded ? addend_array.data() : nullptr,
         .scores = scores.data() + 1,
         .score_stride = stride,
         .workspace = workspace});
  check_scores(scores.values(), stride, c, queries, base, bias);
}

template <class F>
void check_all(const Stage<F>& stage) {
  const auto cases = pairwise(
      {std::size(kForms), std::size(kCounts), std::size(kDims), std::size(kLayouts), std::size(kScoreGaps), kSchedules},
      7);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& pick = cases[i];
    SCOPED_TRACE(testing::Message() << "schedule " << pick[5]);
    set_schedule(pick[5]);
    check<F>(stage, {kForms[pick[0]], kCounts[pick[1]], kDims[pick[2]], kLayouts[pick[3]], kScoreGaps[pick[4]]}, i);
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <class F>
class DirectScores : public DeviceTest {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(DirectScores, Precisions);

TYPED_TEST(DirectScores, DirectIsTheSum) {
  check_all<TypeParam>(device::distance::direct_scores<TypeParam>);
}

// So few and long rows that a block shares one.
TYPED_TEST(DirectScores, DirectIsTheSumOfLongRows) {
  const Stage<TypeParam> stage = device::distance::direct_scores<TypeParam>;
  for_each_schedule([&] {
    for (const FormCase& form : kForms) {
      check<TypeParam>(stage, {form, {1, 5}, 5003, kLayouts[1], 0}, 1);
      check<TypeParam>(stage, {form, {3, 2}, 4096, kLayouts[5], 1}, 2);
    }
    check<TypeParam>(stage, {kForms[0], {1, 1}, 100'000, kLayouts[0], 0}, 3);
  });
}

TYPED_TEST(DirectScores, TiledIsTheSum) {
  check_all<TypeParam>(device::distance::tiled_scores<TypeParam>);
}

TYPED_TEST(DirectScores, NothingToDo) {
  const device::Stream stream;
  device::Workspace workspace(stream);
  DeviceArray<TypeParam> row(std::vector<TypeParam>(4, TypeParam{1}), stream);
  for (const bool queries : {false, true}) {
    const device::PointRows<TypeParam> some{row.data(), 1, 4};
    const device::PointRows<TypeParam> none{row.data(), 0, 4};
    const device::distance::ScoreCall<TypeParam> call{
        .queries = queries ? some : none, .base = queries ? none : some, .dims = 4, .workspace = workspace};
    device::distance::direct_scores(call);
    device::distance::tiled_scores(call);
  }
  stream.synchronize();
}

}  // namespace
}  // namespace kith::test
