// interval_scan.cuh: the scan of one query by a warp (interval_scan.hpp has the idea), and the sinks that take its
// keys.
#pragma once

#include "cuda/select/warp_lists.cuh"
#include "cuda/triangle/exact_key.cuh"
#include "cuda/triangle/interval_scan.hpp"
#include "cuda/triangle/search_bound.cuh"

namespace kith::KITH_BACKEND::triangle {

constexpr unsigned kIntervalScanThreads = 256;

// A sink takes keys as they are found. All lanes of the warp call its functions.
//   offer(offering, key)  lanes that are `offering` have a key
//   end_cluster()         follows the last key of a cluster
//   threshold()           keys not below it are of no use
//   kTightens             whether the threshold ever changes

// Keeps the k best in registers.
template <class List>
class ListSink {
 public:
  using Key = typename List::Key;
  static constexpr bool kTightens = true;

  __device__ explicit ListSink(unsigned k) : list_(k) {}

  __device__ __forceinline__ void offer(bool offering, const Key& key) { list_.offer(offering, key); }
  __device__ __forceinline__ void end_cluster() { list_.settle(); }
  __device__ __forceinline__ const Key& threshold() const { return list_.threshold(); }
  __device__ List& list() { return list_; }

 private:
  List list_;
};

// Stores all keys in the query's row of survivors.
template <class F>
class SurvivorSink {
 public:
  using Key = KeyOf<F>;
  static constexpr bool kTightens = false;

  __device__ SurvivorSink(const Survivors<F>& survivors, std::int64_t row)
      : survivors_(survivors), first_(row * survivors.capacity) {}

  __device__ __forceinline__ void offer(bool offering, const Key& key) {
    const unsigned voters = __ballot_sync(kFullMask, offering ? 1 : 0);
    const unsigned slot = count_ + static_cast<unsigned>(__popc(voters & ((1U << lane_id()) - 1U)));
    if (offering && survivors_.keys != nullptr && slot < survivors_.capacity) {
      survivors_.keys[first_ + slot] = value_of<F>(order_of(key), false);
      survivors_.ids[first_ + slot] = id_of(key);
    }
    count_ += static_cast<unsigned>(__popc(voters));
  }
  __device__ __forceinline__ void end_cluster() {}
  __device__ __forceinline__ Key threshold() const { return last_key<Key>(); }
  __device__ unsigned count() const { return count_; }

 private:
  const Survivors<F>& survivors_;
  std::int64_t first_;
  unsigned count_ = 0;
};

// Search bound shared by the warps of a query.
struct SharedSearchBound {
  unsigned long long* bits = nullptr;  // of a double that is not negative; null where the query has one warp

  // Returns the same value to all lanes, whatever other warps write meanwhile.
  __device__ double lowest(double search_bound) const {
    if (bits == nullptr) return search_bound;
    unsigned long long now = 0;
    if (lane_id() == 0) now = atomicMin(bits, ~0ULL);
    const double other = __longlong_as_double(static_cast<long long>(__shfl_sync(kFullMask, now, 0)));
    return other < search_bound ? other : search_bound;
  }
  __device__ void lower(double search_bound) const {
    if (bits != nullptr && lane_id() == 0)
      atomicMin(bits, static_cast<unsigned long long>(__double_as_longlong(search_bound)));
  }
};

// The scan of the query at a position by one of its warps. All lanes of the warp call its functions.
template <class F, class Sink, bool kSquared, unsigned kTeam>
class IntervalScan {
  using Key = KeyOf<F>;

 public:
  __device__ IntervalScan(const QueryBatch<F>& batch, Sink& sink, unsigned position, const SharedSearchBound& shared)
      : batch_(batch),
        sink_(sink),
        shared_(shared),
        position_(position),
        row_(batch.queries.clusters[position] - batch.candidates.first),
        search_bound_(batch.candidates.search_bounds[row_]),
        limit_(score_limit(batch.space, search_bound_)) {}

  // Scans every warps-th cluster.
  __device__ void run(unsigned warp, unsigned warps) {
    const unsigned count = batch_.candidates.counts[row_];
    for (unsigned first = 0; first < count; first += kWarp * warps)
      test_clusters(first + lane_id() * warps + warp, count);
  }

  __device__ void count_work() const {
    if (batch_.counters == nullptr || lane_id() != 0) return;
    TriangleCounters& mine = batch_.counters[blockIdx.x % kCounterSlots];
    atomicAdd(&mine.clusters_visited, static_cast<unsigned long long>(visited_));
    atomicAdd(&mine.center_distances, static_cast<unsigned long long>(center_distances_));
    atomicAdd(&mine.distances, static_cast<unsigned long long>(distances_));
    atomicAdd(&mine.keys, static_cast<unsigned long long>(exact_));
  }

 private:
  static constexpr unsigned kTeams = kWarp / kTeam;

  __device__ void set_search_bound(double search_bound) {
    search_bound_ = search_bound;
    limit_ = score_limit(batch_.space, search_bound);
  }

  // Recomputed where they are needed: registers are scarce.
  __device__ __forceinline__ const F* query_row() const {
    return batch_.queries.rows + static_cast<std::int64_t>(position_) * batch_.space.width;
  }
  __device__ __forceinline__ std::int64_t row_start() const {
    return static_cast<std::int64_t>(row_) * batch_.candidates.stride;
  }

  // Lowers the search bound to what the sink and the other warps allow; returns whether it is lower than before.
  __device__ bool update_search_bound() {
    double search_bound = search_bound_;
    if constexpr (Sink::kTightens) {
      if (sink_.threshold() < kth_) {
        kth_ = sink_.threshold();
        const double own = search_bound_of_key(batch_.space, value_of<F>(order_of(kth_), false));
        shared_.lower(own);
        search_bound = own < search_bound ? own : search_bound;
      }
      search_bound = shared_.lowest(search_bound);
    }
    if (!(search_bound < search_bound_)) return false;
    set_search_bound(search_bound);
    return true;
  }

  // The distance between the query and the center of this lane's cluster, where it is `wanted`.
  __device__ double center_distance(unsigned cluster, bool wanted) {
    const auto terms = distance_terms<kSquared>(batch_.space);
    const unsigned width = batch_.space.width;
    unsigned left = __ballot_sync(kFullMask, wanted ? 1 : 0);
    center_distances_ += static_cast<unsigned>(__popc(left));
    double raw = 0;
    if constexpr (kTeam == 1) {
      if (wanted)
        raw = sum_of_pair<1, double>(terms, query_row(),
                                     batch_.base.centers + static_cast<std::int64_t>(cluster) * width, width);
    } else {
      while (left != 0) {
        const unsigned bits = team_bits(left);
        const unsigned from = bits != 0 ? select::lowest_bit(bits) : select::lowest_bit(left);
        const unsigned mine = __shfl_sync(kFullMask, cluster, static_cast<int>(from));
        const double found = sum_of_pair<kTeam, double>(
            terms, query_row(), batch_.base.centers + static_cast<std::int64_t>(mine) * width, width);
        for (unsigned team = 0; team < kTeams && left != 0; ++team, left &= left - 1) {
          const double team_sum = __shfl_sync(kFullMask, found, static_cast<int>(team * kTeam));
          if (lane_id() == select::lowest_bit(left)) raw = team_sum;
        }
      }
    }
    return metric_distance<kSquared>(batch_.space.metric, raw);
  }

  // Set bits are dealt out to the teams in turn: returns them from this team's on, which is the lowest.
  __device__ __forceinline__ static unsigned team_bits(unsigned bits) {
    for (unsigned team = lane_id() / kTeam; team > 0; --team) bits &= bits - 1;
    return bits;
  }

  // Each lane tests a candidate cluster, where it has one; the warp then scans the clusters that are left.
  __device__ void test_clusters(unsigned candidate, unsigned count) {
    const bool inside = candidate < count;
    const unsigned cluster = inside ? batch_.candidates.clusters[row_start() + candidate] : 0;
    const double radius = batch_.base.radii[cluster];
    const unsigned begin = batch_.base.offsets[cluster];
    const unsigned end = batch_.base.offsets[cluster + 1];
    const auto& bounds = batch_.space.bounds;
    update_search_bound();
    bool is_near = inside && !bounds.apart(batch_.candidates.center_distances[row_start() + cluster],
                                           batch_.queries.member_distances[position_], radius, search_bound_);
    const double a = center_distance(cluster, is_near);
    tighten(is_near && end - begin >= batch_.k, a, end);
    is_near = is_near && !bounds.apart(a, 0, radius, search_bound_);
    PositionRange positions{0, 0};
    if (is_near)
      positions = positions_within(batch_.base.member_distances, begin, end, bounds.interval(a, radius, search_bound_));
    unsigned left = __ballot_sync(kFullMask, positions.begin < positions.end ? 1 : 0);
    for (; left != 0; left &= left - 1) {
      const auto from = static_cast<int>(select::lowest_bit(left));
      scan_cluster(__shfl_sync(kFullMask, a, from), __shfl_sync(kFullMask, radius, from),
                   {__shfl_sync(kFullMask, positions.begin, from), __shfl_sync(kFullMask, positions.end, from)});
    }
  }

  // A cluster of k points or more has k neighbors within the distance to its center plus that of its k-th from there.
  __device__ void tighten(bool large, double a, unsigned end) {
    double sum = std::numeric_limits<double>::infinity();
    if (large) sum = a + set_low_word(batch_.base.member_distances[end - batch_.k]);
    for (int step = kWarp / 2; step > 0; step /= 2) sum = fmin(sum, __shfl_xor_sync(kFullMask, sum, step));
    if (!(sum < search_bound_)) return;
    const double search_bound = search_bound_of_sum(batch_.space, sum, 2);
    if (!(search_bound < search_bound_)) return;
    shared_.lower(search_bound);
    set_search_bound(search_bound);
  }

  // Arguments and branches are the same in all lanes.
  __device__ void scan_cluster(double a, double radius, const PositionRange& positions) {
    update_search_bound();
    const auto& bounds = batch_.space.bounds;
    if (bounds.apart(a, 0, radius, search_bound_)) return;
    ++visited_;
    core::DistanceInterval interval = bounds.interval(a, radius, search_bound_);
    for (unsigned at = positions.begin; at < positions.end; at += kWarp) {
      if (only_ties_left(at, positions.end)) break;
      const unsigned i = at + lane_id();
      const bool inside = i < positions.end;
      const double distance = inside ? batch_.base.member_distances[i] : 0.0;
      const unsigned within =
          __ballot_sync(kFullMask, inside && !(distance > interval.high) && !(distance < interval.low) ? 1 : 0);
      if (within == 0) continue;
      distances_ += static_cast<unsigned>(__popc(within));
      score_members(at, within);
      if (update_search_bound()) interval = bounds.interval(a, radius, search_bound_);
    }
    sink_.end_cluster();
  }

  // Once k neighbors have key 0 only smaller ids can win, and ids ascend among members of equal distance.
  __device__ bool only_ties_left(unsigned at, unsigned end) const {
    if constexpr (!Sink::kTightens) return false;
    if (order_of(kth_) != kZeroOrder<F> || batch_.base.ids[at] < id_of(kth_)) return false;
    return clear_low_word(batch_.base.member_distances[at]) == clear_low_word(batch_.base.member_distances[end - 1]);
  }

  // Scores members at + i for every set bit i.
  __device__ void score_members(unsigned at, unsigned within) {
    if constexpr (kTeam == 1) {
      score_member(at + lane_id(), (within >> lane_id() & 1U) != 0, true);
    } else {
      unsigned turn = 0;  // the lane of a team that offers what the team found
      while (within != 0) {
        const unsigned bits = team_bits(within);
        score_member(at + select::lowest_bit(bits != 0 ? bits : within), bits != 0, team_lane<kTeam>() == turn);
        for (unsigned team = 0; team < kTeams; ++team) within &= within - 1;
        turn = (turn + 1) % kTeam;
      }
    }
  }

  // Scores a member by this lane, or by this team, of which one lane `offers` the key. Position i must be one of the
  // cluster even where it is not `wanted`.
  __device__ void score_member(unsigned i, bool wanted, bool offers) {
    const F* y = batch_.base.rows + static_cast<std::int64_t>(i) * batch_.space.width;
    F score = 0;
    if (kTeam > 1 || wanted)
      score = sum_of_pair<kTeam, F>(score_terms<kSquared>(batch_.space), query_row(), y, batch_.space.width);
    const bool close = wanted && !(score > limit_);
    const unsigned close_count = __ballot_sync(kFullMask, close && offers ? 1 : 0);
    if (close_count == 0) return;
    exact_ += static_cast<unsigned>(__popc(close_count));
    Key key = last_key<Key>();
    if (kTeam > 1 || close) {
      const unsigned id = batch_.base.ids[i];
      ExactKeyPair<F> pair{query_row(), y, batch_.space.width, {}, {}};
      if (!kSquared && batch_.source.directions)
        pair = directions_pair(batch_.source, batch_.queries.ids[position_], id);
      key = exact_key<F, kTeam, kSquared>(batch_.source, pair, id);
    }
    sink_.offer(close && offers, key);
  }

  const QueryBatch<F>& batch_;
  Sink& sink_;
  SharedSearchBound shared_;
  unsigned position_;
  unsigned row_;  // of the candidates
  double search_bound_;
  F limit_;
  Key kth_ = last_key<Key>();
  unsigned visited_ = 0;
  unsigned center_distances_ = 0;
  unsigned distances_ = 0;
  unsigned exact_ = 0;
};

}  // namespace kith::KITH_BACKEND::triangle
