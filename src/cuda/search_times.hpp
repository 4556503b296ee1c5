// search_times.hpp: how long searches of an index took on the device, by what their plans did.
// Idea    plans are chosen by predictions, and data, sizes and devices differ from those that these were fitted to.
//         What was measured replaces what was predicted for searches of about as many queries and neighbors: a plan
//         that took longer than another one promises gives way to that.
// Limits  times are those of the search proper: without what is brought from the host and taken back. Of several the
//         least counts, and only from the second on: the first may have made what the index keeps. Searches during
//         which another one of the index began do not count.
// Thread-safe.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "cuda/runtime/stream.hpp"
#include "plan/choose.hpp"

namespace kith::KITH_BACKEND {

// The emulator's times say nothing, and its searches must do the same whenever they are repeated.
#if defined(KITH_IS_EMULATED)
inline constexpr bool kTimesSearches = false;
#else
inline constexpr bool kTimesSearches = true;
#endif

// A search that is being timed.
struct SearchTiming {
  Problem problem;
  Method method;
  DistanceStage distance;
  std::int64_t search;  // its number
  Event begun{};
  Event ended{};
};

class SearchTimes {
 public:
  // Of searches like this.
  std::vector<plan::TimedStage> of(const Problem& problem);
  // Of every search that begins on this stream; none where its time is known.
  std::optional<SearchTiming> begin(const Plan& plan, cudaStream_t stream);
  // All of it is enqueued on the stream.
  void end(std::optional<SearchTiming> timing, cudaStream_t stream);
  // A time by itself.
  void add(const Problem& problem, Method method, DistanceStage distance, double seconds);

 private:
  // Sizes that count as the same: queries, neighbors, and whether queries are the base.
  using Shape = std::tuple<int, int, bool>;

  struct Taken {
    Method method;
    DistanceStage distance;
    double seconds;  // the least
    int searches;
  };

  static Shape shape_of(const Problem& problem);
  // With the lock held.
  void collect();
  void note(const Problem& problem, Method method, DistanceStage distance, double seconds);

  std::mutex mutex_;
  std::int64_t searches_ = 0;
  std::map<Shape, std::vector<Taken>> taken_;
  std::deque<SearchTiming> ending_;  // those that may not have ended yet
};

}  // namespace kith::KITH_BACKEND
