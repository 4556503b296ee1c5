// layout.hpp: what each layout moves, which explain(LayoutFacts) chooses by: facts in, plan out, the same on all ranks.
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

// Rows, queries and lists between a rank and others. Not known before a search of layout landmarks.
struct RankTraffic {
  std::int64_t received = 0;
  std::int64_t sent = 0;
};
RankTraffic traffic_of(Layout layout, const LayoutFacts& facts, int replicas, std::int64_t rank);

// Of uniform points: how many cubes of `rows` points each the ball of a query's k neighbors meets, on average.
double parts_touched(std::int64_t rows, std::int64_t dims, std::int64_t k);

}  // namespace kith::mpi
