// layout.hpp: what each layout moves, holds and takes, and which one is chosen: facts in, plan out, the same on all ranks.
//
// With n base points and q queries of d coordinates in P ranks, a row of b bytes and a list of l = k · (8 + 4 or 8), a
// rank with n′ rows and q′ queries receives
//   stationary   (q − q′) · b + (P − 1) · q′ · l
//   replicated   (n − n′) · b, once
//   grid         the rows of its column, once; then as stationary within its group
//   ring         (n − n′) · b, in P − 1 steps
//   landmarks    about n/P · b · (P − 1)/P once; then of each query and list about the share that leaves its rank
#pragma once

#include <cstdint>
#include <vector>

#include "kith/mpi.hpp"

namespace kith::mpi {

struct LayoutFacts {
  std::vector<std::int64_t> rows;      // of each rank
  std::vector<std::int64_t> queries;   // of each rank
  std::vector<std::int64_t> budgets;   // bytes that buffers and copies may take, of each rank
  std::int64_t dims = 0;
  std::int64_t element_bytes = 4;
  std::int64_t distance_bytes = 4;
  std::int64_t k = 0;
  bool self = false;                   // the queries are the rows
  const char* no_bounds = nullptr;     // why the metric has no bounds for landmarks; null: it has
  double seconds_per_pair = 0;         // of a query and a point, on the slowest rank
  double link_bytes_per_second = 10e9; // into a rank
  double message_seconds = 20e-6;

  std::int64_t ranks() const { return static_cast<std::int64_t>(rows.size()); }
  std::int64_t row_bytes() const { return dims * element_bytes; }
  std::int64_t list_bytes() const { return k * (8 + distance_bytes); }
  std::int64_t all_rows() const;
  std::int64_t all_queries() const;
};

// Rows, queries and lists between a rank and others. Not known before a search of layout landmarks.
struct RankTraffic {
  std::int64_t received = 0;
  std::int64_t sent = 0;
};
RankTraffic traffic_of(Layout layout, const LayoutFacts& facts, int replicas, std::int64_t rank);

// Throws Error(invalid_argument) for a layout, a batch or a number of replicas that cannot be, and
// Error(out_of_memory) where a rank's budget is too small, naming the least that would do.
LayoutPlan choose_layout(const LayoutFacts& facts, const SearchOptions& how);

// Of uniform points: how many cubes of `rows` points each the ball of a query's k neighbors meets, on average.
double parts_touched(std::int64_t rows, std::int64_t dims, std::int64_t k);

}  // namespace kith::mpi
