#include "cuda/search_times.hpp"

#include <algorithm>
#include <cmath>

namespace kith::KITH_BACKEND {
namespace {

constexpr int kLeastSearches = 2;  // before a time counts
constexpr int kMostSearches = 3;   // that are timed
constexpr std::size_t kMostShapes = 256;
constexpr std::size_t kMostEnding = 8;  // whoever enqueues more has them timed later

// Four sizes between a power of two and the next.
int size_class(std::int64_t size) {
  return static_cast<int>(std::floor(4 * std::log2(static_cast<double>(std::max<std::int64_t>(size, 1)))));
}

}  // namespace

auto SearchTimes::shape_of(const Problem& problem) -> Shape {
  return {size_class(problem.queries), size_class(problem.k), problem.self};
}

void SearchTimes::note(const Problem& problem, Method method, DistanceStage distance, double seconds) {
  if (taken_.size() >= kMostShapes && !taken_.contains(shape_of(problem))) taken_.clear();
  std::vector<Taken>& taken = taken_[shape_of(problem)];
  const auto found = std::find_if(taken.begin(), taken.end(),
                                  [&](const Taken& one) { return one.method == method && one.distance == distance; });
  if (found == taken.end()) return taken.push_back({method, distance, seconds, 1});
  found->seconds = std::min(found->seconds, seconds);
  ++found->searches;
}

void SearchTimes::collect() {
  for (; !ending_.empty() && ending_.front().ended.has_happened(); ending_.pop_front()) {
    const SearchTiming& one = ending_.front();
    note(one.problem, one.method, one.distance, static_cast<double>(one.ended.since(one.begun)) * 1e-3);
  }
}

std::vector<plan::TimedStage> SearchTimes::of(const Problem& problem) {
  const std::lock_guard<std::mutex> lock(mutex_);
  collect();
  std::vector<plan::TimedStage> timed;
  const auto found = taken_.find(shape_of(problem));
  if (found == taken_.end()) return timed;
  for (const Taken& one : found->second)
    if (one.searches >= kLeastSearches) timed.push_back({one.method, one.distance, one.seconds});
  return timed;
}

std::optional<SearchTiming> SearchTimes::begin(const Plan& plan, cudaStream_t stream) {
  std::optional<SearchTiming> timing;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++searches_;
    if (ending_.size() >= kMostEnding) return timing;
    const auto found = taken_.find(shape_of(plan.problem));
    if (found != taken_.end() && std::any_of(found->second.begin(), found->second.end(), [&](const Taken& one) {
          return one.method == plan.method && one.distance == plan.distance && one.searches >= kMostSearches;
        }))
      return timing;
    timing.emplace(SearchTiming{plan.problem, plan.method, plan.distance, searches_});
  }
  timing->begun.record(stream);
  return timing;
}

void SearchTimes::end(std::optional<SearchTiming> timing, cudaStream_t stream) {
  if (!timing) return;
  timing->ended.record(stream);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (timing->search == searches_) ending_.push_back(*std::move(timing));
}

void SearchTimes::add(const Problem& problem, Method method, DistanceStage distance, double seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  note(problem, method, distance, seconds);
}

}  // namespace kith::KITH_BACKEND
