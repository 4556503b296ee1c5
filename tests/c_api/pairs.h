/* pairs.h: answers of any search beside those of a loop over all pairs, whose distances a function says. */
#ifndef PAIRS_H
#define PAIRS_H

#include <kith.h>
#include <stdint.h>

/* Queries, a base, and the distance of the two as the search returns it. */
typedef struct pairs {
  double (*distance)(const void* context, int64_t query, int64_t id);
  const void* context;
  int64_t queries;
  int64_t rows;    /* at most 256 */
  int32_t is_self; /* the queries are the base, and find others only */
} pairs;

int holds_nearest_pairs(const pairs* all, int64_t k, const kith_neighbors* out);
int holds_pairs_within(const pairs* all, const double* radii, int64_t radius_count, const kith_list_arrays* lists);
/* The same, and the lists are destroyed. */
int are_pairs_within(const pairs* all, const double* radii, int64_t radius_count, kith_lists* lists);

#endif
