// The fused filter of points in fp16 against plain sums: coordinates are small integers, so that rounding, products and
// sums are exact.
#include <limits>
#include <span>

#include "cuda/distance/fused_filter.hpp"
#include "cuda/runtime/properties.hpp"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::test::fp16_filter {
namespace {

using device::Fp16;
using Fp16Filter = DeviceTest;

// Integers from −8 to 8, in rows padded with zeros.
struct Points {
  Points(std::int64_t points, std::int64_t coordinates, Random& random)
      : count(points), dims(coordinates), stride(device::fp16_stride(coordinates)) {
    for (std::int64_t i = 0; i < count * dims; ++i) values.push_back(static_cast<int>(random.below(17)) - 8);
  }

  int at(std::int64_t row, std::int64_t c) const { return values[static_cast<std::size_t>(row * dims + c)]; }
  std::vector<Fp16> fp16(double scale) const {
    std::vector<Fp16> all(static_cast<std::size_t>(count * stride), device::fp16_of(0));
    for (std::int64_t row = 0; row < count; ++row)
      for (std::int64_t c = 0; c < dims; ++c)
        all[static_cast<std::size_t>(row * stride + c)] = device::fp16_of(static_cast<float>(scale * at(row, c)));
    return all;
  }

  std::int64_t count;
  std::int64_t dims;
  std::int64_t stride;
  std::vector<int> values;
};

int product(const Points& x, std::int64_t i, const Points& y, std::int64_t j) {
  int sum = 0;
  for (std::int64_t c = 0; c < x.dims; ++c) sum += x.at(i, c) * y.at(j, c);
  return sum;
}

class Problem {
 public:
  Problem(std::int64_t queries, std::int64_t base, std::int64_t dims, bool expanded, Random& random)
      : queries_(queries, dims, random), base_(base, dims, random), expanded_(expanded) {
    for (std::int64_t j = 0; j < base; ++j) norms_.push_back(static_cast<float>(product(base_, j, base_, j)));
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t j = 0; j < base; ++j) scores_.push_back(score(i, j));
      limits_.push_back(some_limit(i, random));
    }
  }

  void let_all_pass() { limits_.assign(limits_.size(), 1e9F); }

  void check(unsigned capacity) const {
    device::Stream stream;
    DeviceArray<Fp16> x(queries_.fp16(kScale), stream);
    DeviceArray<Fp16> y(base_.fp16(kScale), stream);
    DeviceArray<float> norms(norms_, stream);
    DeviceArray<float> limits(limits_, stream);
    DeviceArray<float> scores(std::vector<float>(limits_.size() * capacity, kGuard), stream);
    DeviceArray<unsigned> ids(std::vector<unsigned>(limits_.size() * capacity, kNoId), stream);
    DeviceArray<unsigned> counts(std::vector<unsigned>(limits_.size(), 0), stream);
    device::distance::fp16_filter({.queries = {x.data(), nullptr, queries_.count, queries_.stride, kScale},
                                   .base = {y.data(), nullptr, base_.count, base_.stride, kScale},
                                   .bias = expanded_ ? norms.data() : nullptr,
                                   .lists = {.limits = limits.data(),
                                             .capacity = capacity,
                                             .scores = scores.data(),
                                             .ids = ids.data(),
                                             .first_id = kFirstId,
                                             .counts = counts.data()},
                                   .stream = stream});
    const std::vector<float> found_scores = scores.values();
    const std::vector<unsigned> found_ids = ids.values();
    const std::vector<unsigned> found = counts.values();
    for (std::size_t i = 0; i < limits_.size() && !testing::Test::HasFailure(); ++i)
      check_query(i, found[i], {found_scores.data() + i * capacity, capacity},
                  {found_ids.data() + i * capacity, capacity});
  }

 private:
  static constexpr double kScale = 4;
  static constexpr float kGuard = -12345;
  static constexpr unsigned kFirstId = 1000;
  static constexpr unsigned kNoId = 77;  // below the first id

  float score(std::int64_t i, std::int64_t j) const {
    const auto dot = static_cast<float>(product(queries_, i, base_, j));
    return expanded_ ? norms_[static_cast<std::size_t>(j)] - 2 * dot : -dot;
  }
  float score_of(std::size_t query, std::size_t point) const {
    return scores_[query * static_cast<std::size_t>(base_.count) + point];
  }

  // A limit that some points meet exactly, or a special one.
  float some_limit(std::int64_t query, Random& random) const {
    switch (random.below(8)) {
      case 0: return std::numeric_limits<float>::infinity();
      case 1: return -std::numeric_limits<float>::infinity();
      case 2: return std::numeric_limits<float>::quiet_NaN();
      default: break;
    }
    float limit = std::numeric_limits<float>::infinity();
    for (int i = 0; i < 6; ++i) limit = std::min(limit, score(query, random.below(base_.count)));
    return limit;
  }

  void check_query(std::size_t query, unsigned found, std::span<const float> scores,
                   std::span<const unsigned> ids) const {
    const auto points = static_cast<std::size_t>(base_.count);
    unsigned wanted = 0;
    for (std::size_t j = 0; j < points; ++j) wanted += score_of(query, j) <= limits_[query] ? 1 : 0;
    ASSERT_EQ(found, wanted) << "query " << query << ", limit " << limits_[query];
    std::vector<bool> seen(points, false);
    for (std::size_t slot = 0; slot < ids.size(); ++slot) {
      if (slot >= wanted) {
        ASSERT_EQ(ids[slot], kNoId) << "query " << query << " has more candidates than its count says";
        ASSERT_EQ(scores[slot], kGuard);
        continue;
      }
      ASSERT_GE(ids[slot], kFirstId);
      const std::size_t point = ids[slot] - kFirstId;
      ASSERT_LT(point, points);
      ASSERT_FALSE(seen[point]) << "query " << query << " has point " << point << " twice";
      seen[point] = true;
      ASSERT_EQ(scores[slot], score_of(query, point)) << "query " << query << ", point " << point;
    }
  }

  Points queries_;
  Points base_;
  bool expanded_;
  std::vector<float> norms_;
  std::vector<float> scores_;
  std::vector<float> limits_;
};

void check(std::int64_t queries, std::int64_t base, std::int64_t dims) {
  Random random(static_cast<std::uint64_t>(queries * 7 + base * 3 + dims));
  for (const bool expanded : {true, false}) {
    SCOPED_TRACE(testing::Message() << queries << " x " << base << " x " << dims << (expanded ? ", expanded" : ""));
    set_schedule(static_cast<std::uint64_t>(dims) % kSchedules);
    const Problem problem(queries, base, dims, expanded, random);
    problem.check(dims % 2 == 0 ? static_cast<unsigned>(base) + 3 : 4);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(Fp16Filter, FindsWhatPassesTheLimits) {
  for (const std::int64_t dims : {1, 8, 16, 17, 40, 64}) check(3, 5, dims);
  check(1, 1, 24);
  check(129, 130, 33);
  if (!under_sanitizer()) check(200, 77, 16);
}

// Several chunks, with queries that stay in shared memory and queries that do not.
TEST_F(Fp16Filter, ManyDimensions) {
  for (const std::int64_t dims : {65, 130, 200, 300}) check(5, 9, dims);
}

// A block that runs through more base tiles than it keeps its buffer for.
TEST_F(Fp16Filter, BlocksRunThroughSeveralTiles) {
  const std::int64_t at_once = 2 * device::multiprocessor_count();
  check(2, (2 * at_once - 1) * 128 - 5, 9);
  if (!small_problems()) check(2, 11 * at_once * 128 - 5, 16);
}

// All points are candidates of all queries: more than the buffer holds, in every order of threads.
TEST_F(Fp16Filter, ManyCandidates) {
  Random random(5);
  Problem problem(20, 300, 4, true, random);
  problem.let_all_pass();
  for_each_schedule([&] {
    for (const unsigned capacity : {0U, 7U, 300U}) problem.check(capacity);
  });
}

TEST_F(Fp16Filter, NothingToDo) {
  const device::Stream stream;
  device::distance::fp16_filter({.queries = {}, .base = {.count = 5, .stride = 8}, .lists = {}, .stream = stream});
  stream.synchronize();
}

}  // namespace
}  // namespace kith::test::fp16_filter
