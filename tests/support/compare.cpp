#include "support/compare.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>
#include <thread>

namespace kith::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

template <class D>
AssertionResult has_shape(const Neighbors<D>& got, std::int64_t queries, std::int64_t k) {
  const auto cells = static_cast<std::size_t>(queries * k);
  if (got.queries == queries && got.k == k && got.ids.size() == cells && got.distances.size() == cells) {
    return AssertionSuccess();
  }
  return AssertionFailure() << "the answer is " << got.queries << " x " << got.k << " with " << got.ids.size()
                            << " ids and " << got.distances.size() << " distances, expected " << queries << " x " << k;
}

template <class D>
std::string place(std::int64_t query, std::int64_t rank, std::int64_t id, D distance) {
  std::ostringstream text;
  text << "query " << query << ", rank " << rank << ": id " << id << " at "
       << std::setprecision(std::numeric_limits<D>::max_digits10) << distance;
  return text.str();
}

template <class D>
AssertionResult row_is_exact(std::int64_t query, std::span<const std::int64_t> ids, std::span<const D> distances,
                             const Truth<D>& truth, const std::vector<std::int64_t>& want) {
  for (std::size_t j = 0; j < want.size(); ++j) {
    const D expected = truth.distance(query, want[j]);
    if (ids[j] == want[j] && distances[j] == expected) continue;
    const auto rank = static_cast<std::int64_t>(j);
    return AssertionFailure() << place(query, rank, ids[j], distances[j]) << ", expected "
                              << place(query, rank, want[j], expected);
  }
  return AssertionSuccess();
}

template <class D>
AssertionResult row_is_close(std::int64_t query, std::span<const std::int64_t> ids, std::span<const D> distances,
                             const Truth<D>& truth, const std::vector<std::int64_t>& want, Agreement agreement) {
  std::vector<bool> seen(static_cast<std::size_t>(truth.base_rows));
  for (std::size_t j = 0; j < want.size(); ++j) {
    const auto rank = static_cast<std::int64_t>(j);
    const std::string here = place(query, rank, ids[j], distances[j]);
    if (ids[j] < 0 || ids[j] >= truth.base_rows) return AssertionFailure() << here << ": no such id";
    if (seen[static_cast<std::size_t>(ids[j])]) return AssertionFailure() << here << ": an id returned twice";
    seen[static_cast<std::size_t>(ids[j])] = true;
    if (!agrees(distances[j], truth.distance(query, ids[j]), agreement)) {
      return AssertionFailure() << here << ", but that id is at " << truth.distance(query, ids[j]);
    }
    if (!agrees(distances[j], truth.distance(query, want[j]), agreement)) {
      return AssertionFailure() << here << ", expected " << place(query, rank, want[j], truth.distance(query, want[j]));
    }
    if (j == 0) continue;
    const D gap = truth.largest_first ? distances[j - 1] - distances[j] : distances[j] - distances[j - 1];
    if (gap < 0 || (distances[j] == distances[j - 1] && ids[j] < ids[j - 1])) {
      return AssertionFailure() << here << " comes after id " << ids[j - 1] << " at " << distances[j - 1];
    }
  }
  return AssertionSuccess();
}

}  // namespace

bool agrees(double got, double want, Agreement agreement) {
  if (got == want) return true;
  if (agreement.bitwise || std::isinf(got) || std::isinf(want)) return false;
  return std::abs(got - want) <= agreement.absolute + agreement.relative * std::abs(want);
}

template <class D>
AssertionResult matches_truth(const Neighbors<D>& got, const Truth<D>& truth, std::int64_t k, Agreement agreement,
                              bool self_excluded) {
  if (AssertionResult shape = has_shape(got, truth.queries, k); !shape) return shape;
  for (std::int64_t i = 0; i < truth.queries; ++i) {
    const std::vector<std::int64_t> want = truth.nearest(i, k, self_excluded ? i : -1);
    const AssertionResult row = agreement.bitwise
                                    ? row_is_exact<D>(i, got.ids_of(i), got.distances_of(i), truth, want)
                                    : row_is_close<D>(i, got.ids_of(i), got.distances_of(i), truth, want, agreement);
    if (!row) return row;
  }
  return AssertionSuccess();
}

template <class D>
AssertionResult same_answer(const Neighbors<D>& got, const Neighbors<D>& want) {
  if (AssertionResult shape = has_shape(got, want.queries, want.k); !shape) return shape;
  for (std::int64_t i = 0; i < want.queries * want.k; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (got.ids[at] == want.ids[at] && got.distances[at] == want.distances[at]) continue;
    const std::int64_t query = i / want.k;
    const std::int64_t rank = i % want.k;
    return AssertionFailure() << place(query, rank, got.ids[at], got.distances[at]) << ", expected "
                              << place(query, rank, want.ids[at], want.distances[at]);
  }
  return AssertionSuccess();
}

void expect_at_once(std::size_t threads, const std::function<AssertionResult(std::size_t)>& work) {
  std::vector<AssertionResult> results(threads, AssertionSuccess());
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) running.emplace_back([&, t] { results[t] = work(t); });
  for (std::thread& thread : running) thread.join();
  for (const AssertionResult& result : results) EXPECT_TRUE(result);
}

std::string printed_by(const std::function<void()>& work) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  work();
  std::string text = testing::internal::GetCapturedStdout();
  text += testing::internal::GetCapturedStderr();
  return text;
}

template AssertionResult matches_truth(const Neighbors<float>&, const Truth<float>&, std::int64_t, Agreement, bool);
template AssertionResult matches_truth(const Neighbors<double>&, const Truth<double>&, std::int64_t, Agreement, bool);
template AssertionResult same_answer(const Neighbors<float>&, const Neighbors<float>&);
template AssertionResult same_answer(const Neighbors<double>&, const Neighbors<double>&);

std::vector<DistanceStage> stages_of(DType dtype) {
  std::vector<DistanceStage> stages = distance_stages(Backend::cpu);
  if (dtype != DType::uint8 && dtype != DType::int8) std::erase(stages, DistanceStage::int8);
  if (dtype == DType::float64) std::erase(stages, DistanceStage::bf16);
  return stages;
}

}  // namespace kith::test
