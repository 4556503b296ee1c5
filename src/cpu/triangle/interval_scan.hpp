// interval_scan.hpp: level 2: one query through the intervals of sorted clusters that its search bound leaves (Chen et
// al. Sweet KNN, section III-C, whose break and continue become the ends of an interval).
// Idea    the nearest cluster gives a first bound, the k-th smallest score, with which most other clusters are skipped;
//         of the rest only the members whose distances lie in an interval are scored. Members within the bound are
//         collected, thinned out when there are many, and ranked by exact keys at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "core/order.hpp"
#include "core/triangle_bounds.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/triangle/candidate_clusters.hpp"
#include "cpu/triangle/clusters.hpp"

namespace kith::cpu {

struct QueryCounts {
  std::int64_t clusters_visited = 0;
  std::int64_t center_distances = 0;
  std::int64_t distances = 0;
  std::int64_t finalists = 0;
};

template <Element T>
class IntervalScan {
 public:
  using F = DistanceOf<T>;

  IntervalScan(const PreparedRows<T>& base, const Clusters<F>& clusters, const PreparedRows<T>& queries,
               std::int64_t k);

  // The k nearest of a query, sorted; valid until the next call. `candidates` are those of the query's cluster.
  const std::vector<core::Hit<F>>& run(std::int64_t query, const CandidateClusters<F>& candidates);

  const QueryCounts& counts() const { return counts_; }

 private:
  std::int64_t measure_centers(const CandidateClusters<F>& candidates);
  void lower_search_bound(double search_bound);
  void add_interval(const CandidateClusters<F>& candidates, std::int64_t candidate);
  void scan();
  void tighten();
  void rank_by_keys();

  const PreparedRows<T>& base_;
  const Clusters<F>& clusters_;
  const PreparedRows<T>& queries_;
  core::TriangleBounds<F> bounds_;
  core::Form form_;
  std::int64_t k_;
  QueryCounts counts_;

  std::int64_t query_ = 0;
  const F* row_ = nullptr;
  double search_bound_ = 0;
  F limit_ = 0;  // scores above it are beyond search_bound_
  std::vector<LengthInterval<F>> intervals_;
  std::int64_t pending_members_ = 0;  // members of intervals_
  std::int64_t size_ = 0;             // members collected
  std::int64_t tighten_at_ = 0;       // size from which the search bound is lowered again
  std::vector<F> scores_;
  std::vector<OffsetOf<F>> members_;
  std::vector<core::Hit<F>> hits_;

  std::vector<F> row_buffer_;
  std::vector<F> center_distances_;  // of candidates; NaN where not finite
  std::vector<OffsetOf<F>> within_;  // candidates that are not skipped
  std::vector<double> exact_row_;
  std::vector<std::int64_t> ids_;
  std::vector<double> raw_;
  std::vector<F> keys_;
};

}  // namespace kith::cpu
