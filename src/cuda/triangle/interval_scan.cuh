// interval_scan.cuh: the search of one query by a warp, and where it leaves what it finds.
#pragma once

#include "cuda/select/warp_select.cuh"
#include "cuda/triangle/exact_key.cuh"
#include "cuda/triangle/interval_scan.hpp"
#include "cuda/triangle/search_bound.cuh"

namespace kith::KITH_BACKEND::triangle {

constexpr unsigned kWindowsThreads = 256;

// A sink takes keys as they are found.
//   offer(offering, key)  all lanes call; those that are offering have a key
//   settle()              all lanes call, once a cluster is done
//   threshold()           keys not below it are of no use
//   kTightens             whether that ever changes

// The k best in registers.
template <class WarpQueuesOf>
class ListSink {
 public:
  using Key = typename WarpQueuesOf::Key;
  static constexpr bool kTightens = true;

  __device__ explicit ListSink(unsigned k) : queues_(k), enough_(k / kShare + 1) {}

  __device__ __forceinline__ void offer(bool offering, const Key& key) {
    if (offering && key < queues_.threshold()) ++pending_;
    queues_.offer(offering, key, false);
  }
  // Newcomers wait in thread queues; the sooner they count, the less is looked at afterwards, but a merge is dear.
  __device__ __forceinline__ void settle() {
    if (__reduce_add_sync(kFullMask, pending_) >= enough_) finish();
  }
  __device__ __forceinline__ void finish() {
    queues_.offer(false, last_key<Key>(), true);
    pending_ = 0;
  }
  __device__ __forceinline__ const Key& threshold() const { return queues_.threshold(); }
  __device__ WarpQueuesOf& queues() { return queues_; }

 private:
  static constexpr unsigned kShare = 8;  // of the list that newcomers are worth a merge

  WarpQueuesOf queues_;
  unsigned pending_ = 0;  // newcomers of this lane since the last merge
  unsigned enough_;
};

// All that is offered, in a row of memory.
template <class F>
class RowSink {
 public:
  using Key = KeyOf<F>;
  static constexpr bool kTightens = false;

  __device__ RowSink(const Survivors<F>& survivors, std::int64_t row)
      : survivors_(survivors), first_(row * survivors.room) {}

  __device__ __forceinline__ void offer(bool offering, const Key& key) {
    const unsigned voters = __ballot_sync(kFullMask, offering ? 1 : 0);
    const unsigned place = count_ + static_cast<unsigned>(__popc(voters & ((1U << lane_id()) - 1U)));
    if (offering && survivors_.keys != nullptr && place < survivors_.room) {
      survivors_.keys[first_ + place] = value_of<F>(order_of(key), false);
      survivors_.ids[first_ + place] = id_of(key);
    }
    count_ += static_cast<unsigned>(__popc(voters));
  }
  __device__ __forceinline__ void settle() {}
  __device__ __forceinline__ Key threshold() const { return last_key<Key>(); }
  __device__ unsigned count() const { return count_; }

 private:
  const Survivors<F>& survivors_;
  std::int64_t first_;
  unsigned count_ = 0;
};

// What of a query several warps share.
struct SharedReach {
  unsigned long long* bits = nullptr;  // of the reach, which is not negative; null where a warp is alone

  // The same in all lanes, whatever other warps do meanwhile.
  __device__ double lowest(double reach) const {
    if (bits == nullptr) return reach;
    unsigned long long now = 0;
    if (lane_id() == 0) now = atomicMin(bits, ~0ULL);
    const double other = __longlong_as_double(static_cast<long long>(__shfl_sync(kFullMask, now, 0)));
    return other < reach ? other : reach;
  }
  __device__ void lower(double reach) const {
    if (bits != nullptr && lane_id() == 0)
      atomicMin(bits, static_cast<unsigned long long>(__double_as_longlong(reach)));
  }
};

// One of `warps` warps that share the query at a position: it takes every so-many-th cluster. All lanes call.
template <class F, class Sink, bool kSquared, unsigned kTeam>
class IntervalScan {
  using Key = KeyOf<F>;

 public:
  __device__ IntervalScan(const Level2<F>& work, Sink& sink, unsigned position, const SharedReach& shared)
      : work_(work),
        sink_(sink),
        shared_(shared),
        position_(position),
        row_(work.queries.clusters[position] - work.level1.first),
        reach_(work.level1.reaches[row_]),
        limit_(score_limit(work.space, reach_)) {}

  __device__ void run(unsigned share, unsigned shares) {
    const unsigned count = work_.level1.counts[row_];
    for (unsigned first = 0; first < count; first += kWarp * shares)
      take_batch(first + lane_id() * shares + share, count);
  }

  __device__ void count_work() const {
    if (work_.counters == nullptr || lane_id() != 0) return;
    TriangleCounters& mine = work_.counters[blockIdx.x % kCounterSlots];
    atomicAdd(&mine.clusters_visited, static_cast<unsigned long long>(visited_));
    atomicAdd(&mine.center_distances, static_cast<unsigned long long>(center_lengths_));
    atomicAdd(&mine.distances, static_cast<unsigned long long>(distances_));
    atomicAdd(&mine.keys, static_cast<unsigned long long>(exact_));
  }

 private:
  static constexpr unsigned kTeams = kWarp / kTeam;

  __device__ void set_reach(double reach) {
    reach_ = reach;
    limit_ = score_limit(work_.space, reach);
  }

  // Found anew where they are wanted: registers are scarce.
  __device__ __forceinline__ const F* x() const {
    return work_.queries.rows + static_cast<std::int64_t>(position_) * work_.space.width;
  }
  __device__ __forceinline__ std::int64_t first_place() const {
    return static_cast<std::int64_t>(row_) * work_.level1.stride;
  }

  // The reach as far as all that is known tells; whether that is less than before.
  __device__ bool renew_reach() {
    double reach = reach_;
    if constexpr (Sink::kTightens) {
      if (sink_.threshold() < kth_) {
        kth_ = sink_.threshold();
        const double own = reach_of_key(work_.space, value_of<F>(order_of(kth_), false));
        shared_.lower(own);
        reach = own < reach ? own : reach;
      }
      reach = shared_.lowest(reach);
    }
    if (!(reach < reach_)) return false;
    set_reach(reach);
    return true;
  }

  // The length between the query and the center of this lane's cluster, where it is `wanted`.
  __device__ double center_length(unsigned cluster, bool wanted) {
    const auto terms = length_terms<kSquared>(work_.space);
    const unsigned width = work_.space.width;
    unsigned left = __ballot_sync(kFullMask, wanted ? 1 : 0);
    center_lengths_ += static_cast<unsigned>(__popc(left));
    double raw = 0;
    if constexpr (kTeam == 1) {
      if (wanted)
        raw =
            sum_between<1, double>(terms, x(), work_.base.centers + static_cast<std::int64_t>(cluster) * width, width);
    } else {
      while (left != 0) {
        const unsigned bits = own_bits(left);
        const unsigned from = bits != 0 ? select::lowest_bit(bits) : select::lowest_bit(left);
        const unsigned mine = __shfl_sync(kFullMask, cluster, static_cast<int>(from));
        const double found =
            sum_between<kTeam, double>(terms, x(), work_.base.centers + static_cast<std::int64_t>(mine) * width, width);
        for (unsigned team = 0; team < kTeams && left != 0; ++team, left &= left - 1) {
          const double of_team = __shfl_sync(kFullMask, found, static_cast<int>(team * kTeam));
          if (lane_id() == select::lowest_bit(left)) raw = of_team;
        }
      }
    }
    return length_of<kSquared>(work_.space.metric, raw);
  }

  // Of the set bits each team has one in turn: this team's is the lowest of what is left here.
  __device__ __forceinline__ static unsigned own_bits(unsigned bits) {
    for (unsigned team = lane_id() / kTeam; team > 0; --team) bits &= bits - 1;
    return bits;
  }

  // Every lane has a candidate, if there are so many.
  __device__ void take_batch(unsigned candidate, unsigned count) {
    const bool inside = candidate < count;
    const unsigned cluster = inside ? work_.level1.clusters[first_place() + candidate] : 0;
    const double radius = work_.base.radii[cluster];
    const unsigned begin = work_.base.offsets[cluster];
    const unsigned end = work_.base.offsets[cluster + 1];
    const auto& bounds = work_.space.bounds;
    renew_reach();
    bool near = inside && !bounds.apart(work_.level1.centers[first_place() + cluster], work_.queries.lengths[position_],
                                        radius, reach_);
    const double a = center_length(cluster, near);
    tighten(near && end - begin >= work_.k, a, end);
    near = near && !bounds.apart(a, 0, radius, reach_);
    Positions stretch{0, 0};
    if (near) stretch = stretch_of(work_.base.lengths, begin, end, bounds.window(a, radius, reach_));
    unsigned left = __ballot_sync(kFullMask, stretch.begin < stretch.end ? 1 : 0);
    for (; left != 0; left &= left - 1) {
      const auto from = static_cast<int>(select::lowest_bit(left));
      take_cluster(__shfl_sync(kFullMask, a, from), __shfl_sync(kFullMask, radius, from),
                   {__shfl_sync(kFullMask, stretch.begin, from), __shfl_sync(kFullMask, stretch.end, from)});
    }
  }

  // A cluster of k points or more has k neighbors within the length to its center and that of its k-th from there.
  __device__ void tighten(bool large, double a, unsigned end) {
    double sum = std::numeric_limits<double>::infinity();
    if (large) sum = a + half_above(work_.base.lengths[end - work_.k]);
    for (int step = kWarp / 2; step > 0; step /= 2) sum = fmin(sum, __shfl_xor_sync(kFullMask, sum, step));
    if (!(sum < reach_)) return;
    const double reach = reach_of_sum(work_.space, sum, 2);
    if (!(reach < reach_)) return;
    shared_.lower(reach);
    set_reach(reach);
  }

  // Everything here is the same in all lanes but for what single members bring.
  __device__ void take_cluster(double a, double radius, const Positions& stretch) {
    renew_reach();
    const auto& bounds = work_.space.bounds;
    if (bounds.apart(a, 0, radius, reach_)) return;
    ++visited_;
    core::LengthWindow window = bounds.window(a, radius, reach_);
    for (unsigned at = stretch.begin; at < stretch.end; at += kWarp) {
      if (is_settled(at, stretch.end)) break;
      const unsigned i = at + lane_id();
      const bool inside = i < stretch.end;
      const double length = inside ? work_.base.lengths[i] : 0.0;
      const unsigned within =
          __ballot_sync(kFullMask, inside && !(length > window.high) && !(length < window.low) ? 1 : 0);
      if (within == 0) continue;
      distances_ += static_cast<unsigned>(__popc(within));
      take_members(at, within);
      if (renew_reach()) window = bounds.window(a, radius, reach_);
    }
    sink_.settle();
  }

  // With k neighbors at distance 0 only smaller numbers can win; among members of one length they ascend.
  __device__ bool is_settled(unsigned at, unsigned end) const {
    if constexpr (!Sink::kTightens) return false;
    if (order_of(kth_) != kZeroOrder<F> || work_.base.ids[at] < id_of(kth_)) return false;
    return half_below(work_.base.lengths[at]) == half_below(work_.base.lengths[end - 1]);
  }

  // Members at + i for every set bit i.
  __device__ void take_members(unsigned at, unsigned within) {
    if constexpr (kTeam == 1) {
      take_member(at + lane_id(), (within >> lane_id() & 1U) != 0, true);
    } else {
      unsigned turn = 0;  // the lane of a team that offers what the team found
      while (within != 0) {
        const unsigned bits = own_bits(within);
        take_member(at + select::lowest_bit(bits != 0 ? bits : within), bits != 0, team_lane<kTeam>() == turn);
        for (unsigned team = 0; team < kTeams; ++team) within &= within - 1;
        turn = (turn + 1) % kTeam;
      }
    }
  }

  // By this lane, or this team of which one lane `speaks`; position i is one of the cluster's in any case.
  __device__ void take_member(unsigned i, bool wanted, bool speaks) {
    const F* y = work_.base.rows + static_cast<std::int64_t>(i) * work_.space.width;
    F score = 0;
    if (kTeam > 1 || wanted)
      score = sum_between<kTeam, F>(score_terms<kSquared>(work_.space), x(), y, work_.space.width);
    const bool close = wanted && !(score > limit_);
    const unsigned all_close = __ballot_sync(kFullMask, close && speaks ? 1 : 0);
    if (all_close == 0) return;
    exact_ += static_cast<unsigned>(__popc(all_close));
    Key key = last_key<Key>();
    if (kTeam > 1 || close) {
      const unsigned id = work_.base.ids[i];
      KeyPair<F> pair{x(), y, work_.space.width, {}, {}};
      if (!kSquared && work_.source.directions) pair = directions_pair(work_.source, work_.queries.ids[position_], id);
      key = exact_key<F, kTeam, kSquared>(work_.source, pair, id);
    }
    sink_.offer(close && speaks, key);
  }

  const Level2<F>& work_;
  Sink& sink_;
  SharedReach shared_;
  unsigned position_;
  unsigned row_;  // of level 1
  double reach_;
  F limit_;
  Key kth_ = last_key<Key>();
  unsigned visited_ = 0;
  unsigned center_lengths_ = 0;
  unsigned distances_ = 0;
  unsigned exact_ = 0;
};

}  // namespace kith::KITH_BACKEND::triangle
