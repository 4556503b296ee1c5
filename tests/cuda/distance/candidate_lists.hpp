// candidate_lists.hpp: limits of queries, and the lists of candidates that a fused filter must make of them.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "cuda/distance/fused_filter.hpp"
#include "device_test.hpp"
#include "support/random.hpp"

namespace kith::test {

// Limits that some points meet exactly, and some that are special. `scores` has a row for each query.
template <class F>
std::vector<F> make_limits(const std::vector<F>& scores, std::int64_t queries, Random& random) {
  constexpr F kInfinity = std::numeric_limits<F>::infinity();
  const std::int64_t points = static_cast<std::int64_t>(scores.size()) / queries;
  std::vector<F> limits;
  for (std::int64_t query = 0; query < queries; ++query) {
    switch (random.below(8)) {
      case 0: limits.push_back(kInfinity); break;
      case 1: limits.push_back(-kInfinity); break;
      case 2: limits.push_back(std::numeric_limits<F>::quiet_NaN()); break;
      default: {
        // The smallest of a few scores.
        F limit = kInfinity;
        for (int i = 0; i < 6; ++i)
          limit = std::min(limit, scores[static_cast<std::size_t>(query * points + random.below(points))]);
        limits.push_back(limit);
      }
    }
  }
  return limits;
}

template <class F>
class CandidateCheck {
 public:
  // `scores` are those of all pairs; not `bitwise`: but for the signs of zeros.
  CandidateCheck(std::vector<F> scores, std::vector<F> limits, unsigned capacity, bool bitwise = true)
      : scores_(std::move(scores)),
        limits_(std::move(limits)),
        capacity_(capacity),
        points_(scores_.size() / limits_.size()),
        bitwise_(bitwise) {}

  // Expects filter(lists) to find all pairs not above the limits, with their scores.
  template <class Filter>
  void run(cudaStream_t stream, Filter filter) const {
    DeviceArray<F> limits(limits_, stream);
    DeviceArray<F> scores(std::vector<F>(limits_.size() * capacity_, kGuard), stream);
    DeviceArray<unsigned> ids(std::vector<unsigned>(limits_.size() * capacity_, kNoId), stream);
    DeviceArray<unsigned> counts(std::vector<unsigned>(limits_.size(), 0), stream);
    filter(device::distance::CandidateLists<F>{.limits = limits.data(),
                                               .capacity = capacity_,
                                               .scores = scores.data(),
                                               .ids = ids.data(),
                                               .first_id = kFirstId,
                                               .counts = counts.data()});
    const std::vector<F> found_scores = scores.values();
    const std::vector<unsigned> found_ids = ids.values();
    const std::vector<unsigned> found = counts.values();
    for (std::size_t query = 0; query < limits_.size() && !testing::Test::HasFailure(); ++query)
      check_query(query, found[query], {found_scores.data() + query * capacity_, capacity_},
                  {found_ids.data() + query * capacity_, capacity_});
  }

 private:
  static constexpr F kGuard = -12345;
  static constexpr unsigned kFirstId = 1000;
  static constexpr unsigned kNoId = 77;  // below the first id

  F score(std::size_t query, std::size_t point) const { return scores_[query * points_ + point]; }
  // NaN scores are not above any limit.
  bool passes(std::size_t query, std::size_t point) const {
    return !std::isnan(limits_[query]) && !(score(query, point) > limits_[query]);
  }

  void check_query(std::size_t query, unsigned found, std::span<const F> scores, std::span<const unsigned> ids) const {
    unsigned wanted = 0;
    for (std::size_t point = 0; point < points_; ++point) wanted += passes(query, point) ? 1 : 0;
    ASSERT_EQ(found, wanted) << "query " << query << ", limit " << limits_[query];
    std::vector<bool> seen(points_, false);
    for (std::size_t slot = 0; slot < ids.size(); ++slot) {
      if (slot >= wanted) {
        ASSERT_EQ(ids[slot], kNoId) << "query " << query << " has more candidates than its count says";
        ASSERT_EQ(scores[slot], kGuard);
        continue;
      }
      ASSERT_GE(ids[slot], kFirstId);
      const std::size_t point = ids[slot] - kFirstId;
      ASSERT_LT(point, points_);
      ASSERT_FALSE(seen[point]) << "query " << query << " has point " << point << " twice";
      seen[point] = true;
      ASSERT_TRUE(passes(query, point)) << "query " << query << ", point " << point;
      const F right = score(query, point);
      const bool same = bitwise_ ? std::memcmp(&scores[slot], &right, sizeof(F)) == 0 : scores[slot] == right;
      ASSERT_TRUE(same) << scores[slot] << " instead of " << right << ", query " << query << ", point " << point;
    }
  }

  std::vector<F> scores_;
  std::vector<F> limits_;
  unsigned capacity_;
  std::size_t points_;
  bool bitwise_;
};

}  // namespace kith::test
