// The fused filter of points in fp16 against plain sums: coordinates are small integers, so that rounding, products and
// sums are exact.
#include "cuda/runtime/properties.hpp"
#include "distance/candidate_lists.hpp"
#include "distance/fp16_points.hpp"

namespace kith::test::fp16_filter {
namespace {

using device::Fp16;
using Points = Fp16Points;
using Fp16Filter = DeviceTest;

class Problem {
 public:
  Problem(std::int64_t queries, std::int64_t base, std::int64_t dims, bool expanded, Random& random,
          std::int64_t base_gap = 0)
      : queries_(queries, dims, random), base_(base, dims, random, base_gap), expanded_(expanded) {
    for (std::int64_t j = 0; j < base; ++j) norms_.push_back(static_cast<float>(product(base_, j, base_, j)));
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t j = 0; j < base; ++j) {
        const auto dot = static_cast<float>(product(queries_, i, base_, j));
        scores_.push_back(expanded_ ? norms_[static_cast<std::size_t>(j)] - 2 * dot : -dot);
      }
    }
  }

  const std::vector<float>& scores() const { return scores_; }

  void check(const std::vector<float>& limits, unsigned capacity) const {
    device::Stream stream;
    DeviceArray<Fp16> x(queries_.fp16(kScale), stream);
    DeviceArray<Fp16> y(base_.fp16(kScale), stream);
    DeviceArray<float> norms(norms_, stream);
    CandidateCheck<float>(scores_, limits, capacity, false).run(stream, [&](const auto& lists) {
      device::distance::fp16_filter({.queries = {x.data(), nullptr, queries_.count, queries_.stride, kScale},
                                     .base = {y.data(), nullptr, base_.count, base_.stride, kScale},
                                     .bias = expanded_ ? norms.data() : nullptr,
                                     .lists = lists,
                                     .stream = stream});
    });
  }

 private:
  static constexpr double kScale = 4;

  Points queries_;
  Points base_;
  bool expanded_;
  std::vector<float> norms_;
  std::vector<float> scores_;
};

void check(std::int64_t queries, std::int64_t base, std::int64_t dims) {
  Random random(static_cast<std::uint64_t>(queries * 7 + base * 3 + dims));
  for (const bool expanded : {true, false}) {
    SCOPED_TRACE(testing::Message() << queries << " x " << base << " x " << dims << (expanded ? ", expanded" : ""));
    set_schedule(static_cast<std::uint64_t>(dims) % kSchedules);
    const Problem problem(queries, base, dims, expanded, random);
    problem.check(make_limits(problem.scores(), queries, random), dims % 2 == 0 ? static_cast<unsigned>(base) + 3 : 4);
    if (testing::Test::HasFailure()) return;
  }
}

// Dimensions that fill a chunk or the part that is multiplied at a time, and some that do not; points that fill a tile.
TEST_F(Fp16Filter, FindsWhatPassesTheLimits) {
  for (const std::int64_t dims : {1, 8, 16, 17, 32, 40, 64}) check(3, 5, dims);
  check(1, 1, 24);
  check(129, 130, 33);
  if (under_sanitizer()) return;
  check(128, 128, 8);
  check(127, 129, 48);
  check(200, 77, 16);
}

// Several chunks, with queries that stay in shared memory and queries that do not.
TEST_F(Fp16Filter, ManyDimensions) {
  for (const std::int64_t dims : {65, 100, 130, 200, 250, 300}) check(5, 9, dims);
  check(70, 140, 150);
  check(70, 140, 290);
}

// Rows of the base that are longer than those of queries.
TEST_F(Fp16Filter, LongerRowsOfTheBase) {
  Random random(3);
  for (const std::int64_t dims : {5, 24, 40, 300}) {
    const Problem problem(7, 150, dims, true, random, 8);
    problem.check(make_limits(problem.scores(), 7, random), 150);
  }
}

// Blocks that run through several base tiles, of one chunk and of more, with queries that stay and that do not.
TEST_F(Fp16Filter, BlocksRunThroughSeveralTiles) {
  const std::int64_t at_once = 2 * device::multiprocessor_count();
  for (const std::int64_t dims : {9, 40}) check(2, (2 * at_once - 1) * 128 - 5, dims);
  if (kEmulated) check(2, (2 * at_once - 1) * 128 - 5, 290);
  if (!small_problems()) check(2, 11 * at_once * 128 - 5, 16);
}

// All points are candidates of all queries: more than queues hold, in every order of threads.
TEST_F(Fp16Filter, ManyCandidates) {
  Random random(5);
  const Problem problem(20, 300, 4, true, random);
  for_each_schedule([&] {
    for (const unsigned capacity : {0U, 7U, 300U}) problem.check(std::vector<float>(20, 1e9F), capacity);
  });
  const Problem full(128, 128, 20, false, random);
  full.check(std::vector<float>(128, 1e9F), 128);
}

// Queues that fill up in the middle of a tile: all points of some queries, none of the others.
TEST_F(Fp16Filter, ManyCandidatesOfFewQueries) {
  Random random(7);
  const Problem problem(128, 200, 12, true, random);
  for_each_schedule([&] {
    for (const std::int64_t step : {3, 7, 64}) {
      std::vector<float> limits(128, std::numeric_limits<float>::quiet_NaN());
      for (std::size_t i = 0; i < limits.size(); i += static_cast<std::size_t>(step)) limits[i] = 1e9F;
      problem.check(limits, 200);
    }
  });
}

// No point is a candidate: limits below all scores, and limits that let nothing pass.
TEST_F(Fp16Filter, NoCandidates) {
  Random random(9);
  const Problem problem(130, 140, 20, true, random);
  for (const float limit : {-1e9F, -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    problem.check(std::vector<float>(130, limit), 5);
}

TEST_F(Fp16Filter, NothingToDo) {
  const device::Stream stream;
  device::distance::fp16_filter({.queries = {}, .base = {.count = 5, .stride = 8}, .lists = {}, .stream = stream});
  stream.synchronize();
}

}  // namespace
}  // namespace kith::test::fp16_filter
