// The stages that compute scores without a matrix product, against sums in long double: every form, counts and
// dimensions around the sizes of their tiles, rows of any alignment, and nothing written beside the scores.
#include "distance/score_problem.hpp"
#include "support/pairwise.hpp"

namespace kith::test {
namespace {

struct Counts {
  std::int64_t queries;
  std::int64_t base;
};
constexpr Counts kCounts[] = {{1, 1}, {1, 1000}, {2, 100}, {3, 77}, {17, 33}, {40, 130}};
constexpr std::int64_t kDirectDims[] = {1, 2, 3, 4, 5, 8, 31, 32, 33, 128, 130, 1000};

// Layouts of both sets. The first three allow loads of 16 bytes, the first one where dims do.
struct Layouts {
  RowLayout queries;
  RowLayout base;
};
constexpr RowLayout kTight{0, 0, 1};
constexpr RowLayout kAligned{0, 0, 4};
constexpr RowLayout kSpaced{4, 5, 4};
constexpr RowLayout kMisaligned{1, 0, 4};
constexpr RowLayout kUneven{0, 3, 1};
constexpr Layouts kLayouts[] = {{kTight, kTight},        {kAligned, kAligned},    {kSpaced, kAligned},
                                {kMisaligned, kAligned}, {kAligned, kMisaligned}, {kUneven, kUneven}};
constexpr std::int64_t kScoreGaps[] = {0, 5};

struct DirectCase {
  FormCase form;
  Counts counts;
  std::int64_t dims;
  Layouts layouts;
  std::int64_t score_gap;
};

template <class F>
void check(const ScoreStage<F>& stage, const DirectCase& c, std::uint64_t seed) {
  Random random(seed);
  auto queries = score_points<F>(c.counts.queries, c.dims, c.layouts.queries, random);
  auto base = score_points<F>(c.counts.base, c.dims, c.layouts.base, random);
  ScoreProblem<F>(std::move(queries), std::move(base)).check(stage, c.form, {1, c.score_gap});
}

template <class F>
void check_all(const ScoreStage<F>& stage) {
  const auto cases = pairwise({std::size(kForms), std::size(kCounts), std::size(kDirectDims), std::size(kLayouts),
                               std::size(kScoreGaps), kSchedules},
                              7);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& pick = cases[i];
    SCOPED_TRACE(testing::Message() << "schedule " << pick[5]);
    set_schedule(pick[5]);
    check<F>(stage, {kForms[pick[0]], kCounts[pick[1]], kDirectDims[pick[2]], kLayouts[pick[3]], kScoreGaps[pick[4]]},
             i);
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
  const ScoreStage<TypeParam> stage = device::distance::direct_scores<TypeParam>;
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
